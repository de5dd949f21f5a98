"""What the vault says on a question: passages of notes and files, and answers about the vault itself."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.answers import LINK_MARK, MAX_LISTED, parse_question
from zkchat.chat.context.assembly import AssembledRequest, PromptItem, RequestPlan, prompt_item
from zkchat.chat.context.formatting import format_evidence
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.context.unit_ranking import find_in_text
from zkchat.chat.core import ConversationCore
from zkchat.chat.event_stream import Emit
from zkchat.chat.question import Question
from zkchat.chat.references import VIA_WITHHELD, ReferenceList, resolve_links
from zkchat.chat.tool_loop import Exchange, ToolLoop
from zkchat.core import (
    DEFAULT_LIMIT,
    Ambiguous,
    AnswerReplaced,
    ChatMessage,
    DocumentReference,
    Evidence,
    EvidenceFound,
    EvidencePart,
    FilePart,
    Findings,
    Finish,
    HeadEntry,
    LineRange,
    Link,
    MessageExcerpt,
    RequestItem,
    Resolved,
    StorageError,
    TextDelta,
    UsageError,
    VaultError,
    VaultListing,
    Warned,
    ZkchatError,
    counted,
    place_of,
    quotations,
    shorten,
)
from zkchat.index import Library, terms, topic_terms
from zkchat.notes import is_folder, link_catalog

if TYPE_CHECKING:
    from zkchat.answers import CatalogAnswer, Contradiction, Row


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
    asked = question.prose
    try:
        files = dict.fromkeys(path for path, _ in linked if not library.is_indexed(path))
        of_files = [each for path in files for each in evidence_of_file(library, path, asked)]
        if not of_files:
            return find_evidence(library, asked, linked, limit=limit, skip=skip)
        notes = [(path, anchor) for path, anchor in linked if library.is_indexed(path)]
        found = find_evidence(library, asked, notes, limit=limit, skip=max(0, skip - len(of_files)))
    except (VaultError, StorageError):
        return Findings()
    if skip >= len(of_files):
        return found
    of_notes = tuple(each for each in found.evidence if each.linked)
    return Findings((*of_files[skip:], *of_notes), more=found.more + len(found.evidence) - len(of_notes))


def relevant_evidence(library: Library, question: Question, references: Iterable[DocumentReference]) -> list[Evidence]:
    """What the notes say on a message, if it asks for something that may stand there."""
    topic = topic_terms(" ".join([question.prose, *(link.target for link in question.links)]))
    found = look_up(library, question, references) if topic else Findings()
    return [each for each in found.evidence if found.remark or _is_relevant(topic, each)]


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


def _is_relevant(topic: frozenset[str], evidence: Evidence) -> bool:
    """Whether it has more than one word with the question in common, or is from a note of that name.

    A single word is found anywhere, and what was no question about notes shall not be made one.
    """
    named = topic.intersection(terms(evidence.title))
    return bool(named) or len(topic.intersection(terms(f"{evidence.heading} {evidence.text}"))) > 1


def evidence_of_file(library: Library, path: str, question: str) -> list[Evidence]:
    """The lines of a file that answer a question, those that follow each other as one passage; the header of a table
    comes first. None where no line answers, or the file cannot be read."""
    try:
        found = find_in_text(library.read(path), question)
    except VaultError:
        return []
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
        for excerpt in _joined(found)
    ]


def _joined(excerpts: Iterable[MessageExcerpt]) -> list[MessageExcerpt]:
    """With lines that follow each other put together."""
    joined: list[MessageExcerpt] = []
    for each in excerpts:
        if joined and each.first_line == joined[-1].last_line + 1:
            text = f"{joined[-1].text}\n{each.text}"
            joined[-1] = replace(joined[-1], text=text, last_line=each.last_line)
        else:
            joined.append(each)
    return joined


MAX_QUOTED_CHARS = 160
"""Of each statement that a warning quotes."""
MAX_QUOTED_STATEMENTS = 3
"""Statements that a warning quotes."""
REASON = "the first answer was given without a look into the notes"


class AnswerCheck:
    """Checks answers of models that were handed passages: small ones, and any in strict mode.

    Large models with tools are left alone: they read more than what was handed to them. The answer of the model stays
    in the session, on a branch of its own. In strict mode, statements that do not stand in the notes are named.
    """

    def __init__(self, loop: ToolLoop) -> None:
        self._loop = loop
        self._core = loop.core

    def applies(self, assembled: AssembledRequest) -> bool:
        """Whether the answer to this request is checked."""
        info, settings = self._core.info, self._core.settings
        can_read = assembled.context.can_read
        is_handed_evidence = settings.strict or wants_evidence(info, assembled.budget.window, can_read=can_read)
        return (
            settings.check_answers and is_handed_evidence and not info.needs_notes and bool(assembled.request.evidence)
        )

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Replace the answer of the exchange by the passage that it contradicts, if there is one."""
        if exchange.draft is None or exchange.made or not self.applies(exchange.assembled):
            return
        from zkchat.answers import find_contradiction

        documents = [part.text for part in user.parts if isinstance(part, FilePart)]
        text = exchange.draft.finished().text
        found = find_contradiction(text, exchange.assembled.request.evidence, question.prose, documents)
        if found:
            await self._replace(exchange, user, found, emit)
        elif self._core.settings.strict and (warning := self._unsupported(text)):
            await emit(warning)

    def _unsupported(self, answer: str) -> Warned | None:
        """A warning that names the statements of an answer which do not stand in the notes; None if all do."""
        from zkchat.answers import verify

        statements = verify(self._core.library, answer).statements
        missing = [f"“{_shortened(each.text)}”" for each in statements if not each.is_supported]
        if not missing:
            return None
        quoted = ", ".join([*missing[:MAX_QUOTED_STATEMENTS], *["…"] * (len(missing) > MAX_QUOTED_STATEMENTS)])
        return Warned(
            text=f"{len(missing)} of {counted(len(statements), 'statement')} of the answer "
            f"{'does' if len(missing) == 1 else 'do'} not stand in your notes, word for word or nearly: {quoted}.",
            hint="/verify in a chat, and zkchat verify, show what your notes say of each.",
        )

    async def _replace(self, exchange: Exchange, user: ChatMessage, found: "Contradiction", emit: Emit) -> None:
        loop = self._loop
        first = loop.close(exchange)
        warnings = [loop.store(first, exchange), self._core.journal.append(HeadEntry(message_id=user.id))]
        text = "".join(piece.text for piece in quotations([found.evidence]))
        exchange.draft = self._core.journal.begin_answer(self._core.info)
        exchange.draft.add(text=text)
        exchange.finish = Finish()
        for warning in filter(None, warnings):
            await emit(warning)
        await emit(self._warning(found, first.id))
        await emit(AnswerReplaced(message_id=first.id))
        await emit(TextDelta(text=text))

    def _warning(self, found: "Contradiction", message_id: str) -> Warned:
        said = _shortened(found.said)
        return Warned(
            text=f"{self._core.info.name} said “{said}”, which contradicts {place_of(found.evidence)}.",
            hint=f"Its answer is kept: /branch {message_id} returns to it. references.check_answers = false shows it.",
        )


