import io
from typing import Any

import pytest

from tests.support.screens import Clock, a_usage, an_answer, on_screen, terminal, written
from zkchat.core.choices import ThinkingView, TokenUsage
from zkchat.core.events import (
    AnswerReplaced,
    Event,
    LinksResolved,
    PromptReady,
    Remarked,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UsageReported,
    Warned,
)
from zkchat.core.message import RequestContext
from zkchat.render.console import console_for
from zkchat.render.presenters.screen import ScreenPresenter
from zkchat.render.presenters.text import Presenter


def shown(*events: Event, thinking: ThinkingView = "folded", width: int = 80, **options: Any) -> list[str]:
    """What is on the screen when these events came, one in a second, and the presenter was closed."""
    console, clock = terminal(width, height=60), Clock()
    presenter: Presenter = ScreenPresenter(console, console, thinking=lambda: thinking, clock=clock, **options)
    for event in events:
        clock.now += 1
        presenter.show(event)
    presenter.close()
    return on_screen(written(console), width, height=60)


def test_remarks_stand_where_they_belong() -> None:
    rows = shown(
        Remarked(text="No passage answers this for certain. The closest:"),
        TextDelta(text="> a\n\n— [[A]]\n"),
        Remarked(text="Elsewhere in your notes:"),
        TextDelta(text="\n> b\n\n— [[B]]\n"),
    )
    assert rows == [
        "No passage answers this for certain. The closest:",
        "",
        "▌ a",
        "— A",
        "",
        "Elsewhere in your notes:",
        "",
        "▌ b",
        "— B",
    ]


def a_call(number: int, *, failed: bool = False) -> tuple[Event, Event]:
    """A tool call and its result."""
    query = f'{{"query": "words of question {number}", "limit": 4}}'
    result = "there is nothing on this" if failed else f"{number} passages"
    return (
        ToolStarted(call_id=str(number), name="find_excerpts", arguments=query),
        ToolFinished(call_id=str(number), name="find_excerpts", summary=result, failed=failed),
    )


def test_while_a_tool_runs_its_call_and_the_last_thoughts_are_shown() -> None:
    console, clock = terminal(height=20), Clock()
    presenter: Presenter = ScreenPresenter(console, console, clock=clock)

    def rows_after(event: Event) -> list[str]:
        clock.now += 1
        presenter.show(event)
        return on_screen(written(console), height=20)

    started, finished = a_call(1)
    assert rows_after(ThinkingDelta(text="one\ntwo\nthree\nfour\n")) == ["two", "three", "four"]
    assert rows_after(started) == ['⌕ thought for 1 s · search "words of question 1" limit=4 …']
    assert rows_after(finished)[0].endswith("→ 1 passages")
    assert rows_after(ThinkingDelta(text="five"))[1:] == ["five"]
    assert rows_after(TextDelta(text="So."))[-1] == "So."


def test_a_full_thought_stays_above_the_answer_and_a_hidden_one_nowhere() -> None:
    thoughts = [ThinkingDelta(text="one\ntwo"), ThinkingDelta(text=" and more\nthree"), ThinkingDelta(text="\n")]
    answer = TextDelta(text="So.")
    assert shown(*thoughts, answer, thinking="shown") == ["one", "two and more", "three", "", "So."]
    assert shown(*thoughts, answer, thinking="hidden") == ["So."]


def test_a_thought_that_is_unfolded_while_it_comes_is_drawn_whole_and_folded_again_goes_on_below() -> None:
    console, clock = terminal(height=60), Clock()
    view: ThinkingView = "folded"
    presenter = ScreenPresenter(console, console, thinking=lambda: view, clock=clock)
    views: list[ThinkingView] = ["folded", "folded", "shown", "shown", "folded"]
    for number, view in enumerate(views):  # noqa: B007
        clock.now += 1
        presenter.show(ThinkingDelta(text=f"thought {number}\n"))
    presenter.show(TextDelta(text="So."))
    presenter.close()
    rows = on_screen(written(console), height=60)
    assert rows == [*(f"thought {number}" for number in range(4)), "… thought for 4 s", "", "So."]


def test_warnings_wait_until_the_sentence_is_over() -> None:
    rows = shown(
        Warned(text="First."),
        TextDelta(text="An "),
        Warned(text="Second.", hint="Look."),
        TextDelta(text="answer."),
    )
    assert rows == ["warning: First.", "An answer.", "warning: Second.", "         Look."]


def test_on_a_dumb_terminal_the_same_is_shown_without_moving_the_cursor() -> None:
    stream = io.StringIO()
    console = console_for(stream, is_tty=True, variables={"TERM": "dumb", "COLUMNS": "80"})
    presenter = ScreenPresenter(console, console)
    for event in (
        ThinkingDelta(text="hmm"),
        ToolStarted(call_id="1", name="find", arguments="{}"),
        ToolFinished(call_id="1", name="find", summary="4 passages"),
        TextDelta(text="Sleep **we"),
        TextDelta(text=""),
        TextDelta(text="ll**."),
        TurnFinished(message=an_answer(), usage=a_usage()),
    ):
        presenter.show(event)
    text = stream.getvalue()
    assert "\x1b" not in text
    assert text.startswith("… thought for 0 s\n⌕ find → 4 passages\n\nSleep **well**.\n\n")


