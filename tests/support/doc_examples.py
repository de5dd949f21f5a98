"""The examples of the documentation: what a page shows in fenced blocks, and when what is printed is what it shows.

A line `…` of a page stands for any lines, `…` inside a line for anything on it. Ids, dates, scores and numbers of
tokens need not be the same; everything else has to be.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES_FOR_DEVELOPERS = (
    "CONTRIBUTING.md",
    "vault-fixtures/README.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "benchmarks").rglob("README.md")),
)
PROMPT = "you › "
"""Before what is typed in a chat."""
VARYING_KEYS = frozenset({"at", "vault", "index_bytes", "index_changed_at", "seconds", "score"})
"""Of JSON: their values depend on the machine and the moment, and only the types are compared."""

FENCE = re.compile(r"^(?P<margin> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=margin)```$", re.MULTILINE | re.DOTALL)
_CAPTION = re.compile(r"`([\w./ -]+\.(?:md|json|toml|canvas))`:\n\n\Z")
_COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_VARYING = re.compile(
    r"\b[0-9a-hjkmnp-tv-z]{12}\b|\b\d{4}-\d\d-\d\d(?: \d\d:\d\d)?\b|\b0\.\d\d\b|[\d,]+(?= → [\d,]+ tokens| tokens)"
)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str
    caption: str
    """The name of the file that the line before says it is."""
    follows_block: bool
    """Whether nothing but an empty line is between it and the block before."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Example:
    """A command of a console block, and what the page shows below it."""

    place: str
    command: str
    printed: str


def pages() -> list[str]:
    """The pages for users, as paths from the root."""
    return ["README.md", "SECURITY.md", *sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))]


def blocks_of(page: str) -> Iterator[Block]:
    text = (ROOT / page).read_text("utf-8")
    end = -1
    for fence in FENCE.finditer(text):
        before = text[: fence.start()]
        caption = _CAPTION.search(before)
        yield Block(
            page=page,
            line=before.count("\n") + 1,
            language=fence["language"],
            text=fence["text"],
            caption=caption[1] if caption else "",
            follows_block=end >= 0 and not text[end : fence.start()].strip(),
        )
        end = fence.end()


def examples_of(block: Block) -> list[Example]:
    found = []
    for match in _COMMAND.finditer(block.text):
        line = block.line + 1 + block.text.count("\n", 0, match.start())
        found.append(Example(place=f"{block.page}:{line}", command=match[1], printed=match[2]))
    return found


def shows(expected: str, printed: str) -> bool:
    """Whether what was printed is what a page shows."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"
        for line in _comparable(expected)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _comparable(printed))) is not None


def _comparable(text: str) -> list[str]:
    return [_VARYING.sub("…", line).rstrip() for line in text.strip().splitlines()]


def shows_json(expected: str, printed: str) -> bool:
    """Whether JSON that was printed, as one value or as one on each line, is what a page shows."""
    return values_of(expected) == values_of(printed)


def values_of(text: str) -> list[Any]:
    """The values of a text that is one JSON value or has one on each line. Raises `ValueError`."""
    try:
        return [_without_varying(json.loads(text))]
    except ValueError:
        return [_without_varying(json.loads(line)) for line in text.splitlines()]


def _without_varying(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: type(item) if key in VARYING_KEYS else _without_varying(item) for key, item in value.items()}
    return [_without_varying(item) for item in value] if isinstance(value, list) else value
