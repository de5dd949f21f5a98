from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.acp.session import ClientChangeReviewer, replay
from zkchat.acp.updates import NotePlaces, TurnUpdates
from zkchat.core.changes import ChangeSet, FileMove, FileWrite
from zkchat.core.choices import ContextUsage
from zkchat.core.events import (
    AnswerReplaced,
    ChangesReviewed,
    Event,
    Goal,
    GoalStep,
    PromptReady,
    Remarked,
    ResourceRead,
    StepFinished,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Warned,
)
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    DocumentReference,
    FilePart,
    LineRange,
    TextPart,
    ToolResultPart,
)
from zkchat.hosting import ASKED_AGAIN, REPLACED

PLACES = NotePlaces(Path("/vault"))
USAGE = ContextUsage(window=100, messages=7)
READY = PromptReady(message_id="m1", usage=USAGE)


def of(*events: Event) -> list[Any]:
    turn = TurnUpdates(PLACES, ClientChangeReviewer(cast("Any", None), PLACES))
    return [update for event in events for update in turn.of(event)]


def text_of(*events: Event) -> str:
    return "".join(getattr(getattr(update, "content", None), "text", "") for update in of(*events))


def an_answer(*references: DocumentReference) -> TurnFinished:
    message = ChatMessage(id="a", role="assistant", created_at=NOON, references=references)
    return TurnFinished(message=message, usage=USAGE)


def test_an_answer_that_takes_the_place_of_another_is_set_apart() -> None:
    assert ASKED_AGAIN in text_of(READY, TextDelta(text="Perhaps."), READY, TextDelta(text="Seven."))
    assert REPLACED in text_of(READY, TextDelta(text="Ten."), AnswerReplaced(message_id="m2"))
    call = ToolStarted(call_id="1", name="find_excerpts", arguments="no json")
    assert ASKED_AGAIN not in text_of(READY, TextDelta(text="I look."), call, READY, TextDelta(text="Seven."))
    (first,), (second,) = of(call), of(call)
    assert first.tool_call_id != second.tool_call_id
    assert first.raw_input == "no json"


def test_what_goes_to_a_server_and_comes_from_it_is_told_as_in_the_terminal() -> None:
    (call,) = of(ToolStarted(call_id="1", name="web__send", arguments='{"text": "hello"}', server="web"))
    assert call.title == 'to web: send "hello"'
    read = ResourceRead(server="web", uri="memo://a\x1b[m", characters=1_200)
    assert text_of(read) == "Read from web and sent with your message: memo://a␛[m (1,200 characters)\n"


def test_what_could_act_on_a_terminal_is_taken_out() -> None:
    seen = str(
        of(
            TextDelta(text="a\x1b[2Jb"),
            Remarked(text="c\x1b]0;d"),
            Warned(text="e\x1b[1m"),
            ToolStarted(call_id="1", name="x\x1b[m", arguments='{"a": ["\\u001b[m"]}'),
            ToolFinished(call_id="1", name="x", summary="\x1b[31m"),
        )
    )
    assert "\\x1b" not in seen


def test_sources_outside_the_vault_are_not_linked_and_no_more_than_fit() -> None:
    many = [DocumentReference(wikilink=f"[[{n}]]", relative_path=f"{n}.md", cited=True) for n in range(20)]
    odd = [DocumentReference(wikilink="[[x]]", relative_path=path, cited=True) for path in ("../x.md", "/etc/x.md")]
    broken = DocumentReference(wikilink="[[gone]]", status="missing")
    links = [each.content for each in of(an_answer(*odd, broken, *many))[:-1] if each.content.type == "resource_link"]
    assert len(links) == 12 - len(odd)
    assert all(link.uri.startswith("file:///vault/") and ".." not in link.uri for link in links)


def test_a_source_is_linked_with_its_lines() -> None:
    lines = DocumentReference(
        wikilink="[[A b]]", relative_path="A b.md", cited=True, lines=LineRange(first=3, last=5), title="A b"
    )
    _, link, usage = of(an_answer(lines))
    assert link.content.uri == "file:///vault/A%20b.md#L3-L5"
    assert (usage.used, usage.size) == (7, 100)
    (usage,) = of(replace(an_answer(), next_usage=ContextUsage(window=100, messages=3)))
    assert usage.used == 3