def test_while_the_model_is_silent_the_time_is_shown_and_then_gone() -> None:
    console, clock = terminal(height=20), Clock()
    presenter: Presenter = ScreenPresenter(console, console, clock=clock)

    def rows_after(*events: Event, activity: str = "") -> list[str]:
        for event in events:
            presenter.show(event)
        clock.now += 3
        presenter.tick(activity)
        return on_screen(written(console), height=20)

    call = ToolStarted(call_id="1", name="find_excerpts", arguments='{"query": "sleep"}')
    found = ToolFinished(call_id="1", name="find_excerpts", summary="4 passages")

    def waiting(awaited: str, seconds: int) -> str:
        return f"… waiting for {awaited}, {seconds} s; Ctrl-C stops it"

    assert rows_after(activity="indexing notes 7 / 90") == ["… indexing notes 7 / 90, 3 s; Ctrl-C stops it"]
    assert rows_after(LinksResolved(references=())) == ["… getting ready, 6 s; Ctrl-C stops it"]
    assert rows_after(PromptReady(message_id="u1", usage=a_usage())) == [waiting("the model", 3)]
    assert rows_after() == [waiting("the model", 6)]
    assert rows_after(call) == ['⌕ search "sleep" …', "… working, 3 s; Ctrl-C stops it"]
    other = ToolStarted(call_id="2", name="recall", arguments="")
    forgotten = ToolFinished(call_id="2", name="recall", summary="nothing")
    assert rows_after(other, forgotten) == ['⌕ recall → nothing · search "sleep" …', "… working, 3 s; Ctrl-C stops it"]
    done = ['⌕ recall → nothing · search "sleep" → 4 passages']
    assert rows_after(found) == [*done, waiting("the model", 3)]
    assert rows_after(Warned(text="Slow."), UsageReported(usage=TokenUsage())) == [*done, waiting("the model", 6)]
    presenter.show(TextDelta(text="So."))
    presenter.tick()
    presenter.close()
    assert "waiting" not in "".join(on_screen(written(console), height=20))


@pytest.mark.parametrize("came", ["Ask [[Sleep", "Ask\n- [", "Ask\n%%\nlater", "Ask\n***"])
def test_an_answer_that_stalls_shows_all_that_came_and_how_long_it_has_been_silent(came: str) -> None:
    console, clock = terminal(height=20), Clock()
    presenter: Presenter = ScreenPresenter(console, console, clock=clock)
    for character in came:
        presenter.show(TextDelta(text=character))
        clock.now += 0.01
    presenter.tick()
    assert "waiting" not in "".join(on_screen(written(console), height=20))
    clock.now += 12
    presenter.tick()
    *answer, last = on_screen(written(console), height=20)
    assert last == "… waiting for the model, 12 s; Ctrl-C stops it"
    for word in came.split():
        assert word in " ".join(answer) or word in {"-", "***"}
    presenter.show(TextDelta(text="\n\nSo."))
    presenter.close()
    assert "waiting" not in "".join(on_screen(written(console), height=20))


@pytest.mark.parametrize("thinking", ["folded", "shown"])
def test_a_thought_that_stalls_shows_all_that_came(thinking: ThinkingView) -> None:
    console, clock = terminal(height=20), Clock()
    presenter: Presenter = ScreenPresenter(console, console, thinking=lambda: thinking, clock=clock)
    presenter.show(ThinkingDelta(text="One "))
    presenter.show(ThinkingDelta(text="and two"))
    clock.now += 2
    presenter.tick()
    assert on_screen(written(console), height=20) == ["One and two", "… waiting for the model, 2 s; Ctrl-C stops it"]


@pytest.mark.parametrize(
    ("again", "marks"),
    [(PromptReady(message_id="m1", usage=a_usage()), ["● zkchat"]), (AnswerReplaced(message_id="a"), [])],
)
def test_a_second_answer_stands_apart_with_the_reason_between_them(again: Event, marks: list[str]) -> None:
    rows = shown(TextDelta(text="Four."), Warned(text="It said four."), again, TextDelta(text="Two."), is_marked=True)
    assert [row for row in rows if row] == ["● zkchat", "Four.", "warning: It said four.", *marks, "Two."]


def test_the_mark_names_the_agent_that_answers() -> None:
    ready = PromptReady(message_id="m1", usage=a_usage(), context=RequestContext(agent="librarian"))
    assert shown(ready, TextDelta(text="Here."), is_marked=True) == ["● librarian", "Here."]
    assert shown(TextDelta(text="Here."), is_marked=True)[0] == "● zkchat"


def test_a_long_result_is_cut_at_twice_the_length_of_the_longest_arguments() -> None:
    found = ToolFinished(call_id="1", name="find", summary="x" * 200)
    assert shown(found, TextDelta(text="So."), width=300)[0] == f"⌕ find → {'x' * 119}…"
