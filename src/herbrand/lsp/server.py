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
        self._sizes: dict[str, tuple[OpenSheet, dict[str, int]]] = {}
        self._remarks: dict[str, tuple[OpenSheet, list[remarks.Remark]]] = {}
        self._measuring: dict[str, asyncio.Task[dict[str, int]]] = {}
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
        self._sizes.pop(uri, None)
        self._remarks.pop(uri, None)
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

    def diagnostic(self, params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        """Return the diagnostics of a document."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return lsp.RelatedFullDocumentDiagnosticReport([])
        result = str(document.serial)
        if params.previous_result_id == result:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result)
        return lsp.RelatedFullDocumentDiagnosticReport(findings.diagnostics(document), result_id=result)

    def code_action(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Return fixes and explanations."""
        document = self.documents.get(params.text_document.uri)
        return findings.actions(document, params.range, params.context.only) if document else []

    # -- names ----------------------------------------------------------------------------

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """Describe a name."""
        document = self.documents.get(params.text_document.uri)
        return hover(document, params.position) if document else None

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        """Return the definitions of a name."""
        return [place for place, _ in self._places(params, definitions=True)]

    def references(self, params: lsp.ReferenceParams) -> list[lsp.Location]:
        """Return the occurrences of a name."""
        wanted = params.context.include_declaration
        return [place for place, defines in self._places(params) if wanted or not defines]

    def highlight(self, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        """Highlight the occurrences of a name."""
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
        occurrence = sheet.names.at(sheet.places.offset(params.position))
        if occurrence is None:
            return
        for use in sheet.names.definitions(occurrence) if definitions else sheet.names.of(occurrence):
            yield lsp.Location(uri, sheet.places.range(use.start, use.end)), use.defines

    def prepare_rename(self, params: lsp.PrepareRenameParams) -> lsp.PrepareRenameResult | None:
        """Return the name to be renamed, if it can be."""
        document = self.documents.get(params.text_document.uri)
        return edit.prepare_rename(document.sheet, params.position) if document else None

    def rename(self, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        """Rename all occurrences of a name."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return None
        try:
            return edit.rename(document, params.position, params.new_name)
        except edit.CannotRename as error:
            raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed.value) from error

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        """Return completions."""
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return lsp.CompletionList(is_incomplete=False, items=[])
        return completing.complete(document, params.position)

    def signature_help(self, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        """Return the arguments of the name that is being written."""
        document = self.documents.get(params.text_document.uri)
        return signature_help(document, params.position) if document else None

    # -- structure ------------------------------------------------------------------------

    def _sheet(self, params: Any) -> OpenSheet | None:
        document = self.documents.get(params.text_document.uri)
        return document.sheet if document else None

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        """Format a document."""
        sheet = self._sheet(params)
        return edit.formatting(sheet) if sheet else None

    def range_formatting(self, params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        """Format some statements."""
        sheet = self._sheet(params)
        return edit.range_formatting(sheet, params.range) if sheet else None

    def document_symbol(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        """List the statements by relation."""
        sheet = self._sheet(params)
        return outline.symbols(sheet) if sheet else []

    def folding_range(self, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        """Return folding ranges."""
        sheet = self._sheet(params)
        return outline.folds(sheet) if sheet else []

    def selection_range(self, params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange] | None:
        """Return nested selections."""
        sheet = self._sheet(params)
        return outline.selection(sheet, params.positions) if sheet else None

    def semantic_tokens(self, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        """Return the semantic tokens of a document."""
        sheet = self._sheet(params)
        return lsp.SemanticTokens(tokens(sheet) if sheet else [])

    def semantic_tokens_range(self, params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        """Return the semantic tokens of a range."""
        sheet = self._sheet(params)
        return lsp.SemanticTokens(tokens(sheet, sheet.places.span(params.range)) if sheet else [])

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
        cached = self._sizes.get(uri)
        if cached is None or cached[0] is not sheet:
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
            cached = self._sizes.get(uri)
        if cached is None or cached[0] is not sheet:
            return []
        entry = self._remarks.get(uri)
        more = remarks.hints(sheet, entry[1], params.range) if entry is not None and entry[0] is sheet else []
        return [*sizes.hints(sheet, cached[1], params.range), *more]

    async def _measure(self, uri: str, sheet: OpenSheet, delay: float) -> dict[str, int]:
        await asyncio.sleep(delay)
        measured = {} if sheet.rules.errors else await sizes.measure(sheet, self.seconds)
        self._sizes[uri] = sheet, measured
        if self.refreshes and measured:
            self.server.workspace_inlay_hint_refresh(None)
            new_remarks = await remarks.find_remarks(sheet, self.seconds)
            self._remarks[uri] = sheet, new_remarks
            if new_remarks:
                self.server.workspace_inlay_hint_refresh(None)
        self._measuring.pop(uri, None)
        return measured

    def code_lens(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        """Return the commands "Play", "Analyse" and "Repair" above the first role."""
        sheet = self._sheet(params)
        if sheet is None or sheet.rules.errors or not sheet.rules.roles:
            return []
        at = next((o.start for o in sheet.names.all if o.kind == "role" or o.key[1] == "role"), 0)
        place = sheet.places.range(at, at)
        uri = params.text_document.uri
        return [
            lsp.CodeLens(place, lsp.Command("Play", "herbrand.play", arguments=[uri])),
            lsp.CodeLens(place, lsp.Command("Analyse", "herbrand.analyse", arguments=[uri])),
            lsp.CodeLens(place, lsp.Command("Repair", "herbrand.repair", arguments=[uri])),
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
            self._say(text, lsp.MessageType.Info)
        return text

    def _say(self, text: str, level: lsp.MessageType) -> None:
        self.server.window_show_message(lsp.ShowMessageParams(level, text))


def make_server() -> LanguageServer:
    """Return a server that has not started; `start_io()` serves standard input and output."""
    server = LanguageServer("herbrand", __version__, protocol_cls=Protocol)
    service = Service(server)
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
        (
            lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
            service.signature_help,
            lsp.SignatureHelpOptions(trigger_characters=["(", " ", ","], retrigger_characters=[")"]),
        ),
        (lsp.TEXT_DOCUMENT_FORMATTING, service.formatting, None),
        (lsp.TEXT_DOCUMENT_RANGE_FORMATTING, service.range_formatting, None),
        (lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, service.document_symbol, None),
        (lsp.TEXT_DOCUMENT_FOLDING_RANGE, service.folding_range, None),
        (lsp.TEXT_DOCUMENT_SELECTION_RANGE, service.selection_range, None),
        (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, service.semantic_tokens, LEGEND),
        (lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, service.semantic_tokens_range, LEGEND),
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

    @server.command("herbrand.repair")
    async def repair_game(uri: str) -> str:
        return await service.repair(uri)

    return server
