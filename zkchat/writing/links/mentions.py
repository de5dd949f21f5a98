"""Links made of mentions: where notes name other notes, what a link would be there, and the text with it."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

from zkchat.core import Ambiguous, Resolved, VaultError, counted, lazy_pattern
from zkchat.index import Library, Mention, NoteNames, common_names
from zkchat.notes import Lines, TextEdit, edited, flatten, parse_note
from zkchat.writing.links.moved import write_link
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkStyle

NO_MENTIONS: Final = "There is nothing to link: every mention of a note is a link already."
_MAX_CANDIDATES: Final = 500
"""Notes that are read, at most, to see where one name is mentioned."""
_DELIMITER_ROW: Final = lazy_pattern(r"^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$", re.MULTILINE)
"""The second row of a table."""
_BLANK_LINE: Final = lazy_pattern(r"\n[ \t]*(?=\n)")


class MentionLink(Struct, frozen=True, kw_only=True):
    """A mention, and the link that it may become."""

    source: str
    target: str
    """The path of the note that is named."""
    name: str
    start: int
    end: int
    line: int
    before: str
    """What stands before it on its line, and after it."""
    text: str
    after: str
    link: str


class MentionGroup(Struct, frozen=True, kw_only=True):
    """The mentions of one note in another, in order; only the first is linked unless the user wants all of them."""

    text: str
    """Of the note, as it was when they were found."""
    links: tuple[MentionLink, ...]

    @property
    def first(self) -> MentionLink:
        return self.links[0]


class MentionLinks:
    """Finds mentions that may become links. Notes that link to the one they name already are left alone."""

    def __init__(self, library: Library, read: Callable[[str], str | None], style: LinkStyle) -> None:
        self._library = library
        self._read = read
        self._style = style
        notes = [row for row in library.notes() if row.is_source]
        kept = {*library.without_templates(row.path for row in notes)}
        self._notes = [row.path for row in notes if row.path in kept]
        self._names = NoteNames((row for row in notes if row.path in kept), lambda names: common_names(names, library))

    def of(self, path: str) -> Iterator[MentionGroup]:
        """Mentions of a note in the others."""
        phrases = [f'"{name.replace(chr(34), " ")}"' for name in self._library.names(path)]
        found = {hit.path for phrase in phrases for hit in self._library.documents(phrase, limit=_MAX_CANDIDATES)}
        for source in self._by_age(found - {path}):
            yield from (group for group in self.inside(source, {path}) if group.first.target == path)

    def about(self, path: str | None) -> Iterator[MentionGroup]:
        """Mentions of a note, then those in it; without a path those of the whole vault."""
        if path is None:
            return chain.from_iterable(map(self.inside, self._by_age(self._notes)))
        return chain(self.of(path), self.inside(path))

    def _by_age(self, paths: Iterable[str]) -> list[str]:
        stamps = self._library.stamps()
        known = {path for path in self._notes if path in stamps}
        return sorted(known.intersection(paths), key=lambda path: (-stamps[path][1], path))

    def inside(self, source: str, asked_for: Iterable[str] = ()) -> Iterator[MentionGroup]:
        """Mentions of other notes in a note; names of those `asked_for` count also where they are ordinary words."""
        try:
            text = self._read(source)
        except VaultError:  # no UTF-8, or gone
            return
        if text is None:
            return
        wanted = {*asked_for}
        mentions: dict[str, list[Mention]] = {}
        for mention in self._names.find(text, source):
            if not mention.is_common or mention.path in wanted:
                mentions.setdefault(mention.path, []).append(mention)
        if not mentions or self._library.linked_files([source]):  # a file is changed under its own path only
            return
        resolved = (self._library.resolve(link, source, suggestions=0) for link in parse_note(source, text).links)
        linked = {each.path for each in resolved if isinstance(each, Resolved | Ambiguous)}
        place = _Places(text)
        for target, found in mentions.items():
            if target in linked or (wanted and target not in wanted):
                continue
            links = [link for each in found if (link := self._link(source, each, place))]
            if links:
                yield MentionGroup(text=text, links=tuple(links))

    def _link(self, source: str, mention: Mention, place: "_Places") -> MentionLink | None:
        text = place.text[mention.start : mention.end]
        in_table = place.is_in_table(mention.start)
        link = write_link(self._library, source, mention.path, text, self._style, in_table=in_table)
        if link is None:
            return None
        end = place.flat.find("\n", mention.start)
        end = end if end >= 0 else len(place.flat)
        return MentionLink(
            source=source,
            target=mention.path,
            name=mention.name,
            start=mention.start,
            end=mention.end,
            line=place.lines.at(mention.start),
            before=place.text[place.flat.rfind("\n", 0, mention.start) + 1 : mention.start],
            text=text,
            after=place.text[mention.end : end - (place.text[end - 1 : end] == "\r")],
            link=link,
        )


class _Places:
    """Lines and tables of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flat = flatten(text)
        self.lines = Lines(self.flat)
        self._rows = _BLANK_LINE.sub(lambda blank: "\n" * len(blank[0]), self.flat)

    def is_in_table(self, offset: int) -> bool:
        """Whether a row makes a table of the paragraph: a link may have its pipe escaped in all of it."""
        start, end = self._rows.rfind("\n\n", 0, offset) + 1, self._rows.find("\n\n", offset)
        return _DELIMITER_ROW.search(self._rows, start, end if end >= 0 else len(self._rows)) is not None


