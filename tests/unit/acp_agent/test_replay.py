from pathlib import Path
from typing import Any, cast

from tests.support.sessions import NOON
from zkchat.acp.session import replay
from zkchat.acp.updates import NotePlaces
from zkchat.core.events import Goal, GoalStep
from zkchat.core.message import ChatMessage, CompactionPart, DocumentReference, FilePart, TextPart


def kinds_of(*messages: ChatMessage, goal: Goal | None = None) -> list[tuple[str, Any]]:
    updates = replay(messages, goal, NotePlaces(Path("/vault")))
    return [(update.session_update, getattr(update, "content", None)) for update in updates]


def test_a_compaction_is_a_thought_and_documents_that_went_along_are_not_repeated() -> None:
    asked = ChatMessage(
        id="1", role="user", created_at=NOON, parts=(TextPart(text="So?"), FilePart(name="Sleep.md", text="Seven."))
    )
    part = CompactionPart(number=1, summary="They spoke.", archived=("1",), tokens_before=9, tokens_after=2)
    marker = ChatMessage(id="2", role="assistant", created_at=NOON, context_type="summary", parts=(part,))
    (question, said), (thought, told) = kinds_of(asked, marker)
    assert (question, said.text) == ("user_message_chunk", "So?")
    assert (thought, told.text) == (
        "agent_thought_chunk",
        "Context compacted #1: 1 message archived, ~7 tokens freed\n",
    )


def test_a_source_that_was_deleted_since_is_not_linked(tmp_path: Path) -> None:
    (tmp_path / "Sleep.md").touch()
    sources = [DocumentReference(wikilink=f"[[{name}]]", relative_path=f"{name}.md") for name in ("Sleep", "Gone")]
    answer = ChatMessage(id="1", role="assistant", created_at=NOON, references=tuple(sources))
    contents = [cast("Any", update).content for update in replay([answer], None, NotePlaces(tmp_path))]
    assert [content.title for content in contents if content.type == "resource_link"] == ["[[Sleep]]"]


def test_the_checklist_of_the_last_goal_comes_last() -> None:
    goal = Goal(
        id="g", text="x", steps=(GoalStep(text="Look", state="blocked", reason="no notes"), GoalStep(text="Sum"))
    )
    (update,) = replay([], goal, NotePlaces(Path("/vault")))
    assert update.session_update == "plan"
    assert [(entry.content, entry.status) for entry in update.entries] == [
        ("Look (blocked: no notes)", "completed"),
        ("Sum", "pending"),
    ]
