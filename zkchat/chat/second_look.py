"""Answers that are not left as they are: given without a look into the notes, or against what they say."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from zkchat.chat.context.assembly import AssembledRequest, RequestPlan
from zkchat.chat.context.formatting import ASKED, QUOTED, SAID, SOURCE
from zkchat.chat.context.selection import wants_evidence
from zkchat.chat.core import ConversationCore, Emit
from zkchat.chat.evidence_lookup import as_reference, ask_for_listing, evidence_item, relevant_evidence
from zkchat.chat.question import Question, said_in
from zkchat.chat.quotations import sources_of
from zkchat.chat.references import ReferenceList
from zkchat.chat.replies import repeats
from zkchat.chat.request import FOUND_NONE, NOT_BORNE_OUT
from zkchat.chat.tool_loop import NOTED, Exchange
from zkchat.core import (
    DOUBT,
    STOPPED,
    AnswerReplaced,
    ChatMessage,
    Event,
    Evidence,
    EvidenceFound,
    EvidencePart,
    FilePart,
    Finish,
    HeadEntry,
    Remarked,
    RequestItem,
    TextDelta,
    Warned,
    ZkchatError,
    counted,
    no_answer,
    place_of,
    quotations,
    shorten,
)
from zkchat.index import (
    Library,
    has_unspaced,
    is_said,
    lacks_number,
    language_of,
    own_terms,
    terms,
    topic_of,
    topic_terms,
    wants_number,
    words,
    written_words,
)
from zkchat.language import STOP_WORDS_BY_CODE, by_code
from zkchat.notes import detect_language

MAX_QUOTED_STATEMENTS: Final = 3
NO_ANSWER: Final = re.compile(r"\bnotes? (?:do|does)(?: not|n.t) (?:say|provide|mention|contain|give)|\bno information")
"""What models say where the notes do not answer."""
IS_ANSWERED: Final = "Do the notes answer this? Begin your answer with Yes or No, then give the answer."
"""What a small model is asked after its question, once it has answered: it says No to most of what it made up."""
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]\w+")
"""A word that begins as a name within a sentence."""
_YES: Final = re.compile(r"^\w+[,，.!。]\s*")
"""How an answer to a question for yes or no begins."""
_DIGITS: Final = re.compile(r"\d+")
REASON: Final = "the first answer did not use the notes"


def may_look_again(core: ConversationCore, plan: RequestPlan) -> bool:
    """Whether a model may be asked again after this request.

    That happens once in a session: from then on the model is given the evidence with the question.
    """
    is_wanted = core.settings.look_again and not core.info.needs_evidence
    return is_wanted and plan.offers_tools and not core.history.was_asked_again


async def look_again(exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
    """Ask again with evidence where the model has tools, used none, was given nothing to answer from, and answered.

    The first answer stays in the session, on a branch of its own, and is marked: the mark says that it has happened,
    to whoever goes on with the session.
    """
    core = exchange.core
    is_over = (
        question.split.material
        or not may_look_again(core, exchange.plan)
        or exchange.finish is None
        or exchange.finish.reason != "stop"
        or any(map(_is_given, exchange.assembled.context.items))
        or any(message.role == "tool" for message in core.history.newest_first)
    )
    found = [] if is_over else relevant_evidence(core.library, question, user.references)
    if not found:
        return
    first = exchange.close()
    if any(reference.cited and not reference.unverified for reference in first.references):
        return
    assert exchange.draft is not None
    exchange.draft.message = replace(exchange.draft.message, asked_again=True)  # it may be stored again
    if warning := exchange.store(replace(first, asked_again=True)):
        await emit(warning)
    await emit(
        Warned(
            text=f"{core.info.shown} answered without reading your notes. They say something about this, so "
            "zkchat asks it again.",
            hint="To keep first answers: zkchat config set references.look_again false",
        )
    )
    await _ask_again(exchange, user, found, emit)


async def _ask_again(exchange: Exchange, user: ChatMessage, found: Sequence[Evidence], emit: Emit) -> None:
    """Ask with the evidence. Where not a word comes of it, the first answer is the answer."""
    journal, before = exchange.core.journal, replace(exchange)

    def take_back() -> bool:
        """Go on with the first answer, unless another has begun."""
        if exchange.draft and exchange.draft is not before.draft and exchange.draft.finished().parts:
            return False
        assert before.draft is not None
        journal.append(HeadEntry(message_id=before.draft.message.id))
        exchange.draft, exchange.finish = before.draft, before.finish
        exchange.assembled, exchange.references = before.assembled, before.references
        return True

    try:
        journal.append(HeadEntry(message_id=user.id))
        exchange.plan = exchange.plan.with_items(evidence_item(each, REASON) for each in found)
        exchange.references = ReferenceList(user.references)
        await emit(EvidenceFound(evidence=tuple(found)))
        await exchange.ask_again(user.id, [*map(as_reference, found)], emit)
    except ZkchatError as error:
        if not take_back():
            raise
        await emit(Warned(text=f"zkchat could not ask the model again. {error.message}", hint=error.hint))
    except (asyncio.CancelledError, GeneratorExit):
        take_back()
        raise


def _is_given(item: RequestItem) -> bool:
    """Whether it is there to be answered from: a note, an image, or what is remembered on the question."""
    if item.type == "memory":
        return item.include == "agent"
    return item.type in {"reference", "evidence", "recall", "image"}


async def answer_from_told(exchange: Exchange, question: Question, user: ChatMessage) -> list[Event] | None:
    """What happens while a small model answers from what the user told earlier; None where that does not answer. What
    holds most of the question is quoted where the model makes up another number, and the notes are no surer."""
    events: list[Event] = []

    async def hold(event: Event) -> None:
        events.append(event)

    try:
        await exchange.run(hold)
    except ZkchatError:
        return None  # with what the notes say it is asked again
    except (asyncio.CancelledError, GeneratorExit):
        exchange.store(exchange.close(error=STOPPED))
        raise
    assert exchange.draft is not None
    text, sent = exchange.draft.finished().text, exchange.assembled
    told = [sent.contents[each.digest] for each in sent.context.items if each.type in {"memory", "recall"}]
    if _is_empty(text, question, is_doubtful=True):
        return None
    if not is_founded(text, question.prose, told):
        quoted, topic = _told_on(exchange), topic_terms(question.prose)
        is_meant = 2 * sum(is_said(term, {*terms(quoted)}) for term in topic) > len(topic)
        is_sure = any(each.evidence and not each.is_doubtful for each in user.parts_of(EvidencePart))
        if is_sure or not (is_meant and _values(text)):
            return None
        await _replace_answer(
            exchange, user, (), f"said “{_quoted(text)}”, which you did not tell", hold, instead=quoted
        )
    else:
        await _name_sources(exchange, question, user, hold)
    return events


def is_checked(core: ConversationCore, assembled: AssembledRequest) -> bool:
    """Whether the answer to this request is checked: of models that were handed passages, small ones, and any in strict
    mode. Large models with tools are left alone: they read more than what was handed to them."""
    info, settings = core.info, core.settings
    is_handed_evidence = settings.strict or wants_evidence(
        info, assembled.budget.window, can_read=assembled.context.can_read
    )
    return settings.check_answers and is_handed_evidence and not info.needs_notes and bool(assembled.request.evidence)


async def check_answer(exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
    """Replace the answer of the exchange by the passage that it contradicts, if there is one.

    That of a small model, which names no notes, is replaced where it is not from the notes, and else gets its sources.
    In strict mode, statements that do not stand in the notes are named.
    """
    core = exchange.core
    if exchange.draft is None or exchange.rounds or exchange.abstained or exchange.is_quoted or exchange.is_noted:
        return
    is_small = core.info.needs_evidence and core.settings.check_answers
    if is_small and question.tells and not exchange.draft.finished().text.strip():
        exchange.draft.add(text=NOTED)  # it only repeated what was told
        await emit(TextDelta(text=NOTED))
        return
    if is_small and await _replace_unfounded(exchange, question, user, emit):
        return
    if not is_checked(core, exchange.assembled):
        if is_small:
            await _name_sources(exchange, question, user, emit)
        return
    from zkchat.answers import find_contradiction, verify

    documents = [part.text for part in user.parts_of(FilePart)]
    text = SOURCE.sub("", exchange.draft.finished().text)
    found = find_contradiction(text, exchange.assembled.request.evidence, question.prose, documents)
    if found:
        said = f"said “{_quoted(found.said)}”, which contradicts {place_of(found.evidence)}"
        await _replace_answer(exchange, user, [found.evidence], said, emit)
        return
    if is_small:
        await _name_sources(exchange, question, user, emit)
    if core.settings.strict:
        statements = verify(core.library, text).statements
        missing = [f"“{_quoted(each.text)}”" for each in statements if not each.is_supported]
        if missing:
            named = ", ".join([*missing[:MAX_QUOTED_STATEMENTS], *["…"] * (len(missing) > MAX_QUOTED_STATEMENTS)])
            await emit(
                Warned(
                    text=f"{len(missing)} of {counted(len(statements), 'statement')} in the answer "
                    f"{'is' if len(missing) == 1 else 'are'} not in your notes, even in similar words: "
                    f"{named}.",
                    hint="/check in a chat, and zkchat check FILE, show what your notes say about each.",
                )
            )


async def _replace_unfounded(exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> bool:
    """Quote the notes where the model said nothing, or what they do not say; where they do not answer, say that."""
    from zkchat.answers import openings

    assert exchange.draft is not None
    request, text = exchange.assembled.request, exchange.draft.finished().text
    files = user.parts_of(FilePart)
    is_alone = not (request.evidence or files)
    is_free = request.is_small_talk or question.tells or question.split.material or exchange.plan.offers_tools
    if (is_alone and is_free) or any(each.images for each in request.messages):  # nobody can check what an image shows
        return False
    earlier = (Question.parse(each.text) for each in request.messages[:-1] if each.role == "user")
    told = (question.prose if question.tells else question.told, *(e.told if e.asks else e.prose for e in earlier))
    others = [*filter(None, (*(each.text for each in files), *told))]  # a question proves nothing, nor its answer
    others += [each.text for each in request.messages[:-1] if is_alone and each.role != "system"]
    sent, kinds = exchange.assembled, {"memory", "recall", "summary"}
    others += [sent.contents[each.digest] for each in sent.context.items if each.type in kinds]
    is_cut = exchange.core.info.is_tiny and exchange.finish is not None and exchange.finish.reason == "length"
    is_garbled = is_cut or QUOTED in text or f"\n{ASKED}" in f"\n{text}" or repeats(text)
    is_empty = _is_empty(text, question, is_doubtful=request.is_doubtful)
    is_strange = not (is_empty or is_alone) and not _is_about(exchange, text, question, others)
    is_kept = not (is_garbled or is_empty or is_strange)
    is_kept = is_kept and is_founded(text, question.prose, [*map(_told_by, request.evidence), *others])
    if is_kept and (others or not await _is_denied(exchange)):
        return False
    own = _quoted(SOURCE.sub("", text))
    said = "found no answer in your notes" if is_empty else f"said “{own}”, which your notes do not support"
    said = "gave a garbled answer" if is_garbled else said
    # Of a model that cannot read them, it tells nothing that it found no answer there.
    is_blind = is_garbled or exchange.core.info.is_tiny
    is_sure = is_blind or question.stays_with(request.evidence) or (is_strange and _is_named(exchange, question))
    is_sure = is_sure or any(each.linked or each.score >= 0.65 for each in request.evidence)
    told_before = "" if is_sure else _told_on(exchange)
    evidence = request.evidence if is_sure else () if told_before else request.evidence[:1]
    if evidence and is_blind and request.is_doubtful:
        await emit(Remarked(text=DOUBT.text))
    if files and not (evidence or told_before):
        named_files = [part.name.partition("#")[0] for part in files if not part.server]
        evidence, is_sure = openings(exchange.core.library, named_files), True
    named = {term for each in evidence if each.linked for term in terms(each.title)}
    asks_for_note = bool(named) and _telling(question.prose) <= named
    lead = "" if is_blind or asks_for_note else FOUND_NONE if is_empty else NOT_BORNE_OUT
    listing = None if is_garbled else await ask_for_listing(exchange.core, question, is_last=True)
    if listing:
        evidence, told_before = (), listing.text
        exchange.references = ReferenceList(listing.references)
    await _replace_answer(exchange, user, evidence, said, emit, lead=lead, instead=told_before)
    if not (is_sure or told_before):
        exchange.finish = Finish(reason="abstained")  # what is shown need not bear on the question
    return True


async def _is_denied(exchange: Exchange) -> bool:
    """Whether the model says that the notes do not answer, where they were found for their words and not named."""
    request = exchange.assembled.request
    if exchange.core.info.is_tiny or not request.evidence or any(each.linked for each in request.evidence):
        return False
    *before, asked = request.messages
    messages = (*before, replace(asked, text=f"{asked.text}\n\n{IS_ANSWERED}"))
    checked = replace(request, messages=messages, temperature=0.0, max_answer_tokens=16)  # some take no less
    return words(await exchange.core.short_reply(checked, len("No.")))[:1] == ["no"]


def _is_named(exchange: Exchange, question: Question) -> bool:
    """Whether the passages speak of what a question is about."""
    said = {term for each in exchange.assembled.request.evidence for term in terms(_told_by(each))}
    library = exchange.core.library
    return all(is_said(term, said) for term in _named(library, question, ()) | _rarest(library, question))


def _told_before(exchange: Exchange) -> list[tuple[str, bool]]:
    """What was sent of what the user told earlier, and whether it is surely meant."""
    messages = exchange.core.history.messages
    sent = [each for each in exchange.assembled.context.items if each.type == "recall"]
    sent = [each for each in sent if messages[each.name].role == "user"]
    return [(said_in(messages[each.name].text), each.include == "manual") for each in sent]


def _told_on(exchange: Exchange) -> str:
    """What the user told earlier on the subject, in the place of an answer."""
    told = [text.replace("\n", "\n> ") for text, is_sure in _told_before(exchange) if is_sure]
    return "You said earlier:\n\n" + "".join(f"> {text}\n" for text in told) if told else ""


def _is_about(exchange: Exchange, answer: str, question: Question, told: Sequence[str]) -> bool:
    """Whether passages that the answer uses hold the rarest word of the question, and the notes that it names: "Rafa
    earns 690" is not from what says that the rent is 690. `told` is what else was given to answer from."""
    library, evidence = exchange.core.library, exchange.assembled.request.evidence
    used = sources_of(answer, question.prose, [each.text for each in evidence], library)
    if not used and (exchange.core.info.is_tiny or not told):
        return False  # it says anything
    chosen = evidence if used and len(question.halves) > 1 else [evidence[number] for number in used]
    said = {term for text in [*map(_told_by, chosen), *(told if chosen else ())] for term in terms(text)}
    claimed, own = topic_terms(answer), own_terms(question.prose)
    is_meant = bool(claimed & own) and 2 * sum(is_said(term, said) for term in own) > len(own)
    is_copied = claimed <= said and (is_meant or len(claimed) > 4)  # a longer one says that by itself
    needed = _named(library, question, () if detect_language(answer) == "de" else evidence)
    if not (is_meant and claimed - own <= said and sum(not is_said(term, said) for term in own) <= 1):
        needed |= _rarest(library, question)
    return not said or is_copied or all(is_said(term, said) for term in needed)


