"""`make_server`: the language server and its message handlers.

pygls keeps its own copies of open texts, and splits lines at more characters than the protocol allows;
`Protocol` disables that, so that the documents here are the only copies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
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
from herbrand.lsp import edit, findings, outline, remarks, sizes
from herbrand.lsp.document import Document, OpenSheet, path_of
from herbrand.lsp.hover import hover
from herbrand.lsp.signature import signature_help
from herbrand.lsp.tokens import LEGEND, tokens
from herbrand.runtime.pool import run_command
from herbrand.syntax.files import MAX_BYTES, SUFFIXES, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = ["Service", "make_server"]

MAX_FILES: Final = 500
"""Maximum number of files searched for workspace symbols."""
MAX_SYMBOLS: Final = 300
QUICK_SECONDS: Final = 0.1
"""Checks that take less than this run after each keystroke; slower ones are delayed until a pause."""
MAX_DELAY: Final = 0.5
ANALYSE_SECONDS: Final = 60
REPAIR_SECONDS: Final = 60
PROLOG: Final = frozenset({".pl", ".pro", ".prolog"})
"""Suffixes not searched for symbols, since such files are mostly Prolog programs."""

OPTIONS: Final = {
    lsp.TEXT_DOCUMENT_DIAGNOSTIC: lsp.DiagnosticOptions(
        inter_file_dependencies=True, workspace_diagnostics=False, identifier="herbrand"
    ),
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions(
        code_action_kinds=[lsp.CodeActionKind.QuickFix, findings.FIX_ALL]
    ),
    lsp.TEXT_DOCUMENT_RENAME: lsp.RenameOptions(prepare_provider=True),
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=["(", "?", " ", ","]),
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: lsp.SignatureHelpOptions(
        trigger_characters=["(", " ", ","], retrigger_characters=[")"]
    ),
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: LEGEND,
    lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: LEGEND,
}
"""What the server says of its handlers when a client asks for its capabilities."""

_log = logging.getLogger(__name__)


def _call_handler_only(method: str) -> Callable[..., Any]:
    @lsp_method(method)
    def call(self: LanguageServerProtocol, params: Any) -> Generator[Any, Any, None]:
        yield self.fm.features[method], (params,), None

    return call


class Protocol(LanguageServerProtocol):
    """The protocol without pygls's own copies of texts."""

    lsp_text_document__did_open = _call_handler_only(lsp.TEXT_DOCUMENT_DID_OPEN)
    lsp_text_document__did_change = _call_handler_only(lsp.TEXT_DOCUMENT_DID_CHANGE)
    lsp_text_document__did_close = _call_handler_only(lsp.TEXT_DOCUMENT_DID_CLOSE)


