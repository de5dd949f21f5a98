"""The documents of a turn: links resolved in the vault, references collected, none sent twice, citations checked."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final, assert_never

from msgspec.structs import replace

from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import Selection
from zkchat.chat.question import link_mentioned, path_mentioned
from zkchat.chat.quotations import GivenText, find_quotations, links_outside
from zkchat.core import (
    NOTE_SUFFIXES,
    PAGES,
    Ambiguous,
    ChatMessage,
    DocumentReference,
    External,
    FilePart,
    LeftOut,
    Link,
    Missing,
    RequestContext,
    RequestItem,
    Resolved,
    StorageError,
    VaultError,
    is_note,
    lazy_pattern,
)
from zkchat.index import Library, has_unspaced
from zkchat.notes import link_catalog, name_key, parse_note

VIA_WITHHELD: Final = "withheld"
"""How a note was found that may not be sent to the model: no more of it is known than the link."""


MAX_EMBEDS: Final = 50
"""Of one document; nobody reads more of them as a part of it."""
IN_EVERY_REQUEST = "linked in the message, and in every request already"
WITH_THE_MESSAGE = "its text comes with the message, which links it"


def resolve_links(library: Library, links: Sequence[Link], quoted: Sequence[str] = ()) -> tuple[DocumentReference, ...]:
    """A reference for each of the links of a text, in order; links to the web are left out.

    One that stands word for word in a note that may be `quoted` leads where it leads from there.
    """
    sources = library.sources_of({link.text for link in links}, quoted) if links and quoted else {}
    by_text = {link.text: link for link in links}
    found = {text: _reference(library, link, sources.get(text)) for text, link in by_text.items()}
    return tuple(reference for link in links if (reference := found[link.text]))


def embedded(library: Library, reference: DocumentReference, text: str) -> tuple[DocumentReference, ...]:
    """The notes, sections and blocks that the text of this document shows as part of itself (`![[…]]`), in order.

    None where the index does not answer: the document itself is there all the same.
    """
    source = reference.relative_path
    assert source is not None
    links = parse_note(source, text).links if "![" in text and is_note(source) else ()
    shown = [link for link in links if link.embed and not link.in_comment and not link.in_frontmatter]
    try:
        found = [_reference(library, link, source) for link in shown[:MAX_EMBEDS]]
    except (StorageError, VaultError):
        return ()
    return tuple(
        replace(embed, via="embed") for embed in found if embed and embed.relative_path and is_note(embed.relative_path)
    )


def _reference(library: Library, link: Link, source: str | None = None) -> DocumentReference | None:
    found = library.resolve(link, source)
    match found:
        case Resolved() | Ambiguous():
            others = found.others if isinstance(found, Ambiguous) else ()
            return DocumentReference(
                wikilink=link.text,
                relative_path=found.path,
                status="ambiguous" if others else "resolved",
                via=found.via,
                title=library.title(found.path),
                anchor=link.anchor,
                anchor_found=found.anchor_found,
                candidates=others,
            )
        case Missing() if path := path_mentioned(library, link):
            return DocumentReference(wikilink=link.text, relative_path=path, via="path", title=path)
        case Missing() if library.withheld(link, source):
            return DocumentReference(wikilink=link.text, status="missing", via=VIA_WITHHELD)
        case Missing(suggestions=suggestions):
            return DocumentReference(wikilink=link.text, status="missing", candidates=suggestions)
        case External():
            return None
        case _:
            assert_never(found)


def place_of(library: Library, name: str) -> tuple[str, str] | None:
    """The path of the note that is meant, and the heading or block in it; None where there is no such note."""
    if library.outline(name):
        return name, ""  # a path may hold signs that mean something in a link
    link = link_named(name)
    found = library.resolve(link)
    return (found.path, link.anchor) if isinstance(found, Resolved | Ambiguous) else None


def link_named(name: str) -> Link:
    """The link that somebody means by a name, which may be a link or a mention already."""
    if name.startswith("@"):
        return link_mentioned(name)
    return next(iter([*link_catalog.scan(name), *link_catalog.scan(f"[[{name}]]")]), Link(text=name, target=name))


def text_of(library: Library, name: str) -> str:
    """What the note, or that place in it, says now. Raises `VaultError` where there is none."""
    return library.section(*(place_of(library, name) or (name, "")))


def full_name(path: str, anchor: str) -> str:
    """How the place is called in the record of a request."""
    return f"{path}#{anchor}" if anchor else path


class ReferenceList:
    """The documents that informed an answer, one entry for each; repeated mentions are merged."""

    def __init__(self, references: Iterable[DocumentReference] = ()) -> None:
        self._rows: dict[str, DocumentReference] = {}
        self._given: dict[str, list[DocumentReference]] = {}
        """Those that came with text of their document, before they were merged."""
        for reference in references:
            self.add(reference)

    def add(self, reference: DocumentReference) -> None:
        key = _key(reference)
        known = self._rows.get(key)
        self._rows[key] = known.merged_with(reference) if known else reference
        if reference.included and reference.hits:
            self._given.setdefault(key, []).append(reference)

    def set(self, reference: DocumentReference) -> None:
        """Take it for all that is known of its document."""
        self._rows[_key(reference)] = reference

    def given(self, reference: DocumentReference) -> Sequence[DocumentReference]:
        """What was given to the model of the same document, in the order in which it was found."""
        return self._given.get(_key(reference), ())

    def copy(self) -> "ReferenceList":
        """The same, to be added to on its own."""
        copied = ReferenceList()
        copied._rows, copied._given = {**self._rows}, {key: [*given] for key, given in self._given.items()}
        return copied

    def holds(self, reference: DocumentReference) -> bool:
        return _key(reference) in self._rows

    def cite(self, reference: DocumentReference) -> None:
        """The answer names this document: marked where it is known, added where the model brought it up by itself."""
        self.add(replace(reference, cited=True, hits=0))

    def as_tuple(self) -> tuple[DocumentReference, ...]:
        return tuple(self._rows.values())

    def behind_answer(self) -> tuple[DocumentReference, ...]:
        """Those behind an answer: cited first, then linked by the user, then found. What was only listed is none."""
        rows = (row for row in self._rows.values() if not row.is_only_listed)
        return tuple(sorted(rows, key=lambda row: (not row.cited, row.reference_type != "direct")))


def _key(reference: DocumentReference) -> str:
    return reference.relative_path or f"missing {reference.wikilink.casefold()}"


_WORD = lazy_pattern(r"\w+")
_SUFFIX = f"(?:{'|'.join(map(re.escape, NOTE_SUFFIXES))})"
_QUOTE = "[\"'“”„‘’«»*_`]"


def given_before(messages: Iterable[ChatMessage]) -> frozenset[str]:
    """The documents that earlier messages brought up: an answer may come back to them."""
    references = (reference for message in messages for reference in message.references)
    return frozenset(each.relative_path for each in references if each.relative_path and each.was_given)


def given_with(context: RequestContext) -> frozenset[str]:
    """The documents that stood in a request, whatever brought them there."""
    return frozenset(item.name.partition("#")[0] for item in context.items)


def sent_along(context: RequestContext, library: Library) -> dict[str, DocumentReference]:
    """The notes that the agent, the session or the vault's page brought into a request, by their names there.

    The page itself is the user's word, and no source. None where the index does not answer.
    """
    found: dict[str, DocumentReference] = {}
    try:
        for item in context.items:
            is_note_text = (item.type == "reference" and not item.part_of) or (item.type == "memory" and not item.title)
            if not is_note_text or item.name in PAGES or not (place := place_of(library, item.name)):
                continue
            path, anchor = place
            link = library.link_to(path)
            found[item.name] = DocumentReference(
                wikilink=f"{link.removesuffix(']]')}#{anchor}]]" if anchor else link,
                relative_path=path,
                reference_type="search",
                via="context",
                title=library.title(path),
                anchor=anchor,
                hits=0,
                included=True,
            )
    except (StorageError, VaultError):
        return {}
    return found


def cite(
    references: ReferenceList,
    answer: str,
    library: Library,
    before: Collection[str] = (),
    given: Iterable[GivenText] = (),
) -> None:
    """Mark what the answer links to, names or quotes. A link to a note neither referenced nor given `before` is
    unverified.

    What stands in a passage quoted from the `given` texts is what that note says: its links and names cite nothing.
    Where the index does not answer, nothing is marked: the answer is there all the same.
    """
    known = {row.relative_path for row in references.as_tuple() if row.relative_path}.union(before)
    links = link_catalog.scan(answer)
    quotations = find_quotations(answer, links, given)
    own = links_outside(links, quotations)
    try:
        for link in ReferenceList(resolve_links(library, own, sorted(known))).as_tuple():
            others = link.candidates if link.status == "ambiguous" else ()
            possible = [replace(link, relative_path=path) for path in (link.relative_path, *others)]
            held = (each for each in possible if references.holds(each))
            earlier = (each for each in possible if each.relative_path in before)
            meant = next(chain(held, earlier), None)  # of several that fit, the one that the model was given
            path = link.relative_path
            # A note that the model itself proposes is not there yet.
            is_proposed = not meant and path and library.is_overlaid and not library.on_disk.has_text(path)
            references.cite(
                replace(
                    meant or link,
                    reference_type="search",
                    via="proposed" if is_proposed else "answer",
                    unverified=not (meant or is_proposed),
                )
            )
        left_out: list[link_catalog.Spanned] = sorted([*quotations, *own], key=lambda each: each.start)
        in_own_words = link_catalog.without(left_out, answer)
        quoted_paths = {path for quoted in quotations for path in (quoted.path, quoted.path.partition("#")[0])}
        for row in references.as_tuple():
            path = row.relative_path
            if path and not row.cited and (path in quoted_paths or is_named(in_own_words, path, library.names(path))):
                references.cite(row)
    except (StorageError, VaultError):
        return


def is_named(text: str, path: str, names: Iterable[str]) -> bool:
    """Whether a text calls a note by its path or a name of it.

    A single word is a name only in quotes, or as a file: all who speak of sleep say "sleep".
    """
    if path in text:
        return True
    said = name_key(text)
    spaced = f" {' '.join(_WORD.findall(said))} "
    for name in map(name_key, names):
        words, word = _WORD.findall(name), re.escape(name)
        if has_unspaced(name):
            is_named = name in said
        elif len(words) == 1:
            is_named = re.search(rf"{_QUOTE}{word}{_QUOTE}|\b{word}{_SUFFIX}\b", said) is not None
        else:
            is_named = bool(words) and f" {' '.join(words)} " in spaced
        if is_named:
            return True
    return False


def is_sent_anyway(reference: DocumentReference, lasting: Collection[str]) -> bool:
    """Whether what is linked is one of the notes that every request holds, or a place in one."""
    return reference.relative_path in lasting or _name(reference) in lasting


def with_those_sent_anyway(
    included: Iterable[DocumentReference], references: Iterable[DocumentReference], lasting: Collection[str]
) -> tuple[DocumentReference, ...]:
    """The references of a message: those whose text comes with it, and those whose text every request holds."""
    anyway = [replace(each, included=True) for each in references if is_sent_anyway(each, lasting)]
    return ReferenceList([*anyway, *included]).as_tuple() if anyway else tuple(included)


def without_repeated(selected: Selection, user: ChatMessage, lasting: Collection[str]) -> Selection:
    """The selection without notes that come whole with the message, and a record of each note that is sent once."""
    texts = [part.text for part in user.parts if isinstance(part, FilePart)]
    repeated = {
        each.item.name
        for each in selected.items
        if each.item.type == "reference"
        and each.item.this_turn_only
        and any(format_document(each.item.name, text) == each.text for text in texts)
    }
    kept = tuple(each for each in selected.items if each.item.type != "reference" or each.item.name not in repeated)
    with_message = [
        replace(item, reason=WITH_THE_MESSAGE)
        for item in selected.records
        if item.type == "reference" and item.name in repeated
    ]
    anyway = [
        RequestItem(type="reference", name=_name(each), include="manual", reason=IN_EVERY_REQUEST)
        for each in user.references
        if each.reference_type == "direct" and is_sent_anyway(each, lasting)
    ]
    records = (LeftOut(item=item, why="repeated") for item in (*with_message, *anyway))
    return Selection(kept, (*selected.left_out, *records))


def _name(reference: DocumentReference) -> str:
    return full_name(reference.relative_path or reference.wikilink, reference.anchor if reference.anchor_found else "")
