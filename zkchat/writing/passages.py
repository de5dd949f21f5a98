"""Replace a passage of a note, found as it was given, or say why it cannot be: what the note has instead."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from itertools import accumulate, islice
from typing import Final, NamedTuple

from zkchat.core import Block, EditRefused, Heading, Note, lazy_pattern, shorten
from zkchat.notes import Anchors, heading_key, is_delimiter, parse_note

_LINE_END: Final = lazy_pattern(r"\r\n|\r|\n")
_ITEM: Final = lazy_pattern(r"\s*(?:([-*+])|\d{1,9}[.)])(?:[ \t]|$)")
_RULER: Final = lazy_pattern(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_UNDERLINE: Final = lazy_pattern(r"^ {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
_MARKS: Final = lazy_pattern(r"\s*(#{1,6})\s+")
_MAX_OUTLINE: Final = 40
"""Headings, or ids of blocks, that a refusal lists."""
_MAX_NAME: Final = 80
"""Characters of a heading in a list."""


def checked(new: str) -> str:
    """A text that a file can hold, with `\\n` as its only line end. Raises `EditRefused`."""
    try:
        new.encode()
    except UnicodeEncodeError:
        raise EditRefused("The text contains an invalid character.") from None
    return with_line_end(new, "\n")


def line_end_at(text: str, place: int) -> str:
    """The line end that stands before a place, else the first after it; `\\n` in a text of one line."""
    feed, carriage = text.rfind("\n", 0, place), text.rfind("\r", 0, place)
    last = max(feed, carriage)
    if last < 0:
        following = _LINE_END.search(text, place)
        return following[0] if following else "\n"
    if last == carriage:
        return "\r\n" if text.startswith("\n", last + 1) else "\r"
    return "\r\n" if last and text[last - 1] == "\r" else "\n"


def with_line_end(text: str, line_end: str) -> str:
    """The text with one kind of line end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return plain if line_end == "\n" else plain.replace("\n", line_end)


class UnifiedText:
    """A text with `\\n` for each of its line ends, whose offsets can be mapped back."""

    def __init__(self, text: str) -> None:
        self.text = with_line_end(text, "\n")
        self._longer = [match.start() - number for number, match in enumerate(re.finditer("\r\n", text))]
        """The offsets in the unified text of the line ends that are two characters long in the original."""

    def original(self, offset: int) -> int:
        """Where an offset of the unified text is in the original one."""
        return offset + bisect_left(self._longer, offset)

    def line(self, offset: int) -> int:
        """The number of the line of an offset in the unified text, from 1."""
        return self.text.count("\n", 0, offset) + 1


