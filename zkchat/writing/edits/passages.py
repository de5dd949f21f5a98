"""Replace a passage of a note, found as it was given, or say why it cannot be: what the note has instead."""

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.model.text import shorten
from zkchat.writing.edits.note_text import UnifiedText, checked, line_end_at, with_line_end

_PLACEHOLDER: Final = lazy_pattern(r"^[ \t>*_#(\[<{!/（-]*(?:\.{3}|…).{0,60}$", re.MULTILINE)
"""A short line that begins with dots, as models write it in the place of text that they leave out."""
_MAX_SHOWN: Final = 600
"""Characters of a passage in a message."""
_MIN_LIKENESS: Final = 0.6
_TELLING: Final = 12
"""Characters of a new text that is not in a note by chance."""
_MAX_COMPARED: Final = 100
"""Words and signs of a passage that is looked for by likeness."""
_QUOTES: Final = "\"'‘’‚‛`´ʼ′‹›“”„‟″«»"
_MAX_LINES_LISTED: Final = 20
_MAX_COUNTED: Final = 1_000
"""Places of a passage that are counted, beyond those that are expected."""


def refuse_placeholders(new: str, present: str) -> None:
    """Raise `EditRefused` where a new text has dots in the place of text, in a line that the note does not hold."""
    for match in _PLACEHOLDER.finditer(new):
        if match[0].strip() not in present:
            raise EditRefused(
                f"The new text holds a placeholder, “{match[0].strip()}”, where text of the note was left out.",
                hint="Write out the whole text, or change only the passage that is to change.",
            )


def _explain_missing(unified: UnifiedText, wanted: str, put: str) -> EditRefused:
    """The refusal of a passage that is not in the note."""
    applied = unified.text.find(put) if len(put.strip()) > 2 and put not in wanted else -1
    if applied >= 0 and len(put) >= _TELLING:
        return _made_before(unified, applied, put)
    if found := _same_when_folded(unified.text, wanted):
        return EditRefused(
            f"The passage is not in the note as it was given. Line {unified.line(found[0])} differs only in "
            "case, white space, quotation marks, dashes or how letters are composed.",
            hint=f"Give it as it is there: {_shown(unified.text[slice(*found)])}",
        )
    if applied >= 0:
        return _made_before(unified, applied, put)
    if found := _nearest(unified.text, wanted):
        return EditRefused(
            f"The passage is not in the note. The nearest is in line {unified.line(found[0])}.",
            hint=f"It is there as: {_shown(unified.text[slice(*found)])}",
        )
    return EditRefused("The passage is not in the note, and nothing like it.", hint="Read the note again.")


def _made_before(unified: UnifiedText, place: int, put: str) -> EditRefused:
    return EditRefused(
        f"The passage is not in the note, but the new text is already there (line {unified.line(place)}): "
        "the change seems to have been made before.",
        hint=f"It is there as: {_shown(put)}",
    )


def _shown(passage: str) -> str:
    """A passage between lines of its own, cut where it is long."""
    cut = shorten(passage, _MAX_SHOWN)
    return f"\n{cut}" if "\n" in cut else cut


@cache
def _folded(sign: str) -> str:
    """A sign without what a reader does not see: case, kinds of spaces, quotation marks and dashes, composition."""
    kind = unicodedata.category(sign)
    if kind == "Cf":
        return ""
    if sign in _QUOTES or kind == "Pd" or sign == "−":
        return '"' if sign in _QUOTES else "-"
    return " " if sign.isspace() else unicodedata.normalize("NFKD", sign).casefold()


def _fold(text: str) -> tuple[str, list[int]]:
    """The text folded, with single spaces, and where each of its characters comes from."""
    folded: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for each in _folded(sign):
            if each != " " or folded[-1:] != [" "]:
                folded.append(each)
                places.append(place)
    return "".join(folded), places


def _same_when_folded(text: str, wanted: str) -> tuple[int, int] | None:
    """Where the passage is but for what folding takes away."""
    key = _fold(wanted)[0].strip()
    folded, places = _fold(text)
    start = folded.find(key) if key else -1
    if start < 0:
        return None
    span = places[start], places[start + len(key) - 1] + 1
    return span if _fold(text[slice(*span)])[0] == key else None  # and no part of a letter


