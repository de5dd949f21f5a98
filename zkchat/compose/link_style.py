"""Obsidian's settings of new links, read from the files of the vault."""

import json
from pathlib import Path
from typing import Final

from zkchat.files import read_bounded
from zkchat.writing.conventions import LinkStyle

_APP: Final = ".obsidian/app.json"
_MAX_BYTES: Final = 100_000


def link_style(vault: Path) -> LinkStyle:
    """How new links are written in this vault; Obsidian's defaults where it does not say, or not in words we know."""
    try:
        settings = json.loads(read_bounded(vault / _APP, max_bytes=_MAX_BYTES, beneath=vault))
    except (OSError, ValueError, RecursionError):  # not there, not readable, no JSON
        return LinkStyle()
    if not isinstance(settings, dict):
        return LinkStyle()
    markdown = settings.get("useMarkdownLinks") is True
    match settings.get("newLinkFormat"):
        case "relative":
            return LinkStyle(format="relative", markdown=markdown)
        case "absolute":
            return LinkStyle(format="absolute", markdown=markdown)
        case _:
            return LinkStyle(markdown=markdown)
