"""The links, files and folders that a base (`.base`, YAML with formulas) names, edited in place."""

import re
from collections.abc import Iterator
from typing import Final

from zkchat.model.note import Link
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes.link_targets import TextEdit
from zkchat.vault.notes.wikilink import wikilink, wikilink_spans
from zkchat.writing.links.moved import MovedFiles

BASE_SUFFIX: Final = ".base"

_QUOTED = (lazy_pattern(r'(?<=")[^"\n\\]+(?=\\?")'), lazy_pattern(r"(?<=')[^'\n\\]+(?=\\?')"))
"""What stands between two quotation marks, escaped or not, also between the end of one text and the next one."""
_COMMENT = lazy_pattern(r"^[ \t]*#.*$", re.MULTILINE)
_TAKES_LINK = lazy_pattern(r"\b(?:link|file|hasLink|image|embed)\(\s*\\?[\"']\Z")
_TAKES_FOLDER = lazy_pattern(r"(?:\binFolder\(|\bfolder\s*[=!]=)\s*\\?[\"']\Z")
_CONTEXT = 60


def update_base(text: str, source: str, moved: MovedFiles, folder: tuple[str, str] | None) -> list[TextEdit]:
    """The edits that make what a base names mean what it meant. `folder` is the old and new path of one that moves."""
    visible = _visible(text)
    edits = [*_wikilinks(visible, source, moved)]
    taken = {place for edit in edits for place in range(edit.start, edit.end)}
    for pattern in _QUOTED:
        for match in pattern.finditer(visible):
            edit = _quoted(visible, match.span(), source, moved, folder)
            if edit and taken.isdisjoint(range(edit.start, edit.end)):
                edits.append(edit)
    return [*{*edits}]


def base_targets(text: str) -> Iterator[tuple[str, bool]]:
    """What the links and texts of a base name, and whether that is the very path of a file."""
    visible = _visible(text)
    yield from ((link.target, False) for link in _links(visible))
    for match in (each for pattern in _QUOTED for each in pattern.finditer(visible)):
        if _TAKES_LINK.search(visible, max(0, match.start() - _CONTEXT), match.start()):
            yield match[0].partition("#")[0].partition("|")[0], False
        elif "[[" not in match[0]:
            yield match[0], True


def _visible(text: str) -> str:
    """The text without its comments."""
    return _COMMENT.sub(lambda match: "\0" * len(match[0]), text)


def _links(visible: str) -> Iterator[Link]:
    for span in wikilink_spans(visible):
        link = wikilink(visible, span, 1)
        if link and link.target and not link.external:
            yield link


def _wikilinks(visible: str, source: str, moved: MovedFiles) -> Iterator[TextEdit]:
    for link in _links(visible):
        target = moved.retargeted(link.target, source, link.text)
        if target is not None:
            start = visible.index(link.target, link.start)
            yield TextEdit(start, start + len(link.target), target)


def _quoted(
    visible: str, span: tuple[int, int], source: str, moved: MovedFiles, folder: tuple[str, str] | None
) -> TextEdit | None:
    start, end = span
    value, before = visible[start:end], visible[max(0, start - _CONTEXT) : start]
    if value in moved.paths:
        return TextEdit(start, end, moved.paths[value])
    if value in moved.paths.values():
        moved.revive(source, value)
    if _TAKES_LINK.search(before):
        target = value.partition("#")[0].partition("|")[0]
        new = moved.retargeted(target, source, value) if target.strip() else None
        return TextEdit(start, start + len(target), new) if new is not None else None
    if folder and ("/" in value or _TAKES_FOLDER.search(before)):
        old, new = folder
        if value == old or value.startswith(f"{old}/"):
            return TextEdit(start, start + len(old), new)
        if value == new or value.startswith(f"{new}/"):
            moved.revive(source, value)
    return None
