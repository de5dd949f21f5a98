"""Keeping the index current: refreshed, embedded, repaired, with texts of PDFs, at once or in background threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cached_property, reduce
from hashlib import blake2b
from threading import Event, Lock, Thread, Timer
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    PDF_SUFFIX,
    EmbeddingProgress,
    ExtractedText,
    FileStamp,
    IndexBatch,
    NoteFiles,
    NoteWarning,
    ProviderError,
    StorageDamaged,
    TextExtractor,
    VaultError,
    ZkchatError,
)
from zkchat.index.indexing.embedding import EmbeddingWork, KeepOn
from zkchat.index.indexing.indexer import Indexer, Progress, Refreshed
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import Answer, Asked, VectorSearch
from zkchat.storage import SqliteExtractedTexts

if TYPE_CHECKING:
    from zkchat.index.search.method_vectors import Vectors


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
        return NoteWarning(
            path="", text=f"{words} not read yet: zkchat config index reads all of them.", kind="waiting"
        )


class TextExtraction:
    """Extracts what the index waits for. Every thread may use it."""

    def __init__(
        self,
        files: NoteFiles,
        index: SqliteNoteIndex,
        store: SqliteExtractedTexts,
        extractor: Callable[[], TextExtractor],
    ) -> None:
        self._files = files
        self._index = index
        self._store = store
        self.forget_failures = store.forget_failures
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
        missing = self._store.missing(self._index.stamps_ending(PDF_SUFFIX))
        return sorted(missing, key=lambda stamp: (stamp.size, stamp.path))

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
                self._store.prune({stamp.path for stamp in self._index.stamps_ending(PDF_SUFFIX)})
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
        self, extractor: TextExtractor, missing: Sequence[FileStamp], refresh: Callable[[], object], progress: Progress
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
        stamp = next((each for each in self._index.stamps_ending(PDF_SUFFIX) if each.path == path), None)
        if stamp is None:
            return None
        if found := self._store.find(stamp):
            return found
        with self._extractor(_SECONDS_FOR_ONE_FILE) as extractor:
            self._extract(extractor, stamp)
        return self._store.find(stamp)

    def run_in_background(self, refresh: Callable[[], object]) -> None:
        """The same in a thread, until nothing is missing or `close`. May be called as often as one likes."""

        def run() -> None:
            # Nobody waits for it: without the texts files are found by their names, and the next run goes on.
            with suppress(ZkchatError):
                generation = self._index.generation()
                if not self.missing():
                    self._complete_at = generation
                else:
                    self.run(refresh)

        if (self._thread and self._thread.is_alive()) or self._closing.is_set():
            return
        if self._complete_at != self._index.generation():
            self._thread = Thread(target=run, name="zkchat-extraction", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End what goes on; the next run goes on from there."""
        self._closing.set()
        for extractor in [*self._extractors]:
            extractor.stop()
        if self._thread:
            self._thread.join()


INDEX_WAS_DAMAGED: Final = NoteWarning(
    path="",
    text="The index of this vault was damaged and has been rebuilt from the notes; nothing is lost.",
    kind="damaged",
)
_DEBOUNCE_SECONDS: Final = 0.7
"""From one prefetch to the next."""
_MAX_TIME_SHARE: Final = 0.1
"""The share of the time that prefetching may take up."""


class BackgroundRefresh:
    """Refreshes in a thread of its own, one after the other. Every thread may use it."""

    def __init__(self, refresh: Callable[[Progress], Refreshed], clock: Callable[[], float] = monotonic) -> None:
        self._refresh = refresh
        self._clock = clock
        self._next_prefetch = 0.0
        """By the clock, when the next may begin."""
        self._asking = Lock()
        self._closing = Event()
        self._under_way: list[Future[Refreshed]] = []
        """Those that run, and at most one that has not begun and so will see all that is there by now."""
        self._unreported = Refreshed()
        """What refreshes found after the time of those who asked for them was up, or before anybody asked."""

    def prefetch(self) -> None:
        """Start a refresh because somebody may soon ask: what changed is read by then.

        Debounced, and not started while another one runs.
        """
        with self._asking:
            is_idle = all(run.done() for run in self._under_way)
            if is_idle and self._clock() >= self._next_prefetch:
                self._collect_finished()
                self._under_way.append(self._thread.submit(self._run_prefetch))

    def start(self) -> None:
        """Start a refresh that sees all that is there by now, and wait for nothing. The next `within` waits for it."""
        with self._asking:
            self._collect_finished()
            self._submit()

    def _collect_finished(self) -> None:
        """Keep what finished refreshes found. What went wrong with them goes wrong again, or is mended by now."""
        found = [run.result() for run in self._under_way if run.done() and not run.exception()]
        self._unreported = reduce(_merged, found, self._unreported)
        self._under_way = [run for run in self._under_way if not run.done()]

    def within(self, seconds: float) -> Refreshed | None:
        """Everything found since the last answer; None if that takes longer, and it goes on in the background then.

        By a refresh that begins after this call. What went wrong in the background is raised by the next call.
        """
        with self._asking:
            self._submit()
            wait(self._under_way, seconds)
            finished = [run for run in self._under_way if run.done()]
            self._under_way = self._under_way[len(finished) :]
            self._unreported = reduce(_merged, [run.result() for run in finished], self._unreported)
            if self._under_way:
                return None
            found, self._unreported = self._unreported, Refreshed()
            return found

    def _submit(self) -> None:
        """Queue a refresh, unless one is queued that has not begun."""
        if not self._under_way or self._under_way[-1].running() or self._under_way[-1].done():
            self._under_way.append(self._thread.submit(self._run))

    def _run_prefetch(self) -> Refreshed:
        began = self._clock()
        try:
            return self._run()
        except ZkchatError:
            return Refreshed()  # who asks refreshes again, and gets the error
        finally:
            self._next_prefetch = began + max(_DEBOUNCE_SECONDS, (self._clock() - began) / _MAX_TIME_SHARE)

    def close(self) -> None:
        """Wait for what goes on in the background. It stops between two notes; the next run goes on from there."""
        self._closing.set()
        if "_thread" in vars(self):
            self._thread.shutdown(cancel_futures=True)

    def _run(self) -> Refreshed:
        def stop_when_closing(_done: int, _total: int) -> None:
            if self._closing.is_set():
                raise _Closing

        try:
            return self._refresh(stop_when_closing)
        except _Closing:
            return Refreshed()

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, thread_name_prefix="zkchat-refresh")


