"""Text of a conversation as a note may hold it: opening the note loads nothing from elsewhere and runs nothing."""

import re
from itertools import groupby
from typing import Final

_LOCAL: Final = r"!\[\[(?!/)[^\[\]\n:\\<`]+\]\]|!\[[^\[\]\n\\<`]*\]\((?!/)[^\s()<>:\\&`]+\)"
"""An image, or an embedded note, of the vault itself."""
_HARMLESS: Final = (
    r"</?(?:b|br|code|dd|del|details|dl|dt|em|hr|i|ins|kbd|li|mark|ol|p|pre|s|small|strong|sub|summary|sup|u|ul)\s*/?>"
    r"|<(?:https?://|mailto:)[^\s<>!\[\]`]*>"
)
"""Tags without attributes, and addresses that are links."""
_LOADS: Final = re.compile(
    rf"(?P<keep>\\.|{_LOCAL}|{_HARMLESS})|(?P<image>!(?=\[))|(?P<tag><(?=[a-zA-Z/!?%]))", re.DOTALL
)
_ATTEMPTS: Final = 4
_NOT_ONLY_CODE: Final = ("$$", "%%", "<!--")
"""Where these stand, programs differ in where code begins and ends."""


def inert(text: str) -> str:
    """The same, with images from elsewhere as links and HTML as text. Code, and images of the vault, stay."""
    if "![" not in text and "<" not in text:
        return text
    text = re.sub(r"\r\n?", "\n", text)  # as the parser counts lines
    code = frozenset() if any(mark in text for mark in _NOT_ONLY_CODE) else _lines_of_code(text)
    for _ in range(_ATTEMPTS):
        result = _inert_outside(code, text)
        still = code & _lines_of_code(result)
        if still == code:
            return result
        code = still  # some was code only as long as there was HTML before it
    return _inert_outside(frozenset(), text)


def _inert_outside(code: frozenset[int], text: str) -> str:
    pieces: list[str] = []
    for is_code, lines in groupby(enumerate(text.split("\n")), key=lambda line: line[0] in code):
        joined = "\n".join(line for _, line in lines)  # an image may go over several lines
        pieces.append(joined if is_code else _LOADS.sub(_replaced, joined))
    return "\n".join(pieces)


def _replaced(found: re.Match[str]) -> str:
    if found["image"]:
        return r"\!"
    return "&lt;" if found["tag"] else found["keep"]


def _lines_of_code(text: str) -> frozenset[int]:
    from markdown_it import MarkdownIt

    blocks = (token for token in MarkdownIt("commonmark").parse(text) if token.type in {"fence", "code_block"})
    return frozenset(number for block in blocks if block.map for number in range(*block.map))
