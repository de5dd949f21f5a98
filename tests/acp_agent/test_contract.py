"""`zkchat serve acp` as a client meets it: the SDK's own client over pipes, and models that play a file."""

import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from acp.helpers import embedded_text_resource, image_block, resource_block, resource_link_block, text_block

from tests.support.acp_client import Acp, started_acp
from tests.support.images import picture
from tests.support.world import World
from zkchat.app import open_sessions
from zkchat.core import ListingEntry

pytestmark = pytest.mark.outside
PLAIN_SERVER = Path(__file__).parents[1] / "unit" / "mcp_client" / "plain_server.py"
SLEEP = "# Sleep\n\nAdults need seven hours.\n"
DIARY = "---\nzkchat: local\n---\n# Diary\n\nThe lighthouse keeper is my cousin.\n"


@pytest.fixture(scope="module")
def acp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acp]:
    world = World(tmp_path_factory.mktemp("acp"))
    world.note("Sleep.md", SLEEP)
    world.note("Ideas/Evergreen notes.md", "# Evergreen notes\n\nAn evergreen note grows.\n")
    world.note("Diary.md", DIARY)
    world.note("Sleep plan.png", picture())
    (world.root / "elsewhere").mkdir()
    (world.root / "elsewhere" / "Plan.md").write_text("The plan is secret.")
    with started_acp(world, "--model", "quote") as started:
        yield started


def said(acp: Acp, session: str) -> str:
    """The last question, as the session stores it."""
    shown = acp.world.run("context", "export", session, "--format", "json").json
    asked = [message for message in shown["messages"] if message["role"] == "user"]
    return "".join(part["text"] for part in asked[-1]["parts"] if part["kind"] == "text")


def test_initialize_says_what_can_be_done(acp: Acp) -> None:
    answer = acp.run(acp.connection.initialize(protocol_version=1))
    can = answer.agent_capabilities
    assert answer.protocol_version == 1
    assert can.load_session
    assert can.prompt_capabilities.embedded_context
    assert can.prompt_capabilities.image
    assert can.session_capabilities.list is not None


def test_an_answer_comes_with_links_to_its_notes_and_is_a_session_of_the_terminal(acp: Acp) -> None:
    session = acp.new()
    assert acp.ask(session, "How many hours do adults need?") == "end_turn"
    assert "Adults need seven hours." in acp.text(session)
    (link,) = acp.links(session)
    assert link.uri == (acp.world.vault / "Sleep.md").as_uri() + "#L3"
    assert acp.world.run("sessions", "list", "--json").json[0]["id"] == session
    (told,) = acp.of(session, "session_info_update")
    assert told.title == "How many hours do adults need?"
    acp.world.run("ask", "A single question?", "--model", "quote")
    listed = acp.run(acp.connection.list_sessions(cwd=str(acp.world.vault))).sessions
    assert (listed[0].session_id, listed[0].title) == (session, "How many hours do adults need?")


def test_a_session_without_a_message_is_not_stored(acp: Acp) -> None:
    assert acp.new() not in acp.world.run("sessions", "list", "--all", "--json").out


def test_thinking_and_tool_calls_have_their_states_and_places(acp: Acp) -> None:
    model = acp.play(
        [{"thinking": "Look."}, {"tool": "find_excerpts", "arguments": {"query": "adults hours"}}],
        [{"tool": "read_document", "arguments": {"path": "Nowhere.md"}}],
        [{"text": "Seven, "}, {"text": "says [[Sleep]]."}],
    )
    session = acp.new(model)
    assert acp.ask(session, "How much?") == "end_turn"
    assert acp.text(session, "agent_thought_chunk") == "Look."
    assert acp.text(session).startswith("Seven, says [[Sleep]].")
    started = acp.of(session, "tool_call")
    ended = acp.of(session, "tool_call_update")
    assert [(call.kind, call.status) for call in started] == [("search", "in_progress"), ("read", "in_progress")]
    assert [call.status for call in ended] == ["completed", "failed"]
    assert [call.tool_call_id for call in started] == [call.tool_call_id for call in ended]
    (place,) = ended[0].locations
    assert place.path == str(acp.world.vault / "Sleep.md")
    assert place.line is not None
    assert acp.of(session, "usage_update")[-1].size > 0


def edit(old: str, new: str, path: str = "Sleep.md") -> list[dict[str, Any]]:
    return [{"tool": "edit_document", "arguments": {"path": path, "old_text": old, "new_text": new}}]


