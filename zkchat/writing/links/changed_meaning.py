"""Links that mean another file, or none, once a note is created, is called otherwise, or goes away."""

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from zkchat.model.note import counted_files, is_drawing, is_note
from zkchat.model.text import counted
from zkchat.vault.library import Library
from zkchat.vault.links.catalog import Catalog
from zkchat.vault.links.keys import keys_of_file
from zkchat.vault.links.resolver import find_target
from zkchat.vault.notes.link_targets import link_targets
from zkchat.vault.notes.wikilink import name_key
from zkchat.writing.links.moved import base_targets, canvas_targets, is_other_host
from zkchat.writing.links.renames import VaultAsStaged, catalog_of, entry_of
from zkchat.writing.staging import StagedChanges


class ChangedMeaning(Struct, frozen=True, kw_only=True):
    """Links of one file that meant one file."""

    source: str
    meant: str
    """Empty where they led nowhere."""
    links: int


def links_to_new(library: Library, staged: StagedChanges, path: str, text: str) -> list[ChangedMeaning]:
    """The links that mean another file or none now, and would mean a new file with this path and text."""
    return _changed(library, staged, path, text, becomes=path)


def links_lost(library: Library, staged: StagedChanges, path: str, text: str) -> list[ChangedMeaning]:
    """The links that mean this note now, and would lead nowhere when it has this text."""
    return _changed(library, staged, path, text, becomes="")


def links_in_other_files(library: Library, staged: StagedChanges, path: str) -> list[ChangedMeaning]:
    """The links and nodes of canvases and bases that mean this file."""
    others = [row.path for row in library.files() if is_other_host(row.path)]
    if not others:
        return []
    vault = VaultAsStaged(library.whole, staged)
    catalog = catalog_of(vault.entries.values())
    counts = {
        host: sum(_meant(catalog, host, each) == path for each in _targets(host, vault.read(host)[0] or ""))
        for host in sorted({staged.path_after(each) for each in others} - {path})
    }
    return [ChangedMeaning(source=host, meant=path, links=links) for host, links in counts.items() if links]


def _changed(library: Library, staged: StagedChanges, path: str, text: str, *, becomes: str) -> list[ChangedMeaning]:
    entry = entry_of(path, text)
    vault = VaultAsStaged(library.whole, staged)
    known = vault.entries.get(path)
    keys = {key for each in (entry, known) if each for key in keys_of_file(each.path, each.title, each.aliases)}
    hosts = sorted(host for host in vault.hosts(keys) if host != path)
    if not hosts:
        return []
    before = catalog_of(vault.entries.values())
    after = before.copy()
    after.replace(entry)
    found: Counter[tuple[str, str]] = Counter()
    for host in hosts:
        for each in _targets(host, vault.read(host)[0] or ""):
            meant, means = (_meant(catalog, host, each) for catalog in (before, after))
            if meant != means == becomes:
                found[host, meant] += 1
    return [ChangedMeaning(source=source, meant=meant, links=links) for (source, meant), links in found.items()]


def _targets(host: str, text: str) -> Iterator[tuple[str, bool]]:
    """What the links of a file name, and whether that is the very path of a file."""
    if is_note(host):
        yield from ((each.target, False) for each in link_targets(text))
    elif is_drawing(host):
        yield from canvas_targets(text, host)
    elif is_other_host(host):
        yield from base_targets(text)


def _meant(catalog: Catalog, host: str, named: tuple[str, bool]) -> str:
    """The path of the file that is meant; empty for none."""
    target, is_path = named
    if is_path:
        return next(iter(catalog.at(name_key(target))), "")
    found = find_target(catalog, target, host)
    return found.path if found else ""


def meant_before(changed: Iterable[ChangedMeaning]) -> list[str]:
    """The files that the links meant."""
    return [*dict.fromkeys(each.meant for each in changed if each.meant)]


def counted_links(changed: Iterable[ChangedMeaning]) -> str:
    """`3 links in 2 notes`."""
    found = [*changed]
    return f"{counted(sum(each.links for each in found), 'link')} in {counted_files({each.source for each in found})}"


def remarks_on_new(changed: Iterable[ChangedMeaning], path: str, meant: str = "") -> tuple[str, ...]:
    """What is to be said of the links that would mean a new file; `meant` names the files that they mean now."""
    found = [*changed]
    remarks = []
    if taken_over := [each for each in found if each.meant]:
        meant = meant or ", ".join(meant_before(taken_over))
        remarks.append(f"{counted_links(taken_over)} for {meant} would lead to {path} instead.")
    if revived := [each for each in found if not each.meant]:
        leads = "leads" if sum(each.links for each in revived) == 1 else "lead"
        remarks.append(f"{counted_links(revived)} that led nowhere {leads} to {path}.")
    return tuple(remarks)
