"""Obsidian's settings of new links, read from the files of the vault."""

from pathlib import Path
from typing import Final

from zkchat.compose.daily_notes import obsidian_settings
from zkchat.writing.conventions import LinkStyle

_APP: Final = ".obsidian/app.json"


def link_style(vault: Path) -> LinkStyle:
    """How new links are written in this vault; Obsidian's defaults where it does not say, or not in words we know."""
    settings = obsidian_settings(vault, _APP)
    markdown = settings.get("useMarkdownLinks") is True
    match settings.get("newLinkFormat"):
        case "relative":
            return LinkStyle(format="relative", markdown=markdown)
        case "absolute":
            return LinkStyle(format="absolute", markdown=markdown)
        case _:
            return LinkStyle(markdown=markdown)
