"""How the target of a link is spelled: of a new one, and of one whose file has moved."""

import posixpath
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from zkchat.model.note import Ambiguous, Link, Resolved, is_note, without_suffix
from zkchat.vault.library import Library
from zkchat.vault.notes.wikilink import name_key, scan
from zkchat.writing.conventions import LinkStyle

_ENCODED: Final = {ord(character): f"%{ord(character):02X}" for character in ' %()<>#?"\\|'}
"""What would end the address of a hyperlink, or mean something else in it."""


def spellings(
    written: str, old: str, new: str, source: str, style: LinkStyle, *, was_relative: bool = False
) -> Iterator[str]:
    """Targets for a link in the note `source` that meant the file `old` and has to mean `new`, the best first.

    A name stays a name, a path a path, a relative path a relative one, and `.md` stays away where it was. A name that
    is not enough becomes what new links are in this vault. Folders that stay are written as they are there.
    """
    for suffixed in (_has_suffix(written, old), True):
        parts = _parts(written, old, new, suffixed=suffixed)
        relative = _relative(parts, new.split("/")[:-1], source.split("/")[:-1])
        path = "/".join(parts)
        fallbacks = (relative, path, f"/{path}") if style.format == "relative" else (path, f"/{path}", relative)
        if was_relative and not written.startswith(("./", "../")):
            yield relative.removeprefix("./")
        if was_relative or written.startswith(("./", "../")):
            yield relative
        elif written.startswith("/"):
            yield f"/{path}"
        elif (depth := _depth(written, old)) is not None:
            yield "/".join(parts[-depth:])
        else:
            yield path
        yield from fallbacks


def is_relative(target: str, path: str, source: str) -> bool:
    """Whether a target is the path of a file from the folder of the note `source`, as other programs read links."""
    if target.startswith("/"):
        return False
    full = name_key(posixpath.normpath(posixpath.join(source.rpartition("/")[0], target)))
    return full in {name_key(path), name_key(without_suffix(path))}


def _depth(written: str, old: str) -> int | None:
    """How many folders and names are to be written; None for the whole path."""
    if not _names_file(written, old) or "/" not in written:
        return 1
    depth = len(written.split("/"))
    return None if depth == len(old.split("/")) else depth


def _parts(written: str, old: str, new: str, *, suffixed: bool) -> list[str]:
    """The folders and the name of the new path; those that stay where they are as they were written."""
    parts = [*(new if suffixed else without_suffix(new)).split("/")]
    before, after = old.split("/"), new.split("/")
    spelled = [part for part in written.split("/") if part not in {"", ".", ".."}]
    if _names_file(written, old):
        for at in range(-1, -1 - min(len(parts), len(before), len(spelled)), -1):
            names_all = at < -1 or _has_suffix(written, old) == suffixed
            if before[at] == after[at] and names_all:
                parts[at] = spelled[at]
    return parts


def _relative(parts: list[str], folders: list[str], here: list[str]) -> str:
    common = len([*takewhile(lambda pair: pair[0] == pair[1], zip(folders, here, strict=False))])
    ups = [".."] * (len(here) - common)
    return "/".join([*(ups or ["."]), *parts[common:]])


def _names_file(written: str, path: str) -> bool:
    """Whether a target names a file by its name, and not by an alias, an id or a title."""
    name = path.rpartition("/")[2]
    return name_key(written.rpartition("/")[2]) in {name_key(name), name_key(without_suffix(name))}


def _has_suffix(written: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    return not is_note(path) or name_key(written.rpartition("/")[2]) == name_key(name)


def write_link(
    library: Library, source: str, target: str, text: str, style: LinkStyle, *, in_table: bool = False
) -> str | None:
    """A link in the note `source` to the note `target` that shows `text`; None where no spelling leads there."""
    for path in new_spellings(source, target, style):
        for written in _forms(path, target, text, style, in_table=in_table):
            links = scan(written)
            if len(links) == 1 and links[0].text == written and leads_to(library, links[0], source, target):
                return written
    return None


def new_spellings(source: str, target: str, style: LinkStyle) -> Iterator[str]:
    """How the path of a note may be written in another one, without its suffix; the preferred spelling first."""
    stem = without_suffix(target)
    if style.format == "relative":
        yield without_suffix(posixpath.relpath(f"/{target}", f"/{source.rpartition('/')[0]}"))
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
