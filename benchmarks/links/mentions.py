"""Precision and recall of mentions that are offered as links, beside a plain search for names, and the time for it.

How common a word may be is chosen on one half of a generated vault, the figures are those of the other half. Below
that, the garden with its links taken away: how many of them come back. Run it with:
python -m benchmarks.links.mentions [--notes N]
"""

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from benchmarks.generate import write_vault
from benchmarks.links.made_vaults import MadeVault, halves, vault_with_mentions
from zkchat.app import open_library
from zkchat.core import Ambiguous, CatalogRow, Environment, Resolved, file_title
from zkchat.index import MAX_SHARE, Library, NoteNames, common_names
from zkchat.notes import parse_note
from zkchat.writing import LinkStyle, MentionLinks

SHARES = (0.002, 0.003, 0.004, 0.005, 0.007, 0.01, 0.02, 0.2)
GARDEN = Path(__file__).parents[2] / "vault-fixtures" / "garden"
Result = TypeVar("Result")
Finder = Callable[[str, str], set[str]]
"""From the text of a note and its path to the notes that it mentions."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Mentions that are offered as links.")
    parser.add_argument("--notes", type=int, default=10_000, help="of the vault that time is measured on")
    wanted = parser.parse_args()
    vault = vault_with_mentions()
    chosen_on, other = halves(vault)
    with opened(vault.notes) as library:
        print(f"{'share of sections':24}{'precision':>10}{'recall':>8}   (half that it is chosen on)")
        for share in SHARES:
            mark = " ←" if share == MAX_SHARE else ""
            print(f"{share:<24}{row(vault, chosen_on, finder(library, share))}{mark}")
        print(f"\n{'unseen half':24}{row(vault, other, finder(library, MAX_SHARE))}")
        print(f"{'plain search for names':24}{row(vault, other, plain_search(library.notes()))}")
    unlinked()
    speed(wanted.notes)


@contextmanager
def opened(notes: dict[str, str]) -> Iterator[Library]:
    """A library over notes in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        for path, text in notes.items():
            file = vault / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        with library_at(vault, Path(folder)) as library:
            yield library


@contextmanager
def library_at(vault: Path, folder: Path) -> Iterator[Library]:
    environment = replace(Environment.of_this_process(), variables={}, cwd=vault, home=folder)
    with open_library(environment, vault) as (_, library):
        library.refresh()
        yield library


def finder(library: Library, share: float) -> Finder:
    names = NoteNames(library.notes(), partial(common_names, library=library, max_share=share))
    return lambda text, path: {each.path for each in names.find(text, path) if not each.is_common}


def plain_search(rows: Iterable[CatalogRow]) -> Finder:
    """Every whole word or words that are the name of a note, wherever they stand."""
    paths = {file_title(row.path).casefold(): row.path for row in rows}
    longest = sorted(paths, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
    return lambda text, path: {paths[match[0].casefold()] for match in pattern.finditer(text)} - {path}


def measure(vault: MadeVault, notes: Iterable[str], find: Finder) -> tuple[float, float]:
    """Precision and recall over pairs of notes, of which one mentions the other."""
    right = offered = known = 0
    for path in notes:
        found, truth = find(vault.notes[path], path), vault.truth[path].keys()
        right += len(found & truth)
        offered += len(found)
        known += len(truth)
    return right / max(offered, 1), right / max(known, 1)


def row(vault: MadeVault, notes: Iterable[str], find: Finder) -> str:
    precision, recall = measure(vault, notes, find)
    return f"{precision:>10.3f}{recall:>8.3f}"


def unlinked() -> None:
    """The garden without its links: how many of the pairs come back, and how many others are offered."""
    notes = {str(file.relative_to(GARDEN)): file.read_text(encoding="utf-8") for file in GARDEN.rglob("*.md")}
    with opened(notes) as library:
        linked = {path: _linked(library, path, text) for path, text in notes.items()}
        find = finder(library, MAX_SHARE)
        bare = {path: _without_links(path, text) for path, text in notes.items()}
        offered = {path: find(text, path) for path, text in bare.items()}
    named = {path: {each for each in targets if _is_named(each, bare[path])} for path, targets in linked.items()}
    back = sum(len(offered[path] & named[path]) for path in notes)
    others = sum(len(offered[path] - linked[path]) for path in notes)
    print(f"\ngarden without links: {back} of {sum(map(len, named.values()))} links by name come back, {others} others")


def _is_named(path: str, text: str) -> bool:
    return file_title(path).casefold() in text.casefold()


def _linked(library: Library, path: str, text: str) -> set[str]:
    found = [library.resolve(link, path, suggestions=0) for link in parse_note(path, text).links]
    return {each.path for each in found if isinstance(each, Resolved | Ambiguous)} - {path}


def _without_links(path: str, text: str) -> str:
    for link in reversed(parse_note(path, text).links):
        if not link.in_frontmatter and not link.external and not link.embed:
            text = text[: link.start] + (link.display or link.target or link.anchor) + text[link.end :]
    return text


def speed(notes: int) -> None:
    """CPU time over a generated vault, beside reading and parsing it."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        write_vault(vault, notes)
        with library_at(vault, Path(folder)) as library:

            def read(path: str) -> str:
                return (vault / path).read_bytes().decode()

            paths = [row.path for row in library.notes()]
            print(f"\n{notes:,} notes, seconds of CPU")
            _timed("read every note", lambda: [read(path) for path in paths])
            _timed("read and parse every note", lambda: [parse_note(path, read(path)) for path in paths])
            links = _timed("look names up", lambda: MentionLinks(library, read, LinkStyle()))
            _timed("the first mention", lambda: next(links.about(None), None))
            _timed("all mentions", lambda: sum(1 for _ in links.about(None)))
            _timed("mentions of one note", lambda: [*links.of(paths[0])])


def _timed(name: str, act: Callable[[], Result]) -> Result:
    start = time.process_time()
    result = act()
    print(f"  {name:28}{time.process_time() - start:8.2f}")
    return result


if __name__ == "__main__":
    main()
