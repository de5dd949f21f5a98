import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")

from tests.support.web_server import Web, served
from tests.support.world import World
from zkchat.actions.base import every_action

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    world = World(tmp_path_factory.mktemp("web"))
    world.note(
        "Sleep.md", "---\ntags: [health]\n---\n# Sleep\n\nSeven hours are enough, see [[Tea]].\n\n## Naps\n\nShort.\n"
    )
    world.note("Drinks/Tea.md", "# Tea\n\nGreen, before [[Sleep]].\n")
    world.note(".zkchat/agents/keeper.md", "You keep things.\n")
    world.run("trust", "--yes")
    with served(world, "quote") as web:
        yield web


def test_a_note_comes_with_its_sections_and_links(web: Web) -> None:
    note = web.get("/api/note", path="[[Sleep#Naps]]")
    assert (note["path"], note["title"], note["line"], note["tags"]) == ("Sleep.md", "Sleep", 8, ["health"])
    assert note["text"].split("\n")[note["line"] - 1] == "## Naps"
    assert note["sections"][-1] == {"heading": "Naps", "level": 2, "line": 8}
    assert [each["path"] for each in note["links"]] == ["Drinks/Tea.md"]
    assert [each["source"] for each in note["backlinks"]] == ["Drinks/Tea.md"]
    assert web.get("/api/note", path="Slep")["error"]["hint"] == "Closest: [[Sleep]]."
    assert web.get("/api/note")["error"]["type"] == "UsageError"
    web.world.note("Late.md", "# Late\n\nJust written.\n")
    assert "Just written." in web.get("/api/note", path="Late")["text"]


@pytest.mark.parametrize(
    ("typed", "text", "replaces"),
    [
        ("see [[Sl", "Sleep]]", 2),
        ("see [[Sleep#Na", "Naps]]", 2),
        ("/sea", "/search", 4),
        ("@kee", "@keeper ", 4),
        ("#hea", "#health", 4),
    ],
)
def test_what_is_typed_is_completed_as_in_the_chat(web: Web, typed: str, text: str, replaces: int) -> None:
    found = web.get("/api/complete", text=typed)
    assert (text, replaces) in [(each["text"], each["replaces"]) for each in found]


def test_what_only_a_terminal_has_is_not_completed(web: Web) -> None:
    assert web.get("/api/complete", text="/ope") == []
    assert web.get("/api/complete", text="Just words") == []


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("search", {"query": "seven hours", "limit": "3"}, ("search", "seven", "hours", "--limit", "3")),
        ("links", {"note": "Sleep"}, ("links", "Sleep")),
        ("backlinks", {"note": "[[Tea]]"}, ("backlinks", "[[Tea]]")),
        ("tags", {}, ("tags",)),
        ("show", {"note": "Sleep"}, ("show", "Sleep")),
        ("resolve", {"link": "[[Tea]]", "source": "Sleep"}, ("resolve", "[[Tea]]", "--from", "Sleep")),
    ],
)
def test_an_action_answers_what_its_command_prints(
    web: Web, name: str, arguments: dict[str, str], command: tuple[str, ...]
) -> None:
    printed = web.world.run(*command, "--json").json
    assert web.get(f"/api/actions/{name}", **arguments) == printed
    assert web.post(f"/api/actions/{name}", dict(arguments)) == printed


def test_wrong_arguments_are_told(web: Web) -> None:
    assert "limit" in web.get("/api/actions/search", query="tea", limit="many")["error"]["message"]
    assert "query" in web.get("/api/actions/search")["error"]["message"]
    assert "recent" in web.get("/api/actions/delete")["error"]["hint"]
    assert web.get("/api/actions/show", note="Nothing")["error"]["type"] == "NoteNotFound"


def test_every_action_is_described(web: Web) -> None:
    described = web.get("/api/openapi.json")
    assert {*described["paths"]} == {f"/api/actions/{name}" for name in every_action()}
    search = described["paths"]["/api/actions/search"]
    assert search["get"]["summary"] == "Search your notes."
    assert {each["name"]: each["required"] for each in search["get"]["parameters"]} == {
        "query": True,
        "limit": False,
        "notes": False,
    }
