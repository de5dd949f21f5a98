"""A note that a chat writes is known in the same chat."""

import io

from msgspec.structs import replace

from tests.support.world import Terminal, World
from zkchat.cli.main import run


def chat(world: World, *lines: str) -> str:
    """What is shown in a chat in which these lines are typed."""
    world.variables["TERM"] = "dumb"
    environment = replace(world.environment(terminal=True), stdin=Terminal("\n".join([*lines, ""])))
    run(("chat", "--model", "quote"), environment)
    assert isinstance(environment.stdout, io.StringIO)
    return environment.stdout.getvalue()


def test_what_is_saved_of_a_chat_neither_answers_nor_takes_the_place_of_a_note(world: World) -> None:
    world.note("Body/Sleep.md", "# Sleep\n\nAdults need seven hours of sleep, see [[Naps]].\n")
    world.note("Naps.md", "# Naps\n\nTwenty minutes at most.\n")
    question = "How many hours of sleep do adults need?"

    def asked(text: str) -> list[tuple[str, str]]:
        rows = world.run("ask", text, "--json", "--model", "quote").json["references"]
        return [(row["relative_path"], row["status"]) for row in rows]

    before = {text: asked(text) for text in (question, "[[Sleep]]", "@Sleep", "What is sleep?")}
    shown = chat(world, question, "/save [[Sleep]]", "y", "/save", "y", "/export [[Naps talk]]", "y", "/export", "y")
    assert shown.count("Saved as ") == 4
    notes = [path.read_text("utf-8") for path in world.vault.glob("*.md") if path.name != "Naps.md"]
    assert len(notes) == 4
    assert all("zkchat-note: " in note and "[[Sleep]]" in note for note in notes)
    assert "## Sources\n\n- [[Sleep]]\n" in (world.vault / "Sleep.md").read_text("utf-8")
    assert {text: asked(text) for text in before} == before
    assert before["[[Sleep]]"] == before["@Sleep"] == [("Body/Sleep.md", "resolved")]
    found = world.run("search", "hours of sleep", "--json").json
    assert {passage["path"] for passage in found} <= {"Body/Sleep.md", "Naps.md"}
    assert world.run("resolve", "[[/Sleep]]").out.startswith("[[/Sleep]] → Sleep.md")


def test_links_that_waited_for_a_saved_note_are_told(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of sleep, see [[Kept]] and [[Talk]].\n")
    saves = ("/save [[Kept]]", "y", "/export Talk", "y", "/save [[Other]]", "y")
    shown = chat(world, "How many hours of sleep do adults need?", *saves)
    assert "1 link in 1 note that led nowhere leads to Kept.md." in shown
    assert "2 links in 2 notes that led nowhere lead to Talk.md." in shown, "the saved note quotes the first"
    assert "to Other.md." not in shown
