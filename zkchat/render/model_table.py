"""The models that there are, as lines: each with its window, where it runs, and what it can do."""

from collections.abc import Sequence
from textwrap import fill
from typing import Final

from zkchat.model.providers import ModelListing, ModelOverview, ModelRow

MAX_SHOWN: Final = 20
"""Models of one provider: some servers offer hundreds."""
_MIN_WIDTH: Final = 20
_HEADINGS: Final = ("model", "window", "runs on", "")


def model_lines(rows: Sequence[ModelRow], width: int | None = None) -> list[str]:
    """A table with a mark before the model in use; two lines for each where the screen is too narrow for one."""
    cells = [_HEADINGS, *(_cells(row) for row in rows)]
    marks = [" ", *("*" if row.is_in_use else " " for row in rows)]
    name, window, place, _ = (max(len(line[column]) for line in cells) for column in range(len(_HEADINGS)))
    lines = [
        f"{mark} {line[0]:<{name}}  {line[1]:>{window}}  {line[2]:<{place}}  {line[3]}".rstrip()
        for mark, line in zip(marks, cells, strict=True)
    ]
    if width is None or max(map(len, lines)) <= width:
        return lines
    return [
        text
        for row in rows
        for text in (f"{'*' if row.is_in_use else ' '} {_name(row)}", _indented(", ".join(model_facts(row)), width))
    ]


def _indented(text: str, width: int) -> str:
    indent = " " * 4
    return fill(text, max(width, _MIN_WIDTH), initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def model_facts(row: ModelRow) -> tuple[str, ...]:
    """What is known of a model in a few words each, the most important first."""
    window = f"{row.window:,} tokens" if row.window else ""
    return tuple(filter(None, (row.problem, window, row.place, _abilities(row))))


def fold(rows: Sequence[ModelRow]) -> tuple[list[ModelRow], int]:
    """The rows without those that a provider has beyond the first few, and how many were left out."""
    shown: list[ModelRow] = []
    counts: dict[str, int] = {}
    for row in rows:
        provider = row.name.partition(":")[0]
        counts[provider] = counts.get(provider, 0) + 1
        if counts[provider] <= MAX_SHOWN or row.is_in_use:
            shown.append(row)
    return shown, len(rows) - len(shown)


def embedding_line(overview: ModelOverview) -> str:
    """Which embedding model is set, or else which there are, with the command; empty where there are none."""
    if overview.embeddings:
        return f"The search uses vectors of {overview.embeddings}."
    if not (names := overview.embedding_models):
        return ""
    return f"For vectors of the search: {', '.join(names)}. To use one: zkchat config set embeddings.model {names[0]}"


def problem_lines(listings: Sequence[ModelListing]) -> list[str]:
    """A line for each server or folder that has nothing to offer now, with the way out."""
    lines = []
    for listing in listings:
        if listing.problem or not listing.models:
            is_named = listing.host and listing.host in listing.problem
            source = "" if is_named else f"{listing.source}:"
            lines.append(" ".join(filter(None, (source, listing.problem or "No models.", listing.hint))))
    return lines


def _cells(row: ModelRow) -> tuple[str, str, str, str]:
    window = f"{row.window:,}" if row.window else "?" if row.name != "quote" else ""
    return _name(row), window, row.place or "?", ", ".join(filter(None, (row.problem, _abilities(row))))


def _name(row: ModelRow) -> str:
    return f"{row.name} = {row.model}" if row.model else row.name


def _abilities(row: ModelRow) -> str:
    if row.name == "quote":
        return "no model: passages of your notes"
    sees = "sees images" if row.sees_images else ""
    if row.is_small:
        return ", ".join(filter(None, ("small, no tools", sees)))
    if row.calls_tools is None:
        return sees
    return ", ".join(filter(None, ("tools" if row.calls_tools else "no tools", sees)))