def without_blank_edges(text: str) -> str:
    """The text without blank lines around it; the indentation of its first line stays."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text.rstrip()) if text.strip() else ""


def joins(before: str, after: str) -> bool:
    """Whether a text goes on with the list or table that the one before it ends with."""
    lines = before.rstrip().split("\n")
    following = after.split("\n", 2)
    first = following[0]
    if lines[-1].lstrip().startswith("|") and first.lstrip().startswith("|"):
        return len(following) < 2 or not is_delimiter(following[1])
    kind = _item_kind(first)
    if kind is None or kind != _last_item(lines):
        return False
    items = (n for n in range(len(lines) - 1, 1, -1) if _item_kind(lines[n]) is not None and not lines[n][0].isspace())
    last = next(items, 0)  # no blank line stands before it that belongs to its list
    return not last or bool(lines[last - 1].strip()) or _last_item(lines[: last - 1]) is None


def _item_kind(line: str) -> bool | None:
    """Whether a line begins an item with a bullet; None if it begins none."""
    item = _ITEM.match(line)
    return None if not item or _RULER.fullmatch(line) else item[1] is not None


def _last_item(lines: list[str]) -> bool | None:
    """The kind of the item that a text ends with; of the outermost one."""
    kind: bool | None = None
    for line in reversed(lines):
        if not line.strip():
            if kind is not None:
                return kind
            continue
        found = _item_kind(line)
        kind = kind if found is None else found
        if not line[0].isspace():
            return found
    return kind


class Section(NamedTuple):
    """A heading with what stands under it, as character offsets."""

    heading: Heading
    start: int
    """Where the line of the heading begins."""
    text_start: int
    """Where the line after the heading begins."""
    own_end: int
    """Where the next heading of any level begins, or the note ends."""
    end: int
    """Where the next heading of the same or a higher level begins, or the note ends."""
    children: tuple[Heading, ...]


class ParsedNote:
    """A note that is to be edited: its text, with `\\n` as its only line end, and what the parser says of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.note: Note = parse_note("", text)
        if left_out := [warning.text for warning in self.note.warnings if warning.kind == "excess"]:
            raise EditRefused(f"The note is too large to find its sections. {left_out[0]}")

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """The offset after the line end of the line that an offset is in."""
        return self.text.find("\n", offset) + 1 or len(self.text)

    def offset_of_line(self, number: int) -> int:
        offset = 0
        for _ in range(number - 1):
            offset = self.line_end(offset)
        return offset

    def text_start(self, heading: Heading) -> int:
        """Where the line after a heading begins."""
        first_end = self.line_end(heading.start)
        if re.match(r" {0,3}#{1,6}(?:[ \t]|$)", self.text[self.line_start(heading.start) : first_end]):
            return first_end
        underline = _UNDERLINE.search(self.text, first_end)
        return self.line_end(underline.start()) if underline else first_end

    def section(self, heading: Heading) -> Section:
        following = [each for each in self.note.headings if each.start > heading.start]
        after = next((each for each in following if each.level <= heading.level), None)
        own_end = self.line_start(following[0].start) if following else len(self.text)
        end = self.line_start(after.start) if after else len(self.text)
        return Section(
            heading=heading,
            start=self.line_start(heading.start),
            text_start=self.text_start(heading),
            own_end=own_end,
            end=end,
            children=tuple(each for each in following if each.start < end),
        )

    def find(self, place: str) -> Heading | Block:
        """The one heading or block that a place names. Raises `EditRefused` with the outline."""
        found: Sequence[Heading | Block] = Anchors(self.note.headings, self.note.blocks).find_all(place)
        if marks := _MARKS.match(place):
            found = [each for each in found if getattr(each, "level", 0) == len(marks[1])] or found
        if len(found) == 1:
            return found[0]
        if not place.strip(" #^"):
            raise EditRefused("No section was named.", hint=self._outline())
        lines = ", ".join(str(each.line) for each in found[:_MAX_OUTLINE])
        if "^" in place.rpartition("#")[2][:1]:
            if found:
                raise EditRefused(f"There are {len(found)} blocks {_cut(place)} in the note, in lines {lines}.")
            ids = [f"^{block.id} (line {block.line})" for block in self.note.blocks[:_MAX_OUTLINE]]
            raise EditRefused(
                f"There is no block {_cut(place)} in the note.",
                hint=f"It has: {', '.join(ids)}." if ids else "No block of it has an id: name a heading.",
            )
        if not found:
            raise EditRefused(f"There is no heading “{_cut(place)}” in the note.", hint=self._outline(place))
        raise EditRefused(
            f"There are {len(found)} headings “{_cut(place)}” in the note, in lines {lines}.",
            hint="Name the heading above it too (`Above#Heading`), or edit the passage itself. " + self._outline(),
        )

    def _outline(self, place: str = "") -> str:
        headings = self.note.headings
        if not headings:
            return "The note has no headings."
        lines = [f"{'#' * each.level} {_cut(each.text)} (line {each.line})" for each in headings[:_MAX_OUTLINE]]
        if len(headings) > len(lines):
            lines.append(f"… and {len(headings) - len(lines):,} more")
        keys = {heading_key(each.text): each.text for each in headings}
        close = get_close_matches(heading_key(place.rpartition("#")[2]), keys, n=1, cutoff=0.7) if place else []
        nearest = f"The nearest is “{_cut(keys[close[0]])}”. " if close else ""
        return "\n".join((f"{nearest}Its headings are:", *lines))


