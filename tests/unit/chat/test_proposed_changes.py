"""What a conversation does with changes that its model proposes: reviewed after the answer, recorded, told."""

from collections.abc import AsyncGenerator, Sequence

import pytest
from msgspec.structs import replace

from tests.support.changes import Answering, AppendingVault, yes
from tests.support.conversations import conversation_over, events_of, scripted
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import until
from zkchat.chat.context.assembly import WRITING, request_from
from zkchat.core.errors import ProviderError
from zkchat.core.events import ChangesReviewed, Event, TextDelta, TurnFinished, Warned
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import Finish, ModelChunk, ModelInfo, ModelRequest, TextChunk, ToolRequested
from zkchat.core.session import ChangesEntry, MessageEntry
from zkchat.index.library import Library
from zkchat.render.context import context_lines

NOTES = {"Sleep.md": "# Sleep\n"}


class Appending:
    """A model that appends what it is asked, by a tool, and then answers; or fails, or goes on for ever."""

    def __init__(self, then: str = "answers", *, on_this_machine: bool = True) -> None:
        self.info = ModelInfo(
            provider="appending", id="x", context_limit=8000, calls_tools=True, on_this_machine=on_this_machine
        )
        self.requests: list[ModelRequest] = []
        self._then = then

    async def connect(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        self.requests.append(request)
        asked = request.messages[-1]
        if asked.role == "user" and "append" in asked.text:
            call = ToolCallPart(call_id=f"c{len(self.requests)}", name="append", arguments='{"text": "more"}')
            yield ToolRequested(call=call)
            yield Finish(reason="tool_calls")
            return
        if self._then == "fails" and asked.role == "tool":
            raise ProviderError("The server is gone.")
        yield TextChunk(text="I propose to append a line.")
        while self._then == "talks on" and asked.role == "tool":
            yield TextChunk(text=" And on.")
        yield Finish()


def reviewed(events: list[Event]) -> ChangesReviewed:
    (found,) = (event for event in events if isinstance(event, ChangesReviewed))
    return found


def told(model: Appending) -> list[str]:
    """Paragraphs of the last question, as the model got it."""
    asked = [message for message in model.requests[-1].messages if message.role == "user"]
    return asked[-1].text.split("\n\n")


def failing_at_first(library: Library, names: Sequence[str]) -> list[bool]:
    """Whether each request offered tools, to a model that calls some that are not there, and then one that is."""
    calls = [*((name, {"try": number}) for number, name in enumerate(names)), ("append", {"text": "more"})]
    answers = [[{"tool": name, "arguments": arguments}] for name, arguments in calls]
    model = scripted([*answers, [{"text": "Done."}]])
    talk = conversation_over(library, SessionsInMemory(), model, proposals=AppendingVault().proposing(Answering(yes)))
    events_of(talk.say("Please append it."))
    return [bool(request.tools) for request in model.requests]


def test_other_mistakes_may_follow_where_changes_are_proposed(library: Library) -> None:
    assert failing_at_first(library, ["one", "two", "three"]) == [True] * 5
    assert failing_at_first(library, ["one", "two", "two", "four"]) == [True] * 4 + [False]


def test_what_is_proposed_is_reviewed_after_the_answer_recorded_and_told_once(library: Library) -> None:
    vault, model, store = AppendingVault(), Appending(), SessionsInMemory()
    talk = conversation_over(library, store, model, proposals=vault.proposing(Answering(yes)))
    events = events_of(talk.say("Please append it."))
    review = reviewed(events)
    assert [type(event) for event in events[-2:]] == [TurnFinished, ChangesReviewed]
    assert (review.decision, review.paths, review.record) == ("applied", ("Sleep.md",), 1)
    assert "\n+more\n" in review.diff
    assert vault.store.files["Sleep.md"] == b"# Sleep\nmore\n"
    origin = vault.store.journal[0].origin
    assert (origin.command, origin.session_id) == ("append", talk.session_id)
    assert origin.message_id == review.message_id == talk.messages[-1].id

    events_of(talk.say("What else?"))
    assert "The changes that you proposed (Append to Sleep.md) were applied." in told(model)
    context = talk.messages[-1].request_context
    assert context
    (item,) = (item for item in context.items if item.name == "Append to Sleep.md")
    (row,) = (line for line in context_lines(context) if line.startswith("Messages"))
    assert row.endswith("only for this message: proposed change Append to Sleep.md")
    assert (item.reason, item.this_turn_only) == ("what became of the model's proposals", True)
    rebuilt = request_from(context, talk.history.messages, talk.history.contents)
    assert rebuilt.messages == model.requests[-1].messages
    assert rebuilt.tools == model.requests[-1].tools
    events_of(talk.say("And now?"))
    assert not any("you proposed" in text for text in told(model))


def test_of_a_turn_that_is_kept_from_the_model_it_is_told_nothing(library: Library) -> None:
    vault, store = AppendingVault(), SessionsInMemory()
    talk = conversation_over(library, store, Appending(), proposals=vault.proposing(Answering(yes)))
    events_of(talk.say("Please append it."))
    (session,) = store.sessions()
    for message in [*talk.messages]:  # as if a local note had gone with it
        store.append(session.id, [MessageEntry(message=replace(message, local=True))])
    model = Appending(on_this_machine=False)
    elsewhere = conversation_over(library, store, model, session=session, proposals=vault.proposing(Answering()))
    events_of(elsewhere.say("What else?"))
    assert not any("you proposed" in message.text for message in model.requests[-1].messages)


@pytest.mark.parametrize("then", ["fails", "talks on"])
def test_what_a_turn_proposed_that_did_not_come_to_its_end_is_dropped_and_kept_in_the_session(
    library: Library, then: str
) -> None:
    vault, store = AppendingVault(), SessionsInMemory()
    talk = conversation_over(library, store, Appending(then), proposals=vault.proposing(Answering()))
    events = until(
        talk.say("Please append it."), lambda event: isinstance(event, TextDelta) and " And on." in event.text
    )
    (entry,) = (each.body for each in talk.history.entries if isinstance(each.body, ChangesEntry))
    assert entry.decision == "dropped"
    assert "+more" in entry.diff
    assert vault.proposals
    assert not vault.proposals.staged
    assert vault.store.journal == []
    if then == "fails":
        assert reviewed(events).reason == "The answer failed before you were asked."
    else:
        dropped = talk.writing.take_dropped()
        assert dropped
        assert dropped.reason == "The answer was stopped before you were asked."
        assert talk.writing.take_dropped() is None


def test_while_writing_is_off_the_tools_are_not_sent_and_a_call_is_refused_as_unknown(library: Library) -> None:
    vault, model = AppendingVault(), Appending()
    talk = conversation_over(library, SessionsInMemory(), model, proposals=vault.proposing(Answering(), is_on=False))
    events_of(talk.say("Please append it."))
    assert all("append" not in {tool.name for tool in request.tools} for request in model.requests)
    assert all(WRITING not in request.messages[0].text for request in model.requests)
    assert "There is no tool 'append'" in model.requests[-1].messages[-1].text
    assert vault.proposals
    assert not vault.proposals.staged

    little = conversation_over(
        library, provider=Appending(), proposals=AppendingVault().proposing(Answering()), tools=0.0
    )
    (warning,) = (event for event in events_of(little.say("Hello.")) if isinstance(event, Warned))
    assert warning.text.startswith("The context window of appending:x is too small")

    talk.writing.allow(True)
    vault.proposals.reviewer = Answering(yes)
    assert reviewed(events_of(talk.say("Please append it now."))).decision == "applied"
    assert "append" in {tool.name for tool in model.requests[-1].tools}
    assert WRITING in model.requests[-1].messages[0].text


def test_a_deferred_review_is_one_for_all_turns(library: Library) -> None:
    vault = AppendingVault()
    talk = conversation_over(library, SessionsInMemory(), Appending(), proposals=vault.proposing(Answering(yes)))
    assert vault.proposals
    vault.proposals.is_deferred = True
    for number in range(2):
        events = events_of(talk.say(f"Please append it, {number}."))
        assert not any(isinstance(event, ChangesReviewed) for event in events)
    assert vault.store.journal == []
    review = talk.writing.settle()
    assert review
    assert review.message_id == talk.messages[-1].id
    assert vault.store.files["Sleep.md"] == b"# Sleep\nmore\nmore\n"
    assert len(vault.store.journal) == 1
    assert talk.writing.settle() is None


def test_the_model_is_told_once_that_the_user_undid_what_it_proposed(library: Library) -> None:
    vault, model, store = AppendingVault(), Appending(), SessionsInMemory()
    talk = conversation_over(library, store, model, proposals=vault.proposing(Answering(yes, yes)))
    events_of(talk.say("Please append it."))
    events_of(talk.say("Thank you."))
    talk.writing.tell_undone(vault.store.undo(1))
    events_of(talk.say("And now?"))
    assert any("Append to Sleep.md" in each and "the user has undone them" in each for each in told(model))
    events_of(talk.say("And then?"))
    assert not any("undone" in each for each in told(model))
    other = conversation_over(library, store, model, proposals=vault.proposing(Answering()))
    events_of(other.say("Hello."))
    other.writing.tell_undone(vault.store.journal[0])
    events_of(other.say("And here?"))
    assert not any("undone" in each for each in told(model))


def warned_of(library: Library, *lines: tuple[str, str], is_deferred: bool = False) -> list[str]:
    """What is told before the review of a turn whose model appends these lines to these notes."""
    calls = [[{"tool": "append", "arguments": {"relative_path": note, "text": text}}] for note, text in lines]
    model = scripted([*calls, [{"text": "I proposed it."}]])
    reviewer = Answering(*[yes] * any(note == "Sleep" for note, _ in lines))
    talk = conversation_over(
        library, None, model, proposals=AppendingVault().proposing(reviewer, is_deferred=is_deferred)
    )
    events = events_of(talk.say("Please append it."))
    finished = next(place for place, event in enumerate(events) if isinstance(event, TurnFinished))
    return [event.text for event in events[finished:] if isinstance(event, Warned)]


def test_what_was_refused_is_told_beside_what_is_reviewed(library: Library) -> None:
    said = "The model tried a change that is not possible: Tea: There is no note Tea."
    assert warned_of(library, ("Sleep", "one"), ("Tea", "two")) == [said]
    assert warned_of(library, ("Tea", "two"), ("Sleep", "one"), is_deferred=True) == [said]
    assert warned_of(library, ("Tea", "two")) == [f"{said} Nothing was proposed."]
    assert warned_of(library, ("Slep", "one"), ("Sleep", "one")) == []  # for it was done then
