"""Marks words in quoted passages of an answer: the tokens of a block, cut where the words stand."""

from collections.abc import Iterator, Sequence
from itertools import chain

from markdown_it.token import Token

from zkchat.render.console import Matches


def mark_quoted(tokens: Sequence[Token], matches: Matches) -> Sequence[Token]:
    """The tokens of a block; in a quotation, with a `mark` around each word that matches. Code stays as it is."""
    if tokens[0].type != "blockquote_open":
        return tokens
    return [
        token.copy(children=[*_marked(token.children, matches)]) if token.type == "inline" and token.children else token
        for token in tokens
    ]


def _marked(children: Sequence[Token], matches: Matches) -> Iterator[Token]:
    """Words are looked for in the text as it is read: emphasis may begin or end within one."""
    text = "".join("\n" if child.type == "hardbreak" else child.content for child in children)
    cuts = [*chain.from_iterable(matches(text))]
    start = 0
    for child in children:
        end = start + (1 if child.type == "hardbreak" else len(child.content))
        within = [cut - start for cut in cuts if start < cut < end]
        is_matched = sum(cut <= start for cut in cuts) % 2 == 1
        for first, last in zip([0, *within], [*within, end - start], strict=True):
            piece = child.copy(content=child.content[first:last]) if within else child
            yield from _mark(piece) if is_matched and piece.content else [piece]
            is_matched = not is_matched
        start = end


def _mark(piece: Token) -> list[Token]:
    return [Token("mark_open", "mark", 1), piece, Token("mark_close", "mark", -1)]