def _cut(name: str) -> str:
    name = " ".join(islice(name.split(), 40))
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}…"


class Splice(NamedTuple):
    """A text in place of a part of another."""

    start: int
    end: int
    new: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]

    def is_outside(self, start: int, end: int) -> bool:
        """Whether a span is not wholly within the part."""
        return not self.start <= start < end <= self.end

    def moved(self, offset: int) -> int:
        """Where an offset outside the part is after the edit."""
        return offset if offset < self.end else offset + len(self.new) - (self.end - self.start)


def spliced(text: str, edit: Callable[[str], Splice]) -> str:
    """The text with an edit that knows no byte order mark, and `\\n` only: new lines end as those of the place."""
    mark = text[: text.startswith("\ufeff")]
    body = text[len(mark) :]
    unified = UnifiedText(body)
    splice = edit(unified.text)
    start, end = unified.original(splice.start), unified.original(splice.end)
    return mark + Splice(start, end, with_line_end(splice.new, line_end_at(body, start))).applied(body)


def change_of_the_rest(parsed: ParsedNote, splice: Splice) -> str:
    """What else an edit would change, as a sentence; nothing if the rest of the note stays what it is."""
    changed = splice.applied(parsed.text)
    before, after = parsed.note, parse_note("", changed)
    if before.body_start != after.body_start:
        return "The text would be read as properties of the note."
    inserted = Splice(splice.start, splice.start + len(splice.new), "")
    for marks, sentence in (
        (_headings, "The change would alter other headings of the note."),
        (_links_and_blocks, "The change would break links, comments or blocks elsewhere in the note."),
    ):
        kept = [
            (splice.moved(start), splice.moved(end - 1), what)
            for start, end, what in marks(before, parsed.text)
            if splice.is_outside(start, end)
        ]
        found = [
            (start, end - 1, what) for start, end, what in marks(after, changed) if inserted.is_outside(start, end)
        ]
        if kept != found:
            return sentence
    if splice.start == splice.end and not is_text_at(parsed.text, splice.start):
        return "The section ends in code, HTML or a comment that is not closed: the text would become part of it."
    return ""


def refuse_to_drop_comments(parsed: ParsedNote, splice: Splice) -> None:
    """Refuse to replace comments, which a model was not shown, unless the new text has them."""
    for start, end in parsed.note.comments:
        is_inside = splice.start <= start and end <= splice.end
        if is_inside and parsed.text[start:end] not in splice.new:
            raise EditRefused(
                "The new text leaves out a comment (%% … %%) that stands there.",
                hint="Edit the passages around it instead.",
            )


_Mark = tuple[int, int, object]
"""Where something begins and ends, and what it is."""


def _headings(note: Note, _text: str) -> Iterator[_Mark]:
    """Each with the texts of those above it."""
    above: list[Heading] = []
    for heading in note.headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        yield heading.start, heading.start + 1, (heading.text, heading.level, [each.text for each in above])
        above.append(heading)


def _links_and_blocks(note: Note, text: str) -> Iterator[_Mark]:
    yield from ((link.start, link.end, (link.text, link.in_comment)) for link in note.links)
    yield from ((start, end, "comment") for start, end in note.comments)
    lines = text.split("\n") if note.blocks else []
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    for block in note.blocks:
        end = starts[block.line - 1] + len(lines[block.line - 1].rstrip())
        yield end - 1, end, block.id


def is_text_at(text: str, place: int) -> bool:
    """Whether a heading would be one at a place, and no part of code, HTML or a comment."""
    probe = Splice(place, place, "\n\n# -\n\n").applied(text)
    return any(heading.start == place + 2 for heading in parse_note("", probe).headings)


