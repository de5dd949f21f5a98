"""The documents of a turn: links resolved in the vault, references collected, none sent twice, citations checked."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, takewhile
from typing import Final, Literal, assert_never, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.agents import Profiles, Tier, instructions
from zkchat.chat.context.assembly import STRICT, STRICT_PLAIN, WRITING, PromptItem, digest, prompt_item
from zkchat.chat.context.documents import name_of
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import Selection, build_candidates
from zkchat.chat.journal import Journal
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.chat.question import HUB_MARK, link_mentioned, path_mentioned
from zkchat.chat.quotations import GivenText, find_quotations, given_texts, links_outside
from zkchat.chat.tools.explore import reference_to
from zkchat.chat.tools.readings import GivenBefore
from zkchat.core import (
    DEFAULT_AGENT,
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
    Warned,
    is_note,
    lazy_pattern,
    without_suffix,
)
from zkchat.index import Library, has_unspaced
from zkchat.notes import MAX_FILE_BYTES, digest_of, is_folder, link_catalog, name_key, parse_note, rows_in

VIA_WITHHELD: Final = "withheld"
"""How a note was found that may not be sent to the model: no more of it is known than the link."""


MAX_BROUGHT: Final = 200
"""Of one folder or hub."""
IN_EVERY_REQUEST = "linked in the message, and sent every time anyway"
WITH_THE_MESSAGE = "linked in the message, and sent with it"


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
        found = [_reference(library, link, source) for link in shown[:50]]  # nobody reads more of them as a part of it
    except (StorageError, VaultError):
        return ()
    return tuple(
        replace(embed, via="embed") for embed in found if embed and embed.relative_path and is_note(embed.relative_path)
    )


class Brought(Struct, frozen=True, kw_only=True):
    """Notes that come along with what a message names, those that bear on its question first."""

    name: str
    """The folder or the note that is named."""
    share: float
    """Of the room that is left for documents."""
    notes: Sequence[DocumentReference]

    def shortfall(self, files: Iterable[FilePart]) -> str:
        """A sentence where not all of them are among the documents that go along; else empty."""
        names = {part.name for part in files}
        sent = sum(each.relative_path in names for each in self.notes)
        if sent == len(self.notes):
            return ""
        which = "notes of" if self.share == 1 else "notes linked by"
        most = "" if self.share == 1 else f" They get at most {self.share:.0%} of the free context."
        return f"{sent} of {len(self.notes)} {which} {self.name} are sent: there is no room for more.{most}"


def brought_along(library: Library, references: Iterable[DocumentReference], question: str) -> list[Brought]:
    """The notes of each folder that is named, and those that the note of a `[[Hub]]+1` links to.

    None where the index does not answer: what is named itself is there all the same.
    """
    groups: list[Brought] = []
    try:
        for each in references:
            path = each.relative_path
            if path and is_folder(path):
                paths = [row.path for row in rows_in(path, library.files()) if is_note(row.path)]
                groups.append(Brought(name=path, share=1.0, notes=_as_brought(library, paths, "folder")))
            elif path and is_note(path) and each.wikilink.endswith(HUB_MARK):
                links = parse_note(path, library.read(path)).links
                found = (_reference(library, link, path) for link in links if not link.in_comment)
                targets = [one.relative_path for one in found if one and one.relative_path]
                paths = [one for one in dict.fromkeys(targets) if is_note(one) and one != path]
                groups.append(Brought(name=each.wikilink, share=0.5, notes=_as_brought(library, paths, "hub")))
        if not any(group.notes for group in groups):
            return []
        found_for = library.documents(question, limit=MAX_BROUGHT) if question.strip() else []
    except (StorageError, VaultError):
        return []
    rank = {hit.path: number for number, hit in enumerate(found_for)}
    last = len(rank)
    return [
        replace(group, notes=sorted(group.notes, key=lambda each: rank.get(each.relative_path or "", last)))
        for group in groups
        if group.notes
    ]


def _as_brought(library: Library, paths: Sequence[str], via: Literal["folder", "hub"]) -> list[DocumentReference]:
    return [reference_to(library, path, via=via) for path in paths[:MAX_BROUGHT]]


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
            made = reference_to(library, path, via="context", anchor=anchor, hits=0, included=True)
            link = f"{made.wikilink.removesuffix(']]')}#{anchor}]]"
            found[item.name] = replace(made, wikilink=link) if anchor else made
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
    return reference.relative_path in lasting or name_of(reference) in lasting


def without_repeated(selected: Selection, user: ChatMessage, lasting: Collection[str]) -> Selection:
    """The selection without notes that come whole with the message, and a record of each note that is sent once."""
    texts = [part.text for part in user.parts_of(FilePart)]
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
        RequestItem(type="reference", name=name_of(each), include="manual", reason=IN_EVERY_REQUEST)
        for each in user.references
        if each.reference_type == "direct" and is_sent_anyway(each, lasting)
    ]
    records = (LeftOut(item=item, why="repeated") for item in (*with_message, *anyway))
    return Selection(kept, (*selected.left_out, *records))


NOTE: Final = "text/markdown"
"""The media type of notes that were sent; whatever else a message holds has no file in the vault."""


class StaleNote(Struct, frozen=True, kw_only=True):
    """A note that has changed since the model read it in this conversation."""

    name: str
    now: str
    """The digest of its present text; empty where it is gone, or kept from this model."""
    is_sent_again: bool

    def prompt_item(self, *, can_read: bool) -> PromptItem:
        if self.is_sent_again:
            more = "The text that comes with this message is the present one."
        else:
            more = "What stands there is its old text." + (" Read it again before you rely on it." if can_read else "")
        text = f"{self.name} has changed since it was quoted earlier in this conversation. {more}"
        return prompt_item("memory", self.name, text, reason="changed since the model read it", this_turn_only=True)

    @property
    def warning(self) -> Warned:
        if not self.now:
            hint = "What was said about it stays in the conversation. To go back to before that: /branch"
            return Warned(text=f"{self.name} no longer exists; the model read it earlier.", hint=hint)
        if self.is_sent_again:
            hint = "Its present text goes with your message."
        else:
            again = f"@{self.name}" if is_folder(self.name) else f"[[{without_suffix(self.name)}]]"
            hint = f"To send its present text, link it again: {again}"
        return Warned(text=f"{self.name} has changed since the model read it.", hint=hint)


def stale_notes(
    library: Library, live: Iterable[ChatMessage], user: ChatMessage, is_own: Callable[[str, str], bool]
) -> Iterator[StaleNote]:
    """The notes that the live messages quote and that differ now, for a new message of the user."""
    before = last_readings(read_in(message) for message in live if message.id != user.id)
    sent = read_in(user)
    for name, known in last_readings([before, sent]).items():
        try:
            now = digest(text_of(library, name))
        except VaultError:
            now = ""
        if now != known and not is_own(name, now):
            yield StaleNote(name=name, now=now, is_sent_again=False)
        elif name in sent and before.get(name, now) != now:
            yield StaleNote(name=name, now=now, is_sent_again=True)


def read_in(message: ChatMessage) -> dict[str, str]:
    """The digests of the notes, or parts of notes, that were sent with a message or read for it."""
    files = {
        part.name: part.digest or digest(part.text) for part in message.parts_of(FilePart) if part.media_type == NOTE
    }
    return files | {
        each.relative_path: each.digest for each in message.references if each.relative_path and each.digest
    }


def last_readings(readings: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The latest digest of each note and part of a note."""
    last: dict[str, str] = {}
    for read in readings:
        for name, known in read.items():
            for place in [each for each in last if each.startswith(f"{name}#")]:
                del last[place]  # the whole note came later than this part of it
            last[name] = known
    return last


