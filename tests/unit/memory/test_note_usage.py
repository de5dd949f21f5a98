from datetime import datetime, timedelta

from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.cli.memory import NoteUsage, note_uses
from zkchat.core.choices import ReferenceVia, Role, ToolName
from zkchat.core.message import ChatMessage, DocumentReference
from zkchat.core.profile import DocumentUse
from zkchat.core.session import Entry, MessageEntry, Session

SESSION = Session(id="s1", title="Sleep", created_at=NOON, updated_at=NOON)


def linked(path: str | None, **more: bool) -> DocumentReference:
    return replace(DocumentReference(wikilink=f"[[{path}]]", relative_path=path), **more)


def found(path: str, via: ReferenceVia | ToolName, *, included: bool = True, cited: bool = False) -> DocumentReference:
    return DocumentReference(
        wikilink="", relative_path=path, reference_type="search", via=via, included=included, cited=cited
    )


def message(number: int, role: Role, *references: DocumentReference) -> Entry:
    at = NOON + timedelta(minutes=number)
    body = MessageEntry(message=ChatMessage(id=f"m{number}", role=role, references=references, created_at=at))
    return Entry(session_id="s1", sequence=number, at=at, body=body)


def uses(*entries: Entry) -> list[tuple[str, str, str]]:
    return [(use.path, use.message_id, use.why) for use in note_uses(SESSION, entries)]


def test_a_note_counts_once_in_a_turn_and_again_in_the_next() -> None:
    (use,) = note_uses(SESSION, [message(1, "user", linked("A.md"))])
    assert (use.session_id, use.session_title, use.at) == ("s1", "Sleep", NOON + timedelta(minutes=1))
    turn = (message(1, "user", linked("A.md")), message(2, "assistant", linked("A.md", cited=True)))
    again = (message(3, "user", linked("A.md")), message(4, "assistant"))
    assert uses(*turn, *again) == [
        ("A.md", "m2", "linked in the message, cited in the answer"),
        ("A.md", "m3", "linked in the message"),
    ]


def test_notes_that_tools_and_evidence_brought_are_uses_and_say_by_what() -> None:
    answer = message(
        2,
        "assistant",
        found("A.md", ToolName("read_document")),
        found("B.md", "evidence", cited=True),
        found("C.md", ""),
        found("Unused.md", ToolName("find_excerpts"), included=False),
        linked(None),
    )
    assert uses(message(1, "user"), answer) == [
        ("A.md", "m2", "found by read_document"),
        ("B.md", "m2", "quoted as evidence, cited in the answer"),
        ("C.md", "m2", "found"),
    ]


def test_a_note_that_an_answer_links_without_having_been_given_it_is_no_use() -> None:
    claimed = found("A.md", "answer", included=False, cited=True)
    assert uses(message(1, "assistant", claimed)) == [("A.md", "m1", "found by answer, cited in the answer")]
    assert uses(message(1, "assistant", replace(claimed, unverified=True))) == []


def use(path: str, session: str, at: datetime = NOON) -> DocumentUse:
    return DocumentUse(path=path, session_id=session, session_title=f"About {session}", message_id="m", at=at, why="")


def tally_of(*uses: DocumentUse) -> NoteUsage:
    tally = NoteUsage()
    for each in uses:
        tally.add(each)
    return tally


def test_what_most_turns_used_comes_first_and_the_picture_has_every_note_conversation_and_line() -> None:
    later = NOON + timedelta(days=1)
    tally = tally_of(use("A.md", "s1"), use("A.md", "s1"), use("B.md", "s2", later), use("A.md", "s2"))
    assert [(note.path, note.turns, note.sessions, note.last_used) for note in tally.top(1)] == [("A.md", 3, 2, NOON)]
    graph = tally.graph()
    assert [note.path for note in graph.notes] == ["A.md", "B.md"]
    assert [(talk.session_id, talk.title, talk.notes) for talk in graph.talks] == [
        ("s2", "About s2", 2),
        ("s1", "About s1", 1),
    ]
    assert {(line.path, line.session_id): line.turns for line in graph.lines} == {
        ("A.md", "s1"): 2,
        ("B.md", "s2"): 1,
        ("A.md", "s2"): 1,
    }
    assert graph.left_out == 0


def test_a_picture_that_would_be_too_large_keeps_what_is_used_most_and_says_so() -> None:
    tally = tally_of(*(use(f"{number}.md", f"s{number}") for number in range(30)), use("29.md", "s29"))
    graph = tally.graph(most=10)
    assert len(graph.notes) + len(graph.talks) == 10
    assert graph.notes[0].path == "29.md"
    assert graph.left_out == 50
    names = {note.path for note in graph.notes}, {talk.session_id for talk in graph.talks}
    assert all(line.path in names[0] and line.session_id in names[1] for line in graph.lines)
