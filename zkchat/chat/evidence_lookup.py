"""What the vault says on a question: passages of notes and files, and answers about the vault itself."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.answers import LINK_MARK, MAX_LISTED, NOTE_WORDS, CatalogQuery, asking_terms, parse_question, vault_words
from zkchat.chat.agents import look_ups
from zkchat.chat.context.assembly import PromptItem, prompt_item
from zkchat.chat.context.formatting import format_evidence
from zkchat.chat.context.unit_ranking import find_in_text
from zkchat.chat.core import ConversationCore
from zkchat.chat.question import Question, terms_of
from zkchat.chat.references import VIA_WITHHELD, resolve_links
from zkchat.chat.text_calls import UnreadableCall, calls_in
from zkchat.chat.tools.explore import reference_to
from zkchat.core import (
    DEFAULT_LIMIT,
    Ambiguous,
    ChatMessage,
    DocumentReference,
    Evidence,
    EvidencePart,
    Findings,
    LineRange,
    Link,
    MessageExcerpt,
    ModelRequest,
    PromptMessage,
    Resolved,
    StorageError,
    ToolSpec,
    UsageError,
    VaultError,
    VaultListing,
    as_open_as,
)
from zkchat.index import Library, own_terms, terms, topic_terms
from zkchat.language import HEADINGS, NOTE_PARTS
from zkchat.notes import frontmatter_of, is_folder, link_catalog

if TYPE_CHECKING:
    from zkchat.answers import CatalogAnswer, QueryKind


EACH_OF_TWO: Final = 2
"""Passages on each of two questions that are asked at once."""


def look_up(
    library: Library,
    question: Question,
    references: Iterable[DocumentReference],
    *,
    limit: int = DEFAULT_LIMIT,
    skip: int = 0,
) -> Findings:
    """What the vault says on a question; nothing where the vault cannot be searched."""
    from zkchat.answers import find_evidence

    linked = [(reference.relative_path, reference.anchor) for reference in references if reference.relative_path]
    asked = question.sought
    try:
        files = dict.fromkeys(path for path, _ in linked if not library.is_indexed(path))
        of_files = [each for path in files for each in _evidence_of_file(library, path, asked)]
        if not of_files:
            halves = () if linked or skip else question.halves
            if len(halves) > 1:
                return _of_both(*(find_evidence(library, each, (), limit=limit) for each in halves))
            return _in_conversation(library, question, linked, limit, skip)
        notes = [(path, anchor) for path, anchor in linked if library.is_indexed(path)]
        found = find_evidence(library, asked, notes, limit=limit, skip=max(0, skip - len(of_files)))
    except (VaultError, StorageError):
        return Findings()
    if skip >= len(of_files):
        return found
    of_notes = tuple(each for each in found.evidence if each.linked)
    return Findings((*of_files[skip:], *of_notes), more=found.more + len(found.evidence) - len(of_notes))


def _in_conversation(
    library: Library, question: Question, linked: Sequence[tuple[str, str]], limit: int, skip: int
) -> Findings:
    """What is said on a question, with the topic of those before it where it goes on with them."""
    from zkchat.answers import Earlier, find_evidence, time_of

    find = partial(find_evidence, library, limit=limit, skip=skip)
    own = own_terms(question.prose)
    is_pointer = question.topic and question.refers and not own  # "why?"
    alone = Findings() if is_pointer else find(question.prose, linked)
    if question.told:
        whole = find(as_open_as(question.prose, f"{question.told} {question.prose}"), linked)
        alone = whole if _is_about_told(question, whole, alone) else alone
    best = alone.evidence[:1]
    is_sure = bool(best) and not alone.is_doubtful
    if not question.topic or (is_sure and own and (not question.goes_on or best[0].relative_path in question.notes)):
        return alone
    if is_sure and question.refers and question.is_whole_in(best):
        return alone
    if not question.points_back and (time := time_of(library, question.topic)):
        question = replace(question, topic=time.rest)
    only_before = " ".join(word for word in question.topic.split() if own.isdisjoint(terms(word)))
    found = find(question.with_topic(question.prose), linked, earlier=Earlier(only_before, question.notes))
    if not found.evidence and question.notes:
        of_note = find(question.prose, [(question.notes[0], "")]).evidence
        is_held = any(own & terms_of(each) for each in of_note)
        found = Findings(tuple(replace(each, linked=False) for each in of_note), is_doubtful=True) if is_held else found
    here, there = ({term for each in every[:1] for term in own & terms_of(each)} for every in (best, found.evidence))
    if len(here) > len(there) and not question.goes_on:
        return alone  # "Are used wicks ok to send back?" is not about what was spoken of
    if question.points_back and not question.refers and any(each.linked for each in best):
        return find(question.sought, [(best[0].relative_path, "")])  # "and the Pebble?"
    if not (question.refers or _is_better(library, question, found, best)):
        return alone
    return found if question.goes_on else replace(found, is_doubtful=True)


def _is_about_told(question: Question, whole: Findings, alone: Findings) -> bool:
    """Whether a question is about what is told beside it: "I run Jellyfin. Which port must be open?"."""
    told, own = {*terms(question.told)}, own_terms(question.prose)
    is_named = any(told.issuperset(terms(each.title)) and own & terms_of(each) for each in whole.evidence[:1])
    is_sure = bool(whole.evidence) and not whole.is_doubtful
    return is_named or (is_sure and (alone.is_doubtful or not alone.evidence))


def _is_better(library: Library, question: Question, found: Findings, alone: Sequence[Evidence]) -> bool:
    """Whether what was found with the topic before is rather meant than the best that was found without it."""
    own, first = own_terms(question.prose), found.evidence[:1]
    if not question.goes_on:
        is_there = any(each.relative_path in question.notes for each in first)
        is_known = not alone and 2 * len(library.idf(own)) >= len(own)
        return is_there and (is_known or any(own & terms_of(each) for each in found.evidence))
    is_said = any(own & terms_of(each) for each in first)
    is_whole = len(own) > 1 and any(own <= terms_of(each) for each in alone)
    if question.points_back or is_whole:
        return not is_whole
    is_title = any(own & {*terms(each.title)} for each in alone)
    # "who is responsible?" may say in other words what the notes do; "what is my blood type?" is about something else.
    is_new = len(question.prose.split()) > 3 and not (alone or own <= library.idf(own).keys())
    return question.stays_with(first) and (is_said or not (is_new or len(own) > 1 or is_title))


def _of_both(first: Findings, second: Findings) -> Findings:
    """What is said on two questions, the best on each first."""
    pairs = zip_longest(first.evidence[:EACH_OF_TWO], second.evidence[:EACH_OF_TWO])
    every = [each for pair in pairs for each in pair if each]
    longest = sorted(every, key=lambda each: -len(each.text))
    found = dict.fromkeys(  # what holds more of the same, in the place of a passage
        next(each for each in longest if each.relative_path == one.relative_path and one.text in each.text)
        for one in every
    )
    if not (first.evidence and second.evidence):
        return first if first.evidence else second
    return replace(first, evidence=tuple(found), is_doubtful=first.is_doubtful or second.is_doubtful, more=0)


def relevant_evidence(library: Library, question: Question, references: Iterable[DocumentReference]) -> list[Evidence]:
    """What the notes say on a message, if it asks for something that may stand there.

    A passage has more than one word with the question in common, or is from a note of that name: a single word is
    found anywhere, and what was no question about notes shall not be made one.
    """
    topic = topic_terms(" ".join([question.prose, *(link.target for link in question.links)]))
    if not topic:
        return []
    found = look_up(library, question, references)
    return [
        each
        for each in found.evidence
        if found.remark
        or topic.intersection(terms(each.title))
        or len(topic.intersection(terms(f"{each.heading} {each.text}"))) > 1
    ]


def is_said_whole(question: Question, found: Findings) -> bool:
    """Whether a passage says each word of a message: then it asks for what stands there, "our decision on glazing"."""
    own = own_terms(question.prose)
    return bool(own) and not found.is_doubtful and any(own <= terms_of(each) for each in found.evidence)


def evidence_item(evidence: Evidence, reason: str) -> PromptItem:
    """A passage that goes with this question alone, and why."""
    return prompt_item(
        "evidence",
        evidence.relative_path,
        format_evidence([evidence]),
        include="agent",
        score=evidence.score,
        reason=reason,
        this_turn_only=True,
    )


def as_reference(evidence: Evidence) -> DocumentReference:
    """The reference of the note that a passage is from."""
    return DocumentReference(
        wikilink=evidence.wikilink,
        relative_path=evidence.relative_path,
        reference_type="search",
        via="evidence",
        title=evidence.title,
        anchor=evidence.heading,
        lines=evidence.lines,
        snippet=evidence.text,
        score=evidence.score,
        included=True,
        date=evidence.date,
        outdated_by=evidence.outdated_by if evidence.outdated_by != evidence.wikilink else "",
        outdates=evidence.outdates,
    )


def _evidence_of_file(library: Library, path: str, question: str) -> list[Evidence]:
    """The lines of a file that answer a question, those that follow each other as one passage; the header of a table
    comes first. None where no line answers, or the file cannot be read."""
    try:
        found = find_in_text(library.read(path), question)
    except VaultError:
        return []
    joined: list[MessageExcerpt] = []
    for each in found:
        if joined and each.first_line == joined[-1].last_line + 1:
            text = f"{joined[-1].text}\n{each.text}"
            joined[-1] = replace(joined[-1], text=text, last_line=each.last_line)
        else:
            joined.append(each)
    return [
        Evidence(
            text=excerpt.text,
            relative_path=path,
            title=path,
            wikilink=library.link_to(path),
            lines=LineRange(first=excerpt.first_line, last=excerpt.last_line),
            score=1.0,
            linked=True,
        )
        for excerpt in joined
    ]


PAGE_SIZE = 5
"""Passages that are shown at once."""
MAX_QUOTED = 10
"""Passages that one answer quotes at most."""


class Page(Struct, frozen=True, kw_only=True):
    """The next passages on a question."""

    question: Question
    passages: tuple[Evidence, ...] = ()
    nearest: tuple[Evidence, ...] = ()
    """Where nothing answers: what comes nearest."""
    searched_for: tuple[str, ...] = ()
    """And the words that were looked for."""
    is_first: bool = False
    """Whether the user has read no passage on this question before."""
    after_linked: bool = False
    """Whether the user has read passages of notes that the question links to or names."""
    left: int = 0
    """Passages on the page after this one."""
    listing: VaultListing | None = None
    """The next rows of a list from the index, with the references of all rows up to its end."""


class FurtherPassages:
    """What the user has read on the last question, and what comes after it."""

    def __init__(self, core: ConversationCore) -> None:
        self._core = core
        self.more: dict[str, int] = {}
        """How many passages would follow those that went with a question, by its id."""
        self._read: dict[str, int] = {}
        """How many passages the user has read on a question, by its id."""
        self._listed: dict[str, VaultListing] = {}
        """What the user has read last of the list that answers a question, by its id."""

    @property
    def listing(self) -> VaultListing | None:
        """The list from the index that answers the last question, as far as the user has read it."""
        asked = self._core.history.last_question
        if asked is None:
            return None
        given = (part.listing for part in asked.parts_of(EvidencePart) if part.listing)
        return self._listed.get(asked.id) or next(given, None)

    @property
    def read(self) -> int:
        """How many passages the user has read on the last question."""
        asked = self._core.history.last_question
        return self._read.get(asked.id, len(self._quoted(asked))) if asked else 0

    @property
    def left(self) -> int:
        """How many passages on it follow those that the user has read; 0 where a model answers."""
        asked = self._core.history.last_question
        if asked is None or not self._core.info.needs_notes:
            return 0
        return len(self._quoted(asked)) + self.more.get(asked.id, 0) - self.read

    def _quoted(self, asked: ChatMessage) -> list[Evidence]:
        """The passages that the answer to a question shows."""
        if not self._core.info.needs_notes:
            return []
        return [each for part in asked.parts_of(EvidencePart) for each in part.evidence]

    def next_page(self) -> Page:
        """The passages or rows after those that the user has read. Raises `UsageError` where there are none."""
        asked, library = self._core.history.last_question, self._core.library
        if asked is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        question, listing, read = Question.of(asked), self.listing, self.read
        found, rows = Findings(), None
        with suppress(StorageError, VaultError):
            references = resolve_links(library, question.links)
            if listing is None:
                found = look_up(library, question, references, limit=PAGE_SIZE, skip=read)
            elif listing.more:
                rows = answer_about_vault(library, question, references, after=listing.rows)
        if listing:
            if rows is None or rows.rows <= listing.rows:
                hint = "Ask for notes of a tag, folder or time, or say how many, such as: the 50 newest notes."
                raise UsageError("That is the end of the list.", hint=hint)
            self._listed[asked.id] = rows
            return Page(question=question, listing=rows)
        self._read[asked.id] = read + len(found.evidence)
        return Page(
            question=question,
            passages=found.evidence,
            nearest=found.nearest,
            searched_for=found.searched_for,
            is_first=not read,
            after_linked=any(each.linked for each in self._quoted(asked)),
            left=min(found.more, PAGE_SIZE),
        )


OF_ALL: Final[Mapping[str, "QueryKind"]] = {"tags": "tags", "orphans": "orphans", "unlinked": "unlinked"}
_NOTES_LIKE: Final = 5
"""Notes that are looked at for one that is named by a part of its title, or by what it says."""
_EXACT: Final = frozenset({"path", "name", "alias", "id", "title"})


def answer_about_vault(
    library: Library,
    question: Question,
    references: Sequence[DocumentReference],
    *,
    most: int = MAX_LISTED,
    after: int = 0,
) -> VaultListing | None:
    """What the index says on a question about the vault itself; None for every other question, and where it fails.

    The text of a list begins after so many rows, and has so many.
    """
    if question.split.material or question.unknown_paths:
        return None
    targets, names = [_target(link, references) for link in question.links], _LibraryNames(library)
    if not all(targets):
        return None
    with suppress(StorageError, VaultError):
        query = parse_question(_marked(question), targets, names, library.calendar())
        query = query or _parts_query(library, question, targets)
        if query is None:
            return None
        is_missing = any(each.status == "missing" for each in references)
        path = "" if is_missing else query.note if query.note in targets else names.path_of(query.note or "")
        return _listing(library, query, path or "", most, after)
    return None


def _parts_query(library: Library, question: Question, targets: Sequence[str]) -> CatalogQuery | None:
    """What is asked of one note beside its text, in words that say nothing else: "the headings of [[Sleep]]", "which
    status does the greenhouse have"."""
    asked, own = {*terms(question.prose)}, own_terms(NOTE_PARTS.sub(" ", question.prose)) - asking_terms()
    paths = targets or [each.path for each in (library.documents(question.prose, limit=_NOTES_LIKE) if own else ())]
    clauses = [{*terms(each)} for each in question.clauses if not NOTE_PARTS.search(each)]
    has_headings = bool(HEADINGS.search(question.prose))
    queries: list[CatalogQuery] = []
    for path, known in zip(paths, map(library.outline, paths), strict=True):
        title = {term for name in (known.title, *known.aliases) for term in terms(name)} if known else set[str]()
        if known is None or not (targets or own & title):
            continue
        told = {term for each in known.headings for term in terms(each.text)} - title
        parts = {key: {*terms(key)} for key in ("tags", *frontmatter_of(library.read(path)).properties)}
        named = tuple(key for key, words in parts.items() if words and words <= asked - told)
        is_each = all(any(parts[key] <= clause for key in named) for clause in clauses)
        if is_each and not own - title - {term for key in named for term in parts[key]}:
            queries.append(CatalogQuery(kind="note", note=path, parts=(*named, *["headings"] * has_headings)))
    return queries[0] if len(queries) == 1 else None


