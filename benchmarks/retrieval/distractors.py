"""Notes that look like those of a vault and answer nothing: its words in another order. The same seed, the same notes.

Each pretends to be about one note of the garden, and borrows most of its words from other notes in that language. No
more than three words that follow each other there follow each other here.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SEED = 20_263
OF_ITS_SUBJECT = 0.3
"""Share of the words that come from the note it pretends to be about."""

_UNSPACED = {"zh", "ja", "th"}
_FRONTMATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_LANGUAGE = re.compile(r"^lang: (\w+)$", re.MULTILINE)
_NO_TEXT = re.compile(r"^#+ .*$|^\s*\|?[-:| ]+\|?$|`[^`]*`|\[\[[^\]]*\]\]|%%.*?%%", re.MULTILINE)
_CLAUSE = re.compile(r"[^\n.,:;!?|()\"*<>{}=\[\]。、，：；！？（）「」《》]+")


@dataclass(frozen=True)
class Source:
    """What is borrowed from one note: clauses, each a list of words, or of signs where words are not spaced."""

    language: str
    headings: list[str]
    clauses: list[list[str]]

    @classmethod
    def of(cls, path: Path) -> "Source":
        text = path.read_text(encoding="utf-8")
        front = _FRONTMATTER.match(text)
        named = _LANGUAGE.search(front[1]) if front else None
        language = named[1] if named else "en"
        body = text[front.end() :] if front else text
        clauses = (clause.strip() for clause in _CLAUSE.findall(_NO_TEXT.sub("\n", body)))
        pieces = [[*clause.replace(" ", "")] if language in _UNSPACED else clause.split() for clause in clauses]
        return cls(
            language=language,
            headings=re.findall(r"^##+ (.*)$", body, re.MULTILINE) or [path.stem],
            clauses=[words for words in pieces if len(words) > 1],
        )

    @property
    def joint(self) -> str:
        return "" if self.language in _UNSPACED else " "


def distractors(garden: Path, library: Path, count: int) -> Iterator[tuple[str, str]]:
    """So many paths and texts. Every note of the garden is the subject of equally many."""
    subjects, lenders = ([Source.of(path) for path in sorted(vault.rglob("*.md"))] for vault in (garden, library))
    chance = random.Random(SEED)
    for number in range(count):
        subject = subjects[number % len(subjects)]
        others = [source for source in (*subjects, *lenders) if source.language == subject.language]
        yield f"Distractors/{number:04}.md", _note(chance, subject, others)


def _note(chance: random.Random, subject: Source, others: Sequence[Source]) -> str:
    parts = [f"# {_name(chance, subject, others)}"]
    for place in range(chance.randint(2, 5)):
        if place:
            parts.append(f"## {_heading(chance, subject, others)}")
        parts.append(" ".join(_sentence(chance, subject, others) for _ in range(chance.randint(2, 6))))
    return "\n\n".join(parts) + "\n"


def _heading(chance: random.Random, subject: Source, others: Sequence[Source]) -> str:
    if chance.random() < 0.5:
        return chance.choice(chance.choice(others).headings)
    return _name(chance, subject, others)


def _name(chance: random.Random, subject: Source, others: Sequence[Source]) -> str:
    words = [_telling(chance, subject), _telling(chance, chance.choice(others)), _telling(chance, subject)]
    return subject.joint.join(words[: chance.randint(2, 3)]).capitalize()


def _telling(chance: random.Random, source: Source) -> str:
    """A word that could stand in a title: a long one."""
    if source.language in _UNSPACED:
        return _fragment(chance, source)
    return max(chance.choice(source.clauses), key=len)


def _sentence(chance: random.Random, subject: Source, others: Sequence[Source]) -> str:
    pieces = [
        _fragment(chance, subject if chance.random() < OF_ITS_SUBJECT else chance.choice(others))
        for _ in range(chance.randint(4, 8))
    ]
    said = subject.joint.join(pieces)
    return said[0].upper() + said[1:] + ("。" if subject.language in {"zh", "ja"} else ".")


def _fragment(chance: random.Random, source: Source) -> str:
    clause = chance.choice(source.clauses)
    start = chance.randrange(len(clause))
    return source.joint.join(clause[start : start + chance.randint(1, 3)])
