"""`zkchat serve mcp` line by line: what is written to standard input, and what comes back."""

import asyncio
import json
import threading
from functools import partial
from typing import Any

import pytest

from tests.support.mcp_lines import MODERN, answers, call, exchange, handshake, modern, request
from tests.support.world import World
from zkchat.app.workspace import load_workspace
from zkchat.mcp import tools
from zkchat.mcp.service import HostOptions, OpenVault, Question, Settled, VaultService

LOCAL = "---\nzkchat: local\n---\nSecret.\n"
WRITING = ["create_document", "edit_document", "edit_section", "set_property", "add_tag", "append_daily"]
ELICITS: dict[str, Any] = {"elicitation": {"form": {}}}


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nSeven hours of sleep are enough.\n")
    return world


def says(result: Any) -> str:
    text = result["content"][0]["text"]
    assert isinstance(text, str)
    return text


def test_every_request_that_was_read_before_the_end_of_input_is_answered(world: World) -> None:
    given = answers(world, *(call(number, "search", query="sleep") for number in range(20)))
    assert [*given] == [*range(20)]
    assert all("Sleep.md" in says(result) for result in given.values())


def test_no_thread_is_left_behind(world: World) -> None:
    before = {*threading.enumerate()}
    answers(world, call(1, "search", query="sleep"))
    ours = [thread for thread in threading.enumerate() if thread not in before]
    for thread in ours:
        thread.join(20)
    assert [thread for thread in ours if thread.is_alive()] == []


def test_the_same_is_so_after_a_handshake(world: World) -> None:
    calls = [request(number, "tools/call", name="fetch", arguments={"id": "Sleep"}) for number in range(1, 6)]
    given = answers(world, *handshake(), *calls)
    assert [*given] == [*range(6)]
    assert given[0]["protocolVersion"] == "2025-11-25"
    assert given[0]["serverInfo"]["name"] == "zkchat"
    assert "Seven hours" in says(given[5])


def test_nothing_is_indexed_before_a_call_needs_it(world: World) -> None:
    given = answers(world, modern(1, "server/discover"), modern(2, "tools/list"))
    assert given[1]["supportedVersions"] == [MODERN]
    assert given[2]["tools"]
    assert answers(world, *handshake(), request(1, "ping"), request(2, "tools/list"))[1] == {}
    assert not [*world.home.rglob("index.db")]
    answers(world, call(1, "list_documents"))
    assert [*world.home.rglob("index.db")]


def test_tools_are_listed_in_one_order_and_those_that_write_only_where_they_are_wanted(world: World) -> None:
    listed = [[tool["name"] for tool in answers(world, modern(1, "tools/list"))[1]["tools"]] for _ in range(2)]
    assert listed[0] == listed[1]
    more = answers(world, modern(1, "tools/list"), options=["--write"])[1]["tools"]
    assert [tool["name"] for tool in more][: len(listed[0])] == listed[0]
    assert [tool["name"] for tool in more][len(listed[0]) :][: len(WRITING)] == WRITING
    given = answers(world, *(call(number, name, path="Sleep", text="x") for number, name in enumerate(WRITING)))
    assert {result["message"] for result in given.values()} == {f"Unknown tool: {name}" for name in WRITING}


NO_MESSAGES = {
    "no JSON": ("{", -32700, None),
    "no object": ("[]", -32600, None),
    "no method": ('{"jsonrpc": "2.0", "id": 7}', -32600, 7),
    "no version": ('{"id": 7, "method": "ping"}', -32600, 7),
    "no id that there is": ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    "a batch": ('[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', -32600, None),
    "half of a pair": ('{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}', -32600, 7),
    "nested without end": ("[" * 100_000, -32700, None),
}


def test_what_is_no_message_is_answered_with_an_error_and_the_next_one_is_read(world: World) -> None:
    *wrong, right = exchange(world, *(line for line, *_ in NO_MESSAGES.values()), "", modern(1, "tools/list"))
    assert [(each["error"]["code"], each["id"]) for each in wrong] == [
        (code, of) for _, code, of in NO_MESSAGES.values()
    ]
    assert right["id"] == 1


def test_a_line_that_is_too_long_is_not_read(world: World) -> None:
    wrong, right = exchange(world, call(1, "search", query="x" * 4_000_000), call(2, "search", query="sleep"))
    assert "at most 4,000,000 bytes" in wrong["error"]["message"]
    assert wrong["error"]["code"] == -32700
    assert "Sleep.md" in says(right["result"])


def test_a_long_note_is_fetched_in_parts(world: World) -> None:
    text = "# Long\n\n" + "x" * 99_993 + "y\n"
    world.note("Long.md", text)
    given = answers(
        world,
        call(1, "fetch", id="Long"),
        call(2, "fetch", id="Long", offset=100_000),
        call(3, "fetch", id="Long", offset=200_000),
    )
    first, second = (given[number]["structuredContent"] for number in (1, 2))
    assert (len(first["text"]), first["text"] + second["text"]) == (100_000, text)
    assert first["metadata"]["next_offset"] == "100000"
    assert "next_offset" not in second["metadata"]
    assert "Long.md has 100,003 characters." in says(given[3])