def _shortened(sentence: str) -> str:
    return shorten(" ".join(sentence.split()), MAX_QUOTED_CHARS)


class SecondLook:
    """Happens once in a session: from then on the model is given the evidence with the question.

    The first answer stays in the session, on a branch of its own, and is marked: the mark says that it has happened,
    to whoever goes on with the session.
    """

    def __init__(self, loop: ToolLoop) -> None:
        self._loop = loop
        self._core = loop.core

    @property
    def _has_happened(self) -> bool:
        return self._core.history.was_asked_again

    def expected(self, question: Question, references: Sequence[DocumentReference]) -> list[Evidence]:
        """What the notes say on it, in a session whose model would not look by itself."""
        return relevant_evidence(self._core.library, question, references) if self._has_happened else []

    def applies(self, plan: RequestPlan) -> bool:
        """Whether a model may be asked again after this request."""
        return self._core.settings.look_again and plan.offers_tools and not self._has_happened

    async def run(self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
        """Ask again with evidence where the answer of the exchange was given without any."""
        loop = self._loop
        if question.has_material or not (self.applies(exchange.plan) and _may_be_unfounded(exchange, loop)):
            return
        found = relevant_evidence(self._core.library, question, user.references)
        if not found:
            return
        first = loop.close(exchange)
        if any(reference.cited and not reference.unverified for reference in first.references):
            return
        name = self._core.info.name
        assert exchange.draft is not None
        mark = {"asked_again": True}
        exchange.draft.message = replace(exchange.draft.message, **mark)  # it may be stored again
        if warning := loop.store(replace(first, **mark), exchange):
            await emit(warning)
        await emit(
            Warned(
                text=f"{name} answered without looking into your notes. They say something on this, so it is asked "
                "again.",
                hint="references.look_again = false leaves it at the first answer.",
            )
        )
        await self._ask_again(exchange, user, found, emit)

    async def _ask_again(self, exchange: Exchange, user: ChatMessage, found: Sequence[Evidence], emit: Emit) -> None:
        """Ask with the evidence. Where not a word comes of it, the first answer is the answer."""
        before = replace(exchange)
        try:
            self._core.journal.append(HeadEntry(message_id=user.id))
            exchange.plan = exchange.plan.with_items(map(_evidence_item, found))
            exchange.references = ReferenceList(user.references)
            await emit(EvidenceFound(evidence=tuple(found)))
            await self._loop.ask_again(exchange, user.id, [*map(as_reference, found)], emit)
        except ZkchatError as error:
            if not self._take_back(exchange, before):
                raise
            await emit(Warned(text=f"It could not be asked again. {error.message}", hint=error.hint))
        except (asyncio.CancelledError, GeneratorExit):
            self._take_back(exchange, before)
            raise

    def _take_back(self, exchange: Exchange, before: Exchange) -> bool:
        """Go on with the first answer, unless another has begun."""
        if exchange.draft and exchange.draft is not before.draft and exchange.draft.finished().parts:
            return False
        assert before.draft is not None
        self._core.journal.append(HeadEntry(message_id=before.draft.message.id))
        exchange.draft, exchange.finish = before.draft, before.finish
        exchange.assembled, exchange.references = before.assembled, before.references
        return True


def _may_be_unfounded(exchange: Exchange, loop: ToolLoop) -> bool:
    """Whether a model that has tools used none so far, was given nothing to answer from, and yet has answered."""
    return (
        exchange.finish is not None
        and exchange.finish.reason == "stop"
        and not any(map(_is_given, exchange.assembled.context.items))
        and not any(message.role == "tool" for message in loop.core.history.newest_first)
    )


def _is_given(item: RequestItem) -> bool:
    """Whether it is there to be answered from: a note, an image, or what is remembered on the question."""
    if item.type == "memory":
        return item.include == "agent"
    return item.type in {"reference", "evidence", "recall", "image"}


def _evidence_item(evidence: Evidence) -> PromptItem:
    return prompt_item(
        "evidence",
        evidence.relative_path,
        format_evidence([evidence]),
        include="agent",
        score=evidence.score,
        reason=REASON,
        this_turn_only=True,
    )


PAGE_SIZE = 5
"""Passages that are shown at once."""
MAX_QUOTED = 10
"""Passages that one answer quotes at most."""


class Page(Struct, frozen=True, kw_only=True):
    """The next passages on a question."""

    question: Question
    passages: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...]
    """Where nothing answers: what comes nearest."""
    searched_for: tuple[str, ...] = ()
    """And the words that were looked for."""
    is_first: bool
    """Whether the user has read no passage on this question before."""
    after_linked: bool
    """Whether the user has read passages of notes that the question links to or names."""
    left: int
    """Passages on the page after this one."""
    listing: VaultListing | None = None
    """The next rows of a list from the index, with the references of all rows up to its end."""


