"""Neutralizes active content, so that opening an exported note loads nothing remote and runs nothing."""

import re
from itertools import groupby
from typing import Final

from zkchat.model.patterns import lazy_pattern

_LOCAL: Final = r"!\[\[(?!/)[^\[\]\n:\\<`]+\]\]|!\[[^\[\]\n\\<`]*\]\((?!/)[^\s()<>:\\&`]+\)"
"""An image or embed from the vault itself."""
_HARMLESS_HTML: Final = (
    r"</?(?:b|br|code|dd|del|details|dl|dt|em|hr|i|ins|kbd|li|mark|ol|p|pre|s|small|strong|sub|summary|sup|u|ul)\s*/?>"
    r"|<(?:https?://|mailto:)[^\s<>!\[\]`]*>"
)
"""Tags without attributes, and autolinks."""
_ACTIVE: Final = lazy_pattern(
    rf"(?P<keep>\\.|{_LOCAL}|{_HARMLESS_HTML})|(?P<image>!(?=\[))|(?P<tag><(?=[a-zA-Z/!?%]))", re.DOTALL
)
_MAX_PASSES: Final = 4
_AMBIGUOUS_MARKS: Final = ("$$", "%%", "<!--")
"""Programs that show Markdown disagree about where code begins and ends around these."""


def neutralize(text: str) -> str:
    """Turn remote images into links and HTML into text. Code and images of the vault stay."""
    if "![" not in text and "<" not in text:
        return text
    text = re.sub(r"\r\n?", "\n", text)  # line endings as the parser counts them
    code = frozenset() if any(mark in text for mark in _AMBIGUOUS_MARKS) else _lines_of_code(text)
    for _ in range(_MAX_PASSES):
        result = _neutralize_outside(code, text)
        still = code & _lines_of_code(result)
        if still == code:
            return result
        code = still  # some lines were code only because of HTML before them
    return _neutralize_outside(frozenset(), text)


def _neutralize_outside(code: frozenset[int], text: str) -> str:
    pieces: list[str] = []
    for is_code, lines in groupby(enumerate(text.split("\n")), key=lambda line: line[0] in code):
        joined = "\n".join(line for _, line in lines)  # an image may span several lines
        pieces.append(joined if is_code else _ACTIVE.sub(_replaced, joined))
    return "\n".join(pieces)


def _replaced(found: re.Match[str]) -> str:
    if found["image"]:
        return r"\!"
    return "&lt;" if found["tag"] else found["keep"]


def _lines_of_code(text: str) -> frozenset[int]:
    from markdown_it import MarkdownIt

    blocks = (token for token in MarkdownIt("commonmark").parse(text) if token.type in {"fence", "code_block"})
    return frozenset(number for block in blocks if block.map for number in range(*block.map))