def test_a_host_subscribes_to_so_many_files_and_no_more(world: World) -> None:
    wanted = [request(number, "resources/subscribe", uri=f"note:///{number}.md") for number in range(1, 1_002)]
    given = answers(world, *handshake(), *wanted)
    assert (given[1_000], given[1_001]["message"]) == ({}, "A host can subscribe to at most 1,000 files.")


def test_a_question_about_the_vault_itself_is_answered_from_the_index(world: World) -> None:
    answer = answers(world, call(1, "ask_vault", question="Which notes did I change last?"))[1]
    given = answer["structuredContent"]
    assert (given["verdict"], [source["path"] for source in given["sources"]]) == ("answered", ["Sleep.md"])
    assert "[[Sleep]]" in given["listing"]
    assert answer["content"][1]["uri"] == "note:///Sleep.md"


def test_what_only_comes_nearest_is_not_linked_as_a_source(world: World) -> None:
    answer = answers(world, call(1, "ask_vault", question="Which hotel in Lisbon lets people sleep until noon?"))[1]
    given = answer["structuredContent"]
    assert (given["verdict"], "quotes" in given, bool(given["nearest"])) == ("unanswered", False, True)
    assert given["searched_for"] == ["hotel", "Lisbon", "lets", "people", "sleep", "until", "noon"]
    assert [part["type"] for part in answer["content"]] == ["text"]


@pytest.mark.parametrize(
    ("path", "said"),
    [("Tea.md", "Sleep.md has not been read yet."), ("Sleep.md", "were applied."), ("Sleep.md#Sleep", "were applied.")],
)
def test_a_note_that_was_read_as_a_resource_may_be_written_over(world: World, path: str, said: str) -> None:
    world.note("Tea.md", "# Tea\n\nGreen.\n")
    service = VaultService(load_workspace(world.environment(), None), HostOptions(may_write=True))
    arguments = json.dumps({"path": "Sleep", "section": "Sleep", "position": "replace", "text": "Eight hours."})

    def replace_section(vault: OpenVault) -> Question | Settled:
        assert vault.changes is not None
        assert getattr(vault.read_resource(f"note:///{path}"), "text", "")
        return vault.changes.call("edit_section", arguments, can_ask=False)

    try:
        settled = asyncio.run(service.use(replace_section))
    finally:
        service.close()
    assert isinstance(settled, Settled)
    assert said in settled.text


def test_a_text_without_end_is_cut(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "MAX_TEXT_CHARS", 30)
    given = answers(world, call(1, "read_document", path="Sleep"))[1]["structuredContent"]
    assert 20 <= len(given["text"]) <= 30
    assert given["text"].endswith("…")


@pytest.mark.parametrize(("version", "kinds"), [("2025-03-26", ["text"]), ("2025-06-18", ["text", "resource_link"])])
def test_a_client_of_an_earlier_revision_gets_no_content_that_it_cannot_know(
    world: World, version: str, kinds: list[str]
) -> None:
    begun, noted = handshake(version)
    given = answers(world, begun, noted, request(1, "tools/call", name="read_document", arguments={"path": "Sleep"}))
    assert [part["type"] for part in given[1]["content"]] == kinds


def test_who_asks_for_progress_is_told_how_far_the_indexing_is(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "PROGRESS_SECONDS", 0)
    asked = modern(1, "tools/call", name="search", arguments={"query": "sleep"}, _meta={"progressToken": "p"})
    *progress, answer = exchange(world, asked)
    assert answer["id"] == 1
    assert [(each["method"], each["params"]["progressToken"]) for each in progress] == [
        ("notifications/progress", "p")
    ] * len(progress)
    assert progress[-1]["params"] | {"message": ""} == {"progressToken": "p", "progress": 1, "total": 1, "message": ""}


def test_a_host_without_questions_applies_what_its_user_approved(world: World) -> None:
    given = answers(world, call(1, "edit_section", path="Sleep", text="Or eight."), options=["--write"])
    assert given[1]["structuredContent"]["paths"] == ["Sleep.md"]
    assert (world.vault / "Sleep.md").read_text().endswith("are enough.\n\nOr eight.\n")
    assert [change["command"] for change in world.run("changes", "--json").json] == ["mcp edit_section"]
    assert world.run("undo", "--yes").code == 0
    assert (world.vault / "Sleep.md").read_text().endswith("are enough.\n")


def test_code_and_the_class_of_a_note_need_a_yes_of_their_own(world: World) -> None:
    before = (world.vault / "Sleep.md").read_text()
    given = answers(
        world,
        call(1, "edit_section", path="Sleep", text="```dataviewjs\ndv.view('x')\n```"),
        call(2, "set_property", path="Sleep", key="zkchat", value="local"),
        call(3, "create_document", path="New", text="---\nzkchat: local\n---\nA diary."),
        options=["--write"],
    )
    assert "nothing was changed, because it needs a yes of the user" in says(given[1])
    assert says(given[2]).endswith("needs a yes of the user. The change affects which models may see Sleep.md.")
    assert "makes a private note" in says(given[3])
    assert not (world.vault / "New.md").exists()
    assert (world.vault / "Sleep.md").read_text() == before


