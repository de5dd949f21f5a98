"""Passages of notes as Markdown: quotations grouped by note, each followed by where it stands."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zkchat.model.evidence import Evidence, MessageExcerpt
from zkchat.model.prompt import RemarkChunk, TextChunk
from zkchat.model.text import shorten

ELSEWHERE: Final = RemarkChunk(text="Elsewhere in your notes:", is_heading=True)
DOUBT: Final = RemarkChunk(text="No passage answers this for certain. These come nearest.")
NOTHING: Final = "Your notes hold nothing on "
"""How the answer begins where there is none; then comes what was looked for."""
_MAX_SOUGHT: Final = 100
"""Characters of the words that were looked for."""
_SENTENCE_ENDS: Final = (".", "!", "?", "…", "。", "！", "？")
_BACKTICKS: Final = re.compile(r"`{3,}")
_LINE_END: Final = re.compile(r"\r\n?|\n")
_LINK: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")


def quotations(
    passages: Iterable[Evidence], *, after_text: bool = False, after_linked: bool = False
) -> Iterator[TextChunk | RemarkChunk]:
    """Pieces of one text: the linked notes first, all passages of a note together, and each place named once.

    `after_text` says that the text has begun before, `after_linked` that passages of linked notes were shown before.
    """
    places: dict[str, dict[str, list[Evidence]]] = {}
    for passage in sorted(passages, key=lambda passage: not passage.linked):
        places.setdefault(passage.relative_path, {}).setdefault(_source(passage), []).append(passage)
    before, was_linked = "\n" if after_text else "", after_linked
    for place, quoted in ((place, quoted) for note in places.values() for place, quoted in note.items()):
        if was_linked and not quoted[0].linked:
            yield ELSEWHERE
        yield TextChunk(text=before + "\n".join(map(_quoted, quoted)) + f"\n— {place}\n")
        before, was_linked = "\n", quoted[0].linked


def excerpts(found: Sequence[MessageExcerpt]) -> Iterator[TextChunk]:
    """Pieces of one text: what of a message answers its question, lines that follow each other together."""
    blocks: list[list[MessageExcerpt]] = []
    for each in found:
        if blocks and each.first_line - blocks[-1][-1].last_line <= 1:
            blocks[-1].append(each)
        else:
            blocks.append([each])
    before = ""
    for block in blocks:
        first, last = block[0].first_line, block[-1].last_line
        place = f"line {first:,}" if first == last else f"lines {first:,}–{last:,}"
        yield TextChunk(text=f"{before}{_as_written([each.text for each in block])}\n— your text, {place}\n")
        before = "\n"


def _as_written(lines: Sequence[str]) -> str:
    """Sentences as a quotation; lines of logs, tables and code, which must not flow together, as a listing."""
    if all(line.rstrip().endswith(_SENTENCE_ENDS) and "\n" not in line for line in lines):
        return "".join(f"> {line.strip()}\n" for line in lines)
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}\n"


def no_answer(nearest: Sequence[Evidence], searched_for: Sequence[str] = ()) -> str:
    """The answer where no passage answers: which come nearest, or that there is nothing on the words looked for."""
    if places := ", ".join(dict.fromkeys(map(place_of, nearest))):
        return f"No passage answers this. Nearest: {places}.\n"
    words = shorten(", ".join(searched_for), _MAX_SOUGHT)
    return f"{NOTHING}“{words}”.\n" if words else f"{NOTHING}this.\n"


def _quoted(passage: Evidence) -> str:
    lines = _LINE_END.split(passage.text.strip("\r\n"))
    return "".join(f"> {line}\n" if line.strip() else ">\n" for line in lines)


def _source(passage: Evidence) -> str:
    """Where a passage stands, of when it is, and which newer note says otherwise."""
    return " · ".join(filter(None, (place_of(passage), time_of(passage))))


def time_of(passage: Evidence) -> str:
    """The date of a passage where it has one that its place does not tell, and which newer note says otherwise."""
    day = passage.date.isoformat() if passage.date else ""
    day = "" if day in place_of(passage) else day
    if not passage.outdated_by:
        return day
    newer = "a newer passage" if passage.outdated_by == passage.wikilink else f"the newer {passage.outdated_by}"
    return " · ".join(filter(None, (day, f"{newer} says otherwise")))


def place_of(passage: Evidence) -> str:
    """`[[Note]] › Heading`, without a heading that only repeats the title."""
    heading = heading_of(passage.heading)
    is_said = heading.casefold() == passage.title.casefold() or passage.wikilink.endswith(f"#{heading}]]")
    return f"{passage.wikilink} › {heading}" if heading and not is_said else passage.wikilink


def heading_of(written: str) -> str:
    """A heading on one line, with its links as they are shown."""
    return " ".join(_LINK.sub(r"\1", written).split())
