"""An editor for tests: pygls' own client of `zkchat lsp`, called from tests that are not asynchronous."""

import asyncio
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient

from tests.support.world import PipedCommand, World, process_variables

SECONDS = 60.0
MARK = "\ufeff"
OPERATIONS = (types.ResourceOperationKind.Create, types.ResourceOperationKind.Rename)


def units(text: str) -> int:
    """The length of a text as editors count it."""
    return len(text.encode("utf-16-le")) // 2


def position(text: str, offset: int) -> types.Position:
    before = text[:offset].split("\n")
    return types.Position(len(before) - 1, units(before[-1]))


def offset_of(text: str, place: types.Position) -> int:
    lines = text.split("\n")
    row = lines[place.line].encode("utf-16-le")[: place.character * 2].decode("utf-16-le")
    return sum(len(line) + 1 for line in lines[: place.line]) + len(row)


def edited(text: str, edits: Sequence[Any]) -> str:
    """A text with edits, whose places are those of the text before them."""
    places = sorted(
        ((offset_of(text, edit.range.start), offset_of(text, edit.range.end), edit) for edit in edits),
        key=lambda each: each[:2],
    )
    for start, end, edit in reversed(places):
        text = text[:start] + edit.new_text + text[end:]
    return text


class Editor:
    """One `zkchat lsp`. It runs on a thread of this process, which is quicker, unless it `is_process`."""

    def __init__(
        self,
        world: World,
        *arguments: str,
        is_process: bool = False,
        root: Path | None = None,
        options: object = None,
        encodings: Sequence[str] = (),
        operations: Sequence[types.ResourceOperationKind] = OPERATIONS,
    ) -> None:
        self.world = world
        self.root = root or world.vault
        self.client = LanguageClient("tests", "1")
        self.texts: dict[str, str] = {}
        """By address, the documents that are open."""
        self.versions: dict[str, int] = {}
        self.published: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.code: int | None = None
        self._arguments = arguments
        self._loop = asyncio.new_event_loop()
        self._listen()
        self.process: asyncio.subprocess.Process | None = None
        self.run(self._start_process() if is_process else self._start_thread())
        self.answer = self.run(
            self.client.initialize_async(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(
                        workspace=types.WorkspaceClientCapabilities(
                            workspace_edit=types.WorkspaceEditClientCapabilities(
                                document_changes=True, resource_operations=[*operations]
                            ),
                            file_operations=types.FileOperationClientCapabilities(will_rename=True, did_rename=True),
                            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                                dynamic_registration=True
                            ),
                        ),
                        text_document=types.TextDocumentClientCapabilities(
                            rename=types.RenameClientCapabilities(prepare_support=True)
                        ),
                        general=types.GeneralClientCapabilities(
                            position_encodings=[types.PositionEncodingKind(each) for each in encodings] or None
                        ),
                    ),
                    root_uri=self.root.as_uri(),
                    initialization_options=options,
                )
            )
        )
        self.client.initialized(types.InitializedParams())

    def _listen(self) -> None:
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)

        def tell(params: Any) -> None:
            self.messages.append(params.message)

        def register(params: types.RegistrationParams) -> None:
            self.registered += [each.method for each in params.registrations]

        for method, take in {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish,
            types.WINDOW_SHOW_MESSAGE: tell,
            types.WINDOW_LOG_MESSAGE: tell,
            types.CLIENT_REGISTER_CAPABILITY: register,
        }.items():
            self.client.feature(method)(take)

    async def _start_process(self) -> None:
        command = (sys.executable, "-m", "zkchat", "lsp", *self._arguments)
        await self.client.start_io(*command, env=process_variables(self.world), cwd=self.world.root)
        self.process = self.client._server

    async def _start_thread(self) -> None:
        self._command = PipedCommand(self.world, "lsp", *self._arguments)
        await self._command.start()
        self.client.protocol.set_writer(self._command.writer)
        read = run_async(threading.Event(), self._command.reader, self.client.protocol)
        self._connection = self._loop.create_task(read)

    def run(self, work: Any) -> Any:
        return self._loop.run_until_complete(asyncio.wait_for(work, SECONDS))

    def stop(self) -> int | None:
        """End its input, and return its exit code."""
        if self._loop.is_closed():
            return self.code
        assert self.client.protocol.writer
        self.client.protocol.writer.close()
        self.run(self._end())
        self._loop.close()
        return self.code

    async def _end(self) -> None:
        if self.process:
            await self.process.wait()
            await self.client.stop()  # type: ignore[no-untyped-call]
            self.code = self.process.returncode
            self.process._transport.close()  # type: ignore[attr-defined]  # before its loop ends
            await asyncio.sleep(0)
        else:
            await asyncio.to_thread(self._command.thread.join, SECONDS)
            self.code = self._command.code
            self._command.input.close()
            with suppress(asyncio.IncompleteReadError):
                await self._connection
            await asyncio.sleep(0)

    def wait_for(self, found: Any) -> Any:
        """What is found, once there is something."""

        async def look() -> Any:
            while not (value := found()):
                await asyncio.sleep(0.01)
            return value

        return self.run(look())

    # What a user does.

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def path(self, uri: str) -> str:
        return next(
            file.relative_to(self.root).as_posix()
            for file in self.root.rglob("*")
            if file.as_uri() == uri.partition("#")[0]
        )

    def read(self, path: str) -> str:
        """What a file holds, as editors show it: without a byte order mark."""
        return (self.root / path).read_bytes().decode().removeprefix(MARK)

    def open(self, path: str, text: str | None = None) -> str:
        uri = self.uri(path)
        self.texts[uri] = self.read(path) if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "markdown", 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return self.texts[uri]

    def type(self, path: str, text: str) -> None:
        """Change a document that is open, without saving it."""
        uri = self.uri(path)
        self.texts[uri] = text
        self.versions[uri] += 1
        identifier = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))

    def save(self, path: str) -> None:
        uri = self.uri(path)
        (self.root / path).write_bytes(self.texts[uri].encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, path: str) -> None:
        identifier = types.TextDocumentIdentifier(self.uri(path))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def at(self, path: str, before: str) -> dict[str, Any]:
        """The document, and the position behind the first place of a text in it."""
        uri = self.uri(path)
        text = self.texts.get(uri) or self.read(path)
        return {
            "text_document": types.TextDocumentIdentifier(uri),
            "position": position(text, text.index(before) + len(before)),
        }

    def diagnostics(self, path: str, count: int | None = None) -> list[types.Diagnostic]:
        """What is wrong with a document as it is now, once that are so many things."""
        uri = self.uri(path)

        def last() -> types.PublishDiagnosticsParams | None:
            found = [each for each in self.published if each.uri == uri and each.version == self.versions[uri]]
            return found[-1] if found and count in (None, len(found[-1].diagnostics)) else None

        return [*self.wait_for(last).diagnostics]

    def complete(self, path: str, before: str) -> dict[str, str]:
        """By label, in the order of a menu, the text of the line once the item is chosen."""
        place = self.at(path, before)
        found = self.run(self.client.text_document_completion_async(types.CompletionParams(**place)))
        text = self.texts[self.uri(path)]
        line = place["position"].line
        items = sorted(found.items, key=lambda item: item.sort_text) if found else []
        return {item.label: edited(text, [item.text_edit]).split("\n")[line] for item in items}

    def actions(self, path: str, at: str) -> dict[str, Any]:
        """By title, what may be done at a text."""
        place = self.at(path, at)
        found = self.run(
            self.client.text_document_code_action_async(
                types.CodeActionParams(
                    place["text_document"],
                    types.Range(place["position"], place["position"]),
                    types.CodeActionContext([]),
                )
            )
        )
        return {action.title: action for action in found or ()}

    def rename(self, path: str, at: str, new: str) -> types.WorkspaceEdit | None:
        params = types.RenameParams(**self.at(path, at), new_name=new)
        edit: types.WorkspaceEdit | None = self.run(self.client.text_document_rename_async(params))
        return edit

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Do what the server says, to documents that are open as to those that are not, and save all."""
        for change in edit.document_changes or ():
            match change:
                case types.TextDocumentEdit():
                    uri = change.text_document.uri
                    file = self.root / self.path(uri)
                    assert change.text_document.version == self.versions.get(uri)
                    mark = MARK if file.read_bytes().decode().startswith(MARK) else ""
                    before = self.texts.get(uri) or self.read(self.path(uri))
                    file.write_bytes((mark + edited(before, change.edits)).encode())
                case types.RenameFile():
                    source = self.root / self.path(change.old_uri)
                    target = _file(change.new_uri)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.rename(target)
                case types.CreateFile():
                    _file(change.uri).touch()
                case _:
                    raise AssertionError(change)


def _file(uri: str) -> Path:
    from urllib.parse import unquote, urlsplit

    return Path(unquote(urlsplit(uri).path))


@contextmanager
def started_editor(world: World, *arguments: str, **more: Any) -> Iterator[Editor]:
    editor = Editor(world, *arguments, **more)
    try:
        yield editor
    finally:
        editor.stop()
