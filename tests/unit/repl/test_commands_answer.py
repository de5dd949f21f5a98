"""Slash commands for what came of an answer: /refs /open /copy /save /export."""

import asyncio
import json

import pytest

from tests.support.desks import Workplace
from zkchat.model.message import DocumentReference, ToolCallPart
from zkchat.repl.commands import completions, run

SLEEP = DocumentReference(
    wikilink="[[Sleep]]", relative_path="body/Sleep.md", snippet="Adults need seven hours.", cited=True
)
BROKEN = DocumentReference(wikilink="[[Slep]]", status="missing", candidates=("Sleep",))


@pytest.fixture
def place() -> Workplace:
    place = Workplace()
    place.exchange("What is sleep?", "Rest. See [[Sleep]].", SLEEP, BROKEN)
    return place


def typed(place: Workplace, line: str) -> str:
    asyncio.run(run(place.desk, line))
    return place.surface.text


def test_refs_shows_the_documents_of_the_last_answer(place: Workplace) -> None:
    typed(place, "/refs")
    assert place.surface.shown_references == (SLEEP, BROKEN)


def test_refs_of_a_number_tells_where_why_and_what(place: Workplace) -> None:
    assert typed(place, "/refs 1") == "[[Sleep]]\nbody/Sleep.md\nlinked by you, cited\nAdults need seven hours."


def test_refs_of_a_broken_link_tells_the_closest_names(place: Workplace) -> None:
    assert typed(place, "/refs 2") == "[[Slep]]\nno such note, linked by you\nClosest: Sleep"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/refs 3", "There is no document 3: there are 2. /refs numbers them."),
        ("/refs 0", "There is no document 0: there are 2. /refs numbers them."),
        (f"/refs {'9' * 5_000}", "There is no document 999999999999: there are 2. /refs numbers them."),
        ("/open", "'' is not the number of a document. /refs numbers them."),
        ("/open ²", "'²' is not the number of a document. /refs numbers them."),
        ("/copy 9", "There is no message 9: there are 2. /history numbers them."),
        ("/open 2", "[[Slep]] leads to no note. Closest: Sleep"),
    ],
)
def test_a_wrong_number_is_answered_with_the_way_out(place: Workplace, line: str, told: str) -> None:
    assert typed(place, line) == told


def test_an_answer_without_documents_says_so(place: Workplace) -> None:
    place.exchange("And you?", "I rest.")
    assert typed(place, "/refs") == "The last answer rests on no documents."


def test_steps_on_the_way_to_an_answer_are_no_answers(place: Workplace) -> None:
    place.talk.add("user", "More?")
    place.talk.add("assistant", "Looking.", parts=[ToolCallPart(call_id="c", name="find", arguments="{}")])
    typed(place, "/refs")
    assert place.surface.shown_references == (SLEEP, BROKEN)


def test_a_document_that_is_gone_is_not_opened(place: Workplace) -> None:
    assert typed(place, "/open 1") == "body/Sleep.md is not there any more."
    assert not place.surface.opened


def test_a_path_that_leads_out_of_the_vault_is_not_opened(place: Workplace) -> None:
    place.exchange("And?", "See.", DocumentReference(wikilink="[[x]]", relative_path="../../etc/x.desktop"))
    assert typed(place, "/open 1") == "'../../etc/x.desktop' leads out of the vault."
    assert not place.surface.opened


def test_open_hands_the_document_to_the_desktop(place: Workplace) -> None:
    place.notes.create("body/Sleep.md", "")
    assert typed(place, "/open 1") == "Opened body/Sleep.md."
    assert place.surface.opened == ["file:///body/Sleep.md"]


def test_open_asks_before_it_hands_over_what_may_run(place: Workplace) -> None:
    place.notes.create("run.sh", "")
    place.exchange("And?", "See.", DocumentReference(wikilink="[[run.sh]]", relative_path="run.sh"))
    place.surface.says_yes = False
    assert typed(place, "/open 1") == "Nothing was opened."
    assert (place.surface.questions, place.surface.opened) == (["It may run. Open run.sh?"], [])
    place.surface.says_yes = True
    typed(place, "/open 1")
    assert place.surface.opened == ["file:///run.sh"]


def test_without_a_desktop_the_address_is_told(place: Workplace) -> None:
    place.notes.create("body/Sleep.md", "")
    place.surface.has_desktop = False
    assert typed(place, "/open 1") == "Nothing here can open it. It is at\nfile:///body/Sleep.md"