def _rarest(library: Library, question: Question) -> set[str]:
    """The rarest term of a question. Where words have no spaces between them, it may be none."""
    weights = library.idf(() if has_unspaced(question.prose) else own_terms(question.prose))
    return {max(weights, key=lambda term: (weights[term], term))} if weights else set()


def _named(library: Library, question: Question, evidence: Sequence[Evidence]) -> set[str]:
    """The terms of notes that a question names, and of names that passages write as such."""
    from zkchat.answers import resolved

    topic = topic_of(question.prose)
    named = [word for word in written_words(topic) if resolved(library, word)]
    typed = _NAME.findall(question.prose) if evidence else ()
    return {term for word in (*named, *typed, *_names_in(topic, evidence)) for term in terms(word)}


def _names_in(question: str, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Words of a question that the passages write with a capital letter wherever they stand: names of people."""
    texts = "\n".join(each.text for each in evidence)
    for word in set(words(question)):
        written = set(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", texts, re.IGNORECASE))
        is_within = re.search(rf"(?<=[a-z,;] ){re.escape(word.capitalize())}(?!\w)", texts)
        if is_within and all(each[:1].isupper() for each in written):
            yield word


def _told_by(evidence: Evidence) -> str:
    return f"{evidence.title}\n{evidence.heading}\n{evidence.text}"


def _is_empty(answer: str, question: Question, *, is_doubtful: bool = False) -> bool:
    """Whether an answer says that there is none, or only repeats its question: "How deep is the loch?", "The loch is
    deep."; or tells no number. In doubt a yes does so, too."""
    if NO_ANSWER.search(answer) or not words(answer) or lacks_number(question.prose, answer):
        return True
    is_open = question.is_open_question
    said = answer if is_open or not is_doubtful else _YES.sub("", answer, count=1)
    told = _telling(said, detect_language(answer) or language_of(question.prose))
    return (is_open or is_doubtful or not question.is_question) and told <= frozenset(terms(question.prose))


def _telling(text: str, language: str | None = None) -> frozenset[str]:
    """The terms of a text without the stop words of its own language alone: "van" is one in Dutch."""
    if has_unspaced(text):
        return topic_terms(text)
    own = STOP_WORDS_BY_CODE.get(language or language_of(text) or "en", frozenset())
    return frozenset(terms(" ".join(set(words(text)) - own)))


def is_founded(answer: str, question: str, given: Sequence[str]) -> bool:
    """Whether most words of an answer, and all its numbers, are from what the model was given or asked."""
    asked, told = frozenset(terms(question)), {term for text in given for term in terms(text)}
    language, spoken = detect_language(answer), topic_terms(answer)
    asks_amount = wants_number(question) and _months().isdisjoint(words(answer))
    figures = _values(answer, language)
    if not figures <= _values("\n".join((question, *given)), dates=not asks_amount):
        return False
    if language != "de" and any((asked | told).isdisjoint(terms(name)) for name in _NAME.findall(answer)):
        return False  # in German each noun looks like a name
    added = [term for term in spoken if term not in asked]
    is_new = bool(added) and not (figures or any(is_said(term, told) for term in added))  # "The cargo bike is blue."
    if language and (given_in := detect_language("\n".join(given)) or language) != language:
        return not is_new or language_of(question) != given_in  # words of another language say nothing
    return not is_new and sum(is_said(term, asked | told) for term in spoken) >= 0.6 * len(spoken)


@cache
def _months() -> frozenset[str]:
    return frozenset(word for listed in by_code("months").values() for word in words(listed) if len(word) > 1)


def _values(text: str, language: str | None = None, *, dates: bool = True) -> frozenset[float]:
    """The numbers of a text, in digits or in words of its language, or of any; without `dates`, not the days of months:
    nobody is 14 because of the 14th of September."""
    from zkchat.answers import number_words

    named = number_words(language or "")
    said = words(text)
    if not dates:
        around = zip(["", *said], said, [*said[1:], ""], strict=False)
        said = [word for before, word, after in around if _months().isdisjoint((before, after))]
    figures = filter(None, map(_DIGITS.match, said))  # of "15th" too
    return frozenset({named[word] for word in said if word in named} | {float(each[0]) for each in figures})


async def _name_sources(exchange: Exchange, question: Question, user: ChatMessage, emit: Emit) -> None:
    """Add the places of the notes that the answer uses, unless it names some by itself, or what the user said that it
    uses, and the latest that is surely meant; below a tiny model's answer the passages themselves."""
    assert exchange.draft is not None
    library, text, sent = exchange.core.library, exchange.draft.finished().text, exchange.assembled
    if "[[" in text:
        return
    files = (part for part in user.parts_of(FilePart) if not part.server)
    given = [(library.link_to(part.name.partition("#")[0]), part.text) for part in files]
    given += [(place_of(each), each.text) for each in sent.request.evidence]
    notes, told = len(given), _told_before(exchange)
    given += [(f"{SAID}“{_quoted(text)}”", text) for text, _ in told]
    used = sources_of(text, question.prose, [each for _, each in given], library)
    if sent.context.told_first or any(number >= notes for number in used):
        used += [number for number, (_, is_sure) in enumerate(told, notes) if is_sure][-1:]
    places = dict.fromkeys(given[number][0] for number in used)
    line = f"— {' · '.join([*places][:3])}\n" if places else ""
    evidence = exchange.assembled.request.evidence
    if exchange.core.info.is_tiny and evidence and len(given) == len(evidence):  # nobody can rely on its words alone
        line = "".join(piece.text for piece in quotations([evidence[number] for number in sorted({0, *used})]))
    if line:
        exchange.draft.add(text=f"\n\n{line}")
        await emit(TextDelta(text=f"\n\n{line}"))


async def _replace_answer(
    exchange: Exchange,
    user: ChatMessage,
    evidence: Sequence[Evidence],
    said: str,
    emit: Emit,
    *,
    lead: str = "",
    instead: str = "",
) -> None:
    """Quote the evidence in place of the answer, which stays in the session, on a branch of its own.

    `lead` is what the answer begins with if there is evidence; `instead` is said where there is none.
    """
    journal, first = exchange.core.journal, exchange.close()
    warnings = [exchange.store(first), journal.append(HeadEntry(message_id=user.id))]
    request = exchange.assembled.request
    nearest = request.nearest or request.evidence
    quoted = "".join(piece.text for piece in quotations(evidence))
    text = lead + quoted if quoted else instead or no_answer(nearest, request.searched_for)
    exchange.draft = journal.begin_answer(exchange.core.info)
    exchange.draft.add(text=text)
    exchange.finish = Finish(reason="stop" if evidence or instead else "abstained")
    for warning in filter(None, warnings):
        await emit(warning)
    is_told = bool(NO_ANSWER.search(first.text)) or " ".join(SOURCE.sub("", first.text).split()) in said
    to_see = f"To see the model's own answer in a chat: /branch {first.id}"
    await emit(Warned(text=f"{exchange.core.info.shown} {said}.", hint="" if is_told else to_see))
    await emit(AnswerReplaced(message_id=first.id))
    if request.remark:
        await emit(Remarked(text=request.remark))
    await emit(TextDelta(text=text))


def _quoted(sentence: str) -> str:
    return shorten(" ".join(sentence.split()), 160)