def _with_links(text: str, links: Iterable[MentionLink]) -> str:
    """The text with these mentions, of which no two overlap, as links."""
    return edited(text, (TextEdit(link.start, link.end, link.link) for link in links))


ChosenLinks = Sequence[tuple[MentionGroup, Sequence[MentionLink]]]
"""What the user said yes to."""


class StagedLinks(Struct, frozen=True, kw_only=True):
    """What became of the links that the user chose."""

    links: tuple[MentionLink, ...]
    changed_meanwhile: tuple[str, ...] = ()
    """Notes that are no longer as they were shown, and are left as they are."""
    unsuitable: tuple[MentionLink, ...] = ()
    """They would not be links where they stand, or would change others."""

    @property
    def summary(self) -> str:
        """How many mentions are links now, as a sentence."""
        sources = {link.source for link in self.links}
        return f"{counted(len(self.links), 'mention')} linked in {counted(len(sources), 'note')}."

    @property
    def remarks(self) -> list[str]:
        """What could not be linked after all, as sentences."""
        return [
            *(f"{path} changed meanwhile, and was skipped." for path in self.changed_meanwhile),
            *(f"{link.source}:{link.line}: {link.text} cannot be a link there." for link in self.unsuitable),
        ]


def stage_links(staged: StagedChanges, chosen: ChosenLinks) -> StagedLinks:
    """Stage the chosen links, note by note. Nothing else of a note changes."""
    texts: dict[str, str] = {}
    wanted: dict[str, list[MentionLink]] = {}
    for group, links in chosen:
        texts[group.first.source] = group.text
        wanted.setdefault(group.first.source, []).extend(links)
    made: list[MentionLink] = []
    unsuitable: list[MentionLink] = []
    changed: list[str] = []
    for source, links in wanted.items():
        if staged.read(source) != texts[source]:
            changed.append(source)
            continue
        text = texts[source]
        suited = links
        if not _is_clean(source, text, links):  # those that leave everything else as it was, one by one
            suited = []
            for link in links:
                if _is_clean(source, text, [*suited, link]):
                    suited.append(link)
        made += suited
        unsuitable += [link for link in links if link not in suited]
        if suited:
            title = f"Link {counted(len(suited), 'mention')} in {source}"
            staged.write(source, _with_links(text, suited), made_from=text, title=title)
    return StagedLinks(links=tuple(made), changed_meanwhile=tuple(changed), unsuitable=tuple(unsuitable))


def _is_clean(source: str, text: str, links: list[MentionLink]) -> bool:
    """Whether a note with the new links has them and all that it had: its links, headings, blocks and tags."""
    before, after = parse_note(source, text), parse_note(source, _with_links(text, links))
    expected = sorted([*(link.text for link in before.links), *(link.link for link in links)])
    return (
        sorted(link.text for link in after.links) == expected
        and [heading.text for heading in after.headings] == [heading.text for heading in before.headings]
        and [block.id for block in after.blocks] == [block.id for block in before.blocks]
        and after.tags == before.tags
    )
