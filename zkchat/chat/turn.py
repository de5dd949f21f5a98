"""One turn: from the user's words to an answer on disk (docs/architecture.md follows it step by step)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from zkchat.answers import MAX_ASKED, MAX_LISTED
from zkchat.chat.context.assembly import AssembledRequest, RequestPlan
from zkchat.chat.context.condensing import split_question
from zkchat.chat.context.documents import TAG_TOKENS, DocumentRoom, excerpt_document, include_documents
from zkchat.chat.context.formatting import augmented_text, images_of
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.context.unit_ranking import find_excerpts
from zkchat.chat.core import ConversationCore
from zkchat.chat.event_stream import Emit
from zkchat.chat.evidence_lookup import AnswerCheck, SecondLook, as_reference, look_up
from zkchat.chat.journal import Asked
from zkchat.chat.privacy import Resource, withheld_warnings
from zkchat.chat.question import Question, is_mentioned, problems_of
from zkchat.chat.references import ReferenceList, embedded, is_sent_anyway, resolve_links, with_those_sent_anyway
from zkchat.chat.request import RequestBuilder
from zkchat.chat.summaries import add_summaries
from zkchat.chat.tool_loop import Exchange, ToolLoop, empty_answer_warning, report_references
from zkchat.core import (
    DEFAULT_LIMIT,
    DEFAULT_PRIORITY,
    PASTE_PRIORITY,
    Agent,
    Brief,
    ChatMessage,
    ConfigError,
    DocumentReference,
    EntryBody,
    Event,
    Evidence,
    EvidenceFound,
    EvidencePart,
    FilePart,
    Findings,
    ImagePart,
    LinksResolved,
    MessageEntry,
    Part,
    PromptReady,
    ProviderError,
    Remarked,
    ResourceRead,
    StorageError,
    TextPart,
    Tokenizer,
    TurnFailed,
    TurnFinished,
    UsageError,
    VaultError,
    VaultListing,
    Warned,
    ZkchatError,
    is_image,
)
from zkchat.notes import describe_warning, summarize_warnings

PASTE_TOKENS: Final = 2_000
"""From here on a message that is mostly material counts as a paste."""
RoomBeside = Callable[[int], DocumentRoom]
"""The room for documents beside so many tokens of other things."""


class Augmentation:
    """Adds to a question what the model needs to answer it, as far as there is room."""

    def __init__(self, core: ConversationCore, requests: RequestBuilder, second_look: SecondLook) -> None:
        self._core = core
        self._requests = requests
        self._second_look = second_look
        self.further_passages: dict[str, int] = {}
        """How many passages would follow those that went with a question, by its id."""

    def augment(
        self,
        question: Question,
        asked: ChatMessage,
        agent: Agent,
        references: tuple[DocumentReference, ...],
        resources: Sequence[Resource] = (),
    ) -> tuple[ChatMessage, Sequence[Warned]]:
        """The message with all that goes along, and warnings about what does not."""
        planner = self._requests.planner
        can_read = planner.can_read(agent)
        lasting = planner.lasting_notes(agent) if references else ()
        room = partial(self._requests.documents_room, agent, asked, question.prose)
        found, self.further_passages[asked.id] = self._findings(question, asked, references, can_read=can_read)
        linked = [each for each in references if not is_sent_anyway(each, lasting)]
        named = self._core.images.take_named(linked, images_of(asked), lambda: room(0).tokens)
        taken = {each.relative_path: each for each in named.references}
        linked = [taken.get(each.relative_path, each) for each in linked]
        files, marked, evidence = self._documents(asked, linked, found.evidence, named.tokens, room)
        if resources:
            files += self._resource_parts(question, resources, named.tokens + self._tokens_of(files), room)
        beside = named.tokens + self._tokens_of(files)
        shown = self._core.images.take_embedded(files, named.parts, lambda: room(beside).tokens)
        parts: list[Part] = [TextPart(text=question.text), *files, *named.parts, *shown.parts]
        found = replace(found, evidence=evidence)
        if _says_something(found):
            parts.append(found)
        own = self._core.tokenizer.count(question.text)
        user = replace(
            asked,
            parts=tuple(parts),
            references=with_those_sent_anyway([*marked, *shown.references], references, lasting),
            token_count=own,
            priority=priority_of(question.text, own),
        )
        augmented = self._core.tokenizer.count(augmented_text(user, can_read=can_read)) + named.tokens + shown.tokens
        return replace(user, augmented_token_count=augmented), named.warnings

    def _findings(
        self, question: Question, asked: ChatMessage, references: Sequence[DocumentReference], *, can_read: bool
    ) -> tuple[EvidencePart, int]:
        """What the vault or the message itself says on a question, and how many passages of notes would follow."""
        listing = self._listing(question, references)
        is_looked_up = listing is None and (asked.brief is None or asked.brief.uses_notes)
        found = self._evidence(question, references, can_read=can_read) if is_looked_up else Findings()
        excerpts = find_excerpts(question.text) if self._core.info.needs_notes and not listing else ()
        if excerpts and (found.is_doubtful or not found.evidence):
            found = Findings()
        part = EvidencePart(
            evidence=found.evidence,
            nearest=found.nearest,
            is_doubtful=found.is_doubtful,
            excerpts=excerpts,
            listing=listing,
            remark=found.remark,
            searched_for=found.searched_for,
        )
        return part, found.more

    def _listing(self, question: Question, references: Sequence[DocumentReference]) -> VaultListing | None:
        """What the index says on a question about the vault itself, where no model could find out."""
        if not self._core.info.needs_notes:
            return None
        most = MAX_ASKED if self._core.settings.quoted_passages > DEFAULT_LIMIT else MAX_LISTED
        from zkchat.chat.evidence_lookup import answer_about_vault

        return answer_about_vault(self._core.library, question, references, most=most)

    def _evidence(self, question: Question, references: Sequence[DocumentReference], *, can_read: bool) -> Findings:
        """What the vault says on it, for a model that cannot look by itself, or hardly would."""
        info = self._core.info
        if not (self._core.settings.strict or wants_evidence(info, self._core.budget.window, can_read=can_read)):
            return Findings(tuple(self._second_look.expected(question, references)))
        limit = self._core.settings.quoted_passages if info.needs_notes else DEFAULT_LIMIT
        return look_up(self._core.library, question, references, limit=limit)

    def _documents(
        self,
        asked: ChatMessage,
        linked: Sequence[DocumentReference],
        found: tuple[Evidence, ...],
        taken: int,
        room_beside: RoomBeside,
    ) -> tuple[list[FilePart], list[DocumentReference], tuple[Evidence, ...]]:
        """The documents that go along, whole or in part, their references, and the passages to be sent beside them.

        `taken` are the tokens of images.
        Passages that stand in the documents are not sent twice, except to a model that reads little else.
        """
        info, evidence, tokenizer = self._core.info, found, self._requests.expected_tokens
        embeds = partial(embedded, self._core.library)
        files: list[FilePart] = []
        marked: list[DocumentReference] = []
        for _ in range(2):  # passages that need not be sent leave their room to the documents
            room = DocumentRoom(tokens=0)
            if any(reference.relative_path for reference in linked):
                beside = _tokens_beside(evidence, linked, tokenizer)
                beside += taken + (tokenizer.count(asked.brief.text) if asked.brief else 0)
                room = room_beside(beside)
            files, marked = include_documents(linked, self._text_of, tokenizer, room, embeds)
            if info.needs_notes or info.needs_evidence:
                break
            before, evidence = evidence, tuple(each for each in found if not _holds(files, each))
            if len(evidence) == len(before):
                break
        return files, marked, evidence

    def _resource_parts(
        self, question: Question, resources: Sequence[Resource], taken: int, room_beside: RoomBeside
    ) -> list[FilePart]:
        """What servers gave, in the room that is left beside the `taken` tokens, shared by all of them."""
        tokenizer = self._requests.expected_tokens
        room = room_beside(taken + TAG_TOKENS * len(resources))
        parts: list[FilePart] = []
        for left, each in zip(range(len(resources), 0, -1), resources, strict=True):
            spent = sum(tokenizer.count(part.text) for part in parts)
            found = excerpt_document(each.text, (room.tokens - spent) // left, tokenizer.count, question.prose)
            if found.text:
                parts.append(FilePart(name=each.uri, text=found.text, extent=found.extent, server=each.server))
        return parts

    def _tokens_of(self, files: Iterable[FilePart]) -> int:
        return sum(self._requests.expected_tokens.count(file.text) + TAG_TOKENS for file in files)

    def _text_of(self, reference: DocumentReference) -> str:
        assert reference.relative_path is not None
        if is_image(reference.relative_path):
            return ""
        try:
            return self._core.library.section(
                reference.relative_path, reference.anchor if reference.anchor_found else ""
            )
        except VaultError:
            return ""


def _says_something(found: EvidencePart) -> bool:
    said = found.evidence, found.nearest, found.remark, found.searched_for, found.excerpts, found.listing
    return any(said)


def _tokens_beside(evidence: Iterable[Evidence], linked: Iterable[DocumentReference], tokenizer: Tokenizer) -> int:
    """About what passages take, and the links and tags of documents, beside the text of these."""
    texts = [each.text for each in evidence]
    links = [f"{each.wikilink} {each.relative_path} {each.summary} {each.relative_path}" for each in linked]
    return sum(tokenizer.count(text) + TAG_TOKENS for text in (*texts, *links))


def _holds(files: Iterable[FilePart], passage: Evidence) -> bool:
    """Whether a document that goes along holds the passage anyway."""
    names = (passage.relative_path, f"{passage.relative_path}#{passage.heading}")
    return any(file.name in names and (not file.extent or passage.text in file.text) for file in files)


def priority_of(text: str, tokens: int) -> int:
    """How important a message of the user is by itself: less than others if most of it is pasted."""
    is_pasted = tokens > PASTE_TOKENS and 2 * len(split_question(text).material) > len(text)
    return PASTE_PRIORITY if is_pasted else DEFAULT_PRIORITY


class Turn:
    """The stages of a turn; `run` may be called again for the next one."""

    def __init__(self, core: ConversationCore) -> None:
        self.core = core
        core.journal.keeps_local = core.privacy.keeps_local
        self.requests = RequestBuilder(core)
        self._loop = ToolLoop(core, self.requests)
        self._second_look = SecondLook(self._loop)
        self._answer_check = AnswerCheck(self._loop)
        self.augmentation = Augmentation(core, self.requests, self._second_look)
        self._reported: set[str] = set()
        """The warnings that the user has read in this conversation."""

    def ask(
        self,
        text: str,
        beside: Sequence[EntryBody] = (),
        brief: Brief | None = None,
        images: Sequence[ImagePart] = (),
    ) -> Asked:
        """Store a question, with what the user chose for the conversation. Once this returns, it is on disk."""
        self.core.privacy.begin_turn()
        return self.core.journal.ask(text, beside, brief, images)

    async def run(self, asked: Asked, emit: Emit) -> ChatMessage | None:
        """Answer a question that is stored, and return the answer if it is complete.

        The last event is `TurnFinished` or `TurnFailed`, unless the turn is cancelled.
        """
        for warning in asked.warnings:
            await emit(warning)
        if not await self._catch_up(emit):
            return None
        self.core.images.begin_turn()
        unreachable = await self._connect()  # first, because where the model is decides which notes there are for it
        prepared = await self._with_notes(asked.message, emit)
        return await self._answer(*prepared, unreachable, emit) if prepared else None

    async def run_again(self, emit: Emit) -> ChatMessage | None:
        """Ask the last question once more. The earlier answer stays in the session, on a branch of its own."""
        asked = self.core.history.last_question
        if asked is None:
            await emit(_failed(UsageError("There is no question to ask again.", hint="Ask one first.")))
            return None
        if not await self._catch_up(emit):
            return None
        self.core.privacy.begin_turn()
        self.core.images.begin_turn()
        unreachable = await self._connect()
        if asked.id in self.core.privacy.hidden():
            error = UsageError(
                f"The last question came with local notes, and {self.core.info.name} is not on this machine.",
                hint="Ask it again without them, or choose a model on this machine: /model",
            )
            await emit(_failed(error))
            return None
        if warning := self.core.journal.go_back_to(asked):
            await emit(warning)
        is_ready = asked.augmented_token_count > 0  # else zkchat was stopped before its notes were looked up
        prepared = await (self._refreshed(asked, emit) if is_ready else self._with_notes(asked, emit))
        return await self._answer(*prepared, unreachable, emit) if prepared else None

    async def _catch_up(self, emit: Emit) -> bool:
        """Let changed settings count before anything else; False where they end the turn."""
        if self.core.live is None:
            return True
        self.core.live.catch_up()
        for text in self.core.live.take_notices():
            await emit(Warned(text=text))
        try:
            self.core.live.check_trust()
        except ConfigError as error:
            await emit(_failed(error))
            return False
        return True

    def _question(self, message: ChatMessage) -> Question:
        return Question.parse(
            message.text,
            is_agent=self.core.profiles.is_agent,
            is_document=partial(is_mentioned, self.core.library),
            is_resource=self.core.servers.is_resource if self.core.servers else lambda _: False,
        )

    def _question_without_vault(self, message: ChatMessage) -> Question:
        return Question.parse(message.text, is_agent=self.core.profiles.is_agent)

    async def _connect(self) -> ProviderError | None:
        """Learn the model's window. A model that cannot be reached fails the turn once the question is on disk."""
        try:
            await self.core.provider.connect()
        except ProviderError as error:
            return error
        return None

    async def _refreshed(self, user: ChatMessage, emit: Emit) -> tuple[Question, ChatMessage]:
        """A question that has its notes, with the index up to date."""
        try:
            warnings = self._refresh()
            question = self._question(user)
        except (StorageError, VaultError) as error:
            warnings = [_without_vault(error)]
            question = self._question_without_vault(user)
        for warning in warnings:
            await emit(warning)
        return question, user

    async def _with_notes(self, asked: ChatMessage, emit: Emit) -> tuple[Question, ChatMessage] | None:
        """A question with the notes that go along, stored again under its id; None where that ends the turn."""
        resources, warnings = await self.core.servers.resources(asked.text) if self.core.servers else ([], [])
        question, user, events = self._augmented(asked, resources)
        events += [*_resources_read(user, resources), *warnings] if user else warnings
        if user and (warning := self.core.journal.append(MessageEntry(message=user))):
            events.append(warning)
        for event in events:
            await emit(event)
        return (question, user) if user else None

    def _augmented(
        self, asked: ChatMessage, resources: Sequence[Resource] = ()
    ) -> tuple[Question, ChatMessage | None, list[Event]]:
        """The question, the message with its notes, and what the user should see once it is stored."""
        events: list[Event] = []
        references: tuple[DocumentReference, ...] = ()
        try:
            events += self._refresh()
            question = self._question(asked)
            links = [*question.links, *question.unknown_paths]
            references = add_summaries(self.core.library, resolve_links(self.core.library, links))
            events += problems_of(self.core.library, question.unknown_paths, references)
        except (StorageError, VaultError) as error:
            question = self._question_without_vault(asked)
            if self.core.info.needs_notes and not find_excerpts(asked.text):
                return question, None, [*events, _failed(error)]
            events.append(_without_vault(error))
        if references:
            events.append(LinksResolved(references=ReferenceList(references).as_tuple()))
        if warning := self._unknown_agent(question):
            events.append(warning)
        try:
            agent = self.core.agent_for(question.agent)
            user, warnings = self.augmentation.augment(question, asked, agent, references, resources)
            return question, user, [*events, *self._new(warnings)]
        except ZkchatError as error:
            return question, None, [*events, _failed(error)]

    def _refresh(self) -> list[Warned]:
        """Bring the index up to date. What is wrong with a note is reported once in a conversation."""
        refreshed = self.core.refresh()
        new = [each for each in refreshed.warnings if self._is_new(describe_warning(each))]
        warnings = [Warned(text=sentence) for sentence in summarize_warnings(new)]
        if self.core.library.whole.is_empty():
            empty = VaultError(
                f"There are no Markdown notes in {self.core.vault}.",
                hint="Name the folder of your notes: --vault FOLDER",
            )
            if self.core.info.needs_notes:
                raise empty
            warnings.append(Warned(text=empty.message, hint=empty.hint))
        return warnings

    def _is_new(self, text: str) -> bool:
        """Whether this is the first time that it is reported; from now on it is known."""
        is_new = text not in self._reported
        self._reported.add(text)
        return is_new

    def _new(self, warnings: Iterable[Warned]) -> list[Warned]:
        return [warning for warning in warnings if self._is_new(warning.text)]

    def _unknown_agent(self, question: Question) -> Warned | None:
        """Who answers instead of an agent that there is not; None where the agent is there, or none is addressed."""
        addressed, profiles = question.agent, self.core.profiles
        if addressed is None or addressed.casefold() in profiles.agents:
            return None
        other = self.core.agent_for().name
        if unavailable := profiles.unavailable("agent", addressed):
            return Warned(text=f"{unavailable.reason}, so {other} answers.", hint=unavailable.hint)
        return Warned(
            text=f"There is no agent '{addressed}', so {other} answers.",
            hint=f"There is: {', '.join(agent.name for agent in profiles.agents.values())}.",
        )

    async def _answer(
        self, question: Question, user: ChatMessage, unreachable: ProviderError | None, emit: Emit
    ) -> ChatMessage | None:
        """From a question on disk to its answer."""
        if self.core.servers and self.core.info.calls_tools:
            for problem in await self.core.servers.settle(self.core.agent_for(question.agent)):
                await emit(problem)
        try:
            plan = self.requests.planner.plan(self.core.agent_for(question.agent), user)
            assembled = self.requests.assemble(plan) if unreachable else await self.requests.build(plan, emit)
        except ZkchatError as error:
            await emit(_failed(error))
            return None
        if self.core.privacy.keeps_local() and not user.local:
            self.core.journal.append(MessageEntry(message=user))  # what came with it is known only now
        for warning in self._new(self._warnings_about(user, assembled)):
            await emit(warning)
        is_provisional = self._second_look.applies(plan) or self._answer_check.applies(assembled)
        await emit(
            PromptReady(
                message_id=user.id, usage=assembled.usage, is_provisional=is_provisional, context=assembled.context
            )
        )
        if unreachable:
            await emit(_failed(unreachable))
            return None
        exchange = await self._begin_exchange(user, plan, assembled, emit)
        return await self._exchange(exchange, question, user, emit)

    def _warnings_about(self, user: ChatMessage, assembled: AssembledRequest) -> Iterator[Warned]:
        """What the user should know of a request before it is sent."""
        info = self.core.info
        for text in withheld_warnings(assembled.context, info):
            yield Warned(text=text)
        if text := self._why_nothing_is_proposed(user, assembled):
            yield Warned(text=text)
        if problem := self.core.tokenizer.problem:
            yield Warned(
                text=f"{problem} Tokens are estimated from the number of characters.",
                hint="The figures are rather high than low. Install zkchat again.",
            )

    def _why_nothing_is_proposed(self, user: ChatMessage, assembled: AssembledRequest) -> str:
        """A sentence where the user lets the model propose changes, and it cannot; else empty."""
        info, proposals = self.core.info, self.core.proposals
        if proposals is None or not proposals.is_on or (user.brief and not user.brief.uses_notes):
            return ""
        if not info.calls_tools:
            return f"{info.name} calls no tools, so that it proposes no changes of notes."
        if not proposals.tool_names & {tool.name for tool in assembled.request.tools}:
            return f"The tools that propose changes do not fit into the window of {info.name}: it proposes none."
        return ""

    async def _begin_exchange(
        self, user: ChatMessage, plan: RequestPlan, assembled: AssembledRequest, emit: Emit
    ) -> Exchange:
        request = assembled.request
        has_files = any(isinstance(part, FilePart | ImagePart) for part in user.parts)
        exchange = Exchange(
            plan=plan,
            assembled=assembled,
            result_budget=assembled.usage.available,
            is_grounded=bool(request.evidence or request.listing)
            or any(each.included for each in user.references)
            or has_files,
            references=ReferenceList(request.listing.references if request.listing else user.references),
        )
        if request.evidence or request.nearest or request.searched_for:
            found_event = EvidenceFound(
                evidence=request.evidence,
                nearest=request.nearest,
                is_doubtful=request.is_doubtful,
                searched_for=request.searched_for,
            )
            await emit(found_event)
        if request.remark and not self.core.info.needs_notes:  # else the answer begins with it
            await emit(Remarked(text=request.remark))
        found = [*map(as_reference, request.evidence)]
        if self.core.info.needs_notes or not exchange.is_grounded:  # else the answer is not about the nearest
            found += [replace(as_reference(each), included=False) for each in request.nearest]
        await report_references(exchange, found, emit)
        return exchange

    async def _exchange(
        self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit
    ) -> ChatMessage | None:
        """Have the question answered, and store the answer whatever comes of it."""
        loop = self._loop
        try:
            await loop.run(exchange, emit)
            await self._second_look.run(exchange, question, user, emit)
            await self._answer_check.run(exchange, question, user, emit)
        except ZkchatError as error:
            message = loop.close(exchange, error=error.message)
            if warning := loop.store(message, exchange):
                await emit(warning)
            await emit(_failed(error, message))
            return None
        except (asyncio.CancelledError, GeneratorExit):
            loop.store(loop.close(exchange, error="Stopped."), exchange)
            raise
        message = loop.close(exchange)
        if warning := loop.store(message, exchange):
            await emit(warning)
        if warning := empty_answer_warning(exchange, message, self.core.info.name):
            await emit(warning)
        is_cut_off = exchange.finish is not None and exchange.finish.reason == "length"
        usage = exchange.assembled.usage
        await emit(TurnFinished(message=message, usage=usage, abstained=message.abstained, cut_off=is_cut_off))
        return message


def _resources_read(user: ChatMessage, resources: Iterable[Resource]) -> Iterator[ResourceRead | Warned]:
    """What went along with a message of what servers gave, and what had no room."""
    sent = {(part.server, part.name): part.text for part in user.parts if isinstance(part, FilePart)}
    for each in resources:
        text = sent.get((each.server, each.uri))
        if text is None:
            yield Warned(text=f"@{each.server}:{each.uri} is left out: it is empty, or the context has no room for it.")
        else:
            yield ResourceRead(server=each.server, uri=each.uri, characters=len(text))


def _failed(error: ZkchatError, message: ChatMessage | None = None) -> TurnFailed:
    return TurnFailed(text=error.message, hint=error.hint, exit_code=error.exit_code, message=message)


def _without_vault(error: ZkchatError) -> Warned:
    """There are no links then, but still a model to talk to."""
    return Warned(text=f"Links and search do not work now. {error.message}", hint=error.hint)
