import re
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.support.ptys import Terminal
from tests.support.world import World
from zkchat.index.note_index import SqliteNoteIndex

Open = Callable[..., Terminal]
COLOR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
LONG = [f"line {number}" for number in range(2000)]


@pytest.fixture
def chat(world: World) -> Iterator[Open]:
    """Opens `zkchat chat` over two notes, with a model that answers `answers`."""
    world.note("Ideas/Sleep.md", "---\naliases: [Slumber]\n---\n# Sleep\n\n## Phases\n\nREM comes last. ^rem\n")
    world.note("Ideas/Naps.md", "# Naps\n\nSee [[Sleep]].\n")
    opened: list[Terminal] = []

    def open_(*arguments: str, **more: object) -> Terminal:
        terminal = Terminal(world, "--model", f"scripted:{world.root / 'play.json'}", *arguments, **more)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield open_
    for terminal in opened:
        terminal.close()


def messages(world: World) -> list[tuple[str, str, str]]:
    (session,) = world.run("sessions", "list", "--all", "--json").json
    shown = world.run("sessions", "show", session["id"], "--json").json
    return [
        (
            message["role"],
            message["status"],
            "".join(part["text"] for part in message["parts"] if part["kind"] == "text"),
        )
        for message in shown["messages"]
    ]


def test_a_note_is_chosen_from_the_menu_sent_and_answered_while_the_bar_keeps_count(chat: Open, world: World) -> None:
    world.script([{"text": "Rest "}, {"delay": 0.3}, {"text": "**well**, says [[Sleep]]."}], context_limit=4096)
    terminal = chat()
    terminal.wait_for("zkchat · vault · 2 notes", "/help for help", " vault · scripted:scripted · new session")
    terminal.type("What of [[slum")
    terminal.wait_for("Slumber → Sleep", "tokens Ideas/Sleep.md")
    terminal.type("\t")
    terminal.wait_for("[[Sleep|Slumber]]")
    terminal.type("#")
    terminal.wait_for("[[Sleep#", "Phases")
    terminal.type("ph")
    terminal.wait_until(lambda: "##" in terminal.text and " # " not in terminal.text, "a menu of one row")
    terminal.type("\t")
    terminal.wait_for("[[Sleep#Phases]]")
    terminal.type("\r?\r")
    terminal.wait_for("Rest")
    terminal.wait_for("Rest well, says Sleep.", "1 [[Sleep#Phases]]", "% of 4,096")
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert [text for role, _, text in messages(world) if role == "user"] == ["What of [[Sleep#Phases]]?"]


def test_a_note_saved_while_one_types_is_indexed_before_the_message_is_sent(chat: Open, world: World) -> None:
    world.script([{"text": "Yes."}])
    terminal = chat()
    terminal.wait_for("2 notes")
    terminal.wait_for_prompt()
    (database,) = world.home.rglob("index.db")
    with closing(SqliteNoteIndex(database)) as index:
        terminal.wait_until(lambda: index.known("Ideas/Naps.md") is not None, "the first look")
        world.note("Ideas/Dreams.md", "# Dreams\n")

        def is_known_to_who_types_on() -> bool:
            terminal.type("z")
            return index.known("Ideas/Dreams.md") is not None

        terminal.wait_until(is_known_to_who_types_on, "the look of who types")


def test_a_paste_of_two_thousand_lines_is_shown_folded_sent_whole_and_found_again_by_the_next_session(
    chat: Open, world: World
) -> None:
    world.script([{"text": "Long."}])
    terminal = chat()
    terminal.wait_for_prompt()
    terminal.type("Read: ")
    terminal.paste("\r".join(LONG))
    terminal.wait_for("you › Read: [pasted 2,000 lines]")
    terminal.type("\r")
    terminal.wait_for("Long.", "tokens")
    terminal.wait_for_prompt()
    terminal.type("/quit\r")
    assert terminal.finish() == 0
    assert messages(world)[0][2] == "Read: " + "\n".join(LONG)
    later = chat("--continue")
    later.wait_for("Continuing “Read: line 0", "… and 1,995 more lines")
    later.wait_for_prompt()
    later.type("\x1b[A\x1b[A")
    later.wait_for("you › [pasted 2,000 lines]")


