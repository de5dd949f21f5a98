"""Slash commands for what came of an answer: /refs /more /copy /save /export."""

import json

import pytest

from tests.support.command_harness import CommandHarness
from tests.support.evidence import passage
from zkchat.chat.evidence_lookup import Page
from zkchat.chat.question import Question
from zkchat.core.message import DocumentReference, Evidence, ToolCallPart
from zkchat.repl.commands.table import completions

SLEEP = DocumentReference(
    wikilink="[[Sleep]]", relative_path="body/Sleep.md", snippet="Adults need seven hours.", cited=True
)
BROKEN = DocumentReference(wikilink="[[Slep]]", status="missing", candidates=("Sleep",))


@pytest.fixture
def harness() -> CommandHarness:
    harness = CommandHarness()
    harness.exchange("What is sleep?", "Rest. See [[Sleep]].", SLEEP, BROKEN)
    return harness


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/refs 3", "There is no source 3: there are 2. /sources shows the numbers."),
        (f"/refs {'9' * 5_000}", "There is no source 999999999999: there are 2. /sources shows the numbers."),
        ("/refs ²", "'²' is not the number of a source. /sources shows the numbers."),
        ("/copy 9", "There is no message 9: there are 2. /history shows the numbers."),
    ],
)
def test_a_wrong_number_is_answered_with_the_way_out(harness: CommandHarness, line: str, told: str) -> None:
    assert harness.typed(line) == told


def page(*passages: Evidence, after_linked: bool = False, left: int = 0) -> Page:
    question = Question.parse("What is sleep?")
    return Page(question=question, passages=passages, nearest=(), is_first=False, after_linked=after_linked, left=left)


def test_more_draws_further_passages_with_the_words_of_the_question_marked(harness: CommandHarness) -> None:
    harness.conversation.pages = [page(passage("Long sleep."), passage("Oak.", note="Beds"), left=2), page()]
    assert harness.typed("/more") == "/more shows 2 further passages."
    assert harness.surface.drawn == ["> Long sleep.\n\n— [[Sleep]]\n\n> Oak.\n\n— [[Beds]]\n"]
    assert "sleep" in harness.surface.marked
    assert harness.typed("/more").endswith("There are no more passages about this.")


def test_more_says_when_it_leaves_the_linked_notes(harness: CommandHarness) -> None:
    beds = passage("Oak.", note="Beds")
    harness.conversation.pages = [
        page(passage("Long.", linked=True), beds, after_linked=True),
        page(beds, after_linked=True),
    ]
    harness.typed("/more")
    harness.typed("/more")
    assert harness.surface.drawn == [
        "> Long.\n\n— [[Sleep]]\n\n*Elsewhere in your notes:*\n\n\n> Oak.\n\n— [[Beds]]\n",
        "\n*Elsewhere in your notes:*\n\n> Oak.\n\n— [[Beds]]\n",
    ]


def test_refs_shows_the_documents_of_the_last_answer_and_one_with_where_why_and_what(harness: CommandHarness) -> None:
    harness.conversation.add("user", "More?")
    looking = ToolCallPart(call_id="c", name="find", arguments="{}")
    harness.conversation.add("assistant", "Looking.", parts=[looking])  # a step on the way is no answer
    harness.typed("/refs")
    assert harness.surface.shown_references == (SLEEP, BROKEN)
    assert harness.typed("/refs 1") == "[[Sleep]]\nbody/Sleep.md\nlinked by you, cited\nAdults need seven hours."


def test_copy_takes_the_last_answer_or_a_message(harness: CommandHarness) -> None:
    harness.typed("/copy")
    harness.typed("/copy 1")
    assert harness.surface.copied == ["Rest. See [[Sleep]].", "What is sleep?"]
    assert "14 characters" in harness.surface.text


def test_save_writes_the_answer_with_its_question_and_sources_under_the_name_that_the_user_gives(
    harness: CommandHarness,
) -> None:
    assert harness.typed("/save [[Notes/On sleep]]") == "Saved as Notes/On sleep.md. /undo reverts it."
    assert harness.surface.questions == ["Save the answer as Notes/On sleep.md?"]
    note = harness.files["Notes/On sleep.md"]
    assert note.startswith("---\nzkchat-note: answer\n")
    assert note.endswith("---\n# On sleep\n\n> What is sleep?\n\nRest. See [[Sleep]].\n\n## Sources\n\n- [[Sleep]]\n")


