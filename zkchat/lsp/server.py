"""The language server: methods of the protocol over a vault, and the connection on standard streams."""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from lsprotocol import types
from msgspec import Struct
from msgspec.structs import replace
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec

from zkchat.app import find_vault, load_workspace, open_note_library
from zkchat.core import (
    Ambiguous,
    ChangeSet,
    Channel,
    Environment,
    Resolved,
    VaultError,
    ZkchatError,
    claimed_streams,
    file_title,
    is_note,
)
from zkchat.lsp.vault import (
    Addresses,
    EditorVault,
    Fix,
    Found,
    FoundKind,
    OpenDocument,
    Positions,
    file_of,
    heading_tree,
    workspace_edit,
)
from zkchat.version import __version__

_PAUSE_SECONDS: Final = 0.2
"""Without a change, before what is wrong is looked for: else it would be at every key."""
_REQUEST_FAILED: Final = -32803
_SEVERITIES: Final[dict[FoundKind, types.DiagnosticSeverity]] = {
    "broken-link": types.DiagnosticSeverity.Warning,
    "broken-place": types.DiagnosticSeverity.Warning,
    "ambiguous-link": types.DiagnosticSeverity.Information,
    "unlinked-mention": types.DiagnosticSeverity.Hint,
}


class _Place(NamedTuple):
    """What is asked about: a note, at an offset if a position is given."""

    vault: EditorVault
    path: str
    positions: Positions
    offset: int


class _Server(LanguageServer):
    """pygls' server. What goes wrong besides a request is written to the editor's log, and not shown."""

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:  # noqa: ARG002
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, str(error)))


