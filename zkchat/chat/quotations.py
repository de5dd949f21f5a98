"""The passages of an answer that stand word for word in a text that the model was given. Pure.

What such a passage links to or names is what its note says, and not what the answer cites.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from zkchat.chat.context.formatting import documents_in
from zkchat.core import ChatMessage, EvidencePart, FilePart, Link, TextPart, ToolResultPart, lazy_pattern
from zkchat.index import UNSPACED_RUN, has_unspaced
from zkchat.notes import name_key

MIN_LETTERS: Final = 10
"""Letters outside links, from which on the same words in the same order are no coincidence."""
_UNSPACED_WEIGHT: Final = 3
"""What a letter counts in a script without spaces, where a few make a sentence."""
MAX_PIECES: Final = 2_000
"""Sentences and lines of an answer that are compared."""
MAX_GIVEN_CHARACTERS: Final = 100_000
"""Characters of what was given, the newest first, that an answer is compared with."""
_MAX_OVERLAP: Final = 8
"""Sentences that two passages may share."""
_TOKEN: Final = lazy_pattern(r"\[\[[^\[\]\n]*\]\]|(?:[^\W_]|[\u0300-\u036f])+")
_BREAK: Final = lazy_pattern(r"[\n…\"“”„«»「」。！？：।॥]|[.!?:][^\w\s.!?:]*\s")
"""Where a sentence, a line or a quote begins or ends, and what follows may be from elsewhere."""
_BORDER: Final = "\0"
"""Stands between two texts: no passage reaches over it."""


class GivenText(NamedTuple):
    """What a note says, as it was handed to the model."""

    path: str
    text: str


class Quotation(NamedTuple):
    """A part of an answer, and the note that it is from."""

    start: int
    end: int
    path: str


class _Piece(NamedTuple):
    """A sentence or a line of an answer, from the end of the one before it."""

    start: int
    end: int
    words: str
    letters: int
    """Outside links."""


def given_texts(messages: Iterable[ChatMessage]) -> Iterator[GivenText]:
    """What notes say in the documents, the evidence and the tool results of messages."""
    for message in messages:
        for part in message.parts:
            match part:
                case TextPart():  # most parts of most messages: the quickest way past them
                    pass
                case FilePart(server=""):
                    yield GivenText(part.name, part.text)
                case EvidencePart():
                    yield from (GivenText(each.relative_path, each.text) for each in part.evidence)
                case ToolResultPart():
                    yield from (GivenText(*document) for document in documents_in(part.text))
                case _:
                    pass


def find_quotations(answer: str, links: Sequence[Link], given: Iterable[GivenText]) -> list[Quotation]:
    """The passages of the answer that stand in one of the texts, in order; two of them may overlap.

    Markup, case and line breaks may differ. A passage is long enough to be none by chance, or a whole text.
    """
    pieces = _pieces(answer, links)
    haystack = _Haystack(given) if pieces else None
    if not haystack:
        return []
    found: list[Quotation] = []
    start = 0
    while start < len(pieces):
        end, place = haystack.find_longest(pieces, start)
        if end == start:
            start += 1
            continue
        run = pieces[start:end]
        if sum(piece.letters for piece in run) >= MIN_LETTERS or haystack.is_whole(place, run):
            found.append(Quotation(run[0].start, run[-1].end, haystack.path_at(place)))
        # What follows may belong to a passage that begins inside this one.
        inside = range(max(start + 1, end - _MAX_OVERLAP), end if end < len(pieces) else 0)
        start = next((each for each in inside if haystack.find(pieces[each : end + 1]) >= 0), end)
    return found


def links_outside(links: Sequence[Link], quotations: Sequence[Quotation]) -> list[Link]:
    """The links that stand in none of the passages."""
    starts = [quoted.start for quoted in quotations]
    before = [bisect_right(starts, link.start) - 1 for link in links]
    return [
        link for link, number in zip(links, before, strict=True) if number < 0 or link.start >= quotations[number].end
    ]


def _pieces(answer: str, links: Sequence[Link]) -> list[_Piece]:
    tokens = [*_TOKEN.finditer(answer)]
    link_at = _links_of(tokens, links)
    breaks = [
        place
        for place, (token, following) in enumerate(pairwise(tokens), start=1)
        if not (link_at[place] is not None and link_at[place] == link_at[place - 1])
        and _BREAK.search(answer, token.end(), following.start())
    ]
    pieces: list[_Piece] = []
    for first, last in pairwise([0, *breaks, len(tokens)] if tokens else ()):
        own = [token[0] for token, link in zip(tokens[first:last], link_at[first:last], strict=True) if link is None]
        piece = _Piece(
            start=tokens[first - 1].end() if first else 0,
            end=tokens[last - 1].end(),
            words="".join(f"{name_key(token[0])} " for token in tokens[first:last]),
            letters=sum(map(_weighed_letters, own)),
        )
        pieces.append(piece)
        if len(pieces) == MAX_PIECES:
            break
    return pieces


def _weighed_letters(word: str) -> int:
    unspaced = "".join(UNSPACED_RUN.findall(word)) if has_unspaced(word) else ""
    return len(word) + (_UNSPACED_WEIGHT - 1) * len(unspaced)


def _links_of(tokens: Sequence[re.Match[str]], links: Sequence[Link]) -> list[int | None]:
    """For each token the number of the link that it is part of."""
    starts = [link.start for link in links]
    before = [bisect_right(starts, token.end() - 1) - 1 for token in tokens]
    return [
        number if number >= 0 and token.start() < links[number].end else None
        for token, number in zip(tokens, before, strict=True)
    ]


@lru_cache(maxsize=512)
def _words_of(text: str) -> str:
    """What was given in earlier turns is compared with every answer."""
    return name_key(" ".join(_TOKEN.findall(text)))


class _Haystack:
    """The words of all texts, one after the other."""

    def __init__(self, given: Iterable[GivenText]) -> None:
        self._paths: list[str] = []
        texts: list[str] = []
        room = MAX_GIVEN_CHARACTERS
        for path, text in given:
            if room <= 0:
                break
            words = _words_of(text[:room])
            room -= len(text)
            if words:
                self._paths.append(path)
                texts.append(f"{_BORDER} {words} ")
        self._starts = [0, *accumulate(map(len, texts))]
        self._words = "".join(texts) + _BORDER

    def __bool__(self) -> bool:
        return bool(self._paths)

    def find(self, run: Sequence[_Piece]) -> int:
        """Where the words of these pieces stand; negative where they do not."""
        return self._words.find(f" {''.join(piece.words for piece in run)}")

    def find_longest(self, pieces: Sequence[_Piece], start: int) -> tuple[int, int]:
        """The end of the longest run from `start` on that stands in one text, and where it stands there."""
        end, place = start, self.find(pieces[start : start + 1])
        found = place
        while found >= 0:
            place = found
            reached = place + 1 + sum(len(piece.words) for piece in pieces[start:end])
            while end < len(pieces) and self._words.startswith(pieces[end].words, reached):
                reached += len(pieces[end].words)
                end += 1
            found = self.find(pieces[start : end + 1]) if end < len(pieces) else -1
        return end, place

    def is_whole(self, place: int, run: Sequence[_Piece]) -> bool:
        end = place + 1 + sum(len(piece.words) for piece in run)
        return self._words.startswith(_BORDER, place - 1) and self._words.startswith(_BORDER, end)

    def path_at(self, place: int) -> str:
        return self._paths[bisect_right(self._starts, place) - 1]