class IndexMaintenance:
    """Keeps the index up to the files, as a `Library` offers it. Every thread may use it.

    A damaged index is thrown away and built again: nothing but time is lost.
    """

    def __init__(
        self,
        index: SqliteNoteIndex,
        indexer: Indexer,
        vectors: VectorSearch | None = None,
        embedding: EmbeddingWork | None = None,
        clock: Callable[[], float] = monotonic,
        extraction: TextExtraction | None = None,
    ) -> None:
        self.extraction = extraction
        self._index = index
        self._indexer = indexer
        self.dating = indexer.dating
        self._vectors = vectors
        self._embedding = embedding
        self.has_attachment_ending = index.has_attachment_ending
        self._refreshing = Lock()
        self.background = BackgroundRefresh(self.refresh, clock)
        self._embedder = BackgroundEmbedding(embedding, index.generation, self.repaired, clock) if embedding else None
        self._has_told = False
        self._was_damaged = False
        """Whether the user is still to be told that the index was damaged."""

    def refresh(self, progress: Progress | None = None) -> Refreshed:
        """Read what changed since the last refresh, whoever made that. `progress` hears how far it is."""
        observe = progress or (lambda _done, _total: None)
        with self._refreshing:
            try:
                found = self._indexer.refresh(observe)
            except StorageDamaged:
                self._was_damaged = True
                self._reset()
                found = self._indexer.refresh(observe)
            if self._index.take_damage() or self._was_damaged:
                self._was_damaged = False
                found = replace(found, warnings=(INDEX_WAS_DAMAGED, *found.warnings))
            return found

    def prefetch(self) -> None:
        """Refresh in the background, because somebody is about to ask. May be called at every key that is typed."""
        if not self._refreshing.locked():
            self.background.prefetch()

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        with self._refreshing:
            self._reset()
        if self.extraction:
            self.extraction.forget_failures()
        return self.refresh(progress)

    def _reset(self) -> None:
        self._index.reset()
        if self._vectors:
            self._vectors.reset()

    def repaired(self, ask: Callable[[], Answer]) -> Answer:
        """An answer from the index, which is rebuilt if it turns out to be damaged."""
        try:
            return ask()
        except StorageDamaged:
            self.rebuild()
            self._was_damaged = True  # nobody reads what that rebuild tells
            return ask()

    def embed(self, keep_on: KeepOn = lambda _: True) -> int:
        """Give vectors that need no server to passages without one; returns how many."""
        embedding = self._embedding
        return self.repaired(lambda: embedding.embed_base(keep_on)) if embedding else 0

    def embed_by_server(self, keep_on: KeepOn = lambda _: True) -> int:
        """Give vectors of the wanted method to passages without one. Raises `ProviderError` if its server fails."""
        embedding = self._embedding
        made = self.repaired(lambda: embedding.embed_by_server(keep_on)) if embedding else None
        return made.done if made else 0

    def embed_in_background(self) -> None:
        """Both in the background, until all have one or the library is closed; waits where the server is away."""
        if self._embedder:
            self._embedder.start()

    def embedding_progress(self) -> EmbeddingProgress | None:
        """How far the embedding has come, whichever process does it; None if there is no embedder."""
        if not (self._embedding and self._embedder):
            return None
        return replace(self.repaired(self._embedding.progress), problem=self._embedder.problem)

    def embedding_notice(self) -> str:
        """What the user has to be told of the embedding, once: a sentence, or nothing."""
        if self._has_told or not (self._vectors and self._embedder):
            return ""
        problem = self._embedder.problem or self._vectors.take_problem()
        self._has_told = bool(problem)
        if not problem:
            return ""
        model = self._vectors.wanted.name.partition("#")[0]
        return (
            f"The search by meaning cannot use {model} now: {problem} Until it can, your notes are searched by words "
            "and by the smaller model that comes with zkchat."
        )

    def extract(self, *, seconds: float | None = None, progress: Progress | None = None) -> Extracted:
        """Extract the texts of PDFs that have none, for so long at most."""
        extraction = self.extraction
        if not extraction:
            return Extracted()
        found: list[Refreshed] = []
        waiting = self.repaired(lambda: extraction.run(lambda: found.append(self.refresh()), seconds, progress))
        return Extracted(waiting=waiting, warnings=tuple(each for refreshed in found for each in refreshed.warnings))

    def extract_now(self, path: str) -> ExtractedText | None:
        extraction = self.extraction
        text = self.repaired(lambda: extraction.extract_now(path)) if extraction else None
        if text:
            self.background.start()
        return text

    def extract_in_background(self) -> None:
        """The same in the background, until all have one or the library is closed."""
        if self.extraction:
            self.extraction.run_in_background(self.background.start)

    def close(self) -> None:
        if self.extraction:
            self.extraction.close()
        self.background.close()
        if self._embedder:
            self._embedder.close()