_PLACEHOLDER: Final = lazy_pattern(r"^[ \t>*_#(\[<{!/（-]*(?:\.{3}|…).{0,60}$", re.MULTILINE)
"""A short line that begins with dots, as models write it in the place of text that they leave out."""
_MAX_SHOWN: Final = 600
"""Characters of a passage in a message."""
_TELLING: Final = 12
"""Characters of a new text that is not in a note by chance."""
_MAX_COMPARED: Final = 100
"""Words and signs of a passage that is looked for by likeness."""
_QUOTES: Final = "\"'‘’‚‛`´ʼ′‹›“”„‟″«»"
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
    return EditRefused("The note has no such passage, nor one like it.", hint="Read the note again.")


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
    return (window[0].start(), window[-1].end()) if shared.size and likeness > 0.6 else None


def replace_passage(text: str, old: str, new: str, *, expected: int = 1) -> str:
    """The text with `new` in place of `old`, which must occur exactly `expected` times.

    A passage is found character for character. Only line ends are not compared, because neither a model nor a person
    sees them: `\\n` stands for whatever line end the note has there, and what is inserted takes the note's line ends.
    Characters that `old` and `new` share at their beginnings and ends are not touched.

    Raises `EditRefused`, which says what differs and shows the nearest passage, and where `new` already exists.
    """
    if not old:
        raise EditRefused("The passage to replace is empty.", hint="Give the words of the note that are to change.")
    if expected < 1:
        raise EditRefused(f"A passage cannot be replaced {expected} times.", hint="Say how often it is there.")
    unified = UnifiedText(text)
    wanted, put = with_line_end(old, "\n"), checked(new)
    if wanted == put:
        raise EditRefused("The old and the new text are the same: there is nothing to change.")
    refuse_placeholders(new, text)
    found = re.finditer(f"(?={re.escape(wanted)})", unified.text)  # also where one overlaps the next
    places = [match.start() for match in islice(found, expected + _MAX_COUNTED)]
    if not places:
        raise _explain_missing(unified, wanted, put)
    if len(places) != expected:
        raise _miscounted(unified, places, len(wanted), expected)
    inner = put.find(wanted)
    for place in places if inner >= 0 else ():
        if place >= inner and unified.text.startswith(put, place - inner):
            raise EditRefused(
                f"The new text is in the note already (line {unified.line(place - inner)}): "
                "the change was made before, and is not made twice.",
                hint=f"It is there as: {_shown(put)}",
            )
    head = _shared(wanted, put)
    tail = _shared(wanted[head:][::-1], put[head:][::-1])
    inserted = put[head : len(put) - tail]
    pieces: list[str] = []
    position = 0
    for place in places:
        if place < position:
            raise EditRefused("Copies of the passage overlap in the note.", hint="Give more of the text around it.")
        start = unified.original(place + head)
        end = unified.original(place + len(wanted) - tail)
        pieces += (text[unified.original(position) : start], with_line_end(inserted, line_end_at(text, start)))
        position = place + len(wanted)
        pieces.append(text[end : unified.original(position)])
    return "".join([*pieces, text[unified.original(position) :]])


def _miscounted(unified: UnifiedText, places: Sequence[int], length: int, expected: int) -> EditRefused:
    times, wanted = ("once" if number == 1 else f"{number:,} times" for number in (len(places), expected))
    lines = [str(unified.line(place)) for place in places[:20]]
    more = f" and {len(places) - len(lines):,} more" if len(places) > len(lines) else ""
    return EditRefused(
        f"The passage is in the note {times}, and was expected {wanted}: line{'s' * (len(places) > 1)} "
        f"{', '.join(lines)}{more}.",
        hint="Give more of the text around the right one or, to replace all, say how often it is there."
        if len(places) > expected
        else f"It is there as: {_shown(unified.text[places[0] : places[0] + length])}",
    )


def _shared(text: str, other: str) -> int:
    """The number of characters that two texts share at their beginnings."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(text), len(other)))