def test_a_change_is_asked_about_with_the_text_before_and_after(acp: Acp) -> None:
    model = acp.play(
        edit("seven", "eight"), [{"text": "Done."}], edit("eight", "nine"), [{"text": "Again."}], edit("x", "y")
    )
    session = acp.new(model)
    acp.choose(session, "mode", "write")
    acp.client.asked.clear()
    acp.client.answer = "reject"
    assert acp.ask(session, "Change it.") == "end_turn"
    (asked,) = acp.client.asked
    (diff,) = asked.call.content
    assert (diff.type, diff.path) == ("diff", str(acp.world.vault / "Sleep.md"))
    assert (diff.old_text, diff.new_text) == (SLEEP, SLEEP.replace("seven", "eight"))
    assert asked.ids == ["apply", "apply-always", "reject"]
    assert (acp.world.vault / "Sleep.md").read_text() == SLEEP
    assert acp.of(session, "tool_call_update")[-1].status == "failed"
    assert "Not applied" in acp.text(session)


def test_an_agreed_change_is_made_and_can_be_undone(acp: Acp) -> None:
    model = acp.play(
        edit("seven", "eight"),
        [{"text": "Done."}],
        [{"tool": "create_document", "arguments": {"path": "New.md", "content": "New."}}],
        [{"text": "Made."}],
    )
    session = acp.new(model)
    acp.run(acp.connection.set_session_mode(session_id=session, mode_id="write"))
    acp.client.asked.clear()
    acp.client.answer = "apply-always"
    acp.ask(session, "Change it.")
    assert (acp.world.vault / "Sleep.md").read_text() == SLEEP.replace("seven", "eight")
    assert acp.of(session, "tool_call_update")[-1].status == "completed"
    acp.ask(session, "Make one.")
    assert len(acp.client.asked) == 1, "it was agreed to for all of the folder"
    assert (acp.world.vault / "New.md").exists()
    shown, ended = acp.of(session, "tool_call")[-1], acp.of(session, "tool_call_update")[-1]
    assert (shown.tool_call_id, ended.status) == (ended.tool_call_id, "completed")
    assert shown.locations[0].path == str(acp.world.vault / "New.md")
    acp.client.answer = "apply"
    acp.ask(session, "/undo 2")
    assert acp.client.asked[-1].call.title.endswith("?")
    assert not (acp.world.vault / "New.md").exists()
    assert (acp.world.vault / "Sleep.md").read_text() == SLEEP


def test_cancelling_keeps_what_came(acp: Acp) -> None:
    model = acp.play([{"text": "Seven, "}, {"delay": 60}, {"text": "never said"}], [{"text": "Again."}])
    session = acp.new(model)
    answer = acp.submit(acp.connection.prompt(session_id=session, prompt=[text_block("How much?")]))
    acp.wait_for(lambda: "Seven" in acp.text(session))
    with pytest.raises(RequestError, match="still answering"):
        acp.ask(session, "And this?")
    acp.run(acp.connection.cancel(session_id=session))
    assert answer.result(30).stop_reason == "cancelled"
    assert "Seven, " in acp.world.run("sessions", "show", session).out
    assert acp.ask(session, "Again?") == "end_turn"


def test_cancelling_answers_a_question_that_is_open(acp: Acp) -> None:
    session = acp.new(acp.play(edit("seven", "eight"), [{"text": "Done."}]))
    acp.choose(session, "mode", "write")
    acp.client.asked.clear()
    acp.client.hold = True
    answer = acp.submit(acp.connection.prompt(session_id=session, prompt=[text_block("Change it.")]))
    acp.wait_for(lambda: acp.client.asked)
    acp.run(acp.connection.cancel(session_id=session))
    acp.client.hold = False
    assert answer.result(30).stop_reason == "cancelled"
    assert (acp.world.vault / "Sleep.md").read_text() == SLEEP


def test_a_model_that_fails_is_an_error_that_can_be_read(acp: Acp) -> None:
    session = acp.new(acp.play([{"text": "Sev"}, {"error": "The server is on fire.", "hint": "Call somebody."}]))
    with pytest.raises(RequestError, match=r"The server is on fire\. Call somebody\.") as failed:
        acp.ask(session, "How much?")
    assert failed.value.code == -32603


def test_an_answer_that_is_cut_off_says_so(acp: Acp) -> None:
    session = acp.new(acp.play([{"text": "Seven and"}, {"finish": "length"}]))
    assert acp.ask(session, "How much?") == "max_tokens"