def test_copy_takes_the_last_answer_or_a_message(place: Workplace) -> None:
    typed(place, "/copy")
    typed(place, "/copy 1")
    assert place.surface.copied == ["Rest. See [[Sleep]].", "What is sleep?"]
    assert "20 characters" in place.surface.text


def test_what_no_clipboard_takes_is_printed_plainly(place: Workplace) -> None:
    place.surface.has_clipboard = False
    assert typed(place, "/copy") == "Rest. See [[Sleep]]."


def test_a_message_without_text_is_not_copied(place: Workplace) -> None:
    place.exchange("And?", "")
    assert typed(place, "/copy") == "That message has no text to copy."


def test_save_writes_the_answer_with_its_question_and_sources_after_a_yes(place: Workplace) -> None:
    assert typed(place, "/save [[Notes/On sleep]]") == "Notes/On sleep.md is in your vault now."
    assert place.surface.questions == ["Save the answer as Notes/On sleep.md?"]
    note = place.notes.files["Notes/On sleep.md"]
    assert note.startswith("---\nzkchat-note: answer\n")
    assert note.endswith("---\n# On sleep\n\n> What is sleep?\n\nRest. See [[Sleep]].\n\n## Sources\n\n- [[Sleep]]\n")


def test_without_a_yes_nothing_is_written(place: Workplace) -> None:
    place.surface.says_yes = False
    assert typed(place, "/save On sleep") == "Nothing was written."
    assert not place.notes.files


def test_save_without_a_name_is_named_by_the_question(place: Workplace) -> None:
    typed(place, "/save")
    typed(place, "/save")
    assert [*place.notes.files] == ["What is sleep.md", "What is sleep 2.md"]


def test_an_answer_that_nobody_asked_for_can_be_saved() -> None:
    place = Workplace()
    place.talk.add("assistant", "Hello.")
    typed(place, "/save")
    assert [*place.notes.files] == ["Answer.md"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/save [[Taken]]", "Taken.md is there already, and stays as it is. Choose another name."),
        ("/save [[Taken.md]]", "Taken.md is there already, and stays as it is. Choose another name."),
        ("/save ../out", "'../out.md' leads out of the vault."),
        ("/save [[Sleep#Night]]", "'Sleep#Night' cannot be the name of a note. Try [[Sleep Night]]."),
        ("/save a/b?", "'a/b?' cannot be the name of a note. Try [[a/b]]."),
        ("/export Taken.md", "Taken.md is there already, and stays as it is. Choose another name."),
        ("/export ../out.json", "'../out.json' leads out of the vault."),
    ],
)
def test_what_cannot_be_written_is_told_and_nothing_changes(place: Workplace, line: str, told: str) -> None:
    place.notes.create("Taken.md", "mine")
    assert typed(place, line) == told
    assert place.notes.files == {"Taken.md": "mine"}
    assert not place.surface.questions


def test_an_empty_answer_is_not_saved(place: Workplace) -> None:
    place.exchange("And?", " ")
    assert typed(place, "/save") == "The last answer has no text to save."


def test_export_writes_the_conversation_as_a_note(place: Workplace) -> None:
    place.store.titles["s1"] = "What is sleep?"
    assert typed(place, "/export") == "What is sleep.md is in your vault now."
    note = place.notes.files["What is sleep.md"]
    assert note.startswith("---\nzkchat-note: conversation\nsession: s1\n")
    assert "Sources: [[Sleep]]" in note


def test_export_to_a_json_file_is_complete(place: Workplace) -> None:
    typed(place, "/export talk.json")
    whole = json.loads(place.notes.files["talk.json"])
    assert [message["content"] for message in whole["messages"]] == ["What is sleep?", "Rest. See [[Sleep]]."]
    assert len(whole["entries"]) == 2


def test_a_file_without_an_ending_becomes_a_note(place: Workplace) -> None:
    typed(place, "/export talk")
    assert [*place.notes.files] == ["talk.md"]


def test_no_file_that_a_command_writes_holds_a_key_of_the_user(place: Workplace) -> None:
    place.exchange("My key is canary-of-the-test", "Keep canary-of-the-test to yourself.")
    for line in ("/save", "/export", "/export talk.json"):
        typed(place, line)
    assert len(place.notes.files) == 3
    for path, text in place.notes.files.items():
        assert "[redacted]" in text
        assert "canary" not in text, path


def test_numbers_of_documents_and_messages_are_completed(place: Workplace) -> None:
    assert completions(place.desk, "/open ") == ["1", "2"]
    assert completions(place.desk, "/refs 2") == ["2"]
    assert completions(place.desk, "/copy ") == ["2", "1"]
    assert completions(Workplace().desk, "/open ") == []
