"""Quotations in an answer: the words of the question are marked, and lines that were wrapped in the note flow again."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Final

from markdown_it.token import Token

from zkchat.render.console import Matches

_WRAP_COLUMNS: Final = range(60, 140)
"""Lengths of the longest line of a paragraph whose lines may be wrapped."""
_ENDS: Final = tuple(".!?:;…。！？：")
"""Marks after which a line may end for another reason than its length."""


def adapt_quotation(tokens: Sequence[Token], matches: Matches | None) -> Sequence[Token]:
    """The tokens of a block; in a quotation, with flowing lines and a `mark` around each word that matches.

    Code stays as it is.
    """
    if tokens[0].type != "blockquote_open":
        return tokens
    return [_adapted(token, matches) if token.type == "inline" else token for token in tokens]


def _adapted(inline: Token, matches: Matches | None) -> Token:
    children = inline.children or []
    flowing = _unwrapped(children) if _is_wrapped(inline.content.split("\n")) else children
    return inline.copy(children=[*_marked(flowing, matches)] if matches else flowing)


def _text(children: Sequence[Token]) -> str:
    return "".join(_read(child) for child in children)


def _read(token: Token) -> str:
    return "\n" if token.type == "hardbreak" else token.content


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether lines end where the next word would not fit, most of them within a sentence."""
    longest = max(map(len, lines))
    breaks = [(line, following.split(maxsplit=1)[:1]) for line, following in pairwise(lines)]
    return (
        bool(breaks)
        and longest in _WRAP_COLUMNS
        and all(len(line) + 1 + len("".join(word)) > longest for line, word in breaks)
        and 2 * sum(line.endswith(_ENDS) for line, _ in breaks) < len(breaks)
    )


def _unwrapped(children: Sequence[Token]) -> list[Token]:
    space = Token("text", "", 0, content=" ")
    return [space if child.type == "hardbreak" and child.meta.get("is_soft") else child for child in children]


def _marked(children: Sequence[Token], matches: Matches) -> Iterator[Token]:
    """Words are looked for in the text as it is read: emphasis may begin or end within one."""
    cuts = [*chain.from_iterable(matches(_text(children)))]
    start = 0
    for child in children:
        end = start + len(_read(child))
        within = [cut - start for cut in cuts if start < cut < end]
        is_matched = sum(cut <= start for cut in cuts) % 2 == 1
        for first, last in pairwise([0, *within, end - start]):
            piece = child.copy(content=child.content[first:last]) if within else child
            yield from _mark(piece) if is_matched and piece.content else [piece]
            is_matched = not is_matched
        start = end


def _mark(piece: Token) -> list[Token]:
    return [Token("mark_open", "mark", 1), piece, Token("mark_close", "mark", -1)]
