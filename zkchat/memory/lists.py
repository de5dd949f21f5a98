"""Facts out of a Markdown file: the items of its lists. Pure."""

import re
from typing import Final

from zkchat.vault.notes.markdown import blank, flatten, outline

_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)$", re.MULTILINE)


def list_items(text: str) -> list[str]:
    """What the items say, in order, each on one line; code and frontmatter are no lists."""
    from zkchat.vault.notes.frontmatter import cut

    flat = flatten(text)
    prose = blank(flat, sorted(outline(flat).code)).replace("\0", " ")
    return [" ".join(match[1].split()) for match in _ITEM.finditer(prose, cut(flat).end)]
