"""The same on a real vault, whose links say what is sought: a note is left out, and its links are the questions.

    python -m benchmarks.retrieval.linked FOLDER [--every N] [--questions N]

FOLDER is a vault. Of every so many notes one is left out. For its links to other notes two questions are asked: what
the link shows, and the sentence that it stands in. The note it leads to, and the heading where it names one, answers.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from zlib import crc32

from benchmarks.retrieval.retrieval import Question, print_results, results_of
from zkchat.core import Resolved, StoredLink
from zkchat.index import Library, SqliteNoteIndex
from zkchat.storage import VaultFiles

SHOWN, SENTENCE = "link text", "sentence"
MIN_WORDS = 6
"""Of a sentence that says more than the link in it."""
LINKS_OF_NOTE = 10
WIKILINK = re.compile(r"!?\[\[([^\]|]*)(?:\|([^\]]*))?\]\]")
MARKDOWN_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
MARKUP = re.compile(r"[*_`~=#>|]+|%%|<[^>]*>|\{\{[^}]*\}\}|^\s*(?:[-+]|\d+\.)\s")
END = re.compile(r"(?<=[.!?])\s+")


def fill(vault: Path, source: Path, every: int, count: int) -> list[Question]:
    """The vault without the notes that are left out, and the questions of these."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        library = Library.over(VaultFiles(source, exclude=(), max_note_bytes=5_000_000), index)
        library.refresh()
        paths = sorted(note.path for note in library.notes() if note.path.endswith(".md"))
        left_out = {path for path in paths if crc32(path.encode()) % every == 0}
        texts = {path: library.read(path) for path in paths}
        asked = [
            question
            for path in sorted(left_out)
            for question in questions(texts[path], library.links_from(path), left_out)
        ]
    for path, text in texts.items():
        if path not in left_out:
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8")
    asked = [*{(each.text, each.kind): each for each in asked}.values()]
    asked.sort(key=lambda each: crc32(each.text.encode()))
    return [each for kind in (SHOWN, SENTENCE) for each in [each for each in asked if each.kind == kind][:count]]


def questions(text: str, links: Sequence[StoredLink], left_out: set[str]) -> Iterator[Question]:
    lines = text.splitlines()
    for stored in [each for each in links if leads_elsewhere(each, left_out)][:LINKS_OF_NOTE]:
        link, found = stored.link, stored.resolution
        if not isinstance(found, Resolved) or link.line > len(lines):
            continue
        place = [(found.path, link.anchor if found.anchor_found and link.anchor[:1] != "^" else "")]
        shown = plain(link.text)
        yield Question(shown, "", SHOWN, place)
        around = next((each for each in END.split(lines[link.line - 1]) if link.text in each), "")
        if len(plain(around).split()) >= max(MIN_WORDS, len(shown.split()) + 3):
            yield Question(plain(around), "", SENTENCE, place)


def leads_elsewhere(stored: StoredLink, left_out: set[str]) -> bool:
    found = stored.resolution
    return (
        isinstance(found, Resolved)
        and found.path not in {*left_out, stored.source}
        and found.path.endswith(".md")
        and not (stored.link.in_frontmatter or stored.link.in_comment or stored.link.embed)
    )


def plain(text: str) -> str:
    """Without markup, with links as they are shown."""
    text = WIKILINK.sub(lambda link: link[2] or re.split(r"[/#]", link[1])[-1], text)
    return " ".join(MARKUP.sub(" ", MARKDOWN_LINK.sub(r"\1", text)).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=10, metavar="N", help="of so many notes one is left out")
    parser.add_argument("--questions", type=int, default=600, metavar="N", help="of each kind at most")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        asked = fill(Path(folder) / "vault", wanted.folder, wanted.every, wanted.questions)
        print_results(asked, results_of(index, Path(folder) / "vault", asked))


if __name__ == "__main__":
    main()