class ChangedItem(Struct, frozen=True, kw_only=True):
    """A rule, a note, an image or an agent's instructions in a request that have changed since."""

    item: RequestItem
    now: str
    """The digest of what it says now; empty where it is gone."""

    @property
    def sentence(self) -> str:
        what = {"system": "agent", "reference": "note"}.get(self.item.type, self.item.type)
        now = "has changed since that request" if self.now else "no longer exists"
        return f"The {what} {self.item.name} {now}."


def changed_items(context: RequestContext, profiles: Profiles, library: Library) -> list[ChangedItem]:
    """The items of a request that would differ if it were built from the current files."""
    changed: dict[tuple[str, str, str], ChangedItem] = {}
    for item in context.items:
        now = _digests_now(item, profiles, library) if item.digest else None
        if now is not None and item.digest not in now:
            changed[item.type, item.name, item.digest] = ChangedItem(item=item, now=now[0] if now else "")
    return [*changed.values()]


def _digests_now(item: RequestItem, profiles: Profiles, library: Library) -> list[str] | None:
    """The digests of what could be sent now; empty if the file is gone, None for an item without a file."""
    texts: list[str] = []
    match item.type:
        case "image" if item.tokens and not item.title:
            with suppress(VaultError, StorageError):
                return [digest_of(library.read_data(item.name, MAX_FILE_BYTES))]
        case "system" if item.reason:  # words for this message alone
            return None
        case "system":
            if agent := profiles.agents.get(item.name.casefold()):
                texts = [instructions(agent, tier) for tier in get_args(Tier)]
        case "rule" | "reference" if item.server or (item.this_turn_only and item.include == "manual"):
            return None  # of a server, or a brief for this message, whatever an earlier version said of why it is there
        case "rule":
            rules = build_candidates(profiles.agents[DEFAULT_AGENT], rules=profiles.rules.values())
            asked_for = {"strict": [STRICT, STRICT_PLAIN], "write": [WRITING]}  # by an option, and not by a file
            texts = [*(rule.text for rule in rules if rule.name == item.name), *asked_for.get(item.name, ())]
        case "reference":
            with suppress(VaultError, StorageError):
                text = text_of(library, item.name)
                texts = [text if item.part_of else format_document(item.name, text)]
        case _:
            return None
    return [*map(digest, texts)]


class GivenNotes(GivenBefore):
    """By the messages that the model sees."""

    def __init__(self, journal: Journal, privacy: ConversationPrivacy) -> None:
        self._journal = journal
        self._privacy = privacy

    def question(self) -> tuple[str, Mapping[str, str]]:
        question = self._journal.history.last_question
        return (question.id, _given_in(question)) if question else ("", {})

    def before(self) -> Mapping[str, str]:
        question = self._journal.history.last_question
        earlier = [*takewhile(lambda message: not question or message.id != question.id, self._seen())]
        passages = {name: "" for message in earlier for name in _given_in(message)}
        return passages | last_readings(map(read_in, earlier))

    def texts(self, path: str, /) -> Sequence[str]:
        return [given.text for given in given_texts(self._seen()) if given.path.partition("#")[0] == path]

    def _seen(self) -> Iterator[ChatMessage]:
        hidden = self._privacy.hidden()
        return (message for message in self._journal.history.window.live if message.id not in hidden)


def _given_in(message: ChatMessage) -> dict[str, str]:
    """The notes of which a message brought any text, with digests where that was the whole."""
    passages = {each.relative_path: "" for each in message.references if each.relative_path and each.included}
    return passages | read_in(message)