class FurtherPassages:
    def __init__(self, core: ConversationCore, found: Mapping[str, int]) -> None:
        """`found`: how many passages would follow those that went with a question, by its id."""
        self._core = core
        self._found = found
        self._read: dict[str, int] = {}
        """How many passages the user has read on a question, by its id."""
        self._listed: dict[str, VaultListing] = {}
        """What the user has read last of the list that answers a question, by its id."""

    @property
    def _are_quoted(self) -> bool:
        """Whether the answer shows the passages that go with its question."""
        return self._core.info.needs_notes

    @property
    def listing(self) -> VaultListing | None:
        """The list from the index that answers the last question, as far as the user has read it."""
        message = self._core.history.last_question
        return self._listing_of(message) if message else None

    @property
    def read(self) -> int:
        """How many passages the user has read on the last question."""
        message = self._core.history.last_question
        return self._count_read(message) if message else 0

    @property
    def left(self) -> int:
        """How many passages on it follow those that the user has read."""
        message = self._core.history.last_question
        if message is None or not self._are_quoted:
            return 0
        return len(_given(message)) + self._found.get(message.id, 0) - self._count_read(message)

    def next_page(self) -> Page:
        """The passages or rows after those that the user has read. Raises `UsageError` where nothing was asked."""
        message = self._core.history.last_question
        if message is None:
            raise UsageError("There is no question to look up.", hint="Ask one first.")
        if listing := self._listing_of(message):
            return self._next_rows(message, listing)
        read = self._count_read(message)
        question = Question.of(message)
        found = self._look_up(question, read)
        self._read[message.id] = read + len(found.evidence)
        return Page(
            question=question,
            passages=found.evidence,
            nearest=found.nearest,
            searched_for=found.searched_for,
            is_first=not read,
            after_linked=self._are_quoted and any(found.linked for found in _given(message)),
            left=min(found.more, PAGE_SIZE),
        )

    def _listing_of(self, asked: ChatMessage) -> VaultListing | None:
        given = (part.listing for part in asked.parts if isinstance(part, EvidencePart) and part.listing)
        return self._listed.get(asked.id) or next(given, None)

    def _next_rows(self, asked: ChatMessage, listing: VaultListing) -> Page:
        question = Question.of(asked)
        found = self._look_up_rows(question, listing.rows) if listing.more else None
        if found is None or found.rows <= listing.rows:
            hint = "Ask for other notes: by a tag, a folder or a time, or for a number: the 50 newest notes."
            raise UsageError("The list from the index ends here.", hint=hint)
        self._listed[asked.id] = found
        return Page(
            question=question, passages=(), nearest=(), is_first=False, after_linked=False, left=0, listing=found
        )

    def _look_up_rows(self, question: Question, after: int) -> VaultListing | None:
        try:
            references = resolve_links(self._core.library, question.links)
        except (StorageError, VaultError):
            return None

        return answer_about_vault(self._core.library, question, references, after=after)

    def _count_read(self, asked: ChatMessage) -> int:
        return self._read.get(asked.id, len(_given(asked)) if self._are_quoted else 0)

    def _look_up(self, question: Question, skip: int) -> Findings:
        try:
            references = resolve_links(self._core.library, question.links)
        except (StorageError, VaultError):
            return Findings()
        return look_up(self._core.library, question, references, limit=PAGE_SIZE, skip=skip)


