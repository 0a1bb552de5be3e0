"""`make_server`: the language server, from the protocol's messages to what the other modules answer.

pygls keeps its own copy of every open text, cut into lines at more characters than the protocol knows;
`Protocol` leaves that out, and the documents here are the only ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from herbrand import __version__
from herbrand.check.catalogue import UnknownCheckError, explain
from herbrand.lsp import complete as completing
from herbrand.lsp import edit, findings, outline, sizes
from herbrand.lsp.document import Document, OpenSheet, path_of
from herbrand.lsp.hover import hover
from herbrand.lsp.tokens import LEGEND, tokens
from herbrand.runtime.pool import run_command
from herbrand.syntax.files import MAX_BYTES, SUFFIXES, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = ["Service", "make_server"]

MOST_FILES: Final = 500
"""So many files of a workspace are looked through for symbols."""
MOST_SYMBOLS: Final = 300
QUICK: Final = 0.1
"""Checks that take less than these seconds follow each keystroke at once; slower ones wait for a pause."""
LONGEST_PAUSE: Final = 0.5
ANALYSE_SECONDS: Final = 60
PROLOG: Final = frozenset({".pl", ".pro", ".prolog"})
"""Not looked through for symbols: mostly these are Prolog programs."""

_log = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """The protocol without the copies of texts that pygls would keep."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Pass the message on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Pass the message on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: lsp.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Pass the message on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Service:
    """The open documents and the answers about them."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.documents: dict[str, Document] = {}
        self.encoding = "utf-16"
        self.pulls = False
        """Whether the client asks for findings, so that they are not sent unasked."""
        self.refreshes = False
        """Whether the client asks again for inlay hints when told to."""
        self.shows_results = False
        """Whether the client shows what commands return."""
        self.seconds = sizes.SECONDS
        self._pending: dict[str, asyncio.TimerHandle] = {}
        self._took: dict[str, float] = {}
        self._sizes: dict[str, tuple[OpenSheet, dict[str, int]]] = {}
        self._measuring: dict[str, asyncio.Task[dict[str, int]]] = {}
        self._files: dict[Path, tuple[float, OpenSheet]] = {}

    # -- life -----------------------------------------------------------------------------

    def initialize(self, params: lsp.InitializeParams) -> None:
        """Note what the client can do."""
        capabilities = params.capabilities
        document, workspace = capabilities.text_document, capabilities.workspace
        self.encoding = str(self.server.workspace.position_encoding or "utf-16")
        self.pulls = document is not None and document.diagnostic is not None
        hints = workspace.inlay_hint if workspace else None
        self.refreshes = bool(hints and hints.refresh_support)
        options = params.initialization_options
        if isinstance(options, dict):
            self.shows_results = bool(options.get("showsResults"))
            with contextlib.suppress(TypeError, ValueError):
                self.seconds = float(options.get("groundSeconds", self.seconds))

    def did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """Take a text over from its file."""
        item = params.text_document
        self.documents[item.uri] = Document(
            item.uri, item.text, item.version, item.language_id or "", self.encoding
        )
        self._changed(item.uri)

    def did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Follow the keystrokes."""
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is not None:
            document.change(params.content_changes, params.text_document.version)
            self._changed(uri)

    def did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Forget a text, and take back what was found in it."""
        uri = params.text_document.uri
        self.documents.pop(uri, None)
        self._sizes.pop(uri, None)
        self._took.pop(uri, None)
        self._stop(uri)
        if not self.pulls:
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _changed(self, uri: str) -> None:
        self._stop(uri)
        if self.pulls:
            return
        pause = min(LONGEST_PAUSE, max(0.002, self._took.get(uri, 0.0) - QUICK))
        self._pending[uri] = asyncio.get_running_loop().call_later(pause, self._publish, uri)

    def _stop(self, uri: str) -> None:
        """Give up what was being worked out about a text."""
        timer = self._pending.pop(uri, None)
        if timer is not None:
            timer.cancel()
        task = self._measuring.pop(uri, None)
        if task is not None:
            task.cancel()

    def _publish(self, uri: str) -> None:
        document = self.documents.get(uri)
        if document is None:
            return
        started = time.monotonic()
        found = findings.diagnostics(document)
        self._took[uri] = time.monotonic() - started
        self.server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, found, document.version)
        )

    # -- findings -------------------------------------------------------------------------

    def diagnostic(self, params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        """Answer what is wrong with a text."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return lsp.RelatedFullDocumentDiagnosticReport([])
        result = str(document.serial)
        if params.previous_result_id == result:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result)
        return lsp.RelatedFullDocumentDiagnosticReport(findings.diagnostics(document), result_id=result)

    def code_action(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Offer repairs."""
        document = self.documents.get(params.text_document.uri)
        return findings.actions(document, params.range, params.context.only) if document else []

    # -- names ----------------------------------------------------------------------------

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """Tell what a name is."""
        document = self.documents.get(params.text_document.uri)
        return hover(document, params.position) if document else None

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        """Say where a name is introduced."""
        return [place for place, _ in self._places(params, definitions=True)]

    def references(self, params: lsp.ReferenceParams) -> list[lsp.Location]:
        """Say where the same thing is named."""
        wanted = params.context.include_declaration
        return [place for place, defines in self._places(params) if wanted or not defines]

    def highlight(self, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        """Mark where the same thing is named."""
        kinds = lsp.DocumentHighlightKind
        return [
            lsp.DocumentHighlight(place.range, kinds.Write if defines else kinds.Read)
            for place, defines in self._places(params)
        ]

    def _places(
        self, params: lsp.TextDocumentPositionParams | Any, *, definitions: bool = False
    ) -> Iterator[tuple[lsp.Location, str]]:
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is None:
            return
        sheet = document.sheet
        found = sheet.names.at(sheet.places.offset(params.position))
        if found is None:
            return
        for one in sheet.names.definitions(found) if definitions else sheet.names.of(found):
            yield lsp.Location(uri, sheet.places.range(one.start, one.end)), one.defines

    def prepare_rename(self, params: lsp.PrepareRenameParams) -> lsp.PrepareRenameResult | None:
        """Say whether a name can be changed."""
        document = self.documents.get(params.text_document.uri)
        return edit.prepare_rename(document.sheet, params.position) if document else None

    def rename(self, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        """Change a name everywhere."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return None
        try:
            return edit.rename(document, params.position, params.new_name)
        except edit.CannotRename as error:
            raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed.value) from error

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        """Propose what could be written."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return lsp.CompletionList(is_incomplete=False, items=[])
        return completing.complete(document, params.position)

    # -- shape ----------------------------------------------------------------------------

    def _sheet(self, params: Any) -> OpenSheet | None:
        document = self.documents.get(params.text_document.uri)
        return document.sheet if document else None

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        """Lay a text out."""
        sheet = self._sheet(params)
        return edit.formatting(sheet) if sheet else None

    def range_formatting(self, params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        """Lay some statements out."""
        sheet = self._sheet(params)
        return edit.range_formatting(sheet, params.range) if sheet else None

    def document_symbol(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        """List the statements by relation."""
        sheet = self._sheet(params)
        return outline.symbols(sheet) if sheet else []

    def folding_range(self, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        """List what can be folded."""
        sheet = self._sheet(params)
        return outline.folds(sheet) if sheet else []

    def selection_range(self, params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange] | None:
        """List ever larger selections."""
        sheet = self._sheet(params)
        return outline.selection(sheet, params.positions) if sheet else None

    def semantic_tokens(self, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        """Colour a text."""
        sheet = self._sheet(params)
        return lsp.SemanticTokens(tokens(sheet) if sheet else [])

    def semantic_tokens_range(self, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        """Colour a part of a text."""
        sheet = self._sheet(params)
        return lsp.SemanticTokens(tokens(sheet, sheet.places.span(params.range)) if sheet else [])

    async def workspace_symbol(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        """Look through the open texts and the files of the workspace for names."""
        folders = [Path(path_of(folder.uri)) for folder in self.server.workspace.folders.values()]
        opened = {uri: document.sheet for uri, document in self.documents.items()}
        return await asyncio.to_thread(self._symbols, params.query, folders, opened)

    def _symbols(
        self, query: str, folders: list[Path], opened: dict[str, OpenSheet]
    ) -> list[lsp.WorkspaceSymbol]:
        found: list[lsp.WorkspaceSymbol] = []
        paths = {path_of(uri) for uri in opened}
        sheets = {**opened, **dict(self._saved(folders, paths))}
        for uri, sheet in sheets.items():
            found += outline.workspace_symbols(sheet, uri, query)
            if len(found) >= MOST_SYMBOLS:
                break
        return found[:MOST_SYMBOLS]

    def _saved(self, folders: list[Path], known: set[str]) -> Iterator[tuple[str, OpenSheet]]:
        """Yield the rulesheets below some folders that are not open; what did not change is kept."""
        number = 0
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                suffix = path.suffix.lower()
                if suffix not in SUFFIXES or suffix in PROLOG or str(path) in known:
                    continue
                if any(part.startswith(".") or part == "node_modules" for part in path.parts[1:]):
                    continue
                number += 1
                if number > MOST_FILES:
                    return
                with contextlib.suppress(OSError):
                    status = path.stat()
                    if status.st_size > MAX_BYTES:
                        continue
                    kept = self._files.get(path)
                    if kept is None or kept[0] != status.st_mtime:
                        source, _ = decode(path.read_bytes(), str(path))
                        kept = (
                            status.st_mtime,
                            OpenSheet(source.text, str(path), SUFFIXES[suffix], self.encoding),
                        )
                        self._files[path] = kept
                    yield path.as_uri(), kept[1]

    # -- what takes longer ----------------------------------------------------------------

    async def inlay_hint(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        """Show how large relations get, once that is known."""
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is None:
            return []
        sheet = document.sheet
        known = self._sizes.get(uri)
        if known is None or known[0] is not sheet:
            task = self._measuring.get(uri)
            if task is None:
                task = asyncio.create_task(self._measure(uri, sheet))
                self._measuring[uri] = task
            if self.refreshes:
                return []  # asked again when it is known
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                return []  # the text has changed
            known = self._sizes.get(uri)
        if known is None or known[0] is not sheet:
            return []
        return sizes.hints(sheet, known[1], params.range)

    async def _measure(self, uri: str, sheet: OpenSheet) -> dict[str, int]:
        await asyncio.sleep(LONGEST_PAUSE)  # somebody may still be typing
        found = {} if sheet.rules.errors else await sizes.measure(sheet, self.seconds)
        self._sizes[uri] = sheet, found
        self._measuring.pop(uri, None)
        if self.refreshes and found:
            self.server.workspace_inlay_hint_refresh(None)
        return found

    def code_lens(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        """Offer to play and to analyse, above the first role."""
        sheet = self._sheet(params)
        if sheet is None or sheet.rules.errors or not sheet.rules.roles:
            return []
        at = next((o.start for o in sheet.names.all if o.kind == "role" or o.key[1] == "role"), 0)
        place = sheet.places.range(at, at)
        uri = params.text_document.uri
        return [
            lsp.CodeLens(place, lsp.Command("Play", "herbrand.play", arguments=[uri])),
            lsp.CodeLens(place, lsp.Command("Analyse", "herbrand.analyse", arguments=[uri])),
        ]

    def explain(self, name: str) -> str:
        """Tell what a check flags, why, and what to write instead."""
        try:
            text = explain(name)
        except UnknownCheckError as error:
            text = str(error)
        return self._answer(text)

    def play(self, uri: str) -> str:
        """Tell how to play: a server has no terminal of its own."""
        return self._answer(f"To play, in a terminal: herbrand play {path_of(uri)}")

    async def analyse(self, uri: str) -> str:
        """Analyse a game as it is typed, in a process of its own and for a minute at most."""
        document = self.documents.get(uri)
        if document is None:
            return self._answer("that text is not open")
        sheet = document.sheet
        command = [sys.executable, "-m", "herbrand", "analyse", "-", "--notation", sheet.tree.notation]
        command += ["--budget", str(ANALYSE_SECONDS)]
        text = sheet.text.encode(errors="replace")
        try:
            output = await run_command(command, text, 2 * ANALYSE_SECONDS, with_errors=True)
        except TimeoutError:
            return self._answer(f"nothing was decided within {2 * ANALYSE_SECONDS} seconds")
        return self._answer(output.decode(errors="replace").strip())

    def _answer(self, text: str) -> str:
        if not self.shows_results:
            self._say(text, lsp.MessageType.Info)
        return text

    def _say(self, text: str, level: lsp.MessageType) -> None:
        self.server.window_show_message(lsp.ShowMessageParams(level, text))


def make_server() -> LanguageServer:
    """Return a server that has not started; `start_io()` serves standard input and output."""
    server = LanguageServer("herbrand", __version__, protocol_cls=Protocol)
    service = Service(server)
    legend = lsp.SemanticTokensLegend(LEGEND.token_types, LEGEND.token_modifiers)
    kinds = [lsp.CodeActionKind.QuickFix, findings.FIX_ALL]
    table: list[tuple[str, Callable[..., Any], Any]] = [
        (lsp.INITIALIZE, service.initialize, None),
        (lsp.TEXT_DOCUMENT_DID_OPEN, service.did_open, None),
        (lsp.TEXT_DOCUMENT_DID_CHANGE, service.did_change, None),
        (lsp.TEXT_DOCUMENT_DID_CLOSE, service.did_close, None),
        (
            lsp.TEXT_DOCUMENT_DIAGNOSTIC,
            service.diagnostic,
            lsp.DiagnosticOptions(
                inter_file_dependencies=True, workspace_diagnostics=False, identifier="herbrand"
            ),
        ),
        (
            lsp.TEXT_DOCUMENT_CODE_ACTION,
            service.code_action,
            lsp.CodeActionOptions(code_action_kinds=kinds),
        ),
        (lsp.TEXT_DOCUMENT_HOVER, service.hover, None),
        (lsp.TEXT_DOCUMENT_DEFINITION, service.definition, None),
        (lsp.TEXT_DOCUMENT_REFERENCES, service.references, None),
        (lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, service.highlight, None),
        (lsp.TEXT_DOCUMENT_PREPARE_RENAME, service.prepare_rename, None),
        (lsp.TEXT_DOCUMENT_RENAME, service.rename, lsp.RenameOptions(prepare_provider=True)),
        (
            lsp.TEXT_DOCUMENT_COMPLETION,
            service.completion,
            lsp.CompletionOptions(trigger_characters=["(", "?", " ", ","]),
        ),
        (lsp.TEXT_DOCUMENT_FORMATTING, service.formatting, None),
        (lsp.TEXT_DOCUMENT_RANGE_FORMATTING, service.range_formatting, None),
        (lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, service.document_symbol, None),
        (lsp.TEXT_DOCUMENT_FOLDING_RANGE, service.folding_range, None),
        (lsp.TEXT_DOCUMENT_SELECTION_RANGE, service.selection_range, None),
        (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, service.semantic_tokens, legend),
        (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, service.semantic_tokens_range, legend),
        (lsp.WORKSPACE_SYMBOL, service.workspace_symbol, None),
        (lsp.TEXT_DOCUMENT_INLAY_HINT, service.inlay_hint, None),
        (lsp.TEXT_DOCUMENT_CODE_LENS, service.code_lens, None),
    ]
    for method, answer, options in table:
        server.feature(method, options)(partial(answer))

    @server.command("herbrand.explain")
    def explain_check(name: str) -> str:
        return service.explain(name)

    @server.command("herbrand.play")
    def play_game(uri: str) -> str:
        return service.play(uri)

    @server.command("herbrand.analyse")
    async def analyse_game(uri: str) -> str:
        return await service.analyse(uri)

    return server