def asked(world: World, tool: str, state: str = "", action: str = "accept", **arguments: str) -> Any:
    """What a host hears that can ask its user, who answered what `state` names."""
    answered = {"inputResponses": {"review": {"action": action}}, "requestState": state} if state else {}
    wanted = modern(1, "tools/call", capabilities=ELICITS, name=tool, arguments=arguments, **answered)
    return answers(world, wanted, options=["--write"])[1]


def test_a_host_that_can_ask_may_have_a_note_kept_back_after_a_yes(world: World) -> None:
    keep_back = partial(asked, world, "set_property", path="Sleep", key="zkchat", value="local")
    question = keep_back()
    assert "affects which models may see Sleep.md." in question["inputRequests"]["review"]["params"]["message"]
    assert keep_back(question["requestState"])["structuredContent"]["paths"] == []
    assert (world.vault / "Sleep.md").read_text().startswith("---\nzkchat: local\n---\n")
    assert "There is no note" in says(keep_back())


def test_a_host_is_asked_the_same_whether_or_not_a_local_note_is_in_the_way_of_a_new_one(world: World) -> None:
    create = partial(asked, world, "create_document", path="Diary", text="Mine.")
    free = create()
    world.note("Diary.md", LOCAL)
    taken = create()
    assert taken["inputRequests"] == free["inputRequests"]
    refused = create(taken["requestState"])
    assert says(refused).endswith("were not applied: nothing was changed. They need a yes of the user.")
    assert (world.vault / "Diary.md").read_text() == LOCAL


def test_what_is_only_proposed_by_the_settings_is_not_written(world: World) -> None:
    world.variables["ZKCHAT_WRITE__MODE"] = "propose"
    given = answers(world, call(1, "create_document", path="New", text="x"), options=["--write"])
    assert "write.mode" in says(given[1])
    assert not (world.vault / "New.md").exists()


def test_a_yes_is_for_the_change_that_was_shown(world: World) -> None:
    edit = partial(asked, world, "edit_section", path="Sleep", text="Or eight.")
    question = edit()
    assert question["resultType"] == "input_required"
    assert "+Or eight." in question["inputRequests"]["review"]["params"]["message"]
    state = question["requestState"]
    for wrong in ("x", "2026-01-01T00:00:00+00:00 0123", "9999-12-31T23:59:59-23:00 x"):
        assert edit(wrong)["resultType"] == "input_required"
    assert "declined" in says(edit(state, "decline"))
    arguments = {"path": "Sleep", "section": "Sleep", "text": "Or eight."}
    unanswered = modern(1, "tools/call", name="edit_section", arguments=arguments, requestState=state)
    assert "declined" in says(answers(world, unanswered, options=["--write"])[1])
    world.note("Sleep.md", "# Sleep\n\nNine hours.\n")
    again = edit(state)
    assert again["resultType"] == "input_required"
    assert (world.vault / "Sleep.md").read_text() == "# Sleep\n\nNine hours.\n"
    assert edit(again["requestState"])["structuredContent"]["change"] == 1
    assert (world.vault / "Sleep.md").read_text() == "# Sleep\n\nNine hours.\n\nOr eight.\n"
    assert edit(again["requestState"])["resultType"] != "complete"


def test_a_question_shows_what_cannot_be_seen_and_says_where_it_is_cut(world: World) -> None:
    question = asked(world, "create_document", path="Long", text="\x1b[2J\u202e\n" + "x\n" * 5_000)
    message = question["inputRequests"]["review"]["params"]["message"]
    assert {each for each in message if not each.isprintable()} == {"\n"}
    assert message.startswith("Create Long.md?\n\nOnly the first 8,000 of ")
    assert len(message.partition("are shown.\n\n")[2]) > 7_990


def test_a_question_that_nobody_answers_any_more_changes_nothing(world: World) -> None:
    begun = json.loads(handshake()[0])
    begun["params"]["capabilities"] = ELICITS
    writing = request(1, "tools/call", name="edit_section", arguments={"path": "Sleep", "text": "Or eight."})
    received = exchange(world, json.dumps(begun), handshake()[1], writing, options=["--write"])
    assert [each.get("method") for each in received if "method" in each] == ["elicitation/create"]
    assert "could not be asked" in says(received[-1]["result"])
    assert "eight" not in (world.vault / "Sleep.md").read_text()


def test_without_the_package_the_extra_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zkchat.cli.common.find_spec", lambda _: None)
    ended = world.run("mcp", stdin="")
    assert (ended.code, ended.out) == (3, "")
    assert "pip install 'zkchat[mcp]'" in ended.err


def test_a_folder_that_is_no_vault_is_refused_before_anything_is_served(world: World) -> None:
    ended = world.run("mcp", "--vault", "nowhere", stdin=call(1, "list_documents"))
    assert (ended.code, ended.out) == (4, "")
