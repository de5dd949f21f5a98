"""What goes into a request beside the conversation: instructions, rules, notes, tools, memory."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from itertools import chain, compress

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.agents import Tier, how_to_change, instructions
from zkchat.chat.change_settlement import outcome_items
from zkchat.chat.context.assembly import (
    BRIEF_REASONS,
    STRICT,
    STRICT_PLAIN,
    WRITING,
    PromptItem,
    RequestPlan,
    prompt_item,
)
from zkchat.chat.context.condensing import condense_text
from zkchat.chat.context.documents import full_name
from zkchat.chat.context.extractive import excerpt
from zkchat.chat.context.formatting import format_quote
from zkchat.chat.context.selection import (
    Candidate,
    Selection,
    Selector,
    added_items,
    build_candidates,
    session_items,
    wants_evidence,
)
from zkchat.chat.context.unit_ranking import CoverageItem, content_terms, idf_weights, select_greedily
from zkchat.chat.core import ConversationCore
from zkchat.chat.memory import MAX_TITLE_CHARS, MemoryState, memory_state, project_memory
from zkchat.chat.message_search import ConversationSearch, read_in
from zkchat.chat.question import MINE, OWN, Question, said_in, terms_of, wants_change
from zkchat.chat.references import VIA_WITHHELD, StaleNote, link_named, place_of, stale_notes, text_of, without_repeated
from zkchat.chat.tools.registry import CORE_TOOLS, MEMORY_TOOLS, READ_ATTACHMENT, Toolbox
from zkchat.core import (
    Agent,
    Brief,
    ChatMessage,
    EvidencePart,
    FilePart,
    IndexedMessage,
    LeftOut,
    ModelInfo,
    RequestItem,
    StorageError,
    Tool,
    VaultError,
    abstained_turns,
    shorten,
)
from zkchat.index import is_said, terms, topic_terms, words
from zkchat.language import CORRECTS
from zkchat.notes import asks_of_own_past

# Chosen with benchmarks/memory and with public conversations that are not part of it.
MIN_SCORE = 0.25
"""The score from which a message is worth recalling without being asked for."""
MIN_SHARE_OF_BEST = 0.3
"""The share of the best score that the others must reach."""
MAX_CANDIDATES = 200
"""Archived messages that are looked at, the best by rank."""
MAX_CHARS = 100_000
"""Read at most to find the most informative messages, so that an archive of long messages costs no more time."""

Count = Callable[[str], int]


class Recalled(Struct, frozen=True):
    """An archived message that comes back into the prompt."""

    message: ChatMessage
    text: str
    """What of it comes back: all, or the sentences on the question."""
    score: float

    @property
    def quoted(self) -> str:
        return format_quote(self.message, self.text)


def recall(
    search: ConversationSearch,
    query: str,
    archived: Mapping[str, ChatMessage],
    *,
    session: str,
    budget: int,
    count: Count,
    asked_in: str = "",
) -> list[Recalled]:
    """The archived messages that the user's text is about: quoted, in so many tokens; none that say too little.

    First those that score best, in half of that, and in each as much of it as one message may take. Where many share a
    word with the question, scores say little: the rest of the budget goes to those that say most beside that word, each
    with its sentences on the question alone.
    """
    ranked = search.ranked(query, session=session, limit=MAX_CANDIDATES, among=archived, asked_in=asked_in)
    lowest = max([MIN_SCORE, *(MIN_SHARE_OF_BEST * each.score for each in ranked)])
    found = _deduplicate(
        Recalled(archived[id_], archived[id_].text, score) for _, id_, score in ranked if score >= lowest
    )
    best: list[Recalled] = []
    left = budget
    for each in found:
        if left <= 0.5 * budget:
            break
        if shorter := _condensed(each, min(int(0.4 * budget), left), query, count):
            best.append(shorter)
            left -= count(shorter.quoted)
    return [*best, *_most_informative(found, best, query, left, count)]


def _deduplicate(found: Iterable[Recalled]) -> list[Recalled]:
    """Deduplicate by text; the best of each is kept."""
    by_text: dict[str, Recalled] = {}
    for each in found:
        by_text.setdefault(each.text, each)
    return [*by_text.values()]


def _condensed(each: Recalled, room: int, query: str, count: Count) -> Recalled | None:
    text = condense_text(each.text, room, lambda text: count(format_quote(each.message, text)), question=query)
    return replace(each, text=text) if text else None


def _most_informative(
    found: Sequence[Recalled], best: Sequence[Recalled], query: str, budget: int, count: Count
) -> list[Recalled]:
    """Of those that are not among the best, what covers most that was not said yet, the nearer the better.

    The first in the order counts half as much again as its words are worth, the last no more than they are.
    """
    asked = content_terms(query)
    worth = {each.message.id: each.score * (1.5 - 0.5 * place / len(found)) for place, each in enumerate(found)}
    readable: list[Recalled] = []
    known, unread, left = {each.message.id for each in best}, MAX_CHARS, budget
    for each in found:
        if each.message.id not in known and len(each.text) <= min(unread, MAX_CHARS // 10):
            unread -= len(each.text)
            readable.append(replace(each, text=excerpt(each.text, asked)))
    others = _deduplicate(readable)
    items = [CoverageItem(content_terms(each.text), worth[each.message.id] ** 2, count(each.quoted)) for each in others]

    def fits(number: int) -> bool:
        nonlocal left
        if items[number].cost > left:
            return False
        left -= items[number].cost
        return True

    covered = [content_terms(each.text) for each in best]
    return [others[number] for number in select_greedily(items, idf_weights(items), fits, covered=covered)]


USUAL_CHANGES = frozenset({"create_document", "edit_section", "set_property"})
"""Tools for a small model that is asked for a change; others where the message has a word of their names."""
USUAL_WORDS = frozenset({"add", "create", "append", "document", "from"})
"""Of their names, words that any change may be asked for with."""
MAX_TOLD_CHARS = 240
"""Of what the user told: what stays in a prompt however full it is."""
MAX_TOLD, MAX_OPEN_TOLD = 3, 20
"""Earlier messages of the user that are repeated to a small model; to a question of the user's own, "my", "we", that is
in other words than they are."""
MEANT, CLEARLY_MEANT = 0.15, 0.3
"""What a message is worth that may be meant, and one that has a term in common with the question."""
TOLD_FIRST, TOLD_FIRST_IN_DOUBT = 0.75, 0.5
"""What a message is worth, if near in meaning, that is rather meant than what notes say, or say in doubt."""


class RequestPlanner:
    """Plans what goes into a request beside the conversation."""

    def __init__(self, core: ConversationCore) -> None:
        self._core = core
        self._selector = Selector(core.relevance, core.tokenizer, core.settings.selection)
        own_tools = [] if core.info.needs_notes else self._read_tools()
        if core.proposals and core.proposals.is_on:
            own_tools += core.proposals.tools
        of_servers = core.servers.tools(core.privacy, core.library) if core.servers else tuple
        self.tools = Toolbox(own_tools, of_servers)

    def _read_tools(self) -> list[Tool]:
        """The tools that look things up, for a model that does not only quote."""
        from zkchat.chat.tools.explore import explore_tools
        from zkchat.chat.tools.memory import memory_tools, recall_tools
        from zkchat.chat.tools.readings import attachment_tools

        core = self._core
        tools = [*explore_tools(core.library, core.journal.now)]
        if core.search:
            tools += recall_tools(self.find_archived)
        if core.memory:
            may_remember = None if core.settings.private else core.may_remember
            session, agent = lambda: core.journal.session_id, lambda: core.answering.name
            tools += memory_tools(core.memory, may_remember, session, agent)
        return [*tools, *attachment_tools(core.shortened_texts)]

    def plan(
        self,
        agent: Agent,
        user: ChatMessage | None = None,
        question: Question | None = None,
        *,
        may_be_told: bool = True,
    ) -> RequestPlan:
        """What goes along with a question, `may_be_told` before what notes say; without one, what always does."""
        core, info, budget, can_read = self._core, self._core.info, self._core.budget, self.can_read(agent)
        asked = question and (question.prose if question.told else question.split.question)
        typed = core.profiles.without_address(asked) if asked else ""
        selected = self._selected(agent, typed)
        memory = self.memory_state(agent)
        project = memory.without(self.page(int(0.5 * budget.memory_limit), memory.dropped))
        left = budget.memory_limit - sum(each.item.tokens for each in project.items)
        facts = self._facts(agent, typed, left // 2) if memory.is_on else Selection()
        tells = info.needs_evidence and bool(question and question.tells)  # a small model would repeat what was before
        recalled = [] if tells else self._recalled(typed, left - sum(each.item.tokens for each in facts.items))
        withheld: list[LeftOut] = []
        told_first = False
        if user and question and info.needs_evidence and not tells:
            told, repeated, worth = self._told_before(user, typed)
            told_first = may_be_told and bool(told) and self._is_rather_told(user, question, worth)
            others = [] if told_first else [each for each in recalled if each.item.name not in repeated]
            recalled = [*others, *_told_items(told, as_list=told_first)]
        beside = [*project.items, *facts.items, *recalled]
        if user:
            selected = without_repeated(selected, user, self.lasting_notes(agent))
            # Of a note that may have become private the model hears nothing, not even its name.
            beside += [note.prompt_item(can_read=can_read) for note in self.stale(user) if note.now]
            if not info.needs_notes:
                beside += outcome_items(core.history, user, core.privacy.hidden())
            links = [each.wikilink for each in user.references if each.via == VIA_WITHHELD]
            items = (RequestItem(type="reference", name=link, reason=self._withheld(link)) for link in links)
            withheld = [LeftOut(item=item, why="private") for item in items]
        left_out = (*selected.left_out, *project.left_out, *facts.left_out)
        planned = RequestPlan(
            items=(*self._instructed(agent, selected.items, user, told_first=told_first), *selected.items, *beside),
            left_out=(*withheld, *map(self._with_its_reason, left_out)),
            agent=agent.name,
            can_read=can_read,
            is_plain=info.needs_evidence,
            told_first=told_first,
            last_turn_only=user is not None
            and (info.needs_notes or tells or told_first or (info.needs_evidence and _is_alone(user, question))),
        )
        return self._bound(planned, user.brief if user else None)

    def _bound(self, planned: RequestPlan, brief: Brief | None) -> RequestPlan:
        """The plan with the brief of a message, and in strict mode with nothing beside the notes."""
        if brief:
            planned = planned if brief.uses_notes else planned.without_tools()
            if brief.text:
                why = BRIEF_REASONS[brief.purpose]
                rule = prompt_item("rule", brief.purpose, brief.text, include="manual", reason=why, this_turn_only=True)
                planned = planned.with_items([rule])
        if not self._core.settings.strict:
            return planned
        # The answer rests on nothing but what is sent with the question.
        system, *others = planned.without_tools().items
        told = STRICT_PLAIN if planned.is_plain else STRICT
        only = prompt_item("rule", "strict", told, include="manual", reason="asked for with --strict")
        return replace(planned, items=(system, only, *others), can_read=False)

    def permanent_items(self, agent: Agent) -> list[PromptItem]:
        """The instructions, and what is in every request whatever the question."""
        selected = self._selected(agent, "").items
        lasting = [each for each in selected if each.item.include != "agent"]
        return [*self._instructed(agent, lasting), *lasting]

    def candidates(self, agent: Agent) -> list[Candidate]:
        """The rules, notes and tools that this agent may be given; that for long messages where one is shortened."""
        core = self._core
        left_out = frozenset() if self.memory_state(agent).is_on else MEMORY_TOOLS
        if not core.has_long_messages():
            left_out |= {READ_ATTACHMENT}
        if core.proposals and not core.proposals.is_on:
            left_out |= core.proposals.tool_names
        tools = [spec for spec in self.tools.specs if spec.name not in left_out] if core.info.calls_tools else []
        return build_candidates(
            agent,
            rules=core.profiles.rules.values(),
            notes=dict(self._notes(agent)),
            tools=tools,
            core=CORE_TOOLS,
            needed=(READ_ATTACHMENT,),
        )

    def _instructed(
        self, agent: Agent, selected: Iterable[PromptItem], user: ChatMessage | None = None, *, told_first: bool = False
    ) -> list[PromptItem]:
        """What the model is told, also while it has tools that propose changes."""
        names = self._core.proposals.tool_names if self._core.proposals else frozenset()
        offered = [each.item.name for each in selected if each.item.type == "tool" and each.item.name in names]
        if offered and self._core.info.needs_evidence:
            return [prompt_item("system", agent.name, how_to_change(offered), reason="a change is asked for")]
        rules = [prompt_item("rule", "write", WRITING, reason="writing is on")] if offered else []
        return [_instructions(agent, self._core.info, user, told_first=told_first), *rules]

    def stale(self, user: ChatMessage) -> list[StaleNote]:
        """The notes that changed since the model read them in this conversation."""
        if self._core.info.needs_notes:
            return []  # it reads nothing but the question
        with suppress(StorageError):
            hidden = self._core.privacy.hidden()
            live = [message for message in self._core.history.window.live if message.id not in hidden]
            readings = self._core.readings
            return [*stale_notes(self._core.library, live, user, readings.is_own if readings else lambda *_: False)]
        return []

    def can_read(self, agent: Agent) -> bool:
        """Whether the model looks into the vault by itself: it calls tools, and the core ones are in every request."""
        if not self._core.info.calls_tools or self._core.info.needs_evidence:
            return False
        limit, core = self._tools_limit(agent)
        return len(core) == len(CORE_TOOLS) and limit >= self._size(core)

    def _tools_limit(self, agent: Agent) -> tuple[int, list[Candidate]]:
        """What the definitions of tools may take, as we count, and the core tools that are in every request."""
        specs = [spec for spec in self.tools.specs if spec.name in CORE_TOOLS]
        changes, rules = self._core.history.items, self._core.profiles.rules.values()
        core = session_items(build_candidates(agent, tools=specs, core=CORE_TOOLS), changes)
        system = self._core.tokenizer.count(_instructions(agent, self._core.info).text)
        system += self._size(session_items(build_candidates(agent, rules=rules), changes))
        return self._core.budget.tools_limit(system=system, core=self._size(core)), core

    def _size(self, candidates: Iterable[Candidate]) -> int:
        return sum(self._core.tokenizer.count(each.text) for each in candidates)

    def _selected(self, agent: Agent, question: str) -> Selection:
        limit = self._tools_limit(agent)[0] if self._core.info.calls_tools else None
        candidates = self.candidates(agent)
        if self._core.info.needs_evidence:
            candidates = [*self._for_small_model(candidates, question)]
        return self._selector.select(question, candidates, self._core.history.items, tool_tokens=limit)

    def _for_small_model(self, candidates: Iterable[Candidate], question: str) -> Iterator[Candidate]:
        """Without the tools that the message does not call for: what notes say goes along with it anyway."""
        writes = self._core.proposals.tool_names if self._core.proposals else frozenset()
        asked = {*words(question), *(["tag"] if "#" in question else [])}
        for each in candidates:
            is_named = each.name in USUAL_CHANGES or not asked.isdisjoint({*each.name.split("_")} - USUAL_WORDS)
            if each.server:
                yield replace(each, include="agent" if each.include == "always" else each.include)
            elif each.type != "tool" or (each.name in writes and is_named and wants_change(question)):
                yield each

    def _notes(self, agent: Agent) -> Iterator[tuple[str, str]]:
        """The texts of notes that the agent or the user wants in the context, by the names they have there."""
        added = (item.name for item in added_items(self._core.history.items).values() if item.type == "reference")
        for name in dict.fromkeys(chain(agent.references, added)):
            try:
                yield name, text_of(self._core.library, name)
            except (VaultError, StorageError):
                continue  # a note that is gone is recorded as missing by the selection

    def lasting_notes(self, agent: Agent) -> frozenset[str]:
        """The notes, and places in notes, that the session sends with every request, as records call them."""
        if self._core.info.needs_notes:
            return frozenset()
        try:
            added = session_items(build_candidates(agent, notes=dict(self._notes(agent))), self._core.history.items)
            places = [place_of(self._core.library, each.name) for each in added]
        except StorageError:
            return frozenset()
        return frozenset(full_name(*place) for place in places if place)

    def _withheld(self, name: str) -> str:
        with suppress(StorageError):
            return self._core.library.withheld(link_named(name))
        return ""

    def _with_its_reason(self, left: LeftOut) -> LeftOut:
        """What cannot be found may be there, and withheld from this model."""
        is_sought = left.why == "missing" and left.item.type in {"reference", "memory"}
        reason = self._withheld(left.item.name) if is_sought else ""
        return LeftOut(item=replace(left.item, reason=reason), why="private") if reason else left

    def memory_state(self, agent: Agent) -> MemoryState:
        """Whether requests for this agent hold anything of memory."""
        share, changes = self._core.settings.shares.memory, self._core.history.items
        return memory_state(enabled=self._core.settings.memory, share=share, agent=agent, changes=changes)

    def page(self, budget: int, dropped: Collection[str] = ()) -> Selection:
        """The vault's page with its imports."""
        with suppress(StorageError):
            return project_memory(
                partial(self._core.library.read, suggests=False),  # most vaults have none, at each turn
                self._core.tokenizer,
                budget,
                is_approved=self._core.page_is_approved,
                dropped=dropped,
            )
        return Selection()

    def _facts(self, agent: Agent, question: str, budget: int) -> Selection:
        if not question or self._core.memory is None or self._core.info.needs_notes:
            return Selection()
        with suppress(StorageError):
            return self._core.memory.recall(
                question, self._core.tokenizer, budget, is_plain=self._core.info.needs_evidence, agent=agent.name
            )
        return Selection()  # a turn goes on without what is remembered

    def _recalled(self, question: str, budget: int) -> list[PromptItem]:
        """The archived messages that are relevant to a question, in the order in which they were said."""
        core, search = self._core, self._core.search
        is_wanted = core.settings.recall and core.history.archived and not core.info.needs_notes
        if not question or search is None or not is_wanted:
            return []
        try:
            archived = self._archived()
            if core.info.needs_evidence:  # what was only asked tells it nothing
                archived = {id_: each for id_, each in archived.items() if each.role != "user" or said_in(each.text)}
            asked = next((message.id for message in core.history.newest_first if message.role == "user"), "")
            found = recall(
                search,
                question,
                archived,
                session=core.journal.session_id,
                budget=budget,
                count=lambda quoted: core.tokenizer.count(quoted) + 1,  # and what separates it
                asked_in=asked,
            )
        except StorageError:
            return []  # the archive's index is a cache
        by_id = {each.message.id: each for each in found}
        leads = {"user": "Earlier I said: "}  # as part of what the user says
        return [
            _recalled_item(each, lead=leads.get(each.message.role, "Earlier you said: ") * core.info.needs_evidence)
            for each in map(by_id.get, archived)
            if each
        ]

    def _is_rather_told(self, user: ChatMessage, question: Question, worth: float) -> bool:
        """Whether what the user told is looked at before what notes say, which is in doubt, or clearly less meant."""
        found, core = user.parts_of(EvidencePart), self._core
        is_else = not question.is_question or question.points_back or question.links or question.split.material
        if is_else or any(part.listing for part in found) or core.settings.strict or core.info.is_tiny:
            return False
        topic = topic_terms(question.prose)
        held = {term for part in found for each in part.evidence for term in terms_of(each)}
        is_sure = any(part.evidence and not part.is_doubtful for part in found) and 2 * len(topic & held) > len(topic)
        is_own = not is_sure and self._is_own(question.prose)
        return is_own or worth >= (TOLD_FIRST if is_sure else TOLD_FIRST_IN_DOUBT)

    def _is_own(self, question: str) -> bool:
        """Whether it is about the user: "my keys", or what "I" did. "How do I sharpen shears?" anybody asks."""
        return not MINE.isdisjoint(words(question)) or asks_of_own_past(question, self._core.library.calendar())

    def _told_before(self, user: ChatMessage, question: str) -> tuple[list[tuple[Recalled, bool]], Set[str], float]:
        """What the user told earlier on the subject, for a small model, which would look for it in the notes alone, and
        of each whether it is surely meant.

        Also the ids of the messages that need not come twice, among them those that a later one takes the place of; and
        what the best is worth.
        """
        history, left_out = self._core.history, self._core.privacy.hidden() | {user.id}
        asked = CORRECTS.sub(" ", question)  # what both say is "now" is nothing that they share, nor is "my"
        topic = topic_terms(" ".join(word for word in words(asked) if word not in OWN))
        places = {id_: place for place, id_ in enumerate(history.messages)}  # a message that was kept may be the oldest
        earlier = sorted([*history.archived.values(), *history.window.live], key=lambda each: places[each.id])
        told = [
            Recalled(each, said, 1.0)
            for each in earlier[-MAX_CANDIDATES:]
            if each.role == "user" and each.id not in left_out and (said := said_in(each.text))
        ]
        holds = [{*terms(each.text)} for each in told]
        shared = [sum(is_said(term, each) for term in topic) for each in holds]
        own = [topic_terms(each.text) if CORRECTS.search(each.text) else frozenset[str]() for each in told]
        is_own = not OWN.isdisjoint(words(question))  # it may be about what was told in other words
        near = self._core.relevance.scores(asked, [each.text for each in told])
        worth = [score * (is_own or bool(n)) + CLEARLY_MEANT * n for score, n in zip(near, shared, strict=True)]
        for place in compress(range(len(told)), own):  # "a fortnight, not five nights" does not name the guest
            about = (worth[each] for each in range(place) if holds[each] & own[place])
            worth[place] = max([worth[place], *about])
        # To a question of the user's own that has few words in common with any of it, all of it may be the answer.
        most, held = max(zip(worth, shared, strict=True), default=(0.0, 0))
        is_open = self._is_own(question) and 2 * held < max(len(topic), 1)
        least = 0.0 if is_open else max(MEANT, 0.5 * most)  # a second one only confuses a small model
        best = sorted((place for place in range(len(told)) if worth[place] >= least), key=lambda place: -worth[place])
        best = best[: MAX_OPEN_TOLD if is_open else MAX_TOLD]
        sure = best if not is_open else best[:1] if most >= MEANT else []
        kept = [
            place
            for place in sorted(best)
            if not any(
                later > place and holds[place] & own[later] and 0 < shared[place] <= shared[later] for later in best
            )
        ]
        found = [(replace(told[place], score=worth[place]), place in sure) for place in kept]
        return found, {told[place].message.id for place in best}, most

    def find_archived(self, query: str, limit: int) -> list[tuple[ChatMessage | IndexedMessage, float]]:
        """The archived messages that answer a query best, and what tools and notes said in them."""
        assert self._core.search is not None
        archived, session = self._archived(), self._core.journal.session_id
        said = self._core.search.found(query, session=session, limit=limit, among=archived)
        found: list[tuple[ChatMessage | IndexedMessage, float]]
        found = sorted(read_in(archived.values(), query), key=lambda each: -each[1])
        found[max(limit - len(said), limit // 2) :] = said  # a note holds most words, and takes the room of others
        return sorted(found, key=lambda each: -each[1])[:limit]

    def _archived(self) -> Mapping[str, ChatMessage]:
        """The archived messages that the model may see, known to the search."""
        core, search = self._core, self._core.search
        archived, hidden = core.history.archived, core.privacy.hidden()
        if archived and search and not search.learn(core.journal.session_id, core.history.entries):
            search.catch_up(core.journal.store, core.journal.session_id)
        if wants_evidence(core.info, core.budget.window, can_read=core.info.calls_tools):
            hidden |= abstained_turns(archived.values())
        return {id_: message for id_, message in archived.items() if id_ not in hidden} if hidden else archived


def _is_alone(user: ChatMessage | None, question: Question | None) -> bool:
    """Whether a question has its own passages, and is about nothing that was said before."""
    if user is None or question is None:
        return False
    evidence = [each for part in user.parts_of(EvidencePart) for each in part.evidence]
    return bool(evidence) and not question.points_back and not question.stays_with(evidence)


def _instructions(
    agent: Agent, info: ModelInfo, user: ChatMessage | None = None, *, told_first: bool = False
) -> PromptItem:
    tier: Tier = "default" if info.calls_tools else "handed"
    if info.needs_evidence:
        parts = user.parts if user else ()
        is_given = user is None or any(isinstance(part, FilePart | EvidencePart) for part in parts)
        tier = "told" if told_first else "small" if is_given else "talk"
    return prompt_item("system", agent.name, instructions(agent, tier))


def _told_items(told: Sequence[tuple[Recalled, bool]], *, as_list: bool) -> list[PromptItem]:
    """What the user told, and of each whether it is surely meant: lines of a list, or in the order it was said."""
    leads = ["- "] * len(told) if as_list else ["Earlier I said: ", *["Later I said: "] * len(told)]
    return [_recalled_item(each, lead=lead, stays=is_sure) for (each, is_sure), lead in zip(told, leads, strict=False)]


def _recalled_item(recalled: Recalled, *, lead: str = "", stays: bool = False) -> PromptItem:
    """Quoted as what was said, or after its lead."""
    made = prompt_item(
        "recall",
        recalled.message.id,
        f"{lead}{recalled.text}" if lead else recalled.quoted,
        include="manual" if stays and len(recalled.text) <= MAX_TOLD_CHARS else "agent",
        score=round(recalled.score, 3),
        reason="said earlier, and archived",
        this_turn_only=True,
    )
    title = shorten(" ".join(recalled.message.text.split()), MAX_TITLE_CHARS)
    return replace(made, item=replace(made.item, title=title))
