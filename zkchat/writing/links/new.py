"""New links: how a link to a note is written in another one, so that it leads there."""

from collections.abc import Iterator
from typing import Final

from zkchat.model.note import Ambiguous, Link, Resolved, without_suffix
from zkchat.vault.library import Library
from zkchat.vault.notes.wikilink import scan
from zkchat.writing.conventions import LinkStyle

_ENCODED: Final = {ord(character): f"%{ord(character):02X}" for character in ' %()<>#?"\\|'}
"""What would end the address of a hyperlink, or mean something else in it."""


def write_link(
    library: Library, source: str, target: str, text: str, style: LinkStyle, *, in_table: bool = False
) -> str | None:
    """A link in the note `source` to the note `target` that shows `text`; None where no spelling leads there."""
    for path in spellings(source, target, style):
        for written in _forms(path, target, text, style, in_table=in_table):
            links = scan(written)
            if len(links) == 1 and links[0].text == written and leads_to(library, links[0], source, target):
                return written
    return None


def spellings(source: str, target: str, style: LinkStyle) -> Iterator[str]:
    """How the path of a note may be written in another one, without its suffix; the preferred spelling first."""
    stem = without_suffix(target)
    if style.format == "relative":
        yield _relative(source, stem)
    elif style.format == "shortest":
        yield stem.rpartition("/")[2]
    yield stem
    yield f"/{stem}"


def leads_to(library: Library, link: Link, source: str, target: str) -> bool:
    """Whether a link means this note by its path or its name, which is what other programs understand too."""
    found = library.resolve(link, source, suggestions=0)
    if isinstance(found, Ambiguous) and "/" not in link.target.strip("/") and "/" in target:
        return False
    return isinstance(found, Resolved | Ambiguous) and found.path == target and found.via in {"name", "path"}


def _forms(path: str, target: str, text: str, style: LinkStyle, *, in_table: bool) -> Iterator[str]:
    """As the vault writes links, then as a hyperlink: not every name can stand in a wikilink."""
    if not style.markdown:
        pipe = r"\|" if in_table else "|"
        yield f"[[{path}]]" if text == path else f"[[{path}{pipe}{text}]]"
    suffix = target[len(without_suffix(target)) :]
    yield f"[{text}]({(path + suffix).translate(_ENCODED)})"


def _relative(source: str, stem: str) -> str:
    """A path from the folder of a note."""
    folder, steps = source.split("/")[:-1], stem.split("/")
    shared = 0
    while shared < min(len(folder), len(steps) - 1) and folder[shared] == steps[shared]:
        shared += 1
    return "/".join([*[".."] * (len(folder) - shared), *steps[shared:]])
