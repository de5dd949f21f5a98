"""Links that mean another file, or none, once a note is created or is called otherwise."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from zkchat.model.note import is_note
from zkchat.vault.library import Library
from zkchat.vault.links.resolver import find_target, keys_of_file
from zkchat.vault.notes.link_targets import link_targets
from zkchat.writing.links.renames import VaultAsStaged, catalog_of, entry_of
from zkchat.writing.staging import StagedChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMeaning:
    """Links of one note that meant one file."""

    source: str
    meant: str
    links: int


def links_taken_over(library: Library, staged: StagedChanges, path: str, text: str) -> list[ChangedMeaning]:
    """The links that mean another file now, and would mean a new note with this path and text."""
    return _changed(library, staged, path, text, becomes=path)


def links_lost(library: Library, staged: StagedChanges, path: str, text: str) -> list[ChangedMeaning]:
    """The links that mean this note now, and would lead nowhere when it has this text."""
    return _changed(library, staged, path, text, becomes=None)


def _changed(
    library: Library, staged: StagedChanges, path: str, text: str, *, becomes: str | None
) -> list[ChangedMeaning]:
    entry = entry_of(path, text)
    vault = VaultAsStaged(library.whole, staged)
    known = vault.entries.get(path)
    keys = {key for each in (entry, known) if each for key in keys_of_file(each.path, each.title, each.aliases)}
    hosts = sorted(host for host in vault.hosts(keys) if is_note(host) and host != path)
    if not hosts:
        return []
    before = catalog_of(vault.entries.values())
    after = before.copy()
    after.replace(entry)
    found: Counter[tuple[str, str]] = Counter()
    for host in hosts:
        host_text, _ = vault.read(host)
        for each in link_targets(host_text or ""):
            meant, means = (find_target(catalog, each.target, host) for catalog in (before, after))
            if meant and meant.path != (means.path if means else None) and (means.path if means else None) == becomes:
                found[host, meant.path] += 1
    return [ChangedMeaning(source=source, meant=meant, links=links) for (source, meant), links in found.items()]


def meant_before(changed: Iterable[ChangedMeaning]) -> list[str]:
    """The files that the links meant."""
    return [*dict.fromkeys(each.meant for each in changed)]
