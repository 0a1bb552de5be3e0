"""Measure the latency of the language server after a keystroke.

    python benchmarks/keystroke.py FILE...

Types a rule into the middle of each sheet, one letter after another, and prints the milliseconds from each
letter to the diagnostics of the new text: the median, the worst, and the processor time that the server
spent on one.  The server is a process of its own, as in an editor.

    python benchmarks/keystroke.py --hints FILE...

starts a server for each sheet, and prints the seconds until it has diagnostics and inlay hints, and the
processor time until then of the server and of its child.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import time
from pathlib import Path

import pytest_lsp
from lsprotocol import types as lsp

TYPED = "(<= (fresh ?x)\n    (role ?x))"
TYPED_GGDL = "fresh(?x) :-\n    role(?x)"


async def measure(client: pytest_lsp.LanguageClient, path: Path, text: str, pid: int) -> str:
    """Type into one sheet; return a line of the table."""
    uri = path.as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "gdl", 1, text)))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    typed = TYPED_GGDL if path.suffix == ".ggd" else TYPED
    rows = text.split("\n")
    line = next(i for i, row in enumerate(rows) if i >= len(rows) // 2 and row[:1].strip())
    column, took, before = 0, [], cpu(pid)
    for version, letter in enumerate(f"\n{typed}", start=2):
        place = lsp.Position(line, column)
        change = lsp.TextDocumentContentChangePartial(range=lsp.Range(place, place), text=letter)
        started = time.perf_counter()
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(uri=uri, version=version), [change]
            )
        )
        await client.wait_for_notification("textDocument/publishDiagnostics")
        took.append(1000 * (time.perf_counter() - started))
        if letter == "\n" and version > 2:
            line, column = line + 1, 0
        elif version > 2:
            column += 1
    spent = 1000 * (cpu(pid) - before) / len(took)
    return f"{path.name:32}{len(text) / 1000:8.1f}{statistics.median(took):10.0f}{max(took):8.0f}{spent:8.0f}"


def cpu(pid: int) -> float:
    """Return the seconds of processor time that a process has spent (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def first_hints(path: Path, text: str) -> str:
    """Start a server and open one sheet; return a line of the table."""
    started, before = time.perf_counter(), os.times()
    config = pytest_lsp.ClientServerConfig(
        server_command=[sys.executable, "-m", "herbrand", "lsp"], server_env=dict(os.environ)
    )
    client = await config.start()
    assert isinstance(client, pytest_lsp.LanguageClient)
    await client.initialize_session(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    uri = path.as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "gdl", 1, text)))
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(10**6, 0))
    asked = client.text_document_inlay_hint_async(lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    diagnosed = time.perf_counter() - started
    hints = await asked
    hinted = time.perf_counter() - started
    await client.shutdown_session()
    await client.stop()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return f"{path.name:32}{len(hints or ()):8}{diagnosed:12.2f}{hinted:10.2f}{spent:8.2f}"


async def hints(files: dict[Path, str]) -> None:
    """Print the table of first hints."""
    print(f"{'sheet':32}{'hints':>8}{'diagnosed s':>12}{'hints s':>10}{'cpu s':>8}")
    for path, text in files.items():
        print(await first_hints(path, text), flush=True)


async def main(files: dict[Path, str]) -> None:
    """Print the table."""
    config = pytest_lsp.ClientServerConfig(
        server_command=[sys.executable, "-m", "herbrand", "lsp"], server_env=dict(os.environ)
    )
    client = await config.start()
    assert isinstance(client, pytest_lsp.LanguageClient)
    assert client._server is not None
    await client.initialize_session(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    print(f"{'sheet':32}{'KB':>8}{'median ms':>10}{'worst':>8}{'cpu ms':>8}")
    for path, text in files.items():
        print(await measure(client, path, text, client._server.pid), flush=True)
    await client.shutdown_session()
    await client.stop()


if __name__ == "__main__":
    paths = [Path(file).resolve() for file in sys.argv[1:] if file != "--hints"]
    asyncio.run(
        (hints if "--hints" in sys.argv else main)({path: path.read_text(encoding="utf-8") for path in paths})
    )