def _given(asked: ChatMessage) -> list[Evidence]:
    """The passages that went with a question."""
    return [found for part in asked.parts if isinstance(part, EvidencePart) for found in part.evidence]


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
    if question.has_material or question.unknown_paths:
        return None
    targets = [_target(link, references) for link in question.links]
    if not all(targets):
        return None
    names, calendar = _LibraryNames(library), library.calendar()
    try:
        query = parse_question(_marked(question), targets, names, calendar)
        if query is None:
            return None
        from zkchat.answers import answer_query

        is_missing = any(each.status == "missing" for each in references)
        path = "" if is_missing else query.note if query.note in targets else names.path_of(query.note or "")
        answer = answer_query(library, query, path or "", calendar, most=after + most)
        text = _text(library, answer, after)
        return VaultListing(
            text=text,
            references=tuple(_references(library, answer, text)),
            rows=len(answer.rows),
            is_numbered=any(row.path for row in answer.rows),
            more=0 if query.kind == "tags" else answer.more,
        )
    except (StorageError, VaultError):
        return None


class _LibraryNames:
    """Implements `parser.Names`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def is_folder(self, name: str) -> bool:
        return bool(self._library.find_folder(f"{name.strip('/')}/"))

    def is_note(self, name: str) -> bool:
        return bool(self.path_of(name))

    def is_tag(self, name: str) -> bool:
        return name.casefold() in self._library.tags()

    def path_of(self, name: str) -> str:
        found = self._library.resolve(Link(text=f"[[{name}]]", target=name), suggestions=0) if name else None
        return found.path if isinstance(found, Resolved | Ambiguous) and found.via in _EXACT else ""


def _target(link: Link, references: Iterable[DocumentReference]) -> str:
    """The note or folder that a link of the question leads to, or the name of one that is not there.

    Empty for a place in a note, and for a note that is kept back."""
    found = next((each for each in references if each.wikilink == link.text), None)
    if not found or link.anchor or found.via == VIA_WITHHELD:
        return ""
    return found.relative_path or link.target


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
    lines = [
        _line(library, row, number, is_list=len(answer.rows) > 1)
        for number, row in enumerate(answer.rows[after:], start=after + 1)
    ]
    more = f"\n… and {answer.more:,} more.\n" if answer.more else ""
    if after:
        return "".join([*lines, more])
    return f"{answer.heading}\n" + "".join(["\n", *lines, more] if lines else [])


def _line(library: Library, row: "Row", number: int, *, is_list: bool) -> str:
    if row.path is None:
        return f"- {row.details}\n" if is_list else f"{row.details}\n"
    return f"{number}. {' · '.join(filter(None, [library.link_to(row.path), row.details]))}\n"


def _references(library: Library, answer: "CatalogAnswer", text: str) -> Iterable[DocumentReference]:
    """The notes of the list in its order, so that they have its numbers, and those that are named beside it."""
    listed = [row.path for row in answer.rows if row.path]
    beside = (library.resolve(link, suggestions=0) for link in link_catalog.scan(text))
    named = (found.path for found in beside if isinstance(found, Resolved | Ambiguous))
    for path in dict.fromkeys([*listed, *named]):
        if not is_folder(path):
            yield DocumentReference(
                wikilink=library.link_to(path),
                relative_path=path,
                reference_type="search",
                via="index",
                title=library.title(path),
            )
