"""Milliseconds per key of `[[` and `@` completion at 10,000 and 100,000 titles, beside prompt_toolkit's FuzzyCompleter.

After `@` there are folders and, for every tenth note, another file to choose from.

Titles, abbreviations, misspellings and words in another order are typed key by key. CPU time, so that what else the
machine does matters little. Run it with: python -m benchmarks.speed.completion_speed [--titles N,N] [--typists N]
"""

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, FuzzyWordCompleter
from prompt_toolkit.document import Document

from benchmarks.generate import ENDINGS, SEED, SYLLABLES
from zkchat.index import Library
from zkchat.notes import folders_of
from zkchat.repl import MenuCompleter, NameCache, NamedNote, NoteNames

AIMS = {10_000: 16.0, 100_000: 16.0}
PEER_KEYS = 15
"""Keys that the peer is given: it takes a second for each."""


class TitlesOnly(NameCache):
    """A cache that was filled without a vault."""

    def __init__(self, notes: Sequence[NamedNote]) -> None:
        super().__init__()
        self._names = NoteNames(notes)
        files = [NamedNote(path=f"{note.path}.csv", title=f"{note.title}.csv") for note in notes[::10]]
        folders = [NamedNote(path=folder, title=folder) for folder in folders_of(note.path for note in notes)]
        self._others = NoteNames([*folders, *files])


class NoSource:
    """Implements `CompletionSource`: titles need no library."""

    agent_names = ()
    resources = ()

    @property
    def library(self) -> Library:
        raise AssertionError("titles need no library")

    def complete_command(self, _line: str) -> list[tuple[str, str]]:
        return []


def invented(count: int) -> list[str]:
    """Titles of two to five words, the same each time."""
    chosen, syllables = random.Random(SEED), SYLLABLES.split()
    words = ["".join(chosen.choices(syllables, k=chosen.randint(2, 4))) + chosen.choice(ENDINGS) for _ in range(20_000)]
    return [" ".join(chosen.choices(words, k=chosen.randint(2, 5))).capitalize() for _ in range(count)]


def spellings(title: str, chosen: random.Random) -> Iterator[str]:
    """What somebody might type who looks for this title."""
    words = title.lower().split()
    yield title.lower()
    yield chosen.choice(words)
    yield "".join(word[:2] for word in words)
    yield " ".join(reversed(words[:2]))
    word = chosen.choice(words)
    yield word[:3] + word[4:]


def keys(titles: Sequence[str], typists: int) -> list[str]:
    """The text after each key, of everybody who types."""
    chosen = random.Random(SEED)
    typed = [spelling for title in chosen.sample(titles, typists) for spelling in spellings(title, chosen)]
    return [spelling[:length] for spelling in typed for length in range(1, min(len(spelling), 16) + 1)]


def milliseconds(completer: Completer, prefix: str, typed: Iterable[str]) -> list[float]:
    times = []
    for text in typed:
        start = time.thread_time()
        list(completer.get_completions(Document(prefix + text), CompleteEvent()))
        times.append(1000 * (time.thread_time() - start))
    return sorted(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titles", default="10000,100000")
    parser.add_argument("--typists", type=int, default=20)
    options = parser.parse_args()
    print(f"{'titles':>8}  {'completer':22}{'keys':>6}{'median':>9}{'p95':>9}{'worst':>9}   aim (p95)")
    for count in map(int, options.titles.split(",")):
        titles = invented(count)
        start = time.thread_time()
        name_cache = TitlesOnly(
            [
                NamedNote(path=f"area {number // 1200}/topic {number // 60}/{title}.md", title=title, size=2000)
                for number, title in enumerate(titles)
            ]
        )
        built = time.thread_time() - start
        typed = keys(titles, options.typists)
        menu = MenuCompleter(name_cache, NoSource())
        ours, mentions = milliseconds(menu, "[[", typed), milliseconds(menu, '@"', typed)
        peer = milliseconds(FuzzyWordCompleter(titles), "", random.Random(SEED).sample(typed, PEER_KEYS))
        for name, times in (("zkchat [[", ours), ("zkchat @", mentions), ("FuzzyCompleter", peer)):
            aim = f"<= {AIMS[count]:.0f} ms" if name.startswith("zkchat") and count in AIMS else ""
            figures = (times[len(times) // 2], times[int(0.95 * len(times))], times[-1])
            print(
                f"{count:8,}  {name:22}{len(times):6}" + "".join(f"{figure:9.1f}" for figure in figures) + f"   {aim}"
            )
        print(f"{'':10}made in the background in {built:.2f} s of CPU")


if __name__ == "__main__":
    main()
