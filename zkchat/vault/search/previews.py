"""What a list of hits shows of each: a line or two without Markdown's marks, and equal passages once."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from zkchat.model.note import Passage
from zkchat.vault.notes.runs import BLOCK_ID, closes_fence, is_delimiter, opens_fence, without_quote_marks
from zkchat.vault.search.passages import below_heading, parse_query, snippet
from zkchat.vault.search.terms import query_terms

_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_ITEM: Final = re.compile(r"\s*(?:[-*+]|(\d{1,9}[.)]))(?:\s+\[(.)\](?=\s|$))?(?:\s+|$)")
_CALLOUT: Final = re.compile(r"\s*\[!([^\[\]|]{1,40})(?:\|[^\[\]]*)?\][-+]?")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+")
_RULER: Final = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_STRONG: Final = re.compile(r"(\*\*|==)(?=\S)([^*=]+?)(?<=\S)\1")
_SEPARATOR: Final = "·"


class Hit(Struct, frozen=True, kw_only=True):
    """A passage, and how many others show the same."""

    passage: Passage
    preview: str
    repetitions: int = 0


def hits_of(passages: Sequence[Passage], query: str) -> list[Hit]:
    """The passages in their order, each text once. What was found by a note's name is always listed."""
    hits: dict[object, Hit] = {}
    for number, passage in enumerate(passages):
        preview = preview_of(passage, query)
        key = preview if _is_found_by_text_only(passage) else number
        known = hits.get(key)
        hits[key] = (
            Hit(passage=known.passage, preview=preview, repetitions=known.repetitions + 1)
            if known
            else Hit(passage=passage, preview=preview)
        )
    return [*hits.values()]


def preview_of(passage: Passage, query: str) -> str:
    """A line or two of a passage as plain text, around the words of the query."""
    asked = frozenset(query_terms(parse_query(query).ranking))
    return snippet(readable(below_heading(passage.text)), asked)


def _is_found_by_text_only(passage: Passage) -> bool:
    places = passage.why.split(", ")
    return "text" in places and "title" not in places and "alias" not in places


def readable(markdown: str) -> str:
    """Markdown as plain text on one line: items and cells apart, tasks with a box, code without its fence.

    Wikilinks and addresses stay as they are written.
    """
    return " ".join(" ".join(_readable_lines(markdown)).split()).removeprefix(f"{_SEPARATOR} ")


def _readable_lines(markdown: str) -> Iterator[str]:
    fence = ""
    for written in markdown.splitlines():
        line = without_quote_marks(written)
        marks = opens_fence(line)
        if fence:
            if closes_fence(line, fence):
                fence = ""
            else:
                yield line
        elif marks:
            fence = marks
        elif not is_delimiter(line) and not _RULER.match(line):
            yield _readable_line(line, is_quoted=line is not written)


def _readable_line(line: str, *, is_quoted: bool) -> str:
    """One line of text outside code."""
    line = _STRONG.sub(r"\2", BLOCK_ID.sub("", line)).replace("![[", "[[")
    if is_quoted and (callout := _CALLOUT.match(line)):
        title = line[callout.end() :].strip() or callout[1].strip().capitalize()
        return title if title.endswith((".", "!", "?", ":")) else f"{title}:"
    if item := _ITEM.match(line):
        number, task = item.groups()
        mark = _BOXES.get(task, f"[{task}] ") if task else ""
        return f"{number or ('' if task else _SEPARATOR)} {mark}{line[item.end() :]}"
    if line.lstrip().startswith("|"):
        cells = (cell.strip().replace(r"\|", "|") for cell in _CELL_END.split(line))
        return f"{_SEPARATOR} {f' {_SEPARATOR} '.join(filter(None, cells))}"
    return _HEADING.sub("", line, count=1)
