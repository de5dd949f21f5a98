import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.requests import assemble, tool_item
from zkchat.chat.context.assembly import (
    MESSAGE_OVERHEAD,
    AssembledRequest,
    Assembler,
    PromptItem,
    RequestPlan,
    Shares,
    budget_for,
    prompt_item,
    request_from,
)
from zkchat.chat.context.formatting import augmented_text
from zkchat.chat.context.tokens import Calibration, Estimate
from zkchat.core.choices import Role
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    Condensed,
    DocumentReference,
    FilePart,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from zkchat.core.prompt import ModelInfo, ToolSpec
from zkchat.core.session_history import Window
from zkchat.core.values import to_json, to_plain

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOOL = ToolSpec(name="read_document", description="Read a note.", parameters={})


def message(id_: str, role: Role, *parts: Part, references: tuple[DocumentReference, ...] = ()) -> ChatMessage:
    return ChatMessage(id=id_, role=role, parts=parts, references=references, created_at=NOON)


def said(id_: str, role: Role, text: str) -> ChatMessage:
    return message(id_, role, TextPart(text=text))


ROLES: list[Role] = ["user", "assistant"]
SYSTEM = prompt_item("system", "default", "Be kind.")


def assembled(
    history: list[ChatMessage],
    *new: ChatMessage,
    window: int = 8192,
    tools: tuple[ToolSpec, ...] = (),
    items: tuple[PromptItem, ...] = (),
    compaction: CompactionPart | None = None,
) -> AssembledRequest:
    budget = budget_for(ModelInfo(provider="scripted", id="x", context_limit=window), Shares(reserve=100))
    markers = (message("marker", "system", compaction),) if compaction else ()
    plan = RequestPlan(items=(SYSTEM, *map(tool_item, tools), *items), can_read=bool(tools))
    return assemble(plan, Window(live=(*history, *new), compactions=markers), budget, Estimate())


def test_linked_documents_follow_the_words_of_the_message() -> None:
    user = message(
        "1",
        "user",
        TextPart(text="See [[A]], [[B]] and [[C]]."),
        FilePart(name="a.md", text="alpha"),
        references=(
            DocumentReference(wikilink="[[A]]", relative_path="a.md", included=True),
            DocumentReference(wikilink="[[B]]", relative_path="b.md", summary="Bees."),
            DocumentReference(wikilink="[[C]]", status="missing"),
        ),
    )
    assert augmented_text(user, can_read=True) == (
        "See [[A]], [[B]] and [[C]].\n\n"
        "Referenced Documents:\n"
        "- [[A]] is a.md\n"
        "- [[B]] is b.md: Bees.\n"
        "- [[C]]: there is no such note\n"
        "(read_document gives the text of those that do not follow below.)\n\n"
        '<document path="a.md">\nalpha\n</document>'
    )
    assert "read_document" not in augmented_text(user, can_read=False)


def test_what_lasts_stands_first_and_what_passes_goes_with_the_question() -> None:
    rule = prompt_item("rule", "Tone", "Be brief.", include="manual")
    recalled = prompt_item("recall", "m9", "<earlier>Tea.</earlier>", include="agent", score=0.5, this_turn_only=True)
    call = ToolCallPart(call_id="c", name="t", arguments="{}")
    step = message("2", "assistant", call)
    result = message("3", "tool", ToolResultPart(call_id="c", name="t", text="found"))
    prompt = assembled([said("1", "user", "Tea?"), step, result], items=(recalled, rule)).request.messages
    assert [(m.role, m.text) for m in prompt] == [
        ("system", "Be kind.\n\nBe brief."),
        ("user", "<earlier>Tea.</earlier>\n\nTea?"),
        ("assistant", ""),
        ("tool", "found"),
    ]
    assert (prompt[2].tool_calls, prompt[3].tool_call_id) == ((call,), "c")


def test_the_summary_stands_for_what_is_archived_with_the_notes_that_were_used() -> None:
    part = CompactionPart(
        number=1, summary="They like tea.", references=(DocumentReference(wikilink="[[Tea]]", relative_path="tea.md"),)
    )
    result = assembled([], said("1", "user", "And now?"), compaction=part)
    system = result.request.messages[0].text
    assert system.startswith("Be kind.\n\nSummary of the earlier conversation")
    assert "They like tea." in system
    assert system.endswith("- [[Tea]] is tea.md")
    assert result.usage.memory > 0


