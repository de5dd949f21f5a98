"""Templates of Obsidian: a new note's text from that of another note. Code in a template is never run."""

import re
from datetime import datetime
from typing import Final

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.daily_notes import format_moment
from zkchat.writing.conventions import VaultConventions

CODE_MARK: Final = "<%"
"""With which code of the plugin Templater begins."""
_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*(?P<name>title|date|time)\s*(?::(?P<format>[^{}\n]+))?\}\}", re.IGNORECASE)
_UNKNOWN: Final = lazy_pattern(r"\{\{[^{}\n]+\}\}")


def fill_template(text: str, *, name: str, title: str, now: datetime, conventions: VaultConventions) -> str:
    """The text of a template for a note of this title. Raises `EditRefused` for one that holds Templater's code."""
    if CODE_MARK in text:
        raise EditRefused(
            f"The template {name} holds code of Templater ({CODE_MARK} … %>), which zkchat never runs.",
            hint="Create this note in Obsidian, or use a template without such code.",
        )
    formats = {"date": conventions.date_format, "time": conventions.time_format}

    def value(match: re.Match[str]) -> str:
        kind = match["name"].lower()
        return title if kind == "title" else format_moment((match["format"] or formats[kind]).strip(), now)

    return _PLACEHOLDER.sub(value, text)


def unknown_placeholders(text: str) -> list[str]:
    """What is left in double braces, each once."""
    return [*dict.fromkeys(_UNKNOWN.findall(text))]
