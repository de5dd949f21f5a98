"""Tool calls, warnings and compactions in words."""

import pytest
from msgspec.structs import replace

from tests.support.screens import an_answer
from zkchat.core.events import Compacting
from zkchat.core.message import CompactionPart, Condensed, TextPart
from zkchat.render import phrases


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"query": "sleep"}', 'find "sleep"'),
        ('{"query": "a=b", "limit": 4}', 'find "a=b" limit=4'),
        ('{"query": "日本"}', 'find "日本"'),
        ("{}", "find"),
        ("", "find"),
        ("[1, 2]", "find [1, 2]"),
        ('{"query": "sl', 'find {"query": "sl'),
        ("[" * 100_000, "find " + "[" * 54 + "…"),
        ('{"query": "\\u001b]0;title\\u0007"}', 'find "\\u001b]0;title\\u0007"'),
    ],
)
def test_a_tool_call_is_shown_whatever_the_model_wrote(arguments: str, expected: str) -> None:
    assert phrases.tool_call("find", arguments) == expected


def test_a_result_without_words_is_shown_too() -> None:
    assert phrases.tool_result("4 passages", failed=False) == "4 passages"
    assert phrases.tool_result("", failed=False) == "done"
    assert phrases.tool_result("", failed=True) == "failed"


def test_a_warning_has_its_way_out_on_a_line_of_its_own() -> None:
    assert phrases.warning("The index is old.", "Run zkchat index.") == (
        "warning: The index is old.\n         Run zkchat index."
    )
    assert phrases.warning("Careful.", "") == "warning: Careful."


def test_a_compaction_says_what_it_archived_and_freed() -> None:
    part = CompactionPart(number=2, summary="…", archived=("a", "b"), tokens_before=12_900, tokens_after=600)
    message = replace(an_answer(), parts=(TextPart(text="x"), part))
    assert phrases.compaction(message) == "Context compacted #2: 2 messages archived, ~12,300 tokens freed"


@pytest.mark.parametrize(
    ("condensed", "effect"),
    [
        ((Condensed(message_id="a", text="…"),), "1 message shortened"),
        (
            (Condensed(message_id="a", call_id="1", text="…"), Condensed(message_id="a", call_id="2", text="…")),
            "1 message shortened",
        ),
        (
            tuple(Condensed(message_id=id_, text="…", lacks_documents=True) for id_ in "abc"),
            "documents of 3 messages left out or shortened",
        ),
        (
            (Condensed(message_id="a", text="…", is_earlier=True), Condensed(message_id="b", text="…")),
            "1 message shortened",
        ),
        ((), "summary shortened"),
    ],
)
def test_a_compaction_that_archived_nothing_says_what_it_did(condensed: tuple[Condensed, ...], effect: str) -> None:
    part = CompactionPart(number=1, summary="…", condensed=condensed, tokens_before=900, tokens_after=600)
    marker = replace(an_answer(), parts=(part,))
    assert phrases.compaction(marker) == f"Context compacted #1: {effect}, ~300 tokens freed"


def test_making_room_without_archiving_is_not_called_summarising() -> None:
    assert phrases.notice(Compacting(messages=0, tokens=900)) == "Making room (900 tokens in the context) …"
    assert phrases.notice(Compacting(messages=1, tokens=900)).startswith("Summarising 1 older message (")