def test_commands_are_offered_and_answered_as_markdown(acp: Acp) -> None:
    session = acp.new()
    acp.wait_for(lambda: acp.of(session, "available_commands_update"))
    (offered,) = acp.of(session, "available_commands_update")
    names = {command.name for command in offered.available_commands}
    assert {"search", "goal", "write", "undo", "context", "help"} <= names
    assert not {"quit", "open", "resume", "history"} & names
    for line, expected in (
        ("/search evergreen", "Ideas/Evergreen notes.md"),
        ("/show [[Sleep]]", "Adults need seven hours."),
        ("/help", "- `/search QUERY`"),
        ("/help all", "- `/history [N]`"),
        ("/help goal", "makes a plan"),
        ("/memory", "/memory works only in a terminal."),
        ("/memory Tea is at four.", "zkchat memory add"),
        ("/quit", "/quit works only in a terminal."),
        ("/serch", "Did you mean /search"),
        ("/write on", "cannot change notes"),
        ("/stats", "Session"),
        ("/model nothing:x", "still answers"),
    ):
        before = len(acp.text(session))
        assert acp.ask(session, line) == "end_turn"
        assert expected in acp.text(session)[before:], line
    assert session not in acp.world.run("sessions", "list", "--all", "--json").out, "commands are no messages"


def test_choices_are_told_when_a_command_makes_them(acp: Acp) -> None:
    model = acp.play([{"text": "Yes."}])
    session = acp.new(model)
    acp.ask(session, "/write on")
    assert acp.of(session, "current_mode_update")[-1].current_mode_id == "write"
    option = acp.of(session, "config_option_update")[-1].config_options[0]
    assert (option.id, option.current_value) == ("mode", "write")
    with pytest.raises(RequestError, match="is not a choice"):
        acp.choose(session, "mode", "nonsense")
    with pytest.raises(RequestError):
        acp.choose(session, "model", "nothing:x")
    acp.choose(session, "agent", "writer")
    chosen = {option.id: option.current_value for option in acp.choose(session, "mode", "ask").config_options}
    assert chosen == {"agent": "writer", "mode": "ask", "model": model}
    assert acp.ask(session, "Are you there?") == "end_turn"
    acp.ask(session, "/context")
    assert "in every request: writer" in acp.text(session)


def test_a_goal_shows_its_plan(acp: Acp) -> None:
    model = acp.play(
        [{"text": "1. Look up sleep\n2. Sum it up"}],
        [{"text": "Adults need seven hours.\nDONE: looked up"}],
        [{"text": "Seven hours.\nDONE: summed up"}],
        [{"text": "Seven hours, says [[Sleep]]."}],
    )
    session = acp.new(model)
    assert acp.ask(session, "/goal Find out how long to sleep") == "end_turn"
    plans = [[entry.status for entry in update.entries] for update in acp.of(session, "plan")]
    assert plans[0] == ["pending", "pending"]
    assert ["in_progress", "pending"] in plans
    assert ["completed", "in_progress"] in plans
    assert plans[-1] == ["completed", "completed"]
    assert acp.of(session, "plan")[0].entries[0].content == "Look up sleep"


def test_mentioned_notes_become_links_and_files_elsewhere_are_not_read(acp: Acp) -> None:
    session = acp.new(acp.play([{"text": "Yes."}]))
    note, outside = acp.world.vault / "Ideas" / "Evergreen notes.md", acp.world.root / "elsewhere" / "Plan.md"
    acp.ask(
        session,
        "Compare ",
        resource_link_block("Evergreen notes.md", note.as_uri() + "#L3:4"),
        " with ",
        resource_link_block("Plan.md", outside.as_uri()),
        image_block("AAAA", "image/png"),
        image_block(b64encode(picture()).decode(), "image/png"),
        image_block("AAAA", "image/png", uri=(acp.world.vault / "Sleep plan.png").as_uri()),
    )
    assert said(acp, session) == 'Compare [[Evergreen notes]] (lines 3 to 4) with `Plan.md`@"Sleep plan.png"'
    assert "Plan.md is not in this vault, so it was not read." in acp.text(session)
    assert "image is not an image that zkchat can read" in acp.text(session)
    assert "Not sent: image. scripted:" in acp.text(session)  # the script does not see
    assert "Evergreen notes" in acp.world.run("context", "show", session).out