class _Closing(Exception):
    """The library is being closed."""


def _merged(earlier: Refreshed, later: Refreshed) -> Refreshed:
    return Refreshed(
        notes=later.notes,
        changed=earlier.changed + later.changed,
        removed=earlier.removed + later.removed,
        links=earlier.links + later.links,
        warnings=(*earlier.warnings, *later.warnings),
    )


_FIRST_PAUSE: Final = 2.0
_LONGEST_PAUSE: Final = 300.0
"""Seconds until a server that failed is asked again; twice as long each time."""
_POLL_SECONDS: Final = 0.05
_BUSY_PAUSE: Final = 10.0
"""Seconds until is looked whether another process has done the work."""


class BackgroundEmbedding:
    def __init__(
        self,
        work: EmbeddingWork,
        generation: Callable[[], int],
        repaired: "Callable[[Callable[[], int]], int]",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`repaired` repairs a damaged index."""
        self._work = work
        self._generation = generation
        self._repaired = repaired
        self._clock = clock
        self._thread: Thread | None = None
        self._embedded: int | None = None
        """The generation of the index at which every section had its vectors."""
        self._with_base: int | None = None
        """The generation at which every section had a vector that needs no server."""
        self._closing = Event()
        self._wake = Event()
        self._lock = Lock()
        self.problem = ""
        """Why the server does not go on, as a sentence."""

    def start(self) -> None:
        """Go on, or begin, unless all passages of this generation have their vectors."""
        with self._lock:
            if self._thread and self._thread.is_alive():
                self._wake.set()
            elif not self._closing.is_set() and self._embedded != self._repaired(self._generation):
                self._thread = Thread(target=self._run, name="zkchat-vectors", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._wake.set()
        if self._thread:
            self._thread.join()

    def _keep_on(self, _done: int) -> bool:
        return not self._closing.is_set()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._closing.is_set():
            try:
                generation = self._base()
                made = self._work.embed_by_server(self._keep_on, self._ask)
            except ProviderError as error:
                self.problem = error.message
                with suppress(ZkchatError):
                    self._wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            except ZkchatError:
                return  # nobody waits for vectors: without them the words decide, and the next run goes on
            else:
                self.problem, pause = "", _FIRST_PAUSE
                if made and made.is_complete:
                    self._embedded = generation
                    return
                self._wait(_BUSY_PAUSE)

    def _base(self) -> int:
        generation = self._repaired(self._generation)
        self._repaired(lambda: self._work.embed_base(self._keep_on))
        self._with_base = generation
        return generation

    def _ask(self, ask: "Callable[[], Vectors]") -> "Vectors":
        """Ask a server in a thread that nobody waits for when the library is closed."""
        started = self._clock()
        asked = Asked("zkchat-server", ask)
        while not asked.done.wait(_POLL_SECONDS):
            if self._closing.is_set():
                raise ProviderError("The library was closed.")
        if asked.answer is None:
            raise asked.error or ProviderError("The server gave no answer.")
        if self._work.is_in_process:
            self._closing.wait(self._clock() - started)
        return asked.answer

    def _wait(self, seconds: float) -> None:
        """Meanwhile passages that changed get the vectors that need no server."""
        until = self._clock() + seconds
        while not self._closing.is_set():
            self._wake.clear()
            left = until - self._clock()
            if left <= 0 or not self._wake.wait(left):
                return
            if not self._closing.is_set() and self._generation() != self._with_base:
                self._base()
