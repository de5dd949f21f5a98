"""Replace a passage of a note, found as it was given, or say why it cannot be."""

from collections.abc import Sequence
from typing import Final

from zkchat.errors import EditRefused
from zkchat.writing.edits.line_ends import UnifiedText, checked, line_end_at, with_line_end
from zkchat.writing.edits.nearest_passage import explain_missing, shown
from zkchat.writing.edits.placeholders import refuse_placeholders

_MAX_LINES_LISTED: Final = 20
_MAX_COUNTED: Final = 1_000
"""Places of a passage that are counted, beyond those that are expected."""


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
        raise explain_missing(unified, wanted, put)
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
        else f"It is there as: {shown(unified.text[places[0] : places[0] + length])}",
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
                hint=f"It is there as: {shown(put)}",
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
