import re

import pytest

from tests.support.sessions import NOON
from tests.support.world import World
from zkchat.app import stores
from zkchat.core.errors import ExitCode
from zkchat.core.message import ChatMessage, DocumentReference, TextPart
from zkchat.core.session import MessageEntry


@pytest.fixture
def tea(world: World) -> str:
    """The id of a fact."""
    id_: str = world.run("memory", "add", "I like tea", "--json").json["fact"]["id"]
    return id_


def texts(world: World) -> list[str]:
    return [fact["text"] for fact in world.run("memory", "list", "--json").json]


def test_a_fact_that_contradicts_another_says_so(world: World) -> None:
    world.run("memory", "add", "My favourite colour is blue")
    result = world.run("memory", "add", "My favourite colour is green", "--json").json
    assert [fact["text"] for fact in result["replaced"]] == ["My favourite colour is blue"]
    assert texts(world) == ["My favourite colour is green"]
    assert "It replaced: My favourite colour is blue" in world.run("memory", "show", result["fact"]["id"]).out


def test_a_fact_is_listed_and_shown_with_its_story(world: World, tea: str) -> None:
    assert re.fullmatch(rf"{tea}  \d{{4}}-\d\d-\d\d  I like tea\n", world.run("memory", "list").out)
    shown = world.run("memory", "show", tea[:5]).out
    assert shown.startswith(f"I like tea\n{tea}, from: user, ")
    assert shown.endswith("used 0 times\n")
    assert world.run("memory", "show", tea, "--json").json["source"] == "user"


def test_facts_are_found_by_words_and_meaning(world: World, tea: str) -> None:
    world.run("memory", "add", "The car is at the garage")
    assert world.run("memory", "search", "tea").out.endswith(f"{tea}  I like tea\n")
    found = world.run("memory", "search", "automobile", "--json").json
    assert [fact["text"] for fact in found] == ["The car is at the garage"]
    assert "Nothing remembered matches." in world.run("memory", "search", "quantum").err


def test_a_fact_is_forgotten_on_the_users_word(world: World, tea: str) -> None:
    assert world.run("memory", "forget", tea, stdin="").code == ExitCode.USAGE
    assert texts(world) == ["I like tea"]
    assert world.run("memory", "forget", tea, "--yes").out == "Forgotten: I like tea\n"
    assert texts(world) == []


def test_what_is_exported_can_be_imported(world: World, tea: str) -> None:
    world.run("memory", "add", "My favourite colour is blue")
    exported = world.run("memory", "export").out
    assert exported == "- I like tea\n- My favourite colour is blue\n"
    assert len(world.run("memory", "export", "--json").json) == 2
    (world.vault / "facts.md").write_text(exported + "- Mia is six\n- My favourite colour is green\n")
    result = world.run("memory", "import", "@facts.md")
    assert result.out == "Remembered 2 of 4 facts; the others were known.\n"
    assert "My favourite colour is green It replaces: My favourite colour is blue" in result.err
    assert set(texts(world)) == {"I like tea", "Mia is six", "My favourite colour is green"}
    (world.vault / "known.md").write_text("- Mia is six")
    assert world.run("memory", "import", "known.md", "--json").json["new"] == 0


def test_facts_of_a_local_note_are_local(world: World) -> None:
    for name, head in (("Open.md", ""), ("Closed.md", "---\nzkchat: local\n---\n")):
        world.note(name, f"{head}- I know of {name}.\n")
        assert world.run("memory", "import", f"@{name}").code == 0
    facts = world.run("memory", "list", "--json").json
    told = {fact["text"]: fact["local"] for fact in facts}
    assert told == {"I know of Open.md.": False, "I know of Closed.md.": True}


def test_a_file_that_cannot_be_imported_is_said(world: World) -> None:
    for path, code in (("@../x.md", ExitCode.VAULT), ("@gone.md", ExitCode.VAULT), ("gone.md", ExitCode.USAGE)):
        assert world.run("memory", "import", path).code == code


def test_the_facts_that_a_conversation_calls_for_are_shown_with_the_notes_used_most(world: World, tea: str) -> None:
    world.run("memory", "add", "The car is at the garage")
    note = DocumentReference(wikilink="[[Tea]]", relative_path="Tea.md")
    with stores.open_sessions(world.environment(), world.vault) as store:
        session = store.create("Drinks")
        asked = ["Is the car at the garage?", "Really?", "Sure?", "Which tea?"]  # of which the last three count
        for earlier, text in zip([None, *asked], asked, strict=False):
            parts, used = (TextPart(text=text),), (note,) if text == asked[-1] else ()
            question = ChatMessage(
                id=text, parent_id=earlier, role="user", parts=parts, references=used, created_at=NOON
            )
            store.append(session.id, [MessageEntry(message=question)])
    shown = world.run("memory", "relevance").out
    assert "I like tea" in shown
    assert "garage" not in shown
    assert "Tea.md (no longer exists): used 1 time in 1 conversation" in shown
    world.note("Tea.md", "# Tea\n")
    assert "Tea.md: used 1 time in 1 conversation" in world.run("memory", "relevance").out
    found = world.run("memory", "relevance", "drinks", "--json").json
    assert found["session"]["title"] == "Drinks"
    assert [fact["id"] for fact in found["facts"]] == [tea]
    assert [note["path"] for note in found["notes"]] == ["Tea.md"]


def test_a_damaged_memory_is_said_and_begun_anew(world: World, tea: str) -> None:
    (file,) = world.home.rglob("memories.db")
    for log in file.parent.glob("memories.db-*"):
        log.unlink()
    file.write_bytes(b"nonsense" * 1000)
    result = world.run("memory", "list")
    assert result.code == ExitCode.OK
    assert "was damaged" in result.err
    assert texts(world) == ["I like tea"]  # the copy of the day
