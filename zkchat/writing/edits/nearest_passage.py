"""Say why a passage is not in a note: what differs, and what the note has instead."""

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.writing.edits.line_ends import UnifiedText

MAX_SHOWN: Final = 600
"""Characters of a passage in a message."""
_MAX_COMPARED: Final = 2_000
"""Characters of the passage that is looked for by likeness."""
_PIECES: Final = 40
"""Parts of the passage that are looked for."""
_MAX_HITS: Final = 40
"""Places of each part that count."""
_CANDIDATES: Final = 8
_MIN_LIKENESS: Final = 0.6
_SHORT: Final = 200
"""Characters of a passage that is compared by its characters; a longer one is compared by its words."""
_TELLING: Final = 12
"""Characters of a new text that is not in a note by chance."""
_PIECE: Final = 4_096
"""Characters that are folded at a time."""
_WORD_AFTER_SPACE: Final = lazy_pattern(r"(?<=\s)\S")
_TOKEN: Final = lazy_pattern(r"[^\W\d_]{1,20}|\d{1,20}|[^\w\s]")

_QUOTES: Final = dict.fromkeys("‘’‚‛`´ʼ′‹›", "'") | dict.fromkeys("“”„‟″«»", '"')
_DASHES: Final = dict.fromkeys("‐‑‒–—―−", "-")
_SPACES: Final = dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000\t", " ")
_UNSEEN: Final = dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")
_TRAILING: Final = lazy_pattern(r"(?<![ \t])[ \t]+(?=\n)")
_RUNS: Final = lazy_pattern(r"\s\s+|\n")


class _Difference(NamedTuple):
    """A way in which two passages can differ and mean the same."""

    name: str
    fold: Callable[[str], str]


def _replacing(signs: Mapping[str, str]) -> Callable[[str], str]:
    def fold(text: str) -> str:
        for sign, plain in signs.items():
            text = text.replace(sign, plain)
        return text

    return fold


_DIFFERENCES: Final = (
    _Difference("quotation marks (curly or straight)", _replacing(_QUOTES)),
    _Difference("dots (… or ...)", _replacing({"…": "..."})),
    _Difference("dashes", _replacing(_DASHES)),
    _Difference("non-breaking or other spaces", _replacing(_SPACES)),
    _Difference("characters that cannot be seen", _replacing(_UNSEEN)),
    _Difference("how letters with accents are composed (NFC or NFD)", lambda text: unicodedata.normalize("NFC", text)),
    _Difference("white space at the ends of lines", lambda text: _TRAILING.sub("", text)),
    _Difference("upper and lower case", str.casefold),
    _Difference("line breaks and indentation", lambda text: _RUNS.sub(" ", text)),
)

_ALL: Final = tuple(each for each in _DIFFERENCES if "ends of lines" not in each.name)
"""Those that leave nothing for the others."""


def explain_missing(unified: UnifiedText, wanted: str, put: str) -> EditRefused:
    """The refusal of a passage that is not in the note."""
    applied = unified.text.find(put) if len(put.strip()) > 2 and put not in wanted else -1
    if applied >= 0 and len(put) >= _TELLING:
        return _made_before(unified, applied, put)
    if found := _same_but_for(unified.text, wanted):
        names, place, passage = found
        return EditRefused(
            f"The passage is not in the note as it was given. Line {unified.line(place)} differs only in {names}.",
            hint=f"Give it as it is there: {shown(passage)}",
        )
    if applied >= 0:
        return _made_before(unified, applied, put)
    if near := _nearest(unified.text, wanted):
        place, passage = near
        return EditRefused(
            f"The passage is not in the note. The nearest is in line {unified.line(place)}.",
            hint=f"It is there as: {shown(passage)}",
        )
    return EditRefused("The passage is not in the note, and nothing like it.", hint="Read the note again.")


def _made_before(unified: UnifiedText, place: int, put: str) -> EditRefused:
    return EditRefused(
        f"The passage is not in the note, but the new text is already there (line {unified.line(place)}): "
        "the change seems to have been made before.",
        hint=f"It is there as: {shown(put)}",
    )


