"""An open vault for requests: opened with the first that needs it, up to date before each, used by one thread."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Annotated, Any, Final, Generic, TypeVar, cast

from msgspec import NODEFAULT, Meta, defstruct, field

from zkchat.actions import Action, Parameter
from zkchat.app import (
    UNATTENDED,
    FreshIndex,
    LiveSettings,
    Notices,
    Workspace,
    embed_for_search,
    local_folders_of,
    open_fresh_index,
    open_note_library,
)
from zkchat.chat import Arguments, Number, Text
from zkchat.core import StorageError
from zkchat.index import Library, Progress
from zkchat.notes import unmatched

Done = TypeVar("Done")

CLOSE_SECONDS: Final = 1.0
"""How long the end of the program waits for work that is under way."""


class VaultThread:
    """A thread that does not keep the process alive. What is cancelled before its turn is not done."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="zkchat-vault", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[], Done]) -> Done:
        """Do it in the thread. Who is cancelled meanwhile does not wait for what has begun."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[], Done]) -> Future[Done]:
        future: Future[Done] = Future()

        def act() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
                future.set_exception(error)

        self._waiting.put(act)
        return future

    def close(self, last: Callable[[], None]) -> None:
        """Do a last thing and end the thread; what takes too long is left to the end of the process."""
        self.submit(last)
        self.stop()
        self._thread.join(CLOSE_SECONDS)

    def stop(self) -> None:
        """End the thread after what is waiting, without waiting for it: it may be blocked for ever."""
        self._waiting.put(None)

    def _run(self) -> None:
        while act := self._waiting.get():
            act()


Opened = TypeVar("Opened")


class NoteService(ABC, Generic[Opened]):
    """`use` runs a function over the open vault in the thread of the vault."""

    def __init__(self, workspace: Workspace, notices: Notices = UNATTENDED) -> None:
        self._notices = notices
        self._thread = VaultThread()
        self._resources = ExitStack()
        self._index: FreshIndex | None = None
        self._library: Library | None = None
        self._opened: Opened | None = None
        self._is_embedded = False
        self._live = LiveSettings(workspace)

    @abstractmethod
    def _enter(self, stack: ExitStack, library: Library) -> Opened:
        """What requests work on."""

    def _check_settings(self, problem: str) -> None:
        """Raises `ConfigError` where nothing may be served because of what is wrong with the settings."""

    async def use(self, work: Callable[[Opened], Done], progress: Progress | None = None) -> Done:
        """Bring the index up to date, then do the work. `progress` hears, in the thread, how far the indexing is."""

        def act() -> Done:
            opened = self._open()
            self._refresh(progress)
            return work(opened)

        return await self._thread.run(act)

    def close(self) -> None:
        self._thread.close(lambda: self._resources.close())  # noqa: PLW0108 - of what is open by then

    @property
    def workspace(self) -> Workspace:
        """With the settings that count now."""
        return self._live.workspace

    def _open(self) -> Opened:
        """A vault whose settings have changed is opened anew: they say which notes are local. Raises `ConfigError`."""
        live, version = self._live, self._live.version
        live.catch_up()
        for notice in live.take_notices():
            self._notices.note(notice)
        if live.version != version:
            self._resources.close()
            self._opened, self._is_embedded = None, False
        self._check_settings(live.problem)
        if self._opened is None:
            with ExitStack() as stack:
                library, said = stack.enter_context(open_note_library(self.workspace))
                for notice in (*said, *self.workspace.loaded.every_warning):
                    self._notices.note(notice)
                opened = self._enter(stack, library)
                self._index = stack.enter_context(open_fresh_index(self.workspace, library))
                self._library, self._opened = library, opened
                self._resources = stack.pop_all()
        return self._opened

    def _refresh(self, progress: Progress | None) -> None:
        assert self._index is not None
        assert self._library is not None
        library = self._library
        try:
            refreshed = self._index.refresh(progress)
        except StorageError as error:
            if library.is_empty():
                raise
            self._notices.note(f"Notes are shown as last indexed, without later changes: {error.message}")
            return
        if not self._is_embedded:
            embed_for_search(library)
            # A mistyped folder of `privacy.local_only` guards nothing.
            for warning in unmatched(local_folders_of(self.workspace), [row.path for row in library.indexed()]):
                self._notices.note(f"warning: {warning.text}")
        if not self._is_embedded or (refreshed and refreshed.changed):
            library.embed_in_background()
            library.extract_in_background()
        self._is_embedded = True


MAX_ROWS: Final = 200


def arguments_of(action: Action) -> type[Arguments]:
    """What is checked of the arguments that a program gives."""
    fields = [(each.name, *_field(each)) for each in action.parameters]
    return cast("type[Arguments]", defstruct(action.name, fields, bases=(Arguments,), frozen=True, kw_only=True))


def _field(parameter: Parameter) -> tuple[Any, Any]:
    about, default = parameter.about, NODEFAULT if parameter.is_required else parameter.default
    if parameter.kind == "number":
        most = min(about.most or MAX_ROWS, MAX_ROWS)
        kind = Number(description=about.help, at_least=about.least, at_most=most)
        return Annotated[int, kind], field(default=min(default, most) if default is not NODEFAULT else default)
    if parameter.kind == "switch":
        return Annotated[bool, Meta(description=about.help)], field(default=default)
    return Annotated[str, Text(description=about.help)], field(default=default)