def _listing(library: Library, query: CatalogQuery, path: str, most: int, after: int = 0) -> VaultListing | None:
    from zkchat.answers import answer_query

    answer = answer_query(library, query, path, library.calendar(), most=after + most)
    if (query.words or query.parts) and not answer.rows:
        return None
    text = _text(library, answer, after)
    return VaultListing(
        text=text,
        references=tuple(_references(library, answer, text)),
        rows=len(answer.rows),
        is_numbered=any(row.path for row in answer.rows),
        more=0 if query.kind == "tags" else answer.more,
    )


async def ask_for_listing(core: ConversationCore, question: Question, *, is_last: bool = False) -> VaultListing | None:
    """What the index says where a small model chooses what to look up: of tags, folders, links and headings; of notes
    where nothing else answers. None where a question is about what notes say, or names nothing that there is."""
    named = vault_words(question.prose)
    is_meant = named - NOTE_WORDS or NOTE_PARTS.search(question.prose) or (is_last and (named or question.links))
    if not (core.info.needs_evidence and is_meant) or core.info.is_tiny or question.tells or question.split.material:
        return None
    properties = {"name": {"type": "string", "maxLength": 60}}
    parameters = {"type": "object", "properties": properties, "required": ["name"]}
    told, kinds = look_ups()
    tools = tuple(ToolSpec(name=name, description="", parameters=parameters) for name in kinds)
    messages = PromptMessage(role="system", text=told), PromptMessage(role="user", text=f"Question: {question.text}")
    request = ModelRequest(messages=messages, tools=tools, must_call=True, window=core.budget.window, temperature=0.0)
    with suppress(StorageError, VaultError, UnreadableCall):
        for kind, arguments in calls_in(await core.short_reply(request, 200), kinds):
            name = str(json.loads(arguments).get("name", ""))
            if kind != "answer" and (query := _query_of(core.library, question, kind, name)):
                return _listing(core.library, query, query.note or "", MAX_LISTED)
    return None


