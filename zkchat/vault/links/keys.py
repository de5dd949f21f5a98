"""Keys by which links look up files: links are resolved again when a file with one of their keys changes."""

import re
from collections.abc import Iterable

from zkchat.model.index import LinkToResolve
from zkchat.model.note import Link, without_suffix
from zkchat.vault.notes.wikilink import name_key

_ANY_ID = re.compile(r"\d{8}t\d{4}|\d{8,17}")


def keys_of_file(path: str, title: str = "", aliases: tuple[str, ...] = ()) -> frozenset[str]:
    """Every key by which a link may look up a file. When the file changes, links with these keys are resolved again."""
    return frozenset((*_keys(name_key(path)), *[name_key(name) for name in (title, *aliases) if name]))


def keys_of_links(links: Iterable[Link | LinkToResolve]) -> frozenset[str]:
    """The keys under which the targets of links are looked up."""
    keys: set[str] = set()
    for target in {link.target for link in links if link.target and not link.external}:
        key = name_key(target)
        keys |= {key, *_keys(key)}
        before, caret, _ = target.partition("^")
        if caret:
            keys |= {*_keys(name_key(before.strip()))}
    return frozenset(keys)


def _keys(key: str) -> list[str]:
    """The file name in a path key, and the ids in that name."""
    name = without_suffix(key.rpartition("/")[2])
    return [name, *_ANY_ID.findall(name)]