class VaultServer:
    """One connection to an editor. The vault is opened with it; without one, every answer is empty."""

    def __init__(self, environment: Environment, vault: Path | None) -> None:
        self._environment = environment
        self._folder = vault
        self._stack = ExitStack()
        self._vault: EditorVault | None = None
        self._trouble = ""
        """Why there is no vault, as sentences."""
        self._with_mentions = False
        self._ready = asyncio.Event()
        """Set once the index was brought up to date: before that, links would seem to lead nowhere."""
        self._is_stale = self._is_refreshing = False
        self._looks: dict[str, asyncio.Task[None]] = {}
        """By path, the next look at what is wrong."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.server = _Server("zkchat", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self._register()

    async def run(self, channel: Channel) -> None:
        try:
            await _serve(self.server, channel)
        finally:
            if self._vault:
                self._vault.is_closing = True

    def close(self) -> None:
        self._stack.close()

    def _register(self) -> None:
        any_file = types.FileOperationFilter(types.FileOperationPattern(glob="**"), scheme="file")
        moves = types.FileOperationRegistrationOptions([any_file])
        told: dict[str, tuple[Callable[[Any], None], object]] = {
            types.INITIALIZE: (self._initialize, None),
            types.INITIALIZED: (self._initialized, None),
            types.TEXT_DOCUMENT_DID_OPEN: (self._open, None),
            types.TEXT_DOCUMENT_DID_CHANGE: (self._change, None),
            types.TEXT_DOCUMENT_DID_CLOSE: (self._close, None),
            types.TEXT_DOCUMENT_DID_SAVE: (self._files_changed, None),
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (self._files_changed, None),
            types.WORKSPACE_DID_RENAME_FILES: (self._files_changed, moves),
        }
        fixes = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        asked: dict[str, tuple[Callable[[Any], object], object]] = {
            types.WORKSPACE_WILL_RENAME_FILES: (self._will_rename, moves),
            types.TEXT_DOCUMENT_RENAME: (self._rename, types.RenameOptions(prepare_provider=True)),
            types.WORKSPACE_SYMBOL: (self._find_symbols, None),
        }
        triggers = types.CompletionOptions(trigger_characters=["[", "#", "^"])
        of_notes: dict[str, tuple[Callable[[Any, _Place], object], object]] = {
            types.TEXT_DOCUMENT_COMPLETION: (self._complete, triggers),
            types.TEXT_DOCUMENT_HOVER: (self._hover, None),
            types.TEXT_DOCUMENT_DEFINITION: (self._define, None),
            types.TEXT_DOCUMENT_REFERENCES: (self._refer, None),
            types.TEXT_DOCUMENT_PREPARE_RENAME: (self._prepare_rename, None),
            types.TEXT_DOCUMENT_CODE_ACTION: (self._act, fixes),
            types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (self._list_headings, None),
            types.TEXT_DOCUMENT_DOCUMENT_LINK: (self._list_links, types.DocumentLinkOptions()),
        }
        asked |= {method: (partial(self._ask, answer), options) for method, (answer, options) in of_notes.items()}
        for method, (take, options) in told.items():
            self.server.feature(method, options)(partial(take))  # which pygls may set attributes of
        for method, (answer, options) in asked.items():
            self.server.feature(method, options)(self._once_ready(answer))

    def _once_ready(self, answer: Callable[[Any], object]) -> Callable[[Any], Awaitable[object]]:
        async def wait(params: Any) -> object:
            await self._ready.wait()
            return answer(params)

        return wait

    # Opening a vault, and documents.

    def _initialize(self, params: types.InitializeParams) -> None:
        options = params.initialization_options
        self._with_mentions = isinstance(options, dict) and options.get("mentions") is True
        folders = [folder.uri for folder in params.workspace_folders or ()]
        folder = file_of(next(iter(folders), params.root_uri or ""))
        cwd = folder or self._environment.cwd
        try:
            vault = find_vault(replace(self._environment, cwd=cwd), self._folder)
            workspace = load_workspace(self._environment, vault)
            library, notices = self._stack.enter_context(open_note_library(workspace))
        except ZkchatError as error:
            self._trouble = f"{error.message} {error.hint or ''}".strip()
            self._ready.set()
            return
        self._trouble = " ".join((*notices, *workspace.loaded.every_warning))
        self._vault = EditorVault(workspace, library)
        self._addresses = Addresses(workspace.paths.vault, folder)

    def _initialized(self, _: types.InitializedParams) -> None:
        if self._trouble:
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, self._trouble))
        workspace = self.server.client_capabilities.workspace
        watched = workspace and workspace.did_change_watched_files
        if self._vault and watched and watched.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*.md")])
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            asked = types.RegistrationParams([types.Registration("zkchat-files", method, options)])
            self.server.client_register_capability(asked)
        self._files_changed()

    def _open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._hold(params.text_document.uri, params.text_document.version, params.text_document.text)

    def _change(self, params: types.DidChangeTextDocumentParams) -> None:
        for change in params.content_changes:
            self._hold(params.text_document.uri, params.text_document.version, change.text)

    def _hold(self, uri: str, version: int | None, text: str) -> None:
        path = self._path(uri)
        if self._vault and path:
            self._vault.documents[path] = OpenDocument(uri=uri, version=version, text=text)
            self._look_at(path)

    def _close(self, params: types.DidCloseTextDocumentParams) -> None:
        path = self._path(params.text_document.uri)
        if self._vault and path:
            self._vault.documents.pop(path, None)
            if look := self._looks.pop(path, None):
                look.cancel()
            self._publish(params.text_document.uri, [])

    def _path(self, uri: str) -> str | None:
        path = self._addresses.path(uri) if self._vault else None
        return path if path and is_note(path) else None

    def _files_changed(self, _: object = None) -> None:
        task = asyncio.get_running_loop().create_task(self._refresh())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _refresh(self) -> None:
        """Bring the index up to date, once more if files change meanwhile, and look at the open notes again."""
        self._is_stale = True
        if self._vault is None or self._is_refreshing:
            return
        self._is_refreshing = True
        try:
            while self._is_stale:
                self._is_stale = False
                await asyncio.to_thread(self._vault.refresh)
        except ZkchatError as error:
            self.server.window_log_message(types.LogMessageParams(types.MessageType.Warning, error.message))
        finally:
            self._is_refreshing = False
            self._ready.set()
        for path in self._vault.documents:
            self._look_at(path)

    # What is wrong.

    def _look_at(self, path: str) -> None:
        if look := self._looks.pop(path, None):
            look.cancel()
        self._looks[path] = asyncio.get_running_loop().create_task(self._look(path))

    async def _look(self, path: str) -> None:
        await asyncio.sleep(_PAUSE_SECONDS)
        await self._ready.wait()
        if self._vault is None or (document := self._vault.documents.get(path)) is None:
            return
        positions = self._positions(document.text)
        with suppress(ZkchatError):
            found = [*self._vault.problems(path)]
            for first in (group.first for group in (self._vault.mentions(path) if self._with_mentions else ())):
                said = f"{first.target} is mentioned without a link."
                found.append(Found("unlinked-mention", first.start, first.end, said))
            shown = [
                types.Diagnostic(
                    range=positions.range(each.start, each.end),
                    message=each.message,
                    severity=_SEVERITIES[each.kind],
                    code=each.kind,
                    source="zkchat",
                )
                for each in found
            ]
            self._publish(document.uri, shown, document.version)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        params = types.PublishDiagnosticsParams(uri=uri, diagnostics=found, version=version)
        self.server.text_document_publish_diagnostics(params)

    # Questions.

    def _complete(self, _params: types.CompletionParams, at: _Place) -> types.CompletionList:
        vault, path, positions, offset = at
        before = positions.line_before(offset)
        document = Document(before + vault.text(path)[offset:], len(before))
        rows = vault.completer(path).get_completions(document, CompleteEvent())
        items = [
            types.CompletionItem(
                label=row.display_text,
                detail=row.display_meta_text,
                kind=types.CompletionItemKind.Reference,
                sort_text=f"{number:04}",
                # They match as we compare names, and the next key asks again.
                filter_text=before[len(before) + row.start_position :] or None,
                text_edit=types.TextEdit(positions.range(offset + row.start_position, offset), row.text),
            )
            for number, row in enumerate(rows)
        ]
        return types.CompletionList(is_incomplete=True, items=items)

    def _hover(self, _params: types.HoverParams, at: _Place) -> types.Hover | None:
        vault, path, positions, offset = at
        link = vault.link_at(path, offset)
        passage = vault.passage(link, path) if link else ""
        if link is None or not passage:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, passage)
        return types.Hover(content, positions.range(link.start, link.end))

    def _define(self, _params: types.DefinitionParams, at: _Place) -> types.Location | None:
        vault, path, _, offset = at
        link = vault.link_at(path, offset)
        found = vault.resolve(link, path) if link else None
        if not isinstance(found, Resolved | Ambiguous):
            return None
        return self._location(found.path, found.line or 1)

    def _location(self, path: str, line: int) -> types.Location:
        place = types.Position(line - 1, 0)
        return types.Location(self._uri(path), types.Range(place, place))

    def _uri(self, path: str) -> str:
        """As the editor spells it, where it has the file open."""
        document = self._vault.documents.get(path) if self._vault else None
        return document.uri if document else self._addresses.uri(path)

    def _refer(self, _params: types.ReferenceParams, at: _Place) -> list[types.Location]:
        vault, path, _, offset = at
        target = vault.target_at(path, offset)
        return [
            types.Location(self._uri(each.path), self._positions(each.text).range(each.start, each.end))
            for each in (vault.references(target) if target else ())
        ]

    def _list_headings(self, _params: types.DocumentSymbolParams, at: _Place) -> list[types.DocumentSymbol]:
        vault, path, positions, _ = at
        note = vault.note(path)
        trail: list[list[types.DocumentSymbol]] = [[]]
        for heading, depth, last in heading_tree(note.headings, note.line_count):
            below: list[types.DocumentSymbol] = []
            symbol = types.DocumentSymbol(
                name=heading.text or "#" * heading.level,
                kind=types.SymbolKind.String,
                range=positions.lines(heading.line, last),
                selection_range=positions.lines(heading.line, heading.line),
                children=below,
            )
            trail[depth].append(symbol)
            trail[depth + 1 :] = [below]
        return trail[0]

    def _find_symbols(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        if self._vault is None:
            return []
        try:
            found = [*self._vault.symbols(params.query)]
        except ZkchatError:
            return []
        return [
            types.WorkspaceSymbol(
                location=self._location(path, line),
                name=name,
                kind=types.SymbolKind.File if line == 1 else types.SymbolKind.String,
                container_name=path,
            )
            for name, path, line in found
        ]

    def _list_links(self, _params: types.DocumentLinkParams, at: _Place) -> list[types.DocumentLink]:
        vault, path, positions, _ = at
        followed = ((link, vault.resolve(link, path)) for link in vault.note(path).links)
        return [
            types.DocumentLink(
                range=positions.range(link.start, link.end),
                target=self._uri(found.path) + (f"#L{found.line}" if found.line else ""),
                tooltip=found.path,
            )
            for link, found in followed
            if isinstance(found, Resolved | Ambiguous)
        ]

    # Changes, which the editor makes.

    def _act(self, params: types.CodeActionParams, at: _Place) -> list[types.CodeAction]:
        vault, path, positions, _ = at
        place = positions.offset(params.range.start), positions.offset(params.range.end)
        fixes = [*vault.fixes(path, *place)]
        fixes += vault.linked_mentions(path, *place) if self._with_mentions else ()
        return [*self._actions(fixes)]

    def _actions(self, fixes: Sequence[Fix]) -> Iterator[types.CodeAction]:
        for fix in fixes:
            edit = self._edit(fix.changes)
            if "create" in self._operations or not any(isinstance(each, types.CreateFile) for each in _parts(edit)):
                kind = types.CodeActionKind.QuickFix
                yield types.CodeAction(title=fix.title, kind=kind, is_preferred=fix.is_sure or None, edit=edit)

    def _prepare_rename(self, _params: types.PrepareRenameParams, at: _Place) -> types.PrepareRenamePlaceholder | None:
        vault, path, positions, offset = at
        link, target = vault.link_at(path, offset), vault.target_at(path, offset)
        if target is None:
            return None
        place = positions.range(link.start, link.end) if link else positions.range(offset, offset)
        return types.PrepareRenamePlaceholder(place, file_title(target))

    def _rename(self, params: types.RenameParams) -> types.WorkspaceEdit | None:
        path = self._path(params.text_document.uri)
        if self._vault is None or path is None:
            return None
        try:
            target = self._vault.target_at(path, self._positions(self._vault.text(path)).offset(params.position))
            if target is None:
                return None
            if "rename" not in self._operations:
                hint = f"zkchat note rename {target!r} {params.new_name!r}"
                raise JsonRpcException(f"This editor cannot rename files. In a terminal: {hint}", code=_REQUEST_FAILED)
            return self._edit(self._vault.rename(target, params.new_name))
        except ZkchatError as error:
            raise JsonRpcException(f"{error.message} {error.hint or ''}".strip(), code=_REQUEST_FAILED) from None

    def _will_rename(self, params: types.RenameFilesParams) -> types.WorkspaceEdit | None:
        """The links that follow files which the editor is about to rename."""
        if self._vault is None:
            return None
        moves = [(self._addresses.path(each.old_uri), self._addresses.path(each.new_uri)) for each in params.files]
        try:
            edit = self._edit(self._vault.follow([(old, new) for old, new in moves if old and new]))
        except VaultError as error:
            message = f"No links were changed. {error.message} {error.hint or ''}".strip()
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
            return None
        return types.WorkspaceEdit(
            document_changes=[each for each in _parts(edit) if isinstance(each, types.TextDocumentEdit)]
        )

    def _edit(self, changes: ChangeSet) -> types.WorkspaceEdit:
        assert self._vault
        return workspace_edit(changes, self._addresses, self._vault.documents, self._codec)

    @property
    def _operations(self) -> Sequence[str]:
        """What the editor can do with files."""
        workspace = self.server.client_capabilities.workspace
        edit = workspace and workspace.workspace_edit
        return (edit and edit.resource_operations) or ()

    # What all of them need.

    @property
    def _codec(self) -> PositionCodec:
        return self.server.workspace.position_codec

    def _positions(self, text: str) -> Positions:
        return Positions(text, self._codec)

    def _ask(self, answer: Callable[[Any, _Place], object], params: Any) -> object:
        """Ask the vault about a note; None where it cannot say."""
        path = self._path(params.text_document.uri)
        if self._vault is None or path is None:
            return None
        with suppress(ZkchatError):
            positions = self._positions(self._vault.text(path))
            position = getattr(params, "position", None)
            offset = positions.offset(position) if position else 0
            return answer(params, _Place(self._vault, path, positions, offset))
        return None


def _parts(edit: types.WorkspaceEdit) -> Sequence[object]:
    return edit.document_changes or ()


class _Output(Struct, frozen=True):
    """Implements `pygls.io_.Writer`."""

    channel: Channel

    def write(self, data: bytes) -> None:
        self.channel.write(data)

    def close(self) -> None:
        """The channel is given back by whoever claimed it."""


def serve(environment: Environment, vault: Path | None) -> int:
    """Answer the editor on standard input and output until it says so, or its input ends. Returns the exit code."""
    logging.getLogger().addHandler(logging.NullHandler())  # else pygls prints traces of what it answers as an error
    server = VaultServer(environment, vault)
    with claimed_streams(environment) as channel:
        try:
            asyncio.run(server.run(channel))
        except SystemExit as end:
            if type(end) is not SystemExit:  # a signal
                raise
            return int(end.code or 0)
        finally:
            server.close()
    return 0


async def _serve(server: _Server, channel: Channel) -> None:
    """A thread reads, which does not keep the process when it is to end."""
    server.protocol.set_writer(_Output(channel))
    reader, loop = asyncio.StreamReader(), asyncio.get_running_loop()

    def read() -> None:
        with suppress(RuntimeError, OSError):  # the loop is closed: nobody waits for input
            while data := channel.read(65_536):
                loop.call_soon_threadsafe(reader.feed_data, data)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=read, name="lsp-input", daemon=True).start()
    with suppress(asyncio.IncompleteReadError, ValueError):
        await run_async(threading.Event(), reader, server.protocol, error_handler=server.report_server_error)
