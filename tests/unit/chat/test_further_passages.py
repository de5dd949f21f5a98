from pathlib import Path

import pytest

from tests.support.conversations import conversation_over, events_of, scripted
from zkchat.chat.conversation import Conversation
from zkchat.chat.evidence_lookup import look_up
from zkchat.chat.question import Question
from zkchat.core.errors import UsageError
from zkchat.core.events import EvidenceFound
from zkchat.core.message import DEFAULT_LIMIT, DocumentReference, Evidence
from zkchat.index.library import Library
from zkchat.models.quote import Quote

NOTES = {f"Walk {n}.md": f"# Walk {n}\n\nThe harbour walk takes {n} hours.\n" for n in range(1, 15)}
QUESTION = "How long does the harbour walk take?"


def asked(talk: Conversation, text: str = QUESTION) -> list[Evidence]:
    """What the answer to the question quotes."""
    return [
        found for event in events_of(talk.say(text)) if isinstance(event, EvidenceFound) for found in event.evidence
    ]


def test_they_go_on_where_the_answer_ended_and_each_page_says_how_many_follow(library: Library) -> None:
    talk = conversation_over(library, provider=Quote())
    shown = asked(talk)
    assert 0 < len(shown) <= DEFAULT_LIMIT
    expected = min(talk.further_passages.left, 5)
    while (page := talk.next_passages()).passages:
        assert 0 < len(page.passages) == expected
        shown += page.passages
        expected = page.left
        assert expected == min(talk.further_passages.left, 5)
    assert expected == 0
    assert len({found.relative_path for found in shown}) == len(shown) > 5 + DEFAULT_LIMIT


def test_with_a_model_they_begin_with_the_best(library: Library) -> None:
    best = asked(conversation_over(library, provider=Quote()))
    talk = conversation_over(library, provider=scripted([[{"text": "Long."}]]))
    events_of(talk.say(QUESTION))
    assert talk.further_passages.read == 0
    page = talk.next_passages()
    assert page.is_first
    assert page.passages[: len(best)] == tuple(best)


def test_after_the_lines_of_a_file_come_those_of_the_notes_from_the_first_on(
    own_library: Library, tmp_path: Path
) -> None:
    (tmp_path / "vault" / "log.txt").write_text("The harbour walk takes 99 hours.\n")
    own_library.refresh()
    question, file = Question.parse(QUESTION), [DocumentReference(wikilink="@log.txt", relative_path="log.txt")]
    first = look_up(own_library, question, file)
    assert [found.relative_path for found in first.evidence] == ["log.txt"]
    assert look_up(own_library, question, file, skip=1).evidence == look_up(own_library, question, ()).evidence


def test_they_are_said_to_follow_those_of_a_linked_note(library: Library) -> None:
    talk = conversation_over(library, provider=Quote())
    assert all(found.linked for found in asked(talk, "How long does the harbour walk of [[Walk 3]] take?")[:1])
    assert talk.next_passages().after_linked
    asked(talk)
    assert not talk.next_passages().after_linked


def test_what_the_notes_do_not_speak_of_has_none(library: Library) -> None:
    talk = conversation_over(library, provider=Quote())
    assert (talk.further_passages.read, talk.further_passages.left) == (0, 0)
    with pytest.raises(UsageError, match="no question"):
        talk.next_passages()
    asked(talk, "Who won the chess championship?")
    page = talk.next_passages()
    assert (page.passages, page.is_first, page.left) == ((), True, 0)
    assert (talk.further_passages.read, talk.further_passages.left) == (0, 0)