def _nearest(text: str, wanted: str) -> tuple[int, int] | None:
    """Where the passage is that is most like the one wanted, around the words that they share."""
    sought = re.findall(r"\w+|\S", wanted.casefold())[:_MAX_COMPARED]
    present = [*re.finditer(r"\w+|\S", text)]
    words = [word[0].casefold() for word in present]
    shared = SequenceMatcher(None, words, sought, autojunk=False).find_longest_match()
    start = max(0, shared.a - shared.b)
    window = present[start : start + len(sought)]
    likeness = SequenceMatcher(None, words[start : start + len(sought)], sought, autojunk=False).ratio()
    return (window[0].start(), window[-1].end()) if shared.size and likeness > _MIN_LIKENESS else None


def replace_passage(text: str, old: str, new: str, *, expected: int = 1) -> str:
    """The text with `new` in place of `old`, which must occur exactly `expected` times.

    A passage is found character for character. Only line ends are not compared, because neither a model nor a person
    sees them: `\\n` stands for whatever line end the note has there, and what is inserted takes the note's line ends.
    Characters that `old` and `new` share at their beginnings and ends are not touched.

    Raises `EditRefused`, which says what differs and shows the nearest passage, and where `new` is there already.
    """
    if not old:
        raise EditRefused("The passage to replace is empty.", hint="Give the words of the note that are to change.")
    if expected < 1:
        raise EditRefused(f"A passage cannot be expected {expected} times.", hint="Expect it once, or more often.")
    unified = UnifiedText(text)
    wanted, put = with_line_end(old, "\n"), checked(new)
    if wanted == put:
        raise EditRefused("The old and the new text are the same: there is nothing to change.")
    refuse_placeholders(new, text)
    places = _occurrences(unified.text, wanted, at_most=expected + _MAX_COUNTED)
    if not places:
        raise _explain_missing(unified, wanted, put)
    if len(places) != expected:
        raise _miscounted(unified, places, len(wanted), expected)
    _refuse_repetition(unified, places, wanted, put)
    return _replaced(text, unified, places, wanted, put)


def _occurrences(text: str, wanted: str, *, at_most: int) -> list[int]:
    """Where a passage begins, also where one overlaps the next."""
    places: list[int] = []
    place = text.find(wanted)
    while place >= 0 and len(places) < at_most:
        places.append(place)
        place = text.find(wanted, place + 1)
    return places


def _miscounted(unified: UnifiedText, places: Sequence[int], length: int, expected: int) -> EditRefused:
    times = "once" if len(places) == 1 else f"{len(places):,} times"
    wanted = "once" if expected == 1 else f"{expected:,} times"
    lines = [str(unified.line(place)) for place in places[:_MAX_LINES_LISTED]]
    more = f" and {len(places) - len(lines):,} more" if len(places) > len(lines) else ""
    return EditRefused(
        f"The passage is in the note {times}, and was expected {wanted}: line{'s' * (len(places) > 1)} "
        f"{', '.join(lines)}{more}.",
        hint="Give more of the text around the one that is meant, or how often it is expected, to replace all."
        if len(places) > expected
        else f"It is there as: {_shown(unified.text[places[0] : places[0] + length])}",
    )


def _refuse_repetition(unified: UnifiedText, places: Sequence[int], wanted: str, put: str) -> None:
    """Refuse what was done before: the new text holds the old one, and stands around it already."""
    inner = put.find(wanted)
    if inner < 0:
        return
    for place in places:
        if place >= inner and unified.text.startswith(put, place - inner):
            raise EditRefused(
                f"The new text is in the note already (line {unified.line(place - inner)}): "
                "the change was made before, and is not made twice.",
                hint=f"It is there as: {_shown(put)}",
            )


def _replaced(text: str, unified: UnifiedText, places: Sequence[int], wanted: str, put: str) -> str:
    head = _shared(wanted, put)
    tail = _shared(wanted[head:][::-1], put[head:][::-1])
    inserted = put[head : len(put) - tail]
    pieces: list[str] = []
    position = 0
    for place in places:
        if place < position:
            raise EditRefused("The passage overlaps itself in the note.", hint="Give more of the text around it.")
        start = unified.original(place + head)
        end = unified.original(place + len(wanted) - tail)
        pieces += (text[unified.original(position) : start], with_line_end(inserted, line_end_at(text, start)))
        position = place + len(wanted)
        pieces.append(text[end : unified.original(position)])
    return "".join([*pieces, text[unified.original(position) :]])


def _shared(text: str, other: str) -> int:
    """The number of characters that two texts share at their beginnings."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(text), len(other)))