def test_without_a_yes_nothing_is_written(harness: CommandHarness) -> None:
    harness.surface.says_yes = False
    assert harness.typed("/save Kept").startswith("Nothing was saved.")
    harness.surface.questions.clear()
    for line in ("/save", "/export"):
        assert harness.typed(line).endswith(f"Nothing was saved. To choose the name: {line} NAME")
    assert not harness.files
    assert harness.surface.questions == [
        "Save the answer as What is sleep.md?",
        "Save the conversation as Conversation.md?",
    ]
    harness.surface.says_yes = True
    harness.typed("/save")
    harness.typed("/save")
    harness.exchange("[[sleep]]", "Rest.", SLEEP)
    harness.typed("/save")
    assert [*harness.files] == ["What is sleep.md", "What is sleep 2.md", "sleep 2.md"], "none of a note that was used"


@pytest.mark.parametrize("line", ["/save Kept", "/export Kept"])
def test_what_was_saved_is_undone(harness: CommandHarness, line: str) -> None:
    harness.typed(line)
    (record,) = harness.changes.records()
    assert (record.origin.command, record.origin.session_id) == (line.split(maxsplit=1)[0], "s1")
    assert harness.typed("/undo").endswith("Kept.md is removed again.")
    assert not harness.files


def test_an_answer_stays_here_when_what_a_tool_gave_for_it_does() -> None:
    harness = CommandHarness()
    harness.conversation.add("user", "Which notes are there?")
    harness.conversation.add("tool", "- Diary.md", local=True)
    harness.conversation.add("assistant", "One.")
    harness.typed("/save")
    assert "zkchat: local\n" in harness.files["Which notes are there.md"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/save [[Taken]]", "Taken.md already exists, and was not changed. Choose another name."),
        ("/save ../out", "'../out.md' leads out of the vault."),
        ("/save [[Sleep#Night]]", "'Sleep#Night' cannot be the name of a note. Try [[Sleep Night]]."),
        ("/save a/b?", "'a/b?' cannot be the name of a note. Try [[a/b]]."),
        ("/export Taken.md", "Taken.md already exists, and was not changed. Choose another name."),
        ("/export ../out.json", "'../out.json' leads out of the vault."),
    ],
)
def test_what_cannot_be_written_is_shown_and_nothing_changes(harness: CommandHarness, line: str, told: str) -> None:
    harness.changes.files["Taken.md"] = b"mine"
    assert harness.typed(line) == told
    assert harness.files == {"Taken.md": "mine"}
    assert not harness.surface.questions


def test_export_writes_the_conversation_as_a_note_and_to_a_json_file_all_of_it(harness: CommandHarness) -> None:
    harness.store.titles["s1"] = "What is sleep?"
    assert harness.typed("/export") == "Saved as What is sleep.md. /undo reverts it."
    note = harness.files["What is sleep.md"]
    assert note.startswith("---\nzkchat-note: conversation\nsession: s1\n")
    assert "Sources: [[Sleep]]" in note
    harness.typed("/export conversation.json")
    whole = json.loads(harness.files["conversation.json"])
    assert [message["content"] for message in whole["messages"]] == ["What is sleep?", "Rest. See [[Sleep]]."]
    assert len(whole["entries"]) == 2


def test_no_file_that_a_command_writes_holds_a_key_of_the_user(harness: CommandHarness) -> None:
    harness.exchange("My key is canary-of-the-test", "Keep canary-of-the-test to yourself.")
    for line in ("/save", "/export", "/export conversation.json"):
        harness.typed(line)
    assert len(harness.files) == 3
    for path, text in harness.files.items():
        assert "[redacted]" in text
        assert "canary" not in text, path


def test_numbers_of_documents_and_messages_are_completed(harness: CommandHarness) -> None:
    assert completions(harness.context, "/open ") == ["1", "2"]
    assert completions(harness.context, "/refs 2") == ["2"]
    assert completions(harness.context, "/copy ") == ["2", "1"]
    assert completions(CommandHarness().context, "/open ") == []
