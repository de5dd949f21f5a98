"""Extracting the texts of PDFs, so that the index can hold them: at once, for a while, or in the background."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from threading import Event, Lock, Thread, Timer
from time import monotonic
from typing import Final

from msgspec import Struct

from zkchat.core import (
    PDF_SUFFIX,
    ExtractedText,
    ExtractionStore,
    FileStamp,
    IndexBatch,
    NoteFiles,
    NoteIndex,
    NoteWarning,
    TextExtractor,
    VaultError,
    ZkchatError,
)

Progress = Callable[[int, int], None]
"""Told how many of how many files are done."""

_FIRST_REFRESH_SECONDS: Final = 2.0
_REFRESH_GROWTH: Final = 2.0
"""From one refresh to the next there is this many times as long to wait: each looks at the whole vault."""
_SECONDS_FOR_ONE_FILE: Final = 10.0
"""That somebody waits who asks for one file."""


class Extracted(Struct, frozen=True, kw_only=True):
    waiting: int = 0
    """Files that still have no text."""
    warnings: tuple[NoteWarning, ...] = ()
    """About those that were extracted."""

    def notice(self) -> NoteWarning | None:
        if not self.waiting:
            return None
        words = "1 PDF is" if self.waiting == 1 else f"{self.waiting:,} PDFs are"
        return NoteWarning(path="", text=f"{words} still to be read: zkchat index reads all of them.", kind="waiting")


class TextExtraction:
    """Extracts what the index waits for. Every thread may use it."""

    def __init__(
        self, files: NoteFiles, index: NoteIndex, store: ExtractionStore, extractor: Callable[[], TextExtractor]
    ) -> None:
        self._files = files
        self._index = index
        self._store = store
        self._new_extractor = extractor
        self._running = Lock()
        self._extractors: list[TextExtractor] = []
        """Those that run, so that `close` can stop them."""
        self._closing = Event()
        self._thread: Thread | None = None
        self._complete_at: int | None = None
        """The generation of the index at which nothing was missing."""

    def missing(self) -> list[FileStamp]:
        """The files without a text, as far as the last refresh knows them, the smallest first."""
        return sorted(self._store.missing(self._covered()), key=lambda stamp: (stamp.size, stamp.path))

    def _covered(self) -> list[FileStamp]:
        return self._index.stamps_ending(PDF_SUFFIX)

    def run(self, refresh: Callable[[], object], seconds: float | None = None, progress: Progress | None = None) -> int:
        """Extract what is missing, for so long at most, and refresh the index; returns how many are still missing.

        The index has to be refreshed before: it tells which files there are.
        """
        with self._running:
            missing = self.missing()
            if not missing:
                return 0
            with self._extractor(seconds) as extractor:
                done = self._extract_all(extractor, missing, refresh, progress or (lambda _done, _total: None))
            if done:
                refresh()
            if done == len(missing):
                self._store.prune({stamp.path for stamp in self._covered()})
            return len(missing) - done

    @contextmanager
    def _extractor(self, seconds: float | None) -> Iterator[TextExtractor]:
        """An extractor that is stopped after so many seconds, and by `close`."""
        extractor = self._new_extractor()
        self._extractors.append(extractor)
        timer = Timer(seconds, extractor.stop) if seconds is not None else None
        if timer:
            timer.daemon = True
            timer.start()
        if self._closing.is_set():
            extractor.stop()
        try:
            yield extractor
        finally:
            if timer:
                timer.cancel()
            self._extractors.remove(extractor)
            extractor.close()

    def _extract_all(
        self,
        extractor: TextExtractor,
        missing: Sequence[FileStamp],
        refresh: Callable[[], object],
        progress: Progress,
    ) -> int:
        """How many are done with, well or not, until the extractor was stopped."""
        wait, last = _FIRST_REFRESH_SECONDS, monotonic()
        for done, stamp in enumerate(missing):
            progress(done, len(missing))
            if not self._extract(extractor, stamp):
                return done
            if monotonic() - last > wait:
                refresh()
                wait, last = wait * _REFRESH_GROWTH, monotonic()
        progress(len(missing), len(missing))
        return len(missing)

    def _extract(self, extractor: TextExtractor, stamp: FileStamp) -> bool:
        """Whether a file is done with, well or not; False where the extractor was stopped."""
        try:
            data = self._files.read_data(stamp.path, extractor.max_bytes)
        except VaultError:  # gone, or not to be read
            return True
        if len(data) != stamp.size:  # it changes just now, and is extracted when that is done
            return True
        digest = blake2b(data, digest_size=32).digest()
        if not self._store.attach(stamp, digest):
            text = extractor.extract(data)
            if text is None:
                return False
            self._store.keep(digest, text)
        self._index.apply(IndexBatch(restamped=[stamp._replace(settled=False)]))  # so that a refresh reads it again
        return True

    def extract_now(self, path: str) -> ExtractedText | None:
        """The text of one file that somebody waits for; None where it is not in the index, or that takes too long."""
        stamp = next((each for each in self._covered() if each.path == path), None)
        if stamp is None:
            return None
        if found := self._store.find(stamp):
            return found
        with self._extractor(_SECONDS_FOR_ONE_FILE) as extractor:
            self._extract(extractor, stamp)
        return self._store.find(stamp)

    def run_in_background(self, refresh: Callable[[], object]) -> None:
        """The same in a thread, until nothing is missing or `close`. May be called as often as one likes."""
        if (self._thread and self._thread.is_alive()) or self._closing.is_set():
            return
        if self._complete_at != self._index.generation():
            self._thread = Thread(target=self._run_quietly, args=(refresh,), name="zkchat-extraction", daemon=True)
            self._thread.start()

    def _run_quietly(self, refresh: Callable[[], object]) -> None:
        # Nobody waits for it: without the texts files are found by their names, and the next run goes on.
        with suppress(ZkchatError):
            generation = self._index.generation()
            if not self.missing():
                self._complete_at = generation
            else:
                self.run(refresh)

    def forget_failures(self) -> None:
        self._store.forget_failures()

    def close(self) -> None:
        """End what goes on; the next run goes on from there."""
        self._closing.set()
        for extractor in [*self._extractors]:
            extractor.stop()
        if self._thread:
            self._thread.join()