def test_an_image_goes_to_a_model_that_sees(acp: Acp) -> None:
    session = acp.new(acp.world.script([{"text": "Red."}], sees_images=True))
    acp.ask(session, "What is this?", image_block(b64encode(picture()).decode(), "image/png"))
    assert acp.text(session) == "Red."
    shown = acp.world.run("context", "show", session, "--message", "2").out
    assert re.search(r"Images +\d+  linked or added by you: image", shown)


def test_embedded_texts_go_along_and_of_a_local_note_only_the_link(acp: Acp) -> None:
    session = acp.new(acp.play([{"text": "Yes."}]))
    vault = acp.world.vault
    acp.ask(
        session,
        "What is this? ",
        resource_block(embedded_text_resource("file:///somewhere/main.py#L1:2", "print('```')\n")),
        resource_block(embedded_text_resource((vault / "Sleep.md").as_uri(), SLEEP)),
        resource_block(embedded_text_resource((vault / "Diary.md").as_uri(), "The lighthouse keeper")),
    )
    text = said(acp, session)
    assert "main.py, lines 1 to 2:\n````\nprint('```')\n````" in text
    assert "[[Sleep]]" in text
    assert "[[Diary]]" in text
    assert "Adults need" not in text
    assert "lighthouse" not in text


def test_loading_replays_what_the_terminal_said(acp: Acp) -> None:
    model = acp.world.script(
        [{"thinking": "Hm."}, {"tool": "find_excerpts", "arguments": {"query": "hours"}}], [{"text": "Seven."}]
    )
    acp.world.run("ask", "How many hours?", "--model", model)
    session = acp.world.run("sessions", "list", "--all", "--json").json[0]["id"]
    acp.run(acp.connection.load_session(cwd=str(acp.world.vault), session_id=session))
    kinds = [update.session_update for update in acp.of(session)]
    assert kinds[: kinds.index("tool_call_update")] == ["user_message_chunk", "agent_thought_chunk", "tool_call"]
    assert acp.text(session, "user_message_chunk") == "How many hours?"
    assert acp.text(session).startswith("Seven.")
    call, ended = acp.of(session, "tool_call")[0], acp.of(session, "tool_call_update")[0]
    assert (call.tool_call_id, ended.status) == (ended.tool_call_id, "completed")


def test_a_loaded_session_goes_on_and_a_fork_leaves_it_alone(acp: Acp) -> None:
    session = acp.new(acp.play([{"text": "One."}], [{"text": "Two."}], [{"text": "Three."}]))
    acp.ask(session, "First?")
    acp.run(acp.connection.close_session(session_id=session))
    with pytest.raises(RequestError, match="not open here"):
        acp.ask(session, "Second?")
    acp.run(acp.connection.resume_session(cwd=str(acp.world.vault), session_id=session))
    forked = acp.run(acp.connection.fork_session(cwd=str(acp.world.vault), session_id=session)).session_id
    assert acp.ask(session, "Second?") == acp.ask(forked, "Other?") == "end_turn"
    assert acp.text(session).endswith("Two.")
    assert "Other?" not in acp.world.run("sessions", "show", session).out
    assert "First?" in acp.world.run("sessions", "show", forked).out


def test_several_sessions_answer_at_once(acp: Acp) -> None:
    slow = acp.new(acp.play([{"text": "Wait, "}, {"delay": 60}]))
    quick = acp.new(acp.play([{"text": "Here."}]))
    answer = acp.submit(acp.connection.prompt(session_id=slow, prompt=[text_block("Slow?")]))
    acp.wait_for(lambda: acp.text(slow))
    assert acp.ask(quick, "Quick?") == "end_turn"
    assert not answer.done()
    acp.run(acp.connection.close_session(session_id=slow))
    assert answer.result(30).stop_reason == "cancelled"


@pytest.mark.parametrize(
    ("cwd", "sentence"),
    [("elsewhere", "is not a vault yet"), ("nowhere", "no longer exists"), (Path("relative"), "absolute")],
    ids=str,
)
def test_a_folder_that_is_no_vault_is_refused(acp: Acp, cwd: str | Path, sentence: str) -> None:
    folder = str(acp.world.root / cwd) if isinstance(cwd, str) else str(cwd)
    with pytest.raises(RequestError, match=sentence) as refused:
        acp.run(acp.connection.new_session(cwd=folder, mcp_servers=[]))
    assert refused.value.code == -32602


