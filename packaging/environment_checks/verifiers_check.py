"""The server of tools, started as verifiers starts it and asked over the Model Context Protocol."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client

port_file = Path(tempfile.mkdtemp()) / "port"
server = subprocess.Popen(
    [sys.executable, "-m", "herbrand.oracle.verifiers_tools"],
    env={**os.environ, "MCP_PORT_FILE": str(port_file), "VF_CONFIG": "{}"},
)


async def ask() -> None:
    async with Client(f"http://127.0.0.1:{port_file.read_text()}/mcp") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"check", "show", "legal_moves", "why"}, tools
        answer = await client.call_tool("legal_moves", {"game": "nim", "moves": []})
        assert "(take a 1)" in str(answer.content), answer
        answer = await client.call_tool("check", {"game": "(role"})
        assert "never closed" in str(answer.content), answer


try:
    while server.poll() is None and not (port_file.exists() and port_file.read_text()):
        time.sleep(0.2)  # importing verifiers takes seconds
    time.sleep(2)
    asyncio.run(ask())
finally:
    server.terminate()
    server.wait(10)
print("verifiers: tools hold")
