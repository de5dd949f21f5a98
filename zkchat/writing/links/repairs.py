"""Repairs of broken links: another target or heading in the same place, everything else as it was."""

from collections.abc import Iterable, Iterator
from urllib.parse import quote

from msgspec import Struct

from zkchat.errors import EditRefused
from zkchat.model.change import TRASH, ChangeRecord
from zkchat.model.note import Ambiguous, Link, Resolved, is_note, without_suffix
from zkchat.vault.broken_links import BrokenLink, Repair
from zkchat.vault.library import Library
from zkchat.vault.notes.link_targets import TextEdit, edited, link_targets, written_target
from zkchat.vault.notes.parse import find_links, frontmatter_of
from zkchat.writing.conventions import LinkStyle
from zkchat.writing.links.spelling import leads_to, new_spellings
from zkchat.writing.staging import StagedChanges


class RepairedLink(Struct, frozen=True, kw_only=True):
    """A link as it was and as it will be."""

    source: str
    lines: tuple[int, ...]
    before: str
    after: str
    path: str
    reason: str


class LinkRepairer:
    """Stages repairs one by one, each checked: the link leads where it should, and every other link where it did."""

    def __init__(self, library: Library, staged: StagedChanges, style: LinkStyle) -> None:
        self._library = library
        self._staged = staged
        self._style = style

    def preview(self, broken: BrokenLink, repair: Repair) -> RepairedLink:
        """What a repair makes of a link. Raises `EditRefused` where it cannot be written."""
        return self._repaired(broken, repair)[0]

    def stage(self, broken: BrokenLink, repair: Repair) -> RepairedLink:
        """Stage a repair. Raises `EditRefused` and `NoteUnreadable`."""
        repaired, before, after = self._repaired(broken, repair)
        self._staged.write(broken.source, after, made_from=before, title=f"Repair links in {broken.source}")
        return repaired

    def _repaired(self, broken: BrokenLink, repair: Repair) -> tuple[RepairedLink, str, str]:
        """The link, and the text without and with the repair."""
        text = self._staged.read(broken.source)
        if text is None:
            raise EditRefused(f"{broken.source} is not there any more.")
        links = [link for link in find_links(text).links if link.text == broken.link.text]
        edits = [*self._edits(text, broken, repair, links)]
        after = edited(text, edits)
        new = self._checked(broken, repair, text, after)
        repaired = RepairedLink(
            source=broken.source,
            lines=broken.lines,
            before=broken.link.text,
            after=new.text,
            path=repair.path,
            reason=repair.reason,
        )
        return repaired, text, after

    def _edits(self, text: str, broken: BrokenLink, repair: Repair, links: list[Link]) -> Iterator[TextEdit]:
        targets = {(each.link, each.place): each for each in link_targets(text) if each.link == broken.link.text}
        if broken.is_missing or self._changes_note(broken, repair):
            spelled = self._spelled(broken, repair)
            for target in targets.values():
                if target.place is None:
                    raise _cannot(broken)
                yield TextEdit(*target.place, written_target(spelled, target, text))
        if repair.anchor != broken.link.anchor:
            for link in links:
                start, end = _anchor_place(text, link)
                is_address = link.syntax == "markdown" and text[start - 2 : start - 1] != "<"
                anchor = quote(repair.anchor, safe="^#") if is_address else repair.anchor
                yield TextEdit(start, end, anchor)

    def _changes_note(self, broken: BrokenLink, repair: Repair) -> bool:
        found = self._library.resolve(broken.link, broken.source, suggestions=0)
        return not (isinstance(found, Resolved | Ambiguous) and found.path == repair.path)

    def _spelled(self, broken: BrokenLink, repair: Repair) -> str:
        """The target in the notation of the link that is repaired, as far as it leads there."""
        written, source = broken.link.target, broken.source
        suffix = repair.path[len(without_suffix(repair.path)) :]
        has_suffix = broken.link.syntax == "markdown" or is_note(written)
        style = LinkStyle(format="relative") if written.startswith(("./", "../")) else self._style
        for spelled in new_spellings(source, repair.path, style):
            target = spelled + suffix if has_suffix and is_note(repair.path) else spelled
            if leads_to(self._library, Link(text="", target=target), source, repair.path):
                return target
        raise _cannot(broken)

    def _checked(self, broken: BrokenLink, repair: Repair, text: str, after: str) -> Link:
        """The repaired link. Raises `EditRefused` unless it, and no other link, is different."""
        before, now = find_links(text).links, find_links(after).links
        repaired = None
        for old, new in zip(before, now, strict=False):
            if old.text != broken.link.text:
                if old.text != new.text:
                    raise _cannot(broken)
                continue
            found = self._library.resolve(new, broken.source, suggestions=0)
            if not isinstance(found, Resolved | Ambiguous) or found.path != repair.path:
                raise _cannot(broken)
            if repair.anchor != broken.link.anchor and not found.anchor_found:
                raise _cannot(broken)
            repaired = new
        is_worse = frontmatter_of(after).warning and not frontmatter_of(text).warning
        if repaired is None or len(before) != len(now) or is_worse:
            raise _cannot(broken)
        return repaired


def _anchor_place(text: str, link: Link) -> tuple[int, int]:
    """Where the heading or block of a link is written, after its `#`. Raises `EditRefused` for one by reference."""
    if link.syntax == "wikilink":
        inner = text[link.start : link.end - 2].partition("|")[0].removesuffix("\\")
        start = link.start + inner.index("#") + 1
        return start, link.start + len(inner.rstrip())
    opening = text.rfind("](", link.start, link.end)
    start = text.find("#", opening, link.end) + 1
    if opening < 0 or not start:
        raise EditRefused(f"The heading of {link.text} cannot be changed where it stands.")
    is_angle = text[opening + 2 : link.end].lstrip().startswith("<")
    end = text.find(">", start, link.end) if is_angle else start
    while not is_angle and end < link.end - 1 and not text[end].isspace():
        end += 1
    return start, end


def _cannot(broken: BrokenLink) -> EditRefused:
    return EditRefused(
        f"The link {broken.link.text} in {broken.source} cannot be rewritten where it stands.",
        hint="Change it in your editor.",
    )


def past_renames(records: Iterable[ChangeRecord]) -> dict[str, str]:
    """By the path that a file once had, the one that it has now, as far as the journal tells; the records in order."""
    renamed: dict[str, str] = {}
    for record in records:
        for move in record.changes.moves if record.state == "applied" else ():
            if is_note(move.target) and not move.target.startswith(f"{TRASH}/"):
                for old, now in [*renamed.items()]:
                    if now == move.source:
                        renamed[old] = move.target
                renamed[move.source] = move.target
    return {old: now for old, now in renamed.items() if old != now}
