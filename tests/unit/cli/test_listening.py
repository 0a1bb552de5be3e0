"""Commands that answer on a port, where another program has it."""

from __future__ import annotations

import socket

import pytest
from click.testing import CliRunner

from herbrand.cli.main import cli


@pytest.mark.parametrize(
    ("command", "option", "extra"),
    [("web", "--port", "uvicorn"), ("mcp", "--http", "mcp"), ("player", "--port", "")],
)
def test_a_taken_port_is_named_with_a_remedy(command: str, option: str, extra: str) -> None:
    if extra:
        pytest.importorskip(extra)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(cli, [command, option, str(port)])
    assert result.exit_code == 2
    assert f"127.0.0.1:{port}: another program is listening there" in result.output
    assert f"{option} 0" in result.output
