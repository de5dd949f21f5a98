"""The passages of an answer that stand word for word in a text that the model was given. Pure.

What such a passage links to or names is what its note says, and not what the answer cites.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
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
    """The passages of the answer that stand in one of the texts, in order.

    Markup, case and line breaks may differ. A passage is long enough to be none by chance, or a whole text.
    """
    pieces = _pieces(answer, links)
    paths, starts, haystack = _words_given(given) if pieces else ([], [], "")
    found: list[Quotation] = []
    start = 0
    while paths and start < len(pieces):
        end, place, words = start, -1, ""
        while end < len(pieces):  # the longest run of pieces that stands in one text
            longer = haystack.find(f" {words}{pieces[end].words}")
            if longer < 0:
                break
            place, words, end = longer, words + pieces[end].words, end + 1
        run = pieces[start:end]
        is_whole = haystack[place - 1 : place] == haystack[place + 1 + len(words) :][:1] == _BORDER
        if run and (is_whole or sum(piece.letters for piece in run) >= MIN_LETTERS):
            found.append(Quotation(run[0].start, run[-1].end, paths[bisect_right(starts, place) - 1]))
        start = max(end, start + 1)
    return found


def _words_given(given: Iterable[GivenText]) -> tuple[list[str], list[int], str]:
    """The paths of the texts, where each begins, and the words of all, one text after the other."""
    paths: list[str] = []
    texts: list[str] = []
    room = MAX_GIVEN_CHARACTERS
    for path, text in given:
        if room <= 0:
            break
        if words := name_key(" ".join(_TOKEN.findall(text[:room]))):
            paths.append(path)
            texts.append(f"{_BORDER} {words} ")
        room -= len(text)
    return paths, [0, *accumulate(map(len, texts))], "".join(texts) + _BORDER


def links_outside(links: Sequence[Link], quotations: Sequence[Quotation]) -> list[Link]:
    """The links that stand in none of the passages."""
    return [link for link in links if not any(each.start <= link.start < each.end for each in quotations)]


def _pieces(answer: str, links: Sequence[Link]) -> list[_Piece]:
    tokens = [*_TOKEN.finditer(answer)]
    starts = [link.start for link in links]
    link_at: list[int | None] = []
    """For each token the number of the link that it is part of."""
    for token in tokens:
        number = bisect_right(starts, token.end() - 1) - 1
        link_at.append(number if number >= 0 and token.start() < links[number].end else None)
    breaks = [
        place
        for place, (token, following) in enumerate(pairwise(tokens), start=1)
        if not (link_at[place] is not None and link_at[place] == link_at[place - 1])
        and _BREAK.search(answer, token.end(), following.start())
    ]
    return [
        _Piece(
            start=tokens[first - 1].end() if first else 0,
            end=tokens[last - 1].end(),
            words="".join(f"{name_key(token[0])} " for token in tokens[first:last]),
            letters=sum(_letters(tokens[place][0]) for place in range(first, last) if link_at[place] is None),
        )
        for first, last in pairwise([0, *breaks[: MAX_PIECES - 1], len(tokens)] if tokens else ())
    ]


def _letters(word: str) -> int:
    """How many letters, those of scripts without spaces weighed."""
    unspaced = "".join(UNSPACED_RUN.findall(word)) if has_unspaced(word) else ""
    return len(word) + (_UNSPACED_WEIGHT - 1) * len(unspaced)
