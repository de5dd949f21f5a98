"""Any JSON can be imported, or is refused with a sentence; what is read and what is left out add up."""

import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat.core.errors import SessionError
from zkchat.core.message import ToolCallPart, ToolResultPart
from zkchat.sessions.session_import import ImportedFile, read_conversations

NOW = datetime(2026, 3, 1, tzinfo=UTC)

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
words = st.sampled_from(["", "Hi", "c1", "c2", "all", "python"])
kinds = st.sampled_from(
    [
        *("text", "thinking", "tool_use", "tool_result", "image", "compaction", "function_call", "document", "message"),
        *("think", "function_call_output", "image_url", "input_audio", "human", "ai", "strange"),
    ]
)
parts = st.fixed_dictionaries(
    {"type": kinds},
    optional={
        **dict.fromkeys(("text", "id", "name", "call_id", "tool_use_id", "content", "title"), words | anything),
        **dict.fromkeys(("input", "source", "output", "function", "summary"), anything),
    },
)
contents = words | st.lists(parts | words | anything, max_size=4) | anything
roles = st.sampled_from(["user", "assistant", "tool", "system", "human", "AI", "king"])
messages = st.fixed_dictionaries(
    {"role": roles, "content": contents},
    optional={
        **dict.fromkeys(("id", "parent", "tool_call_id", "name", "model"), words | anything),
        **dict.fromkeys(("timestamp", "created_at"), st.sampled_from(["2026-02-01", 1, 1e300, -1, "x"]) | anything),
        **dict.fromkeys(("references", "attachments", "files", "images", "usage", "metadata", "priority"), anything),
        **dict.fromkeys(("status", "finish_reason"), st.sampled_from(["length", "stop", "error"]) | anything),
        **dict.fromkeys(("isCompactSummary", "truncated"), st.booleans()),
        **dict.fromkeys(("archived_ids", "annotations", "context_type"), st.just("summary") | anything),
        "first_kept_id": words,
        "tool_calls": st.lists(parts, max_size=2) | anything,
        "references": st.lists(
            st.fixed_dictionaries({"wikilink": words | anything, "relative_path": words | anything}), max_size=2
        ),
    },
)
nodes = st.dictionaries(
    st.sampled_from("abcd"),
    st.fixed_dictionaries(
        {
            "parent": st.sampled_from([None, *"abcd"]),
            "children": st.lists(st.sampled_from("abcde"), max_size=3) | anything,
            "message": st.fixed_dictionaries(
                {
                    "author": st.fixed_dictionaries({"role": roles, "name": words | anything}),
                    "content": st.fixed_dictionaries({"content_type": kinds | words, "parts": contents}) | anything,
                },
                optional={"recipient": words, "create_time": anything, "metadata": anything},
            )
            | anything,
        }
    )
    | anything,
    max_size=4,
)
conversations = st.one_of(
    st.fixed_dictionaries(
        {"messages": st.lists(messages | anything, max_size=5)}, optional={"id": words, "title": words}
    ),
    st.fixed_dictionaries(
        {"mapping": nodes, "current_node": st.sampled_from("abcde") | anything}, optional={"id": words}
    ),
    st.fixed_dictionaries({"chat_messages": st.lists(messages | anything, max_size=4), "uuid": words | anything}),
)
files = st.one_of(
    anything,
    st.lists(messages | anything, max_size=6),
    conversations,
    st.lists(conversations | anything, max_size=4),
    st.dictionaries(words, conversations | anything, max_size=3),
)


def read(value: Any) -> ImportedFile | None:
    try:
        return read_conversations(json.dumps(value), now=NOW)
    except SessionError:
        return None


@given(value=files)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_is_read_or_refused(value: Any) -> None:
    file = read(value)
    if file is None:
        return
    for imported in file.conversations:
        found = imported.messages
        assert found
        assert imported.last_time <= NOW.replace(year=2028)
        order = [*found]
        for message in found.values():
            assert message.parts
            assert message.parent_id is None or order.index(message.parent_id) < order.index(message.id)


@given(listed=st.lists(conversations | anything, min_size=1, max_size=5))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_conversations_read_and_left_out_add_up(listed: list[Any]) -> None:
    file = read([{"id": "first", "messages": [{"role": "user", "content": "Hi"}]}, *listed])
    assert file is not None
    assert len(file.conversations) + file.tally.conversation_count == 1 + len(listed)


@given(listed=st.lists(messages, max_size=6))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_result_follows_its_call_and_every_call_has_a_result(listed: list[Any]) -> None:
    file = read([{"role": "user", "content": "Hi"}, *listed])
    assert file is not None
    (imported,) = file.conversations
    for message in imported.messages.values():
        results = {part.call_id for part in message.parts_of(ToolResultPart)}
        assert (message.role == "tool") == bool(results)
        caller = message
        while caller.role == "tool":  # Ends, for a thread begins with a question.
            caller = imported.messages[caller.parent_id or ""]
        assert results <= {part.call_id for part in caller.parts_of(ToolCallPart)}


@given(value=files)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_read_twice_has_the_same_ids(value: Any) -> None:
    first, second = read(value), read(value)
    assert (first is None) == (second is None)
    if first and second:
        assert [(each.key, [*each.messages]) for each in first.conversations] == [
            (each.key, [*each.messages]) for each in second.conversations
        ]