class Service:
    """The open documents and the handlers of requests."""

    def __init__(self, server: LanguageServer) -> None:
        self.server = server
        self.documents: dict[str, Document] = {}
        self.encoding = "utf-16"
        self.pulls = False
        """Whether the client pulls diagnostics, so that the server must not push them."""
        self.refreshes = False
        """Whether the client supports refreshing inlay hints."""
        self.shows_results = False
        """Whether the client shows the results of commands."""
        self.seconds = sizes.SECONDS
        self._pending: dict[str, asyncio.TimerHandle] = {}
        self._check_seconds: dict[str, float] = {}
        self._measuring: dict[str, asyncio.Task[None]] = {}
        self._files: dict[Path, tuple[float, OpenSheet]] = {}

    # -- life -----------------------------------------------------------------------------

    def initialize(self, params: lsp.InitializeParams) -> None:
        """Store the client's capabilities and options."""
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
        """Open a document."""
        item = params.text_document
        self.documents[item.uri] = Document(
            item.uri, item.text, item.version, item.language_id or "", self.encoding
        )
        self._changed(item.uri)

    def did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Apply changes to a document."""
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is not None:
            document.change(params.content_changes, params.text_document.version)
            self._changed(uri)

    def did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Close a document and clear its diagnostics."""
        uri = params.text_document.uri
        self.documents.pop(uri, None)
        self._check_seconds.pop(uri, None)
        self._stop(uri)
        if not self.pulls:
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def _changed(self, uri: str) -> None:
        self._stop(uri)
        if self.pulls:
            return
        delay = min(MAX_DELAY, max(0.002, self._check_seconds.get(uri, 0.0) - QUICK_SECONDS))
        self._pending[uri] = asyncio.get_running_loop().call_later(delay, self._publish, uri)

    def _stop(self, uri: str) -> None:
        """Cancel pending work on a document."""
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
        diagnostics = findings.diagnostics(document)
        self._check_seconds[uri] = time.monotonic() - started
        self.server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, diagnostics, document.version)
        )

    # -- diagnostics ----------------------------------------------------------------------

    def diagnostic(
        self, document: Document, params: lsp.DocumentDiagnosticParams
    ) -> lsp.DocumentDiagnosticReport:
        """Return the diagnostics of a document."""
        result = str(document.serial)
        if params.previous_result_id == result:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result)
        return lsp.RelatedFullDocumentDiagnosticReport(findings.diagnostics(document), result_id=result)

    # -- names ----------------------------------------------------------------------------

    def definition(self, document: Document, params: lsp.DefinitionParams) -> list[lsp.Location]:
        """Return the definitions of a name."""
        return [place for place, _ in self._places(document, params, definitions=True)]

    def references(self, document: Document, params: lsp.ReferenceParams) -> list[lsp.Location]:
        """Return the occurrences of a name."""
        wanted = params.context.include_declaration
        return [place for place, defines in self._places(document, params) if wanted or not defines]

    def highlight(
        self, document: Document, params: lsp.DocumentHighlightParams
    ) -> list[lsp.DocumentHighlight]:
        """Highlight the occurrences of a name."""
        kinds = lsp.DocumentHighlightKind
        return [
            lsp.DocumentHighlight(place.range, kinds.Write if defines else kinds.Read)
            for place, defines in self._places(document, params)
        ]

    def _places(
        self, document: Document, params: lsp.TextDocumentPositionParams | Any, *, definitions: bool = False
    ) -> Iterator[tuple[lsp.Location, str]]:
        sheet = document.sheet
        occurrence = sheet.names.at(sheet.places.offset(params.position))
        if occurrence is None:
            return
        for use in sheet.names.definitions(occurrence) if definitions else sheet.names.of(occurrence):
            yield lsp.Location(document.uri, sheet.places.range(use.start, use.end)), use.defines

    def rename(self, document: Document, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        """Rename all occurrences of a name."""
        try:
            return edit.rename(document, params.position, params.new_name)
        except edit.CannotRename as error:
            raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed.value) from error

    # -- structure ------------------------------------------------------------------------

    def about(self, answer: Callable[[Document, Any], Any], otherwise: Any = None) -> Callable[[Any], Any]:
        """Return a handler that answers a request about an open document; `otherwise` if it is not open."""

        def handle(params: Any) -> Any:
            document = self.documents.get(params.text_document.uri)
            return otherwise if document is None else answer(document, params)

        return handle

    async def workspace_symbol(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        """Search the open documents and the files of the workspace for names."""
        folders = [Path(path_of(folder.uri)) for folder in self.server.workspace.folders.values()]
        opened = {uri: document.sheet for uri, document in self.documents.items()}
        return await asyncio.to_thread(self._symbols, params.query, folders, opened)

    def _symbols(
        self, query: str, folders: list[Path], opened: dict[str, OpenSheet]
    ) -> list[lsp.WorkspaceSymbol]:
        symbols: list[lsp.WorkspaceSymbol] = []
        paths = {path_of(uri) for uri in opened}
        sheets = {**opened, **dict(self._saved(folders, paths))}
        for uri, sheet in sheets.items():
            symbols += outline.workspace_symbols(sheet, uri, query)
            if len(symbols) >= MAX_SYMBOLS:
                break
        return symbols[:MAX_SYMBOLS]

    def _saved(self, folders: list[Path], opened: set[str]) -> Iterator[tuple[str, OpenSheet]]:
        """Yield the rulesheets in folders that are not open, cached by modification time."""
        number = 0
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                suffix = path.suffix.lower()
                if suffix not in SUFFIXES or suffix in PROLOG or str(path) in opened:
                    continue
                if any(part.startswith(".") or part == "node_modules" for part in path.parts[1:]):
                    continue
                number += 1
                if number > MAX_FILES:
                    return
                with contextlib.suppress(OSError):
                    status = path.stat()
                    if status.st_size > MAX_BYTES:
                        continue
                    cached = self._files.get(path)
                    if cached is None or cached[0] != status.st_mtime:
                        source, _ = decode(path.read_bytes(), str(path))
                        sheet = OpenSheet(source.text, str(path), SUFFIXES[suffix], self.encoding)
                        cached = self._files[path] = (status.st_mtime, sheet)
                    yield path.as_uri(), cached[1]

    # -- slow requests --------------------------------------------------------------------

    async def inlay_hint(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        """Return the sizes of relations and remarks on rules as hints, once they are computed."""
        uri = params.text_document.uri
        document = self.documents.get(uri)
        if document is None:
            return []
        sheet = document.sheet
        if sheet.sizes is None:
            task = self._measuring.get(uri)
            if task is None:
                delay = MAX_DELAY if document.serial else 0.0  # the user may still be typing
                task = asyncio.create_task(self._measure(uri, sheet, delay))
                self._measuring[uri] = task
            if self.refreshes:
                return []  # the client asks again after `_measure`
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError:
                return []  # the text has changed
        return [
            *sizes.hints(sheet, sheet.sizes or {}, params.range),
            *remarks.hints(sheet, sheet.remarks, params.range),
        ]

    async def _measure(self, uri: str, sheet: OpenSheet, delay: float) -> None:
        await asyncio.sleep(delay)
        sheet.sizes = {} if sheet.rules.errors else await sizes.measure(sheet, self.seconds)
        if self.refreshes and sheet.sizes:
            self.server.workspace_inlay_hint_refresh(None)
            sheet.remarks = await remarks.find_remarks(sheet, self.seconds)
            if sheet.remarks:
                self.server.workspace_inlay_hint_refresh(None)
        self._measuring.pop(uri, None)

    def code_lens(self, document: Document, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        """Return the commands "Play", "Analyse" and "Repair" above the first role."""
        del params
        sheet = document.sheet
        if sheet.rules.errors or not sheet.rules.roles:
            return []
        at = next((o.start for o in sheet.names.all if o.kind == "role" or o.key[1] == "role"), 0)
        place = sheet.places.range(at, at)
        return [
            lsp.CodeLens(place, lsp.Command(title, f"herbrand.{title.lower()}", arguments=[document.uri]))
            for title in ("Play", "Analyse", "Repair")
        ]

    def explain(self, name: str) -> str:
        """Explain a check."""
        try:
            text = explain(name)
        except UnknownCheckError as error:
            text = str(error)
        return self._answer(text)

    def play(self, uri: str) -> str:
        """Return the command to play, since a server has no terminal."""
        return self._answer(f"Run in a terminal: herbrand play {path_of(uri)}")

    async def analyse(self, uri: str) -> str:
        """Analyse the current text in a subprocess with a time limit."""
        document = self.documents.get(uri)
        if document is None:
            return self._answer("the document is not open")
        options = ["--budget", str(ANALYSE_SECONDS)]
        output = await self._run("analyse", document.sheet, options, ANALYSE_SECONDS, with_errors=True)
        return self._answer(output or f"no result within {2 * ANALYSE_SECONDS} seconds")

    async def repair(self, uri: str) -> str:
        """Look in a subprocess for an edit that repairs the game; apply it in the editor, and name it."""
        document = self.documents.get(uri)
        if document is None:
            return self._answer("the document is not open")
        sheet = document.sheet
        options = ["--json", "--seconds", str(REPAIR_SECONDS)]
        output = await self._run("repair", sheet, options, REPAIR_SECONDS)
        if not output:
            return self._answer(f"no result within {2 * REPAIR_SECONDS} seconds")
        search = json.loads(output)
        if search["text"] is None:
            needed = search["errors"] or search["faults"] or search["difference"]
            return self._answer("no edit found that repairs the game" if needed else "nothing to repair")
        replacement = lsp.TextEdit(sheet.places.range(0, len(sheet.text)), search["text"])
        edit = lsp.WorkspaceEdit(changes={uri: [replacement]})
        self.server.workspace_apply_edit(lsp.ApplyWorkspaceEditParams(edit, "Repair the game"))
        rules = [rule for one in search["repairs"][0]["edits"] for rule in one["after"]]
        proved = "proved" if search["repairs"][0]["proved"] else "not all proved"
        return self._answer(f"repaired ({proved}): {'; '.join(rules) or 'a rule is removed'}")

    async def _run(
        self, name: str, sheet: OpenSheet, options: list[str], seconds: int, *, with_errors: bool = False
    ) -> str:
        """Run a command of herbrand on a sheet; return its output, empty if it takes too long."""
        command = [sys.executable, "-m", "herbrand", name, "-", "--notation", sheet.tree.notation, *options]
        text = sheet.text.encode(errors="replace")
        try:
            output = await run_command(command, text, 2 * seconds, with_errors=with_errors)
        except TimeoutError:
            return ""
        return output.decode(errors="replace").strip()

    def _answer(self, text: str) -> str:
        if not self.shows_results:
            self.server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
        return text


def make_server() -> LanguageServer:
    """Return a server that has not started; `start_io()` serves standard input and output."""
    server = LanguageServer("herbrand", __version__, protocol_cls=Protocol)
    service = Service(server)
    about = service.about
    handlers: dict[str, Callable[..., Any]] = {
        lsp.INITIALIZE: service.initialize,
        lsp.TEXT_DOCUMENT_DID_OPEN: service.did_open,
        lsp.TEXT_DOCUMENT_DID_CHANGE: service.did_change,
        lsp.TEXT_DOCUMENT_DID_CLOSE: service.did_close,
        lsp.TEXT_DOCUMENT_DIAGNOSTIC: about(service.diagnostic, lsp.RelatedFullDocumentDiagnosticReport([])),
        lsp.TEXT_DOCUMENT_CODE_ACTION: about(
            lambda document, at: findings.actions(document, at.range, at.context.only), []
        ),
        lsp.TEXT_DOCUMENT_HOVER: about(lambda document, at: hover(document, at.position)),
        lsp.TEXT_DOCUMENT_DEFINITION: about(service.definition, []),
        lsp.TEXT_DOCUMENT_REFERENCES: about(service.references, []),
        lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: about(service.highlight, []),
        lsp.TEXT_DOCUMENT_PREPARE_RENAME: about(
            lambda document, at: edit.prepare_rename(document.sheet, at.position)
        ),
        lsp.TEXT_DOCUMENT_RENAME: about(service.rename),
        lsp.TEXT_DOCUMENT_COMPLETION: about(
            lambda document, at: completing.complete(document, at.position),
            lsp.CompletionList(is_incomplete=False, items=[]),
        ),
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP: about(lambda document, at: signature_help(document, at.position)),
        lsp.TEXT_DOCUMENT_FORMATTING: about(lambda document, _: edit.formatting(document.sheet)),
        lsp.TEXT_DOCUMENT_RANGE_FORMATTING: about(
            lambda document, at: edit.range_formatting(document.sheet, at.range)
        ),
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: about(lambda document, _: outline.symbols(document.sheet), []),
        lsp.TEXT_DOCUMENT_FOLDING_RANGE: about(lambda document, _: outline.folds(document.sheet), []),
        lsp.TEXT_DOCUMENT_SELECTION_RANGE: about(
            lambda document, at: outline.selection(document.sheet, at.positions)
        ),
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: about(
            lambda document, _: lsp.SemanticTokens(tokens(document.sheet)), lsp.SemanticTokens([])
        ),
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: about(
            lambda document, at: lsp.SemanticTokens(
                tokens(document.sheet, document.sheet.places.span(at.range))
            ),
            lsp.SemanticTokens([]),
        ),
        lsp.WORKSPACE_SYMBOL: service.workspace_symbol,
        lsp.TEXT_DOCUMENT_INLAY_HINT: service.inlay_hint,
        lsp.TEXT_DOCUMENT_CODE_LENS: about(service.code_lens, []),
    }
    for method, answer in handlers.items():
        server.feature(method, OPTIONS.get(method))(partial(answer))
    for name in ("explain", "play", "analyse", "repair"):
        server.command(f"herbrand.{name}")(partial(getattr(service, name)))
    return server