def test_sessions_are_listed_in_pages_of_a_hundred(world: World) -> None:
    with open_sessions(world.environment(), world.vault) as store:
        for number in range(101):
            store.append(store.create(f"Session {number}").id, [ListingEntry(listed=True)])
    with started_acp(world, "--model", "quote") as acp:
        first = acp.run(acp.connection.list_sessions(cwd=str(world.vault)))
        last = acp.run(acp.connection.list_sessions(cwd=str(world.vault), cursor=first.next_cursor))
        odd = [acp.run(acp.connection.list_sessions(cwd=str(world.vault), cursor="1" * size)) for size in (9, 10)]
    assert [len(each.sessions) for each in odd] == [0, 100], "a number without end is none"
    assert [(len(each.sessions), each.next_cursor) for each in (first, last)] == [(100, "100"), (1, None)]
    assert len({each.session_id for each in (*first.sessions, *last.sessions)}) == 101


def test_a_session_that_is_not_there_is_refused(acp: Acp) -> None:
    with pytest.raises(RequestError) as refused:
        acp.run(acp.connection.load_session(cwd=str(acp.world.vault), session_id="nothing"))
    assert refused.value.code == -32002


def test_new_sessions_begin_as_the_command_line_says_and_keep_what_is_chosen_later(world: World) -> None:
    world.note("Sleep.md", SLEEP)
    model = world.script([{"text": "Yes."}], [{"text": "No."}])
    with started_acp(world, "--agent", "research", "--model", model, "--write") as acp:
        opened = acp.run(acp.connection.new_session(cwd=str(world.vault), mcp_servers=[]))
        begun = {option.id: option.current_value for option in opened.config_options}
        assert begun == {"mode": "write", "model": model, "agent": "research"}
        assert opened.modes.current_mode_id == "write"
        acp.ask(opened.session_id, "First?")
        acp.choose(opened.session_id, "agent", "writer")
        chosen = acp.choose(opened.session_id, "model", model)
        assert {option.id: option.current_value for option in chosen.config_options}["agent"] == "writer"
        acp.run(acp.connection.load_session(cwd=str(world.vault), session_id=opened.session_id))
        acp.ask(opened.session_id, "Second?")
        acp.ask(opened.session_id, "/context")
        assert "in every request: writer" in acp.text(opened.session_id)


def test_a_call_of_an_mcp_server_is_asked_about(world: World) -> None:
    world.note("Sleep.md", SLEEP)
    world.run("mcp", "add", "plain", "--", sys.executable, "-S", str(PLAIN_SERVER), stdin="")
    call = {"tool": "plain__echo", "arguments": {"text": "hello"}}
    model = world.script([call], [{"text": "Once."}], [call], [{"text": "Twice."}])
    with started_acp(world, "--model", model) as acp:
        session = acp.new()
        for answer, status in (("reject", "failed"), ("apply", "completed")):
            acp.client.answer = answer
            assert acp.ask(session, "Call it.") == "end_turn"
            assert acp.of(session, "tool_call_update")[-1].status == status
        assert acp.client.asked[0].call.title == "echo of the MCP server plain (may send data elsewhere)"


def test_the_end_of_input_ends_an_answer_and_everything_is_stored(world: World) -> None:
    world.note("Sleep.md", SLEEP)
    ending = Acp(world, "--vault", str(world.vault))
    ending.start()
    session = ending.new(ending.play([{"text": "Seven, "}, {"delay": 60}]), cwd=Path("/"))
    answer = ending.submit(ending.connection.prompt(session_id=session, prompt=[text_block("How much?")]))
    ending.wait_for(lambda: "Seven" in ending.text(session))
    assert ending.text(session).count("`zkchat setup`") == 1, "that no model is set up, with what helps"
    assert ending.stop() == 0
    assert answer.result(30).stop_reason == "cancelled"
    assert "Seven, " in world.run("sessions", "show", session).out


def test_a_process_prints_nothing_but_the_protocol_and_keeps_what_came_when_it_is_terminated(world: World) -> None:
    world.note("Sleep.md", SLEEP)
    ending = Acp(world, is_process=True)
    ending.start()
    session = ending.new(ending.play([{"text": "Seven, "}, {"delay": 60}]))
    answer = ending.submit(ending.connection.prompt(session_id=session, prompt=[text_block("How much?")]))
    ending.wait_for(lambda: "Seven" in ending.text(session))
    ending.process.terminate()
    ending.run(ending.process.wait())
    stderr = ending.run(ending.process.stderr.read()).decode()
    assert ending.stop() == 143
    assert answer.exception(30) is not None
    assert stderr == "zkchat: Ended by SIGTERM. Any unfinished answer is kept.\n"
    assert "Seven, " in world.run("sessions", "show", session).out