def test_a_session_is_offered_and_resumed_with_its_last_exchange(chat: Open, world: World) -> None:
    world.script([{"text": "Rest."}], [{"text": "Yes."}])
    asking = chat()
    asking.wait_for_prompt()
    asking.type("What is [[Sleep]]?\r")
    asking.wait_for("Rest.", "1 [[Sleep]]")
    asking.wait_for_prompt()
    asking.type("\x04")
    asking.finish()
    terminal = chat()
    terminal.wait_for("Last time, just now: “What is [[Sleep]]?”.")
    offered = re.search(r"/resume (\w+)", terminal.text)
    assert offered
    assert "Rest." not in terminal.text
    terminal.wait_for_prompt()
    terminal.type(f"{offered[0]}\r")
    terminal.wait_for("you › What is [[Sleep]]?", "Rest.", "1 [[Sleep]]  Ideas/Sleep.md", "vault · scripted:scripted ·")
    terminal.wait_for_prompt()
    terminal.type("Sure?\r")
    terminal.wait_for("Yes.")
    terminal.wait_for_prompt()
    terminal.type("/new\r")
    terminal.wait_until(lambda: terminal.is_at_prompt and terminal.rows[-1].endswith("new session"), "a new session")
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert len(messages(world)) == 4


def test_a_question_in_mid_answer_shows_what_is_typed_and_leaves_what_was_typed_before_it_to_the_prompt(
    chat: Open, world: World
) -> None:
    remember = {"tool": "remember", "arguments": {"text": "The user drinks tea."}}
    world.script([{"text": "Well, "}, {"delay": 0.8}, remember], [{"text": "As you like."}], [{"text": "Yes what?"}])
    terminal = chat()
    terminal.wait_for_prompt()
    terminal.type("I drink tea\r")
    terminal.wait_for("Well,")
    terminal.type("y\r")
    terminal.wait_for("Remember “The user drinks tea.”? [y/N]")
    terminal.type("n")
    terminal.wait_for("[y/N] n", "As you like.")
    terminal.wait_for("you › y", "Yes what?")
    terminal.wait_for_prompt()


def test_while_a_model_is_silent_the_time_is_shown_and_a_stopped_answer_says_so(chat: Open, world: World) -> None:
    world.script([{"delay": 1.5}, {"text": "One "}, {"text": "[[Tw"}, {"delay": 30}, {"text": "o]]."}])
    terminal = chat()
    terminal.wait_for_prompt()
    terminal.type("Count\r")
    terminal.wait_for("… waiting for the model, 1 s; Esc stops it")
    terminal.wait_for("One [[Tw", "… waiting for the model, 2 s; Esc stops it")
    terminal.type("\x03")
    terminal.wait_for("(Stopped. What arrived is kept.)")
    assert "waiting" not in terminal.text
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert messages(world) == [("user", "complete", "Count"), ("assistant", "unfinished", "One [[Tw")]


def test_a_narrow_terminal_without_colour(chat: Open, world: World) -> None:
    world.script([{"text": "Rest **well** `now`."}])
    terminal = chat(width=40, variables={"NO_COLOR": "1"})
    terminal.wait_for_prompt()
    terminal.type("[[sl")
    terminal.wait_for("Sleep")
    terminal.type("\t\r\r")
    terminal.wait_for("Rest well now.", "Ideas/Sleep.md", "● zkchat")
    terminal.wait_for_prompt()
    assert terminal.rows[terminal.rows.index("you ›") - 1] == ""  # the next question stands apart
    assert not COLOR.search(terminal.written)


@pytest.mark.parametrize(("arguments", "variables"), [((), {"TERM": "dumb"}), (("--plain",), {})])
def test_a_plain_terminal_sees_lines_and_no_sequence(
    chat: Open, world: World, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    world.script([{"text": "Rest **well**, "}, {"text": "says [[Sleep]]."}])
    terminal = chat(*arguments, variables=variables)
    terminal.wait_for("you ›")
    terminal.type("What of [[Sleep]]?\r")
    terminal.wait_for("says [[Sleep]].", "[[Sleep]]  Ideas/Sleep.md  cited")
    terminal.type("\x03")
    terminal.wait_for("(Ctrl-D leaves.)")
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert re.search(r"you › \r\nTo continue later: zkchat --vault \S+ -c\r\n$", terminal.written)
    assert "\x1b" not in terminal.written
