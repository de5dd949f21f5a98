"""What the commands over notes share: a library that is up to date, and the note that an argument names."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, Final

from zkchat.app import Paths, Workspace, open_note_library
from zkchat.cli.common import CommandIO, argument
from zkchat.core import EmbeddingProgress, Environment, NoteWarning, ProviderError, StorageError, ZkchatError
from zkchat.index import Library, NamedNote, find_named_note
from zkchat.notes import summarize_warnings
from zkchat.render import columns, method_label, never_fail_to_encode, vector_progress

_ERASE = "\r\x1b[K"


@contextmanager
def progress(environment: Environment, label: str, *, plain: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield the callback that `Library.refresh` reports to. Nothing is shown where there is no terminal, or plain."""
    if plain or not environment.stderr_is_tty or environment.variables.get("TERM", "dumb") == "dumb":
        yield lambda _done, _total: None
        return
    line = _ProgressLine(environment, label)
    thread = Thread(target=line.draw_until_ended, name="zkchat-progress", daemon=True)
    thread.start()
    try:
        yield line.show
    finally:
        line.ended.set()
        thread.join()


class _ProgressLine:
    """Draws in a thread of its own, so that the time goes on also while the work is silent."""

    def __init__(self, environment: Environment, label: str) -> None:
        self._environment = environment
        self._label = label
        self._began = environment.now()
        self._numbers = (0, 0)
        self._drawn = ""
        self.ended = Event()

    def show(self, done: int, total: int) -> None:
        self._numbers = done, total

    def draw_until_ended(self) -> None:
        while not self.ended.wait(0.1):
            elapsed = self._environment.now() - self._began
            if elapsed >= timedelta(seconds=0.5):  # less shows no bar
                width = columns(self._environment.variables, self._environment.stderr) or 80
                self._draw(_format_line(self._label, *self._numbers, elapsed, width))
        if self._drawn:
            self._write(_ERASE)

    def _draw(self, line: str) -> None:
        if not self._drawn:
            never_fail_to_encode(self._environment.stderr)
        if line != self._drawn:
            self._drawn = line
            self._write(_ERASE + line)

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone
            self._environment.stderr.write(text)
            self._environment.stderr.flush()


def _format_line(label: str, done: int, total: int, elapsed: timedelta, width: int) -> str:
    """The label, a bar where there is room for one, the numbers, the time and how to stop; never more than a line."""
    seconds = f"{elapsed.total_seconds():,.0f} s; Ctrl-C stops it"
    if not total:
        return f"{label}, {seconds}"[: max(0, width - 1)]
    numbers = f"{done:,} / {total:,}, {seconds}"
    cells = min(30, width - len(label) - len(numbers) - 3)
    if cells < 8:
        return f"{label} {numbers}"[: max(0, width - 1)]
    full = cells * done // total
    return f"{label} {'█' * full}{'░' * (cells - full)} {numbers}"


_POLL_SECONDS: Final = 1.0


def embed_by_server(io: CommandIO, library: Library) -> EmbeddingProgress | None:
    """Make the vectors of the wanted model, and return how far that came. A server that fails is reported.

    Whoever interrupts it loses nothing: the next run goes on from there.
    """
    before = library.embedding_progress()
    if before is None or ":" not in before.method:
        return before
    try:
        with progress(io.environment, f"Preparing the search with {method_label(before.method)}") as step:
            library.embed_by_server(lambda done: step(min(before.done + done, before.total), before.total) is None)
    except ProviderError as error:
        io.note(f"{error.message} {error.hint or ''}".strip())
    except KeyboardInterrupt:
        if now := library.embedding_progress():
            io.note(
                f"{now.done:,} of {now.total:,} passages are ready for the search; the next zkchat index continues."
            )
        raise
    return library.embedding_progress()


def tell_of_vectors(io: CommandIO, library: Library) -> None:
    """Say once that a server gives no vectors, so that searches go without them."""
    if notice := library.embedding_notice():
        io.note(notice)


def vectors_record(found: EmbeddingProgress | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "method": found.method,
        "done": found.done,
        "total": found.total,
        "in_use": found.active_method,
        "problem": found.problem,
    }


class VectorActivity:
    """What the bar of a chat says of the vectors; a thread looks once a second, and less often when all are there."""

    def __init__(self, library: Library, changed: Callable[[], None], *, poll_seconds: float = _POLL_SECONDS) -> None:
        self.text = ""
        self._library = library
        self._changed = changed
        self._poll_seconds = poll_seconds
        self._closing = Event()
        self._has_looked = False
        self._thread = Thread(target=self._watch, name="zkchat-vector-progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._closing.wait(self._poll_seconds * (1 if self.text or not self._has_looked else 3)):
            self._has_looked = True
            try:
                text = vector_progress(self._library.embedding_progress())
            except ZkchatError:
                return  # the index is being built anew, or gone
            if text != self.text:
                self.text = text
                self._changed()


NoteArgument = Annotated[str, argument("NOTE", "Its path, its title, or a [[wikilink]].")]


@contextmanager
def open_refreshed_workspace(
    io: CommandIO, *, warn: bool = True, tell_empty: bool = False
) -> Iterator[tuple[Workspace, Library]]:
    """The notes as they are now; where the index cannot be written, as they were, and a sentence says so.

    With `warn`, warnings about notes are printed; with `tell_empty`, that there are no notes.
    """
    workspace = io.workspace()
    with open_note_library(workspace) as (library, cache_notices):
        for notice in (*cache_notices, *workspace.loaded.every_warning):
            io.note(notice)
        try:
            with progress(io.environment, "Indexing notes") as step:
                refreshed = library.refresh(step)
            if warn:  # the index tells each once
                print_warnings(io, refreshed.warnings)
        except StorageError as error:
            if library.is_empty():
                raise
            io.note(f"Recent changes to your notes may be missing: {error.message}")
        if tell_empty and library.is_empty():
            io.note(f"There are no Markdown notes in {workspace.paths.vault}. Choose another folder with --vault.")
        yield workspace, library


def print_warnings(io: CommandIO, warnings: Sequence[NoteWarning]) -> None:
    """Print a line for each kind of warning beside the result."""
    for sentence in summarize_warnings(warnings) if warnings else ():
        io.note(f"warning: {sentence}")


def find_note(io: CommandIO, paths: Paths, library: Library, name: str) -> str:
    """Find the path of the note that the user names. Raises `NoteNotFound` with the closest names as a hint."""
    return find_place(io, paths, library, name).path


def find_place(io: CommandIO, paths: Paths, library: Library, name: str) -> NamedNote:
    """Find the note that the user names and the place in it, and say where the name could mean another one."""
    found = find_named_note(library, name, paths_beside(io, paths, name), search="zkchat search")
    if found.others:
        io.note(f"{name} could also mean {', '.join(found.others)}; this is {found.path}.")
    return found


def paths_beside(io: CommandIO, paths: Paths, name: str) -> Iterator[str]:
    """A name as a path in the vault, from where the user is."""
    beside = Path(os.path.normpath(io.environment.cwd.resolve() / name))
    if beside.is_relative_to(paths.vault):
        yield beside.relative_to(paths.vault).as_posix()