def shown(passage: str) -> str:
    """A passage between lines of its own, cut where it is long."""
    cut = passage if len(passage) <= MAX_SHOWN else f"{passage[:MAX_SHOWN]}…"
    return f"\n{cut}" if "\n" in cut else cut


def _same_but_for(text: str, wanted: str) -> tuple[str, int, str] | None:
    """What the passage differs in, where it is, and the passage as it is there."""
    key = _folded(wanted, _ALL).strip()
    place = _folded(text, _ALL).find(key) if key else -1
    if place < 0:
        return None
    start, end = _unfolded(text, place, place + len(key))
    passage = text[start:end]
    needed = list(_DIFFERENCES)
    for each in reversed(_DIFFERENCES):
        fewer = [other for other in needed if other is not each]
        if _folded(wanted, fewer).strip() == _folded(passage, fewer).strip():
            needed = fewer
    names = " and ".join(each.name for each in needed) or "white space around it"
    return names, start, passage


def _folded(text: str, folds: Sequence[_Difference]) -> str:
    for each in folds:
        text = each.fold(text)
    return text


def _unfolded(text: str, *offsets: int) -> list[int]:
    """Where rising offsets of the folded text are in the text; both are read in pieces that fold independently."""
    found: list[int] = []
    start = length = 0
    for end in _piece_ends(text):
        following = length + len(_folded(text[start:end], _ALL))
        while len(found) < len(offsets) and offsets[len(found)] <= following:
            is_start = not found
            within = _unfolded_within(text[start:end], offsets[len(found)] - length + is_start)
            found.append(start + within - is_start)
        start, length = end, following
    return found


def _unfolded_within(piece: str, length: int) -> int:
    """The length of the shortest beginning that is so long when it is folded."""
    return bisect_left(range(len(piece)), length, key=lambda end: len(_folded(piece[:end], _ALL)))


def _piece_ends(text: str) -> Iterator[int]:
    start = 0
    while start < len(text):
        word = _WORD_AFTER_SPACE.search(text, start + _PIECE, start + 2 * _PIECE)
        start = word.start() if word else min(len(text), start + 2 * _PIECE)
        yield start


def _nearest(text: str, wanted: str) -> tuple[int, str] | None:
    """The passage that is most like the one wanted. Only windows around parts of it are compared."""
    wanted = wanted.strip()[:_MAX_COMPARED]
    units = _TOKEN.findall if len(wanted) > _SHORT else list
    sought = units(wanted.casefold())
    best, best_place = _MIN_LIKENESS, -1
    for start in _candidates(text, wanted):
        window = units(text[start : start + len(wanted)].casefold())
        likeness = SequenceMatcher(None, window, sought, autojunk=False).ratio()
        if likeness > best:
            best, best_place = likeness, start
    if best_place < 0:
        return None
    start = _word_start(text, best_place)
    end = min(len(text), best_place + len(wanted))
    while end < len(text) and end < best_place + len(wanted) + 40 and not text[end].isspace():
        end += 1
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), passage.strip()


def _word_start(text: str, place: int) -> int:
    start = place
    while start and place - start < 40 and not text[start - 1].isspace():
        start -= 1
    return start


def _candidates(text: str, wanted: str) -> list[int]:
    """Where the passage may begin, by where parts of it are found; the likeliest first."""
    size = 12 if len(wanted) >= 48 else max(3, len(wanted) // 4)
    step = max(1, (len(wanted) - size) // _PIECES)
    votes: Counter[int] = Counter()
    starts: dict[int, int] = {}
    for offset in range(0, max(1, len(wanted) - size + 1), step):
        for hit in _hits(text, wanted[offset : offset + size]):
            start = max(0, hit - offset)
            votes[start // _PIECES] += 1
            starts.setdefault(start // _PIECES, start)
    return [starts[place] for place, _ in votes.most_common(_CANDIDATES)]


def _hits(text: str, piece: str) -> Iterator[int]:
    place = text.find(piece) if piece.strip() else -1
    for _ in range(_MAX_HITS):
        if place < 0:
            return
        yield place
        place = text.find(piece, place + 1)