def test_a_condensed_message_is_sent_in_its_short_form_and_each_result_under_its_call() -> None:
    results = [ToolResultPart(call_id=f"c{n}", name="t", text=f"long {n}") for n in (1, 2)]
    part = CompactionPart(
        number=1,
        summary="",
        condensed=(Condensed(message_id="1", text="short"), Condensed(message_id="3", call_id="c2", text="s2")),
    )
    prompt = assembled([said("1", "user", "very long"), message("3", "tool", *results)], compaction=part).request
    assert [m.text for m in prompt.messages] == ["Be kind.", "short", "long 1", "s2"]


@given(st.lists(st.text(max_size=300), max_size=8), st.text(max_size=400))
def test_the_meter_is_the_sum_of_what_is_sent(texts: list[str], instructions: str) -> None:
    history = [said(str(n), "assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
    result = assembled(history, items=(prompt_item("rule", "r", instructions),), window=100_000)
    count = Estimate().count
    pieces = sum(count(text) + 1 for text in ("Be kind.", instructions)) + MESSAGE_OVERHEAD
    messages = sum(count(m.text) + MESSAGE_OVERHEAD for m in result.request.messages[1:])
    assert result.usage.total == result.usage.counted == pieces + messages


parts = st.one_of(
    st.builds(TextPart, text=st.text(max_size=20)),
    st.builds(FilePart, name=st.sampled_from(["a.md", "b.md"]), text=st.text(max_size=20)),
)
short_forms = st.builds(Condensed, message_id=st.sampled_from("012"), text=st.sampled_from(["short", "shorter"]))


@st.composite
def windows(draw: st.DrawFn) -> list[tuple[Window, bool]]:
    """What a conversation held, request for request: messages are added, stored again, left out and condensed."""
    known: dict[str, ChatMessage] = {}
    made = []
    for _ in range(draw(st.integers(2, 5))):
        for id_ in draw(st.lists(st.sampled_from("0123"), max_size=3)):
            role = draw(st.sampled_from(ROLES))
            linked = (DocumentReference(wikilink="[[a]]", relative_path="a.md"),) if draw(st.booleans()) else ()
            known[id_] = message(id_, role, *draw(st.lists(parts, max_size=2)), references=linked)
        live = tuple(each for each in known.values() if draw(st.booleans()))
        compaction = CompactionPart(number=1, summary="", condensed=tuple(draw(st.lists(short_forms, max_size=2))))
        markers = (message("marker", "system", compaction),)
        made.append((Window(live=live, compactions=markers), draw(st.booleans())))
    return made


@given(windows())
@settings(max_examples=100, deadline=None)
def test_a_request_is_the_same_whatever_requests_were_made_before(made: list[tuple[Window, bool]]) -> None:
    budget = budget_for(ModelInfo(provider="scripted", id="x", context_limit=8192), Shares(reserve=100))
    assembler = Assembler(Estimate())
    recalled = prompt_item("recall", "m0", "zero", include="agent", this_turn_only=True)
    for window, can_read in made:
        plan = RequestPlan(items=(SYSTEM, recalled), can_read=can_read)
        result = assembler.assemble(plan, window, budget, Calibration())
        assert result == assemble(plan, window, budget, Estimate())
        assert request_from(result.context, {each.id: each for each in window.live}, result.contents) == result.request


@pytest.mark.parametrize("server", ["", "web"])
def test_the_record_holds_a_tool_as_it_is_sent_and_that_of_an_older_session_is_read_too(server: str) -> None:
    tool = replace(TOOL, server=server)
    result = assembled([], said("1", "user", "Hello"), tools=(tool,))
    (item,) = (item for item in result.context.items if item.type == "tool")
    assert json.loads(result.contents[item.digest]) == tool.definition
    for text in (result.contents[item.digest], to_json(to_plain(tool))):
        contents = {**result.contents, item.digest: text}
        assert request_from(result.context, {"1": said("1", "user", "Hello")}, contents).tools == (tool,)