def _query_of(library: Library, question: Question, kind: str, name: str) -> CatalogQuery | None:
    from zkchat.answers import time_of

    names, time, tag = _LibraryNames(library), time_of(library, question.prose), name.lstrip("#")
    period = time.period if time else None
    if names.is_tag(tag) and (kind == "tagged" or "tag" in vault_words(question.prose)):
        return CatalogQuery(kind="notes", tags=(tag,), period=period)
    if name and kind in {"in_folder", "of_time"} and names.is_folder(name):
        return CatalogQuery(kind="notes", folder=name, period=period)
    if path := names.path_of(name) or names.note_like(name):
        return CatalogQuery(kind="note", note=path)
    if period:
        return CatalogQuery(kind="notes", period=period)
    return CatalogQuery(kind=OF_ALL[kind]) if not name and kind in OF_ALL else None


class _LibraryNames:
    """Implements `parser.Names`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def is_folder(self, name: str) -> bool:
        return bool(self._library.find_folder(f"{name.strip('/')}/"))

    def is_note(self, name: str) -> bool:
        return bool(self.path_of(name))

    def note_like(self, words: str) -> str:
        wanted = {*terms(words)}
        found = self._library.documents(words, limit=_NOTES_LIKE) if wanted else ()
        titled = ((each.path, {*terms(each.title)}) for each in found)
        return next((path for path, title in titled if wanted <= title or title <= wanted), "")

    def is_tag(self, name: str) -> bool:
        return name.casefold() in self._library.tags()

    def tag_for(self, plural: str) -> str:
        wanted, name = [*terms(plural)], plural.casefold()
        tags = [] if " " in name else [each for each in self._library.tags() if [*terms(each)] == wanted]
        return "" if name in tags else next(iter(tags), "")

    def path_of(self, name: str) -> str:
        found = self._library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0) if name else None
        return found.path if isinstance(found, Resolved | Ambiguous) and found.via in _EXACT else ""


def _target(link: Link, references: Iterable[DocumentReference]) -> str:
    """The note or folder that a link of the question leads to, or the name of one that is not there.

    Empty for a place in a note, and for a note that is kept back."""
    found = next((each for each in references if each.wikilink == link.text), None)
    return "" if not found or link.anchor or found.via == VIA_WITHHELD else found.relative_path or link.target


def _marked(question: Question) -> str:
    """The question with a mark in the place of each link, without the agent that it is addressed to."""
    pieces: list[str] = []
    position = 0
    for link in question.links:
        pieces += (question.text[position : link.start], LINK_MARK)
        position = link.end
    text = "".join([*pieces, question.text[position:]]).strip()
    return text.partition(" ")[2] if question.agent is not None and text.startswith("@") else text


def _text(library: Library, answer: "CatalogAnswer", after: int) -> str:
    lines: list[str] = []
    for number, row in enumerate(answer.rows[after:], start=after + 1):
        if row.path is None:
            lines.append(f"- {row.details}\n" if len(answer.rows) > 1 else f"{row.details}\n")
        else:
            lines.append(f"{number}. {' · '.join(filter(None, [library.link_to(row.path), row.details]))}\n")
    more = f"\n… and {answer.more:,} more.\n" if answer.more else ""
    return "".join([*lines, more]) if after else f"{answer.heading}\n" + "".join(["\n", *lines, more] if lines else [])


def _references(library: Library, answer: "CatalogAnswer", text: str) -> Iterable[DocumentReference]:
    """The notes of the list in its order, so that they have its numbers, and those that are named beside it."""
    listed = [row.path for row in answer.rows if row.path]
    beside = (library.resolve(link, suggestions=0) for link in link_catalog.scan(text))
    named = (found.path for found in beside if isinstance(found, Resolved | Ambiguous))
    for path in dict.fromkeys([*listed, *named]):
        if not is_folder(path):
            yield reference_to(library, path, via="index")