def test_changes_that_needed_no_question_are_shown_with_their_patch() -> None:
    event = ChangesReviewed(
        message_id="m", decision="applied", title="Append to A.md", paths=("A.md",), record=1, diff="+ new\n"
    )
    call, told = of(event)
    assert (call.status, call.kind, call.locations[0].path) == ("completed", "edit", "/vault/A.md")
    assert call.content[0].content.text == "````diff\n+ new\n\n````"
    assert "/undo reverts it" in told.content.text


def test_a_step_without_a_plan_is_still_told_and_the_checklist_of_the_last_goal_comes_last() -> None:
    assert "Step 1 of 1: Look" in text_of(StepStarted(number=1, total=1, text="Look"))
    assert of(StepFinished(number=1, total=1, text="Look", state="done")) == []
    steps = (GoalStep(text="Look", state="blocked", reason="no notes"), GoalStep(text="Sum"))
    (update,) = replay([], Goal(id="g", text="x", steps=steps), PLACES)
    assert update.session_update == "plan"
    assert [(entry.content, entry.status) for entry in update.entries] == [
        ("Look (blocked: no notes)", "completed"),
        ("Sum", "pending"),
    ]


def test_a_goal_without_a_plan_has_no_checklist() -> None:
    assert [*replay([], Goal(id="g", text="x"), PLACES)] == []


def test_a_compaction_is_a_thought_and_documents_that_went_along_are_not_repeated() -> None:
    asked = ChatMessage(
        id="1", role="user", created_at=NOON, parts=(TextPart(text="So?"), FilePart(name="Sleep.md", text="Seven."))
    )
    part = CompactionPart(number=1, summary="They spoke.", archived=("1",), tokens_before=9, tokens_after=2)
    marker = ChatMessage(id="2", role="assistant", created_at=NOON, context_type="summary", parts=(part,))
    assert [
        (update.session_update, cast("Any", update).content.text) for update in replay([asked, marker], None, PLACES)
    ] == [
        ("user_message_chunk", "So?"),
        ("agent_thought_chunk", "Context compacted #1: 1 message archived, ~7 tokens freed\n"),
    ]


def test_a_long_result_is_cut_when_a_session_is_loaded() -> None:
    result = ToolResultPart(call_id="c", name="find_excerpts", text="x" * 2_001)
    (update,) = replay([ChatMessage(id="1", role="assistant", created_at=NOON, parts=(result,))], None, PLACES)
    assert len(cast("Any", update).content[0].content.text) == 2_000


class Client:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.options: list[Any] = []

    def update_now(self, update: Any) -> None:
        self.calls.append(update)

    def ask(self, _call: Any, options: list[Any]) -> str:
        self.options = [option.name for option in options]
        return "apply-always"


def test_of_a_large_file_the_lines_that_change_are_shown_and_of_many_folders_the_first_two() -> None:
    client = Client()
    sizes = {"A/small.md": 200_000, "B/large.md": 200_001, "C/new.md": 1}
    writes = tuple(FileWrite(path=path, before=b"a" * size, after=b"b" * size) for path, size in sizes.items())
    reviewer = ClientChangeReviewer(cast("Any", client), PLACES)
    verdict = reviewer.review(ChangeSet(title="Edit", writes=writes), may_always=True)
    assert verdict.always
    assert "Apply, and do not ask again in A/, B/ and 1 more in this session" in client.options
    small, large, _ = client.calls[0].content
    assert (small.type, large.type) == ("diff", "content")
    assert len(large.content.text) == len("````diff\n") + 100_000 + len("\n…\n````")


def test_a_source_that_was_deleted_since_is_not_linked(tmp_path: Path) -> None:
    (tmp_path / "Sleep.md").touch()
    sources = [DocumentReference(wikilink=f"[[{name}]]", relative_path=f"{name}.md") for name in ("Sleep", "Gone")]
    answer = ChatMessage(id="1", role="assistant", created_at=NOON, references=tuple(sources))
    contents = [cast("Any", update).content for update in replay([answer], None, NotePlaces(tmp_path))]
    assert [content.title for content in contents if content.type == "resource_link"] == ["[[Sleep]]"]


def test_a_move_that_changes_links_too_is_an_edit() -> None:
    asked: list[Any] = []
    client = cast("Any", SimpleNamespace(update_now=asked.append, ask=lambda *_: "apply"))
    moved = ChangeSet(title="x", moves=(FileMove(source="A.md", target="C.md"),))
    write = FileWrite(path="B.md", before=b"[[A]]\n", after=b"[[C]]\n")
    for changes in (moved, replace(moved, writes=(write,))):
        ClientChangeReviewer(client, NotePlaces(Path("/vault"))).review(changes)
    assert [call.kind for call in asked] == ["move", "edit"]
