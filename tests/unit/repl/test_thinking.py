"""Ctrl-T: what it prints, and how the answers to come show their thinking."""

import pytest

from tests.support.command_harness import CommandHarness
from zkchat.cli.interactive_chat import ThinkingToggle
from zkchat.core.choices import ThinkingView
from zkchat.core.message import TextPart, ThinkingPart


def test_the_thinking_of_the_last_answer_is_shown_and_then_folded_again() -> None:
    harness = CommandHarness()
    harness.exchange("Why?", "", parts=[ThinkingPart(text="An old thought."), TextPart(text="So.")])
    harness.conversation.add("user", "And now?")
    harness.conversation.add("assistant", "", parts=[ThinkingPart(text=" First.\n"), TextPart(text="I look.")])
    harness.conversation.add("assistant", "", parts=[ThinkingPart(text="Second."), TextPart(text="Done.")])
    toggle = ThinkingToggle("folded")
    toggle.toggle(harness.conversation.messages, harness.surface)
    assert harness.surface.lines == [
        "Thinking of the last answer:\nFirst.\n\nSecond.\n",
        "Thinking is now shown; Ctrl-T hides it.",
    ]
    toggle.toggle(harness.conversation.messages, harness.surface)
    assert harness.surface.lines[2:] == ["Thinking is now folded; Ctrl-T shows it."]


@pytest.mark.parametrize(
    ("setting", "views"),
    [("folded", ["shown", "folded"]), ("hidden", ["shown", "hidden"]), ("shown", ["folded", "shown"])],
)
def test_toggling_twice_returns_to_the_setting_or_its_opposite(
    setting: ThinkingView, views: list[ThinkingView]
) -> None:
    harness, toggle = CommandHarness(), ThinkingToggle(setting)
    for view in views:
        toggle.toggle([], harness.surface)
        assert toggle.view == view
    assert "Thinking of the last answer" not in harness.surface.text


def test_what_was_switched_during_a_turn_is_said_once_after_it() -> None:
    harness, toggle = CommandHarness(), ThinkingToggle("folded")
    toggle.announce(harness.surface)
    toggle.switch()
    toggle.announce(harness.surface)
    toggle.announce(harness.surface)
    toggle.switch()
    toggle.switch()
    toggle.announce(harness.surface)
    assert harness.surface.lines == ["Thinking is now shown; Ctrl-T hides it."]
