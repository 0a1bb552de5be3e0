"""The language server as editors meet it: a process that is spoken to over its standard streams."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from herbrand import games

pytest.importorskip("pytest_lsp")

import pytest_lsp
from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

TIC = games.path("ticTacToe").read_text(encoding="utf-8")
URI = "file:///somewhere/game.kif"
PATIENCE = 240
"""Seconds for one session, on a busy machine."""


@contextlib.asynccontextmanager
async def session(
    capabilities: lsp.ClientCapabilities | None = None, options: Any = None, folder: Path | None = None
) -> AsyncIterator[pytest_lsp.LanguageClient]:
    """A client with a server behind it."""
    config = pytest_lsp.ClientServerConfig(
        server_command=[sys.executable, "-m", "herbrand", "lsp", "--stdio"], server_env=dict(os.environ)
    )
    client = await config.start()
    assert isinstance(client, pytest_lsp.LanguageClient)
    folders = [lsp.WorkspaceFolder(folder.as_uri(), folder.name)] if folder else []
    await client.initialize_session(
        lsp.InitializeParams(
            capabilities or lsp.ClientCapabilities(),
            workspace_folders=folders,
            initialization_options=options,
        )
    )
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


Scenario = "Callable[[pytest_lsp.LanguageClient], Coroutine[Any, Any, None]]"


@contextlib.contextmanager
def shared(
    opened: contextlib.AbstractAsyncContextManager[pytest_lsp.LanguageClient],
) -> Iterator[Callable[[Scenario], None]]:
    """Run with a client of a server that several tests share: a second of work to start one."""
    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()
        client = runner.run(stack.enter_async_context(opened))

        def run_scenario(scenario: Scenario) -> None:
            runner.run(asyncio.wait_for(scenario(client), PATIENCE))

        yield run_scenario
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def run_with_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Scenario], None]]:
    """Run with a client that has a folder, and can do no more than it must."""
    folder = tmp_path_factory.mktemp("folder")
    (folder / "other.kif").write_text("(role elsewhere)\n(faraway 1)\n", encoding="utf-8")
    with shared(session(folder=folder)) as run_scenario:
        yield run_scenario


@pytest.fixture(scope="module")
def run_with_able_client() -> Iterator[Callable[[Scenario], None]]:
    """Run with a client that asks for findings, can be told to ask for hints again, and shows results."""
    able = lsp.ClientCapabilities(
        text_document=lsp.TextDocumentClientCapabilities(diagnostic=lsp.DiagnosticClientCapabilities()),
        workspace=lsp.WorkspaceClientCapabilities(
            inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    with shared(session(able, options={"showsResults": True})) as run_scenario:
        yield run_scenario


def open_text(client: pytest_lsp.LanguageClient, text: str, uri: str = URI, language: str = "gdl") -> None:
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, language, 1, text)))


def close(client: pytest_lsp.LanguageClient, uri: str = URI) -> None:
    client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))


def change(
    client: pytest_lsp.LanguageClient, version: int, line: int, start: int, end: int, text: str
) -> None:
    place = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(uri=URI, version=version),
            [lsp.TextDocumentContentChangePartial(range=place, text=text)],
        )
    )


async def told(client: pytest_lsp.LanguageClient, uri: str = URI) -> list[Any]:
    """The checks that are pushed next."""
    await client.wait_for_notification("textDocument/publishDiagnostics")
    return [d.code for d in client.diagnostics[uri]]


def test_findings_follow_the_keystrokes(run_with_client: Callable[[Scenario], None]) -> None:
    """A fault is pushed when it is typed and taken back when it is repaired, behind wide letters too."""

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        open_text(client, "(role 𝔸) (legal 𝔸 go)\n(goal 𝔸 100) (goal 𝔸 0) terminal (init a) (next a)\n")
        assert "undefined-relation" not in await told(client)
        more = ")(<= (legal 𝔸 stop) wrong"
        change(client, 2, 0, 22, 22, more)
        assert "undefined-relation" in await told(client)
        change(client, 3, 0, 22, 22 + len(more) + 1, "")
        assert "undefined-relation" not in await told(client)
        assert all(d.severity != lsp.DiagnosticSeverity.Error for d in client.diagnostics[URI])
        close(client)
        assert await told(client) == []

    run_with_client(scenario)


def test_findings_are_answered_to_those_who_ask(run_with_able_client: Callable[[Scenario], None]) -> None:
    """A client that pulls gets no pushes, and `unchanged` as long as nothing changed; every notation."""

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        for uri, text, check in [
            (URI, "(role a", "unclosed-parenthesis"),
            ("file:///b.hrf", "role(a) legal(X, go)", "non-ground-fact"),
            ("file:///c.pl", "role(a). legal(X, go).", "non-ground-fact"),
            ("file:///d.ggd", "role a\ndata n := 3 .. 1\n", "empty-type"),
            ("untitled:one", "(role a", "unclosed-parenthesis"),
        ]:
            open_text(client, text, uri, "ggdl" if uri.endswith("ggd") else "gdl")
            asked = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
            report = await client.text_document_diagnostic_async(asked)
            assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
            assert check in [d.code for d in report.items], uri
            asked.previous_result_id = report.result_id
            report = await client.text_document_diagnostic_async(asked)
            assert isinstance(report, lsp.RelatedUnchangedDocumentDiagnosticReport)
            close(client, uri)
        assert not client.diagnostics

    run_with_able_client(scenario)


def test_a_session_with_every_question(run_with_client: Callable[[Scenario], None]) -> None:
    """Every answer comes over the wire as the protocol wants it."""

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        open_text(client, TIC)
        doc = lsp.TextDocumentIdentifier(URI)
        line = next(i for i, row in enumerate(TIC.split("\n")) if row.startswith("(<= (line ?mark)"))
        spot = lsp.Position(line, 6)
        everything = lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0))
        hover = await client.text_document_hover_async(lsp.HoverParams(doc, spot))
        assert hover is not None
        assert "line/1" in str(hover.contents)
        heads = await client.text_document_definition_async(lsp.DefinitionParams(doc, spot))
        assert isinstance(heads, list | tuple)
        assert len(heads) == 4
        used = await client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(include_declaration=True), doc, spot)
        )
        assert used is not None
        assert len(used) == 5
        marks = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(doc, spot))
        assert marks is not None
        assert len(marks) == 5
        renamed = await client.text_document_rename_async(lsp.RenameParams(doc, spot, "three"))
        assert renamed is not None
        assert renamed.changes is not None
        assert {e.new_text for e in renamed.changes[URI]} == {"three"}
        with pytest.raises(Exception, match="fixed meaning"):
            await client.text_document_rename_async(lsp.RenameParams(doc, spot, "legal"))
        assert await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(doc, spot))
        items = await client.text_document_completion_async(lsp.CompletionParams(doc, spot))
        assert isinstance(items, lsp.CompletionList)
        assert "line" in {item.label for item in items.items}
        signature = await client.text_document_signature_help_async(
            lsp.SignatureHelpParams(doc, lsp.Position(line, 11))
        )
        assert signature is not None
        assert signature.signatures[0].label == "(line ?mark)"
        colours = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(doc))
        assert colours is not None
        part = await client.text_document_semantic_tokens_range_async(
            lsp.SemanticTokensRangeParams(doc, lsp.Range(spot, lsp.Position(line + 2, 0)))
        )
        assert part is not None
        assert 0 < len(part.data) < len(colours.data)
        assert await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(doc))
        assert await client.text_document_folding_range_async(lsp.FoldingRangeParams(doc))
        assert await client.text_document_selection_range_async(lsp.SelectionRangeParams(doc, [spot]))
        options = lsp.FormattingOptions(4, insert_spaces=True)
        laid = await client.text_document_formatting_async(lsp.DocumentFormattingParams(doc, options))
        assert laid is not None
        part_laid = await client.text_document_range_formatting_async(
            lsp.DocumentRangeFormattingParams(doc, everything, options)
        )
        assert part_laid is not None
        context = lsp.CodeActionContext([])
        await client.text_document_code_action_async(lsp.CodeActionParams(doc, everything, context))
        lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(doc))
        assert lenses is not None
        assert [one.command.title for one in lenses if one.command] == ["Play", "Analyse", "Repair"]
        found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("fraw"))
        assert found is not None
        assert [symbol.name for symbol in found] == ["faraway"]
        close(client)

    run_with_client(scenario)


def test_sizes_are_shown_once_they_are_known(
    run_with_client: Callable[[Scenario], None], run_with_able_client: Callable[[Scenario], None]
) -> None:
    """A client that cannot be told to ask again gets its hints late, the other is told to ask again."""

    doc = lsp.TextDocumentIdentifier(URI)
    asked = lsp.InlayHintParams(doc, lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0)))

    async def late(client: pytest_lsp.LanguageClient) -> None:
        open_text(client, TIC)
        hints = await client.text_document_inlay_hint_async(asked)
        assert hints is not None
        assert "×20" in {hint.label for hint in hints}
        close(client)

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        again = asyncio.Event()

        @client.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(*_: object) -> None:
            again.set()

        open_text(client, TIC)
        assert not await client.text_document_inlay_hint_async(asked)
        await again.wait()
        assert await client.text_document_inlay_hint_async(asked)
        close(client)

    run_with_client(late)
    run_with_able_client(scenario)


WALK = """(role walker) ; may walk
(succ 1 2) (succ 2 3) (succ 3 4)
(init (at 1))
(<= (legal walker east) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 5)))
(<= (goal walker 100) (true (at 4)))
(<= (goal walker 0) (not (true (at 4))))
"""


def test_a_game_is_repaired_in_the_editor(run_with_able_client: Callable[[Scenario], None]) -> None:
    """The edit is made by the client, and said in words."""

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        made: list[lsp.ApplyWorkspaceEditParams] = []

        @client.feature(lsp.WORKSPACE_APPLY_EDIT)
        def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
            made.append(params)
            return lsp.ApplyWorkspaceEditResult(True)

        open_text(client, WALK)
        wanted = lsp.ExecuteCommandParams("herbrand.repair", arguments=[URI])
        answer = str(await client.workspace_execute_command_async(wanted))
        assert answer == "repaired (proved): (<= terminal (true (at 4)))"
        (edit,) = made
        assert edit.edit.changes is not None
        (change,) = edit.edit.changes[URI]
        assert change.new_text == WALK.replace("(at 5)", "(at 4)")
        close(client)

    run_with_able_client(scenario)


def test_commands_answer_in_words(
    run_with_client: Callable[[Scenario], None], run_with_able_client: Callable[[Scenario], None]
) -> None:
    """A check is explained, a game analysed as it is typed, and how to play it is told."""

    async def scenario(client: pytest_lsp.LanguageClient) -> None:
        open_text(client, games.path("rockPaperScissors").read_text(encoding="utf-8"))

        async def command(name: str, *arguments: str) -> str:
            return str(
                await client.workspace_execute_command_async(
                    lsp.ExecuteCommandParams(name, arguments=list(arguments))
                )
            )

        assert "Why this is bad" in await command("herbrand.explain", "unsafe-variable")
        assert "unknown check" in await command("herbrand.explain", "nonsense")
        assert "herbrand play /somewhere/game.kif" in await command("herbrand.play", URI)
        assert "playable" in await command("herbrand.analyse", URI)
        assert "not open" in await command("herbrand.analyse", "file:///nothing.kif")
        assert not client.messages
        close(client)

    async def said(client: pytest_lsp.LanguageClient) -> None:
        await client.workspace_execute_command_async(
            lsp.ExecuteCommandParams("herbrand.explain", arguments=["unsafe-variable"])
        )
        assert "Why this is bad" in client.messages[-1].message

    run_with_able_client(scenario)
    run_with_client(said)


def test_help_is_given_without_the_library() -> None:
    """Without pygls the command says what to install."""
    code = (
        "import sys; sys.modules['pygls'] = None; sys.modules['lsprotocol'] = None; "
        "from herbrand.cli.main import main; main(['lsp'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "pip install 'herbrand[lsp]'" in done.stderr
    assert "Traceback" not in done.stderr
