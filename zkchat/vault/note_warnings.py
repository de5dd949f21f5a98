"""Warnings about notes in few lines: those of one kind are one sentence with their number and an example."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from zkchat.model.note import NoteWarning, WarningKind

ALL_LISTED: Final = "zkchat vault status lists them."

_IN_COMMON: Final[Mapping[WarningKind, str]] = {
    "frontmatter": "notes have frontmatter that cannot be read",
    "encoding": "notes have characters that are not UTF-8",
    "excess": "notes have more headings, links, tags or block ids than are looked at",
    "privacy": "notes mention `zkchat` where it is no property, so they count as private",
    "unreadable": "notes cannot be read and are found by name only",
    "extraction": "PDFs cannot be read, or not all of them",
    "waiting": "sets of PDFs are still to be read",
    "unlisted": "files or folders are left out, such as links that lead out of the vault",
    "setting": "folders of privacy.local_only match no note",
    "damaged": "caches were damaged and are built anew",
}


def describe_warning(warning: NoteWarning) -> str:
    """A warning with the path of its file, unless the text begins with it."""
    return warning.text if warning.text.startswith(warning.path) else f"{warning.path}: {warning.text}"


def summarize_warnings(warnings: Iterable[NoteWarning]) -> list[str]:
    """A sentence for each kind of warning; a single one of its kind is told as it is."""
    by_kind: dict[WarningKind, list[NoteWarning]] = {}
    for warning in dict.fromkeys(warnings):
        by_kind.setdefault(warning.kind, []).append(warning)
    sentences = [_summarize(kind, found) for kind, found in by_kind.items()]
    if any(len(found) > 1 for found in by_kind.values()):
        sentences[-1] += f" {ALL_LISTED}"
    return sentences


def without_templates(warnings: Sequence[NoteWarning], templates: Callable[[], Sequence[str]]) -> list[NoteWarning]:
    """The warnings without those on the frontmatter of templates, which is filled in later."""
    if not any(warning.kind == "frontmatter" for warning in warnings):
        return [*warnings]
    folders = tuple(templates())
    return [each for each in warnings if not (each.kind == "frontmatter" and each.path.startswith(folders))]


def _summarize(kind: WarningKind, warnings: list[NoteWarning]) -> str:
    if len(warnings) == 1:
        return describe_warning(warnings[0])
    return f"{len(warnings):,} {_IN_COMMON[kind]}, e.g. {warnings[0].path}."
