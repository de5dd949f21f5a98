"""Conversations as other programs write them: message APIs, exports, logs."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.sessions import NOON
from zkchat.core.choices import TokenUsage
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    DocumentReference,
    FilePart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from zkchat.core.session import Entry
from zkchat.core.session_history import thread_of
from zkchat.sessions.session_import import Imported, ImportedFile, read_conversations

PNG = "iVBORw0KGgo="
QUESTION = {"role": "user", "content": "How long?"}


def read(value: Any) -> ImportedFile:
    return read_conversations(value if isinstance(value, str) else json.dumps(value), now=NOON)


def messages(value: Any) -> list[ChatMessage]:
    (imported,) = read(value).conversations
    return list(imported.messages.values())


def thread(imported: Imported) -> list[ChatMessage]:
    bodies = enumerate(imported.bodies_for("s1"), start=1)
    return thread_of(Entry(session_id="s1", sequence=number, at=NOON, body=body) for number, body in bodies)


def said(found: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in found]


def test_tool_calls_and_results_of_the_messages_api_become_messages_of_their_own() -> None:
    thinking = {"type": "thinking", "thinking": "Look it up.", "signature": "x"}
    use = {"type": "tool_use", "id": "t1", "name": "find", "input": {"query": "sleep"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "7 h"}]}
    answer = {"role": "assistant", "content": [thinking, {"type": "text", "text": "I look."}, use]}
    found = messages([QUESTION, answer, {"role": "user", "content": [result, {"type": "text", "text": "Go on."}]}])
    assert [message.role for message in found] == ["user", "assistant", "tool", "user"]
    assert found[1].parts == (
        ThinkingPart(text="Look it up."),
        TextPart(text="I look."),
        ToolCallPart(call_id="t1", name="find", arguments='{"query": "sleep"}'),
    )
    assert found[2].parts == (ToolResultPart(call_id="t1", name="find", text="7 h"),)
    assert [message.parent_id for message in found] == [None, *(message.id for message in found[:3])]


def test_the_items_of_the_responses_api_are_read_in_order() -> None:
    found = messages(
        {
            "model": "gpt-5",
            "instructions": "Be brief.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How long?"}]}],
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q": 1}'},
                {"type": "function_call_output", "call_id": "c1", "output": "7 h"},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seven."}]},
            ],
        }
    )
    assert [message.role for message in found] == ["system", "user", "assistant", "assistant", "tool", "assistant"]
    assert [message.text for message in found] == ["Be brief.", "How long?", "", "", "", "Seven."]
    assert found[2].thinking == "Hm."
    assert found[4].parts == (ToolResultPart(call_id="c1", name="find", text="7 h"),)
    assert found[5].model == "gpt-5"


FIND = {"name": "find", "args": {"q": 1}}
TOOL_CALLS: dict[str, list[Any]] = {
    "langchain": [
        {"type": "human", "data": {"content": "How long?"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{**FIND, "id": "c1"}]}},
        {"type": "tool", "data": {"content": "7 h", "tool_call_id": "c1"}},
    ],
    "langchain-serialized": [
        {"lc": 1, "id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "How long?"}},
        {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "", "tool_calls": [{**FIND, "id": "c1"}]}},
        {"lc": 1, "id": ["x", "ToolMessage"], "kwargs": {"content": "7 h", "tool_call_id": "c1"}},
    ],
    "ollama": [
        QUESTION,
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find", "arguments": {"q": 1}}}]},
        {"role": "tool", "content": "7 h", "tool_name": "find"},
    ],
    "openai": [
        QUESTION,
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "find", "arguments": '{"q": 1}'}}]},
        {"role": "tool", "content": "7 h", "tool_call_id": "c"},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "How long?"}]},
        {"role": "model", "parts": [{"functionCall": FIND}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": "7 h"}}]},
    ],
}


@pytest.mark.parametrize("form", TOOL_CALLS)
def test_a_tool_call_and_its_result_belong_together_in_each_form(form: str) -> None:
    asked, called, answered = messages(TOOL_CALLS[form])
    (call,), (result,) = called.parts, answered.parts
    assert isinstance(call, ToolCallPart)
    assert asked.text == "How long?"
    assert (call.name, call.arguments) == ("find", '{"q": 1}')
    assert result == ToolResultPart(call_id=call.call_id, name="find", text="7 h")


@pytest.mark.parametrize("form", ["ollama", "gemini"])
def test_results_without_ids_answer_the_calls_of_their_name_in_order(form: str) -> None:
    asked, called, answered = TOOL_CALLS[form]
    twice = {key: 2 * each if isinstance(each, list) else each for key, each in called.items()}
    found = messages([asked, called, answered, twice, answered, answered])
    for kind in (ToolCallPart, ToolResultPart):
        ids = [part.call_id for each in found for part in each.parts if isinstance(part, kind)]
        assert ids == ["call-1", "call-2", "call-3"]


def test_calls_without_a_result_and_results_without_a_call_are_left_out_and_counted() -> None:
    call = {"id": "c1", "function": {"name": "find", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "gone", "content": "7 h"}
    file = read([QUESTION, result, {"role": "assistant", "content": "Seven.", "tool_calls": [call]}])
    question, answer = file.conversations[0].messages.values()
    assert answer.parts == (TextPart(text="Seven."),)
    assert answer.parent_id == question.id
    assert file.tally.phrases() == ["2 parts left out: 1 stray tool result, 1 unanswered tool call"]


def test_a_compaction_block_archives_what_is_before_it() -> None:
    block = {"type": "compaction", "content": "Sleep: 7 h."}
    answers = [{"role": "assistant", "content": content} for content in ("Seven.", [block, "And now?"])]
    first, second, summary, answer = messages([QUESTION, *answers])
    assert summary.parts == (CompactionPart(number=1, summary="Sleep: 7 h.", archived=(first.id, second.id)),)
    assert (summary.role, summary.context_type) == ("system", "summary")
    assert (answer.role, answer.text) == ("assistant", "And now?")


@pytest.mark.parametrize(
    ("marked", "archived"),
    [
        ({"content": [{"type": "compaction", "content": "S.", "firstKeptEntryId": "b"}]}, "a"),
        ({"content": "S.", "context_type": "summary", "archived_ids": ["b"]}, "b"),
        ({"content": "S.", "isCompactSummary": True, "first_kept_id": "gone"}, "abc"),
    ],
)
def test_a_compaction_archives_what_it_says(marked: dict[str, Any], archived: str) -> None:
    before = [{"id": id_, "role": "user", "content": id_} for id_ in "abc"]
    found = messages([*before, {"role": "user", **marked}])
    (part,) = found[3].parts
    assert isinstance(part, CompactionPart)
    assert (found[3].role, found[3].context_type, part.summary) == ("system", "summary", "S.")
    assert [message.external_id for message in found if message.id in part.archived] == [*archived]


def test_entries_of_a_coding_agent_keep_their_boundary() -> None:
    lines = [
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "How long?"}},
        {"type": "message", "id": "b", "parentId": "a", "message": {"role": "user", "content": "Sure?"}},
        {"type": "compaction", "id": "c", "parentId": "b", "summary": "S.", "firstKeptEntryId": "b"},
        {"type": "message", "id": "d", "parentId": "c", "message": {"role": "assistant", "content": "Yes."}},
    ]
    first, _, marker, last = messages("\n".join(map(json.dumps, lines)))
    assert marker.parts == (CompactionPart(number=1, summary="S.", archived=(first.id,)),)
    assert (last.text, last.parent_id) == ("Yes.", marker.id)


@pytest.mark.parametrize(
    ("content", "thought", "text"),
    [
        ("<think>\nHm.\n</think>\n\nSeven.", "Hm.", "Seven."),
        ("<thinking>Hm.</thinking>Seven.", "Hm.", "Seven."),
        ("<think>Hm, cut", "Hm, cut", ""),
        ("One writes <think>so</think>.", "", "One writes <think>so</think>."),
        ([{"type": "think", "think": "Hm."}, "Seven."], "Hm.", "Seven."),
        ([{"text": "Hm.", "thought": True}, {"text": "Seven."}], "Hm.", "Seven."),
    ],
)
def test_thoughts_are_told_from_what_was_said(content: Any, thought: str, text: str) -> None:
    asked, answered = messages([{**QUESTION, "content": "<think>no</think>"}, {"role": "model", "content": content}])
    assert asked.text == "<think>no</think>"
    assert (answered.thinking, answered.text) == (thought, text)


@pytest.mark.parametrize(
    ("mark", "status"),
    [
        ({"status": "unfinished"}, "unfinished"),
        ({"truncated": True}, "unfinished"),
        ({"stop_reason": "MAX_TOKENS"}, "unfinished"),
        ({"incomplete_details": {"reason": "content_filter"}}, "unfinished"),
        ({"response_metadata": {"done_reason": "length"}}, "unfinished"),
        ({"status": "failed"}, "error"),
        ({"finish_reason": "stop", "truncated": False}, "complete"),
        ({"status": "finished_successfully"}, "complete"),
    ],
)
def test_how_an_answer_ended_is_kept(mark: dict[str, Any], status: str) -> None:
    asked, answered = messages([{**QUESTION, **mark}, {"role": "assistant", "content": "Sev", **mark}])
    assert (asked.status, answered.status) == ("complete", status)


def test_what_is_odd_beside_the_words_is_counted_and_the_message_kept() -> None:
    given: list[Any] = [1, 10, "high", "low", 11, 0, True, "urgent"]
    file = read([{**QUESTION, "priority": each} for each in given])
    found = file.conversations[0].messages.values()
    assert [message.priority for message in found] == [1, 10, 8, 3, 5, 5, 5, 5]
    assert file.tally.parts == {"unreadable priority": 4}
    timed = read([{**QUESTION, "timestamp": "soon"}, {**QUESTION, "timestamp": 10**30}])
    assert [message.created_at for message in timed.conversations[0].messages.values()] == [NOON, NOON]
    assert timed.tally.parts == {"unreadable time": 2}
    cited = {"type": "text", "text": "Seven.", "citations": [{"url": "https://example.org"}]}
    quoted = read([QUESTION, {"role": "assistant", "content": [cited], "annotations": [{}, {}]}])
    assert quoted.tally.phrases() == ["3 parts left out: 3 citations"]


@pytest.mark.parametrize(
    ("piece", "is_in_the_file"),
    [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, True),
        ({"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}, True),
        ({"inlineData": {"mimeType": "image/png", "data": PNG}}, True),
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, False),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}}, False),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "no base 64!"}}, False),
    ],
)
def test_an_image_is_taken_over_where_it_is_in_the_file_and_else_counted(piece: Any, is_in_the_file: bool) -> None:
    file = read([{"role": "user", "content": ["See", piece]}])
    (found,) = file.conversations[0].messages.values()
    image = ImagePart(name="image", media_type="image/png", data=PNG)
    assert found.parts == (TextPart(text="See"), image)[: 1 + is_in_the_file]
    assert file.tally.parts == ({} if is_in_the_file else {"image": 1})


def test_images_and_thoughts_of_ollama_are_read() -> None:
    asked, answered = messages(
        [{**QUESTION, "images": [PNG]}, {"role": "assistant", "content": "Seven.", "thinking": "Hm."}]
    )
    assert asked.parts == (TextPart(text="How long?"), ImagePart(name="image", media_type="image/png", data=PNG))
    assert answered.parts == (ThinkingPart(text="Hm."), TextPart(text="Seven."))


def test_a_message_that_cannot_be_read_does_not_stop_the_others() -> None:
    file = read([QUESTION, {"role": "king", "content": "Hi"}, {"role": "assistant", "content": "Seven."}])
    assert said(list(file.conversations[0].messages.values())) == [("user", "How long?"), ("assistant", "Seven.")]
    assert file.tally.phrases() == ["1 message left out"]
    assert file.tally.problems() == [
        "Message 2 has the role 'king', which is not one of user, assistant, system, tool."
    ]
    several = read([{"title": "A", "messages": [QUESTION, 5]}, {"messages": [QUESTION]}])
    assert several.tally.problems() == ["1 (“A”): Message 2 is not an object with a role and a content."]


def test_of_many_problems_the_first_are_named_and_the_others_counted() -> None:
    file = read([QUESTION, *range(2000)])
    assert file.tally.phrases() == ["2,000 messages left out"]
    assert len(file.tally.problems()) == 6
    assert file.tally.problems()[-1] == "… and 1,995 more; --json names them."
    assert len(file.tally.messages) == 1000


def test_messages_may_stand_one_on_each_line_and_a_byte_order_mark_before_them() -> None:
    lines = '\ufeff{"role": "user", "content": "Hi"}\n\n{"role": "assistant", "content": "Ho"}\n'
    assert said(messages(lines)) == [("user", "Hi"), ("assistant", "Ho")]


def test_all_conversations_of_a_list_are_read_and_a_bad_one_is_named() -> None:
    good = {"title": "A", "messages": [QUESTION]}
    file = read([good, {"title": "B", "messages": []}, 5, good, {"messages": [QUESTION]}])
    assert [imported.title for imported in file.conversations] == ["A", "How long?"]
    assert file.tally.conversation_count == 3
    assert file.tally.conversations == [
        "2 (“B”): It has no messages that can be read.",
        "3: It is not a conversation.",
        "4 (“A”): It is in the file twice.",
    ]


# zk-chat

LIGHT = {
    "role": "user",
    "content": "What of [[Light]]?",
    "references": [
        {"wikilink": "[[Light]]", "relative_path": "Health\\Light.md", "reference_type": "direct", "summary": None},
        {"wikilink": "[[Gone]]", "relative_path": None, "reference_type": "direct"},
        {"wikilink": "[[Out]]", "relative_path": "../../etc/passwd", "reference_type": "direct"},
    ],
    "timestamp": "2026-02-03T09:00:01",
    "tool_calls": None,
    "token_count": 5,
    "augmented_token_count": 40,
    "tool_tokens": None,
}
SUN = {"wikilink": "[[Sun]]", "relative_path": "Sun.md", "reference_type": "search", "context_snippet": "s"}
WAKES = {
    "role": "assistant",
    "content": "It wakes you.",
    "references": [SUN],
    "timestamp": None,
    "tool_calls": [{"id": "c1", "name": "read_document", "arguments": {"relative_path": "Sun.md"}}],
    "token_count": 4,
    "tool_tokens": 21,
}
SUMMARY = {"role": "system", "content": "[Previous conversation summary]: We spoke of [[Sleep]].", "timestamp": None}
ZK_CHAT = {
    "morning": {"messages": [SUMMARY, LIGHT, WAKES], "created_at": "2026-02-03T09:00:00", "last_updated": None},
    "evening": {"messages": [QUESTION], "created_at": "2026-02-03T21:00:00"},
}


def test_all_sessions_of_zk_chat_come_with_their_references_and_counts() -> None:
    file = read(ZK_CHAT)
    assert file.form == "zk-chat sessions"
    assert [imported.title for imported in file.conversations] == ["What of [[Light]]?", "How long?"]
    summary, asked, answered = file.conversations[0].messages.values()
    assert summary.parts == (CompactionPart(number=1, summary="We spoke of [[Sleep]]."),)
    assert asked.references == (
        DocumentReference(wikilink="[[Light]]", relative_path="Health/Light.md"),
        DocumentReference(wikilink="[[Gone]]", status="missing"),
        DocumentReference(wikilink="[[Out]]", status="missing"),
    )
    assert (asked.token_count, asked.augmented_token_count, asked.tool_tokens) == (5, 40, 0)
    assert answered.references == (
        DocumentReference(wikilink="[[Sun]]", relative_path="Sun.md", reference_type="search", snippet="s"),
    )
    assert (answered.token_count, answered.tool_tokens) == (4, 21)
    assert asked.created_at == datetime(2026, 2, 3, 9, 0, 1).astimezone()  # written without a zone
    assert file.tally.phrases() == ["1 part left out: 1 unanswered tool call"]


def test_a_number_of_tokens_beyond_all_reason_is_left_out() -> None:
    counts = (2**40 - 1, 2**40)
    found = [read({"m": {"messages": [{**LIGHT, "token_count": count}]}}).conversations[0] for count in counts]
    assert [said.token_count for each in found for said in each.messages.values()] == [2**40 - 1, 0]


@pytest.mark.parametrize(("content", "texts"), [(None, []), (["Be brief."], ["Be brief."])])
def test_an_instruction_of_zk_chat_need_not_be_text(content: object, texts: list[str]) -> None:
    (said,) = read({"m": {"messages": [{**SUMMARY, "content": content}, LIGHT]}}).conversations
    assert [message.text for message in said.messages.values()] == [*texts, "What of [[Light]]?"]


# ChatGPT


def node(id_: str, parent: str | None, *children: str, **message: Any) -> dict[str, Any]:
    role = message.pop("role", "user")
    content = message.pop("content", None)
    content = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    own = {"id": id_, "author": {"role": role, "name": message.pop("name", None)}, "content": content, **message}
    return {"id": id_, "parent": parent, "children": [*children], "message": own if content else None}


def chatgpt(*nodes: dict[str, Any], current: str) -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    return {"title": "Sleep", "conversation_id": "c-1", "mapping": mapping, "current_node": current}


def test_the_tree_of_chatgpt_becomes_a_session_with_its_branches() -> None:
    tree = chatgpt(
        node("root", None, "q1"),
        node("q1", "root", "a1", "a2", content="How long?", create_time=1683554160.5),
        node("a1", "q1", "q2", role="assistant", content="Seven.", metadata={"model_slug": "gpt-4o"}),
        node("a2", "q1", role="assistant", content="Eight."),
        node("q2", "a1", "a3", content="Sure?"),
        node("a3", "q2", role="assistant", content="Yes."),
        current="a3",
    )
    file = read([tree])
    (imported,) = file.conversations
    assert (file.form, imported.title) == ("ChatGPT export", "Sleep")
    texts = [message.text for message in imported.messages.values()]
    assert texts == ["How long?", "Seven.", "Sure?", "Yes.", "Eight."]
    found = thread(imported)
    assert said(found) == [("user", "How long?"), ("assistant", "Seven."), ("user", "Sure?"), ("assistant", "Yes.")]
    assert found[0].created_at == datetime(2023, 5, 8, 13, 56, 0, 500_000, tzinfo=UTC)
    assert (found[1].model, found[1].external_id) == ("gpt-4o", "a1")
    assert file.tally.phrases() == []


def test_tools_thoughts_and_media_of_chatgpt_are_read_or_counted() -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://x"}
    spoken = {"content_type": "audio_transcription", "text": "How many?", "direction": "in"}
    profile = {"content_type": "user_editable_context", "user_profile": "x"}
    question = {"content_type": "multimodal_text", "parts": [picture, sound, spoken]}
    attachments = {"attachments": [{"name": "a.png", "mime_type": "image/png"}, {"name": "b.pdf"}]}
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}
    code = {"content_type": "code", "text": "1 + 1"}
    output = {"content_type": "execution_output", "text": "2"}
    tree = chatgpt(
        node("s", None, "q1", role="system", content=profile),
        node("q1", "s", "t", content=question, metadata=attachments),
        node("t", "q1", "c", role="assistant", content=thoughts),
        node("c", "t", "r", role="assistant", recipient="python", content=code),
        node("r", "c", "a", role="tool", name="python", content=output),
        node("a", "r", role="assistant", recipient="all", content="Two."),
        current="a",
    )
    file = read([tree])
    asked, thought, call, result, answer = thread(file.conversations[0])
    assert (asked.text, thought.thinking, answer.text) == ("How many?", "Hm.", "Two.")
    assert call.parts == (ToolCallPart(call_id="c", name="python", arguments="1 + 1"),)
    assert result.parts == (ToolResultPart(call_id="c", name="python", text="2"),)
    assert file.tally.parts == {"image": 1, "audio recording": 1, "file": 1, "custom instruction": 1}


def test_each_branch_keeps_the_results_of_its_tools_and_several_results_of_a_call_are_one() -> None:
    def output(text: str) -> dict[str, str]:
        return {"content_type": "execution_output", "text": text}

    tree = chatgpt(
        node(
            "c", None, "r1", "r3", role="assistant", recipient="python", content={"content_type": "code", "text": "x"}
        ),
        node("r1", "c", "r2", role="tool", name="python", content=output("1")),
        node("r2", "r1", "a", role="tool", name="python", content=output("2")),
        node("a", "r2", role="assistant", content="Done."),
        node("r3", "c", role="tool", name="python", content=output("3")),
        current="a",
    )
    file = read([tree])
    (imported,) = file.conversations
    assert [message.parts[0] for message in imported.messages.values() if message.role == "tool"] == [
        ToolResultPart(call_id="c", name="python", text="1\n2"),
        ToolResultPart(call_id="c", name="python", text="3"),
    ]
    assert [message.role for message in thread(imported)] == ["assistant", "tool", "assistant"]
    assert file.tally.phrases() == []


def test_a_tree_with_a_circle_or_without_a_root_is_read_once() -> None:
    (imported,) = read(
        chatgpt(node("a", "b", "b", content="A"), node("b", "a", "a", content="B"), current="nowhere")
    ).conversations
    assert sorted(message.text for message in imported.messages.values()) == ["A", "B"]


# Claude


UNSUPPORTED = "```\nThis block is not supported on your current device yet.\n```\nSeven."


def test_an_export_of_claude_is_read_by_its_typed_content() -> None:
    question = {
        "uuid": "m1",
        "sender": "human",
        "text": "How long?",
        "content": [{"type": "text", "text": "How long?"}],
        "attachments": [{"file_name": "log.txt", "file_type": "txt", "extracted_content": "7 h"}],
        "files": [{"file_name": "log.txt"}, {"file_name": "photo.jpg"}],
    }
    content = [
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "search", "content": "7 h"},
        {"type": "text", "text": "Seven."},
        {"type": "token_budget"},
    ]
    answer = {"uuid": "m2", "sender": "assistant", "text": UNSUPPORTED, "content": content}
    file = read([{"uuid": "c-1", "name": "Sleep", "chat_messages": [question, answer]}])
    assert (file.form, file.conversations[0].title) == ("Claude export", "Sleep")
    asked, called, result, answered = thread(file.conversations[0])
    assert asked.parts == (TextPart(text="How long?"), FilePart(name="log.txt", text="7 h"))
    assert [part.kind for part in (*called.parts, *result.parts)] == ["tool_call", "tool_result"]
    assert answered.text == "Seven."
    assert answered.external_id == "m2"
    assert file.tally.parts == {"file": 1, "'token_budget' part": 1}


def test_a_placeholder_of_an_older_export_of_claude_is_not_taken_for_words() -> None:
    answer = {"sender": "assistant", "text": f"Well:\n{UNSUPPORTED}", "content": []}
    file = read({"uuid": "c", "name": "", "chat_messages": [answer]})
    assert said(list(file.conversations[0].messages.values())) == [("assistant", "Well:\nSeven.")]
    assert file.tally.parts == {"missing block": 1}


def test_usage_and_model_of_an_answer_are_kept() -> None:
    answer = {"role": "assistant", "content": "7", "model": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}
    (found,) = messages([answer])
    assert (found.model, found.usage) == ("m", TokenUsage(prompt_tokens=3, completion_tokens=1))


def test_the_same_file_gives_the_same_ids_and_another_one_others() -> None:
    (first,), (again,), (other,) = (read([{**QUESTION, "content": text}]).conversations for text in ("a", "a", "b"))
    assert (first.key, [*first.messages]) == (again.key, [*again.messages])
    assert first.key != other.key
    assert not {*first.messages} & {*other.messages}


def test_messages_with_one_id_are_told_apart() -> None:
    found = messages([{**QUESTION, "id": "1"}, {**QUESTION, "id": "1"}, {**QUESTION, "id": "1", "content": "Why?"}])
    assert len(found) == 3
    assert [message.parent_id for message in found] == [None, *(message.id for message in found[:2])]


def test_a_tree_that_grew_a_branch_in_the_middle_keeps_the_ids_of_its_messages() -> None:
    question, answer = node("q", None, "a", content="Why?"), node("a", "q", role="assistant", content="So.")
    (before,) = read(chatgpt(question, answer, current="a")).conversations
    other, edited = node("b", "q", role="assistant", content="Hm."), node("q", None, "b", "a", content="Why?")
    (after,) = read(chatgpt(edited, other, answer, current="b")).conversations
    assert before.key == after.key
    assert {*before.messages} < {*after.messages}
