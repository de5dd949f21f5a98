"""One turn: from the user's words to an answer on disk (docs/architecture.md follows it step by step)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from zkchat.answers import MAX_ASKED, MAX_LISTED
from zkchat.chat.context.assembly import AssembledRequest, RequestPlan
from zkchat.chat.context.condensing import find_excerpts
from zkchat.chat.context.documents import (
    TAG_TOKENS,
    DocumentRoom,
    add_summaries,
    anchor_in,
    excerpt_document,
    include_documents,
)
from zkchat.chat.context.formatting import augmented_text, images_of
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.core import ConversationCore, Emit
from zkchat.chat.evidence_lookup import (
    FurtherPassages,
    answer_about_vault,
    as_reference,
    is_said_whole,
    look_up,
    relevant_evidence,
)
from zkchat.chat.journal import Asked
from zkchat.chat.memory import is_key
from zkchat.chat.privacy import OUTSIDE, withheld_warnings
from zkchat.chat.question import Question, is_mentioned, problems_of
from zkchat.chat.references import Brought, ReferenceList, brought_along, embedded, is_sent_anyway, resolve_links
from zkchat.chat.request import RequestBuilder
from zkchat.chat.second_look import answer_from_told, check_answer, is_checked, look_again, may_look_again
from zkchat.chat.tool_loop import Exchange
from zkchat.chat.tools.server_tools import Resource
from zkchat.core import (
    DEFAULT_AGENT,
    DEFAULT_LIMIT,
    DEFAULT_PRIORITY,
    KEEP_PRIORITY,
    PASTE_PRIORITY,
    STOPPED,
    Agent,
    ChatMessage,
    ConfigError,
    DocumentReference,
    Event,
    Evidence,
    EvidenceFound,
    EvidencePart,
    FilePart,
    Findings,
    ImagePart,
    Link,
    LinksResolved,
    MessageEntry,
    MessageExcerpt,
    Part,
    PromptReady,
    ProviderError,
    Remarked,
    ResourceRead,
    StorageError,
    TextPart,
    TurnFailed,
    TurnFinished,
    UsageError,
    VaultError,
    Warned,
    ZkchatError,
    is_image,
)
from zkchat.index import terms, topic_terms
from zkchat.notes import describe_warning, is_folder, summarize_warnings

RoomBeside = Callable[[int], DocumentRoom]
"""The room for documents beside so many tokens of other things."""


def _is_outside(link: Link) -> bool:
    """Whether a path that is not in the vault is written as one of this computer."""
    return link.target.startswith(("/", "~/"))


def _holds(files: Iterable[FilePart], passage: Evidence) -> bool:
    if is_folder(passage.relative_path):  # a list of the notes
        return any(file.name.startswith(passage.relative_path) for file in files)
    names = (passage.relative_path, f"{passage.relative_path}#{passage.heading}")
    return any(file.name in names and (not file.extent or passage.text in file.text) for file in files)


class Turn:
    """The stages of a turn; `run` may be called again for the next one."""

    def __init__(self, core: ConversationCore) -> None:
        self.core = core
        core.journal.keeps_local = core.privacy.keeps_local
        self.requests = RequestBuilder(core)
        self.further_passages = FurtherPassages(core)
        self._reported: set[str] = set()
        """The warnings that the user has read in this conversation."""

    async def run(self, asked: Asked, emit: Emit) -> ChatMessage | None:
        """Answer a question that is stored, and return the answer if it is complete.

        The last event is `TurnFinished` or `TurnFailed`, unless the turn is cancelled.
        """
        for warning in asked.warnings:
            await emit(warning)
        if not await self._catch_up(emit):
            return None
        unreachable = await self._connect()
        return await self._answer(asked.message, unreachable, emit)

    async def run_again(self, emit: Emit) -> ChatMessage | None:
        """Ask the last question once more. The earlier answer stays in the session, on a branch of its own."""
        asked = self.core.history.last_question
        if asked is None:
            await emit(_failed(UsageError("There is no question to ask again.", hint="Ask one first.")))
            return None
        if not await self._catch_up(emit):
            return None
        self.core.privacy.begin_turn()
        unreachable = await self._connect()
        if asked.id in self.core.privacy.hidden():
            error = UsageError(
                f"The last question used private notes, which {self.core.info.shown} may not see.",
                hint="Ask again without them, or choose a model on this machine: /model",
            )
            await emit(_failed(error))
            return None
        if warning := self.core.journal.go_back_to(asked):
            await emit(warning)
        return await self._answer(asked, unreachable, emit)

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

    async def _connect(self) -> ProviderError | None:
        """Learn the model's window, and where it is, which decides which notes there are for it.

        A model that cannot be reached fails the turn once the question is on disk.
        """
        self.core.images.begin_turn()
        try:
            await self.core.provider.connect()
        except ProviderError as error:
            return error
        return None

    async def _prepare(self, asked: ChatMessage, emit: Emit) -> tuple[Question, ChatMessage] | None:
        """A question with the notes that go along, stored again under its id; None where that ends the turn."""
        user, has_notes = asked, asked.augmented_token_count > 0  # as it has where it is asked again
        servers = self.core.servers if not has_notes else None
        resources, unread = await servers.resources(asked.text) if servers else ([], [])
        question, references, events = self._look_at(asked, has_notes=has_notes)
        if not has_notes and not _has_failed(events):
            files, problems = self._take_outside(question)
            resources, events = [*resources, *files], [*events, *problems]
            if references:
                events.append(LinksResolved(references=ReferenceList(references).as_tuple()))
            if warning := self._unknown_agent(question):
                events.append(warning)
            try:
                agent = self.core.agent_for(question.agent)
                user, warnings = self._augment(question, asked, agent, references, resources)
                stored = self.core.journal.append(MessageEntry(message=user))
                events += [*self._new(warnings), *_resources_read(user, resources), *unread]
                events += filter(None, [stored])
            except ZkchatError as error:
                events += [*unread, _failed(error)]
        for event in events:
            await emit(event)
        return None if _has_failed(events) else (question, user)

    def _look_at(
        self, asked: ChatMessage, *, has_notes: bool
    ) -> tuple[Question, tuple[DocumentReference, ...], list[Event]]:
        """The question, what it links to, and what the user should see; a failure is the last of it."""
        core, is_agent = self.core, self.core.profiles.is_agent
        references: tuple[DocumentReference, ...] = ()
        events: list[Event] = []
        try:
            events += self._refresh()
            question = Question.parse(
                asked.text,
                is_agent=is_agent,
                is_document=partial(is_mentioned, core.library),
                is_resource=core.servers.is_resource if core.servers else lambda _: False,
            )
            if not has_notes:
                hidden = core.privacy.hidden() | {asked.id}
                earlier = (each for each in core.history.newest_first if each.id not in hidden)
                question = question.after(earlier, core.library)
                inside = [link for link in question.unknown_paths if not _is_outside(link)]
                references = add_summaries(core.library, resolve_links(core.library, [*question.links, *inside]))
                events += problems_of(core.library, inside, references)
        except (StorageError, VaultError) as error:
            question = Question.parse(asked.text, is_agent=is_agent)
            if not has_notes and core.info.needs_notes and not find_excerpts(asked.text):
                events.append(_failed(error))
            else:  # there are no links then, but still a model to talk to
                events.append(Warned(text=f"Links and search do not work right now. {error.message}", hint=error.hint))
        return question, references, events

    def _augment(
        self,
        question: Question,
        asked: ChatMessage,
        agent: Agent,
        references: tuple[DocumentReference, ...],
        resources: Sequence[Resource],
    ) -> tuple[ChatMessage, Sequence[Warned]]:
        """The message with all that goes along, and warnings about what does not."""
        core, planner = self.core, self.requests.planner
        can_read = planner.can_read(agent)
        lasting = planner.lasting_notes(agent) if references else ()
        room = partial(self.requests.documents_room, agent, asked, question.prose)
        found = self._findings(question, asked, references, can_read=can_read)
        linked = [each for each in references if not is_sent_anyway(each, lasting)]
        named = core.images.take_named(linked, images_of(asked), lambda: room(0).tokens)
        taken = {each.relative_path: each for each in named.references}
        linked = [taken.get(each.relative_path, each) for each in linked]
        brought = [] if core.info.needs_notes else brought_along(core.library, linked, question.prose)
        files, marked, evidence = self._documents(asked, linked, found.evidence, named.tokens, room, brought)
        left_out = [Warned(text=text) for each in brought if (text := each.shortfall(files))]
        files += self._resource_parts(question, resources, named.tokens + self._tokens_of(files), room)
        beside = named.tokens + self._tokens_of(files)
        shown = core.images.take_embedded(files, named.parts, lambda: room(beside).tokens)
        parts: list[Part] = [TextPart(text=question.text), *files, *named.parts, *shown.parts]
        said = evidence, found.nearest, found.remark, found.searched_for, found.excerpts, found.listing
        if any(said):
            parts.append(replace(found, evidence=evidence))
        own = core.tokenizer.count(question.text)
        is_pasted = own > 2_000 and 2 * len(question.split.material) > len(question.text)
        is_told = asked.brief is None and is_key(question.told or question.prose)
        included = (*marked, *shown.references)
        anyway = [replace(each, included=True) for each in references if is_sent_anyway(each, lasting)]
        user = replace(
            asked,
            parts=tuple(parts),
            references=ReferenceList([*anyway, *included]).as_tuple() if anyway else included,
            token_count=own,
            priority=PASTE_PRIORITY if is_pasted else KEEP_PRIORITY if is_told else DEFAULT_PRIORITY,
        )
        sent = augmented_text(user, can_read=can_read, is_plain=core.info.needs_evidence)
        augmented = core.tokenizer.count(sent) + named.tokens + shown.tokens
        return replace(user, augmented_token_count=augmented), [*named.warnings, *left_out]

    def _findings(
        self, question: Question, asked: ChatMessage, references: Sequence[DocumentReference], *, can_read: bool
    ) -> EvidencePart:
        """What the vault or the message itself says on a question."""
        core, settings = self.core, self.core.settings
        listing, found = None, Findings()
        excerpts: tuple[MessageExcerpt, ...] = ()
        if core.info.needs_notes or core.info.needs_evidence:  # about the vault itself, which it could not find out
            most = MAX_ASKED if settings.quoted_passages > DEFAULT_LIMIT else MAX_LISTED
            listing = answer_about_vault(core.library, question, references, most=most)
        if core.info.needs_notes and listing is None:
            excerpts = find_excerpts(question.text)
        if listing is None and (asked.brief is None or asked.brief.uses_notes):
            wanted = settings.strict or wants_evidence(core.info, core.budget.window, can_read=can_read)
            if wanted:
                limit = settings.quoted_passages if core.info.needs_notes else DEFAULT_LIMIT
                found = look_up(core.library, question, references, limit=limit)
                # A small model would answer from the notes what nobody asked: what is told is not in them yet.
                is_told = core.info.needs_evidence and not (question.asks or references)
                found = Findings() if is_told and not is_said_whole(question, found) else found
            elif core.history.was_asked_again:  # a model that would hardly look by itself
                found = Findings(tuple(relevant_evidence(core.library, question, references)))
        if excerpts and (found.is_doubtful or not found.evidence):
            found = Findings()
        self.further_passages.more[asked.id] = found.more
        named = ", ".join(dict.fromkeys(map(core.library.title, question.notes))) or question.topic
        about = f"Taken as a question about {named}." if found.evidence and question.stays_with(found.evidence) else ""
        return EvidencePart(
            evidence=found.evidence,
            nearest=found.nearest,
            is_doubtful=found.is_doubtful,
            excerpts=excerpts,
            listing=listing,
            remark=" ".join(filter(None, [about, found.remark])),
            searched_for=found.searched_for,
        )

    def _documents(
        self,
        asked: ChatMessage,
        linked: Sequence[DocumentReference],
        found: tuple[Evidence, ...],
        taken: int,
        room_beside: RoomBeside,
        brought: Sequence[Brought],
    ) -> tuple[list[FilePart], list[DocumentReference], tuple[Evidence, ...]]:
        """The documents that go along, whole or in part, their references, and the passages to be sent beside them.

        `taken` are the tokens of images.
        Passages that stand in the documents are not sent twice, except to a model that reads little else.
        """
        info, tokenizer = self.core.info, self.requests.expected_tokens

        def include(evidence: Sequence[Evidence]) -> tuple[list[FilePart], list[DocumentReference]]:
            room = DocumentRoom(tokens=0)
            if any(reference.relative_path for reference in linked):
                links = (f"{each.wikilink} {each.relative_path} {each.summary} {each.relative_path}" for each in linked)
                texts = [*(each.text for each in evidence), *links]
                beside = taken + sum(tokenizer.count(text) + TAG_TOKENS for text in texts)
                room = room_beside(beside + (tokenizer.count(asked.brief.text) if asked.brief else 0))
            filled = {each.name for each in brought}  # a folder whose notes come along is not listed

            def text_of(reference: DocumentReference) -> str:
                path = reference.relative_path
                if path is None or path in filled or is_image(path):
                    return ""
                try:
                    return self.core.library.section(path, anchor_in(reference))
                except VaultError:
                    return ""

            along = [(each.notes, each.share) for each in brought]
            embeds_of = partial(embedded, self.core.library)
            files, marked = include_documents(linked, text_of, tokenizer, room, embeds_of, along)
            sent = {name for name in filled if any(part.name.startswith(name) for part in files)}
            return files, [replace(each, included=True) if each.relative_path in sent else each for each in marked]

        files, marked = include(found)
        if info.needs_notes or (info.needs_evidence and not files):
            return files, marked, found
        if info.needs_evidence:  # it would take what others say for what the linked note says
            return files, marked, tuple(each for each in found if each.linked and not _holds(files, each))
        evidence = tuple(each for each in found if not _holds(files, each))
        if len(evidence) < len(found):  # passages that need not be sent leave their room to the documents
            files, marked = include(evidence)
            evidence = tuple(each for each in found if not _holds(files, each))
        return files, marked, evidence

    def _resource_parts(
        self, question: Question, resources: Sequence[Resource], taken: int, room_beside: RoomBeside
    ) -> list[FilePart]:
        """What servers gave, in the room that is left beside the `taken` tokens, shared by all of them."""
        count = self.requests.expected_tokens.count
        room = room_beside(taken + TAG_TOKENS * len(resources)).tokens if resources else 0
        parts: list[FilePart] = []
        for left, each in zip(range(len(resources), 0, -1), resources, strict=True):
            text, extent = excerpt_document(each.text, room // left, count, question.prose)
            if text:
                room -= count(text)
                parts.append(FilePart(name=each.uri, text=text, extent=extent, server=each.server))
        return parts

    def _tokens_of(self, files: Iterable[FilePart]) -> int:
        return sum(self.requests.expected_tokens.count(file.text) + TAG_TOKENS for file in files)

    def _take_outside(self, question: Question) -> tuple[list[Resource], list[Warned]]:
        """The files outside the vault that it names, as far as the user lets the model have them, and what to say."""
        files: list[Resource] = []
        said: list[Warned] = []
        for link in filter(_is_outside, question.unknown_paths):
            if self.core.info.needs_notes:
                said.append(Warned(text=f"{link.target} was not read: no model is in use."))
                continue
            try:
                text = self.core.read_outside(link.target, self.core.info)
            except VaultError as error:
                said.append(Warned(text=error.message, hint=error.hint))
                continue
            if text is None:
                said.append(Warned(text=f"{link.target} is not sent."))
            else:
                self.core.privacy.disclose()  # to a model on this machine: then it stays here
                files.append(Resource(server=OUTSIDE, uri=link.target, text=text))
        return files, said

    def _refresh(self) -> list[Warned]:
        """Bring the index up to date. What is wrong with a note is reported once in a conversation."""
        refreshed = self.core.refresh()
        new = [each for each in refreshed.warnings if self._is_new(describe_warning(each))]
        warnings = [Warned(text=sentence) for sentence in summarize_warnings(new)]
        if self.core.library.whole.is_empty():
            empty = VaultError(
                f"There are no Markdown notes in {self.core.vault}.",
                hint="Give the folder of your notes: --vault FOLDER",
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
            hint=f"Choose from: {', '.join(agent.name for agent in profiles.agents.values())}.",
        )

    async def _answer(self, asked: ChatMessage, unreachable: ProviderError | None, emit: Emit) -> ChatMessage | None:
        """From a question on disk to its answer."""
        prepared = await self._prepare(asked, emit)
        if prepared is None:
            return None
        core, (question, user) = self.core, prepared
        agent = core.agent_for(question.agent)
        if core.servers and core.info.calls_tools:
            for problem in await core.servers.settle(agent):
                await emit(problem)
        try:
            plan, assembled = await self._planned(agent, user, question, unreachable, emit)
            exchange = await self._begin_exchange(question, user, plan, assembled, emit) if plan.told_first else None
            told = await answer_from_told(exchange, question, user) if exchange else None
            if exchange and told is None:
                plan, assembled = await self._planned(agent, user, question, unreachable, emit, may_be_told=False)
        except ZkchatError as error:
            await emit(_failed(error))
            return None
        is_provisional = may_look_again(core, plan) or is_checked(core, assembled)
        await emit(
            PromptReady(
                message_id=user.id, usage=assembled.usage, is_provisional=is_provisional, context=assembled.context
            )
        )
        if unreachable:
            await emit(_failed(unreachable))
            return None
        if exchange is None or told is None:
            exchange = await self._begin_exchange(question, user, plan, assembled, emit)
        return await self._exchange(exchange, question, user, emit, told)

    async def _planned(
        self,
        agent: Agent,
        user: ChatMessage,
        question: Question,
        unreachable: ProviderError | None,
        emit: Emit,
        *,
        may_be_told: bool = True,
    ) -> tuple[RequestPlan, AssembledRequest]:
        """What is to be sent, once the user was told what they should know of it."""
        core, may_be_told = self.core, may_be_told and not unreachable
        plan = self.requests.planner.plan(agent, user, question, may_be_told=may_be_told)
        assembled = self.requests.assemble(plan) if unreachable else await self.requests.build(plan, emit)
        if core.privacy.keeps_local() and not user.local:
            core.journal.append(MessageEntry(message=user))  # what came with it is known only now
        for warning in self._new(self._warnings_about(user, assembled)):
            await emit(warning)
        return plan, assembled

    def _warnings_about(self, user: ChatMessage, assembled: AssembledRequest) -> Iterator[Warned]:
        """What the user should know of a request before it is sent."""
        info = self.core.info
        for text in withheld_warnings(assembled.context, info):
            yield Warned(text=text)
        proposals = self.core.proposals
        if proposals and proposals.is_on and not (user.brief and not user.brief.uses_notes):
            if not info.calls_tools:
                yield Warned(text=f"{info.shown} cannot change notes.")
            elif not proposals.tool_names & {tool.name for tool in assembled.request.tools}:
                yield Warned(text=f"The context window of {info.shown} is too small to change notes.")
        if problem := self.core.tokenizer.problem:
            yield Warned(text=f"{problem} Tokens are estimated, a little too high.", hint="Reinstall zkchat.")

    async def _begin_exchange(
        self, question: Question, user: ChatMessage, plan: RequestPlan, assembled: AssembledRequest, emit: Emit
    ) -> Exchange:
        request = assembled.request
        has_files = any(isinstance(part, FilePart | ImagePart) for part in user.parts)
        is_given = has_files or any(each.included for each in user.references) or request.evidence or request.listing
        is_free = plan.offers_tools or request.is_small_talk or plan.agent != DEFAULT_AGENT
        is_free = is_free or bool(user.brief or question.split.material)
        is_noted = self.core.info.needs_evidence and question.is_news and not (is_given or is_free)
        exchange = Exchange(
            core=self.core,
            requests=self.requests,
            plan=plan,
            assembled=assembled,
            result_budget=assembled.usage.available,
            is_grounded=bool(is_given) or is_noted or self._may_talk(plan, assembled, question),
            is_noted=is_noted,
            references=ReferenceList(request.listing.references if request.listing else user.references),
        )
        if is_noted:
            return exchange
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
        await exchange.report(found, emit)
        return exchange

    def _may_talk(self, plan: RequestPlan, assembled: AssembledRequest, question: Question) -> bool:
        """Whether a small model has something to answer from although no note says anything, or need not know."""
        request, core = assembled.request, self.core
        if core.settings.strict or core.info.is_tiny or not core.info.needs_evidence:
            return False
        if plan.offers_tools or request.is_small_talk or question.split.material or question.tells:
            return True
        items = assembled.context.items
        if any(each.type == "recall" for each in items):
            return True
        said = [message.text for message in request.messages[:-1] if message.role != "system"]
        said += [assembled.contents[each.digest] for each in items if each.type in {"memory", "summary"}]
        topic = topic_terms(question.prose)
        return any(2 * len(topic.intersection(terms(text))) > len(topic) for text in said)

    async def _exchange(
        self, exchange: Exchange, question: Question, user: ChatMessage, emit: Emit, told: list[Event] | None
    ) -> ChatMessage | None:
        """Have the question answered, unless what the user told did, and store the answer whatever comes of it."""
        try:
            for event in told or ():
                await emit(event)
            if told is None:
                await exchange.run(emit)
                await look_again(exchange, question, user, emit)
                await check_answer(exchange, question, user, emit)
        except ZkchatError as error:
            message = exchange.close(error=error.message)
            if warning := exchange.store(message):
                await emit(warning)
            await emit(_failed(error, message))
            return None
        except (asyncio.CancelledError, GeneratorExit):
            exchange.store(exchange.close(error=STOPPED))
            raise
        message = exchange.close()
        for warning in filter(None, (exchange.store(message), exchange.empty_answer_warning(message))):
            await emit(warning)
        is_cut_off = exchange.finish is not None and exchange.finish.reason == "length"
        usage = exchange.assembled.usage
        await emit(TurnFinished(message=message, usage=usage, abstained=message.abstained, cut_off=is_cut_off))
        return message


def _resources_read(user: ChatMessage, resources: Iterable[Resource]) -> Iterator[ResourceRead | Warned]:
    """What went along with a message of what servers gave, and what had no room."""
    sent = {(part.server, part.name): part.text for part in user.parts_of(FilePart)}
    for each in resources:
        text = sent.get((each.server, each.uri))
        if text is None:
            yield Warned(text=f"@{each.server}:{each.uri} is not sent: it is empty, or does not fit in the context.")
        else:
            yield ResourceRead(server=each.server, uri=each.uri, characters=len(text))


def _failed(error: ZkchatError, message: ChatMessage | None = None) -> TurnFailed:
    return TurnFailed(text=error.message, hint=error.hint, exit_code=error.exit_code, message=message)


def _has_failed(events: Sequence[Event]) -> bool:
    return bool(events) and isinstance(events[-1], TurnFailed)
