from pathlib import Path

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from zkchat.repl.commands.places import complete_answer_number

NOTES = {"Sleep.md": "# Sleep\n\nAdults need seven hours of sleep.\n", "Tea.md": "# Tea\n\nTea is mild.\n"}


def test_the_last_answer_or_a_numbered_one_is_checked_and_its_places_can_be_shown(tmp_path: Path) -> None:
    with library_of(tmp_path, NOTES) as library:
        harness = CommandHarness(library=library)
        assert harness.typed("/verify").splitlines() == ["There is no answer yet. Ask something first."]
        harness.exchange("Tea?", "Tea is mild.")
        harness.exchange("Sleep?", "Sure! Owls read newspapers. Adults need eight hours of sleep.")
        assert harness.typed("/verify").splitlines() == [
            "1. ? Owls read newspapers. (unsupported: no note says this)",
            "2. ✗ Adults need eight hours of sleep. (contradicted: another number · Sleep.md:3)",
            "   “Adults need seven hours of sleep.”",
            "0 of 2 statements are in your notes, 1 contradicts them, 1 is not there.",
            "/show N reads entry N, /open N opens it.",
        ]
        assert harness.typed("/show 2").splitlines()[0] == "Sleep"
        assert "No note says it." in " ".join(harness.typed("/show 1").splitlines())
        assert harness.typed("/verify 2").splitlines()[0] == "1. ✓ Tea is mild. (quoted · Tea.md:3)"
        assert harness.typed("/verify 1").splitlines() == [
            "Message 1 is your own message. The answer after it is message 2."
        ]
        assert harness.typed("/verify 9").splitlines() == [
            "There is no message 9: there are 4. /history shows the numbers."
        ]
        harness.conversation.add("user", "And?")
        assert harness.typed("/verify 5").splitlines() == ["Message 5 is your own message. /history shows the numbers."]
        assert complete_answer_number(harness.context, "") == ["4", "2"]
        harness.conversation.add("assistant", "Sure! What else?")
        assert harness.typed("/verify").splitlines() == ["The text has no statements to compare with your notes."]
