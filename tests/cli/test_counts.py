"""Counts of tokens and time, as the user sees them: per call, per answer, per session, and how full the window is."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from typing import Any

import pytest

from tests.support.world import World

LONG = "Cats purr, and number {n} of them sleeps on the warm stove beside the old dog. " * 14
FULL = "The context is full. Older messages were not summarised"


@pytest.fixture(autouse=True)
def cats(world: World) -> None:
    world.note("Cats.md", "# Cats\n\nCats purr when they sleep.\n")


def clock() -> Iterator[datetime]:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    while True:
        yield (now := now + timedelta(seconds=1))


def long_answers(world: World, **more: Any) -> str:
    answers = [[{"text": LONG.format(n=number)}] for number in range(40)]
    return world.script(*answers, **{"context_limit": 2048, "calls_tools": False, **more})


def test_an_answer_tells_the_tokens_and_the_time_of_its_parts_and_calls(world: World) -> None:
    ticks = clock()
    world.now = lambda: next(ticks)
    call = {"tool": "find_excerpts", "arguments": {"query": "purring cats"}}
    usage = {"prompt_tokens": 900, "completion_tokens": 50, "thinking_tokens": 20}
    play = world.script(
        [{"thinking": "I should look."}, call],
        [
            {"thinking": "So they do."},
            {"thinking": " Always."},
            {"text": "They purr."},
            {"finish": "stop", "usage": usage},
        ],
    )
    assert world.run("ask", "Do cats purr?", "--model", play).code == 0
    turn = world.run("context", "show", "--json", "--message", "4").json["turn"]
    assert (turn["requests"], turn["estimated"]) == (2, 1)
    assert turn["completion_tokens"] > 50 + 5  # with the words and the call of the first step
    assert turn["thinking_tokens"] > 20
    assert turn["thinking_seconds"] >= 1
    [tool] = turn["tools"]
    assert (tool["name"], tool["calls"], tool["failed"]) == ("find_excerpts", 1, 0)
    assert tool["tokens"] >= 8  # its name counts as well
    assert tool["result_tokens"] > tool["tokens"]
    assert tool["seconds"] >= 1
    shown = world.run("context", "show", "--message", "4").out
    assert "Written" in shown
    assert "of them thinking" in shown
    assert "Tool calls" in shown
    assert "search (1 call, " in shown
    typed = world.run("chat", "-c", "--model", play, stdin="/context\n").out
    assert "search (1 call, " in typed
    assert "So far 2 requests sent" in typed


def test_the_totals_of_a_session_hold_what_was_archived_and_what_summaries_took(world: World) -> None:
    told = {"prompt_tokens": 700, "completion_tokens": 90}
    answers: list[list[dict[str, Any]]] = [
        [{"text": LONG.format(n=number)}, {"finish": "stop", "usage": told}] for number in range(30)
    ]
    play = world.script(*answers, context_limit=2048, calls_tools=False)
    world.run("chat", "--model", play, stdin="".join(f"Question {n} about cats?\n" for n in range(10)))
    found = world.run("context", "stats", "--model", play, "--json").json
    made = len(found["compactions"])
    assert found["archived"] > 0
    assert made > 0
    assert found["totals"]["requests"] == 10 + made
    assert found["totals"]["estimated"] == 0
    assert found["totals"]["prompt_tokens"] >= 700 * (10 + made)  # a summary may be asked for twice
    assert found["totals"]["completion_tokens"] >= 90 * (10 + made)
    assert f"So far {10 + made} requests sent" in world.run("context", "stats", "--model", play).out


def test_the_window_is_told_to_fill_once_at_each_mark_and_again_after_a_compaction(world: World) -> None:
    play = long_answers(world, context_limit=4096)
    asked = "".join(f"Question {n} about cats?\n" for n in range(24))
    said = world.run("chat", "--plain", "--model", play, stdin=asked).err
    before, between, *_ = said.split("older messages are now a summary")
    assert before.count("% full") == 2
    assert "The context is 6" in before
    assert "above 85 % older messages leave it" in before
    assert 1 <= between.count("% full") <= 2


def test_a_rule_that_takes_more_than_its_share_is_named_once(world: World) -> None:
    rules = world.home / ".config" / "zkchat" / "rules"
    rules.mkdir(parents=True)
    (rules / "Tone.md").write_text("---\ninclude: always\n---\n" + "Write as a friend would write to a friend. " * 40)
    play = long_answers(world)
    sentence = "more than their share of 153 (context.system_share). The largest rule is Tone, with"
    told = world.run("chat", "--plain", "--model", play, stdin="Do cats purr?\nAnd dogs?\n/context\n")
    assert told.err.count(sentence) == 1
    assert told.out.count(sentence) == 1
    assert sentence in world.run("context", "stats", "--model", play).out


def test_tools_without_room_in_their_share_are_counted(world: World) -> None:
    play = long_answers(world, calls_tools=True)
    world.run("ask", "Do cats purr?", "--model", play)
    sentence = "as tools may take only 460 tokens (context.tools_share)."
    assert sentence in world.run("context", "show", "--message", "2").out
    assert sentence in world.run("context", "stats", "--model", play).out


def test_in_a_pipe_nothing_is_compacted_unasked_where_the_user_is_to_be_asked(world: World) -> None:
    world.configure("[context]\nconfirm_compaction = true\nthreshold = 0.5\n")
    play = long_answers(world)
    runs = [world.run("ask", "-c", f"Question {n} about cats?", "--model", play, stdin="") for n in range(8)]
    assert any(FULL in run.err and run.code == 0 for run in runs)
    assert "zkchat context compact makes room now" in "".join(run.err for run in runs)
    assert runs[-1].code == 2
    assert "The context is full: this request takes" in runs[-1].err
    assert world.run("context", "stats", "--model", play, "--json").json["compactions"] == []
    assert world.run("context", "compact", "--model", play).code == 0
    assert world.run("ask", "-c", "And now?", "--model", play, stdin="").code == 0


def test_an_unfinished_answer_is_marked_where_the_session_is_shown(world: World) -> None:
    play = world.script([{"text": "Cats purr, and"}], [{"error": "The server is gone."}], cut=False)
    world.run("ask", "-c", "Do cats purr?", "--model", play)
    world.run("ask", "-c", "And dogs?", "--model", play)
    cut = world.script([{"text": "one"}], [{"text": "They"}, {"error": "The server is gone."}])
    world.run("ask", "-c", "And birds?", "--model", cut)
    shown = world.run("context", "show").out
    assert "assistant: Cats purr, and\n" in shown
    assert "assistant: They  (unfinished: The server is gone.)\n" in shown


@pytest.mark.parametrize(
    ("strategy", "length", "has_tools"),  # they take a third of what there is for messages, and are called in each turn
    [("hybrid", 700, False), ("summarize", 300, True), ("discard", 300, True)],
)
def test_in_a_window_of_2048_tokens_four_turns_pass_between_two_compactions(
    world: World, strategy: str, length: int, has_tools: bool
) -> None:
    world.configure(f'[context]\nstrategy = "{strategy}"\n')
    world.note("Cats.md", "".join(f"## Part {n}\n\n{LONG.format(n=n)[:280]}\n\n" for n in range(1 + 7 * has_tools)))
    call = [{"tool": "find_excerpts", "arguments": {"query": "cats sleep"}}]
    answers = [[call] * has_tools + [[{"text": LONG.format(n=number)[:length]}]] for number in range(40)]
    play = world.script(*chain.from_iterable(answers), context_limit=2048, calls_tools=has_tools)
    asked = "".join(f"Question {n} about cats and how they sleep?\n" for n in range(17))
    said = world.run("chat", "--plain", "--model", play, typed=asked, terminal=True).err
    assert max(part.count("The context is 6") for part in said.split("/uncompact")) == 1
    session = world.run("context", "show", "--json").json["session"]["id"]
    messages = world.run("sessions", "show", session, "--json").json["messages"]
    roles = ["compaction" if each["context_type"] == "summary" else each["role"] for each in messages]
    places = [roles[:place].count("user") for place, role in enumerate(roles) if role == "compaction"]
    assert len(places) > 2
    assert min(later - earlier for earlier, later in pairwise(places)) >= 4


def test_what_is_recalled_after_a_compaction_takes_the_place_of_no_linked_note(world: World) -> None:
    world.note("Dogs.md", "".join(f"Dogs of kind {n} bark at the moon and dig for bones.\n" for n in range(155)))
    told = "Number {n}: cats sleep for {n} hours, in the sun and on books, and the tail of cat {n} is long. " * 9
    answers = [[{"text": told.format(n=number)}] for number in range(3, 11)]
    play = world.script(*answers, context_limit=4096, calls_tools=False)
    for number in range(6):
        world.run("ask", "-c", f"What of cat {number} and its tail?", "--model", play)
    world.run("context", "compact", "--keep", "2", "--model", play)
    for question in ("What does [[Dogs]] say?", "How long do cats 3, 4, 5 and 6 sleep in the sun, and cat 7 on books?"):
        world.run("ask", "-c", question, "--model", play)
    sent = [each["type"] for each in world.run("context", "show", "--message", "15", "--json").json["items"]]
    assert ("reference" in sent, "recall" in sent) == (True, True)


def test_a_summary_has_as_much_detail_as_the_user_wants(world: World) -> None:
    play = long_answers(world, context_limit=8192)
    world.run("chat", "--model", play, stdin="".join(f"Question {n} about {n} cats?\n" for n in range(8)))
    world.configure("[context]\nmax_tokens = 2048\n")

    def tokens(*options: str) -> int:
        command = ("context", "compact", "--dry-run", "--keep", "2", "--model", "quote", "--json", *options)
        return len(world.run(*command).json["compaction"]["summary"])

    assert tokens("--detail", "brief") < tokens() == tokens("--detail", "normal") == tokens("--detail", "full")
    world.configure('[context]\nmax_tokens = 2048\nsummary_detail = "brief"\n')
    assert tokens() < tokens("--detail", "normal")
    assert world.run("context", "compact", "--detail", "long").code == 2


def test_what_the_user_decides_is_kept_word_for_word_by_itself(world: World) -> None:
    answers = [[{"text": LONG.format(n=number)[:400]}] for number in range(60)]
    play = world.script(*answers, context_limit=2048, calls_tools=False)
    said = ["We decided on Heron.", "My dentist is Novak.", "Is a cat a fish?", "Remember: it is due in June."]
    world.run("chat", "--model", play, stdin="\n".join([*said, *(f"Question {n}?" for n in range(14)), ""]))
    shown = world.run("context", "show").out
    assert "Context compacted #1" in shown
    assert "user: Remember: it is due in June.  (priority 8)" in shown
    assert "Is a cat a fish?" not in shown
    assert "Priority 8: 1, 3, 7" in world.run("chat", "-c", "--model", play, stdin="/stats\n").out


def test_without_a_model_the_context_tells_what_one_would_get(world: World) -> None:
    world.note("Cats.md", "Cats purr when they are content.\n")
    typed = world.run("chat", "--model", "quote", stdin="Do cats purr?\n/context\n").out
    assert re.search(r"A model would get 2 messages, about \d\d tokens\. /model chooses one\.", typed)
