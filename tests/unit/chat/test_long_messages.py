"""A message that is far longer than the window: what of it is sent, and how a model with tools reads the rest."""

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.sessions import SessionsInMemory
from tests.support.tool_servers import Playing
from zkchat.core.events import ToolFinished
from zkchat.core.prompt import ModelRequest
from zkchat.index.library import Library

LINES = [f"2026-03-04 12:{n % 60:02} INFO step {n} of the nightly run is done" for n in range(1_500)]
LINES[800] = "2026-03-04 12:00 INFO the certificate of the mail gateway expires in May"
LOG = "\n".join(LINES)
TOOL = "read_attachment"
NOTES = {"Tea.md": "# Tea\n\nGreen tea.\n"}


def tools_of(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


def test_a_model_with_tools_reads_on_in_a_message_that_was_shortened(library: Library) -> None:
    model = Playing((TOOL, '{"query": "certificate expires"}'), window=8_192)
    talk = conversation_over(library, SessionsInMemory(), model)
    events = events_of(talk.say(f"How many steps were there?\n\n{LOG}"))
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    assert (finished.summary, finished.failed) == ("1 place", False)
    assert "expires in May" in model.requests[-1].messages[-1].text


def test_the_tool_is_offered_while_the_message_is_there_and_at_no_other_time(library: Library) -> None:
    model = Reciting(window=8_192, calls_tools=True)
    talk = conversation_over(library, SessionsInMemory(), model)
    events_of(talk.say("Good morning, what is green tea?"))
    events_of(talk.say(f"Which job failed?\n\n{LOG}"))
    events_of(talk.say("And when does the certificate expire?"))
    assert [TOOL in tools_of(request) for request in model.requests] == [False, True, True]
    for model in (Reciting(window=8_192), Reciting(window=200_000, calls_tools=True)):
        talk = conversation_over(library, SessionsInMemory(), model, max_tokens=200_000)
        events_of(talk.say(f"Which job failed?\n\n{LOG}"))
        assert TOOL not in tools_of(model.requests[0])
