"""How an answer is shown: links, sources as footnotes, colours, what was sent for it, and the bell at its end."""

import re
from functools import partial
from itertools import count

import pytest

from tests.support.screens import without_sequences
from tests.support.world import World
from zkchat.core.errors import ExitCode
from zkchat.render.presenters.plain import BellPresenter


def test_links_of_an_answer_are_looked_up_in_the_vault(world: World) -> None:
    world.note("a/Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script([{"text": "See [[a/Sleep#Adults|sleep]] and [[Nowhere]], `[[Nowhere]]`."}])
    drawn = world.run("ask", "How long?", "--model", model, terminal=True).out
    assert "See sleep and Nowhere[?], [[Nowhere]]." in without_sequences(drawn)
    assert f"{(world.vault / 'a/Sleep.md').as_uri()}\x1b\\" in drawn
    piped = world.run("ask", "How long?", "--model", world.script([{"text": "See [[a/Sleep|sleep]], [[Nowhere]]."}]))
    assert piped.out == "See [[a/Sleep|sleep]], [[Nowhere]].\n"


ESCAPES = re.compile("\x1b\\][^\x1b]*\x1b\\\\|\x1b\\[[0-9;?]*[A-Za-z]|\r")


def asked(world: World, *options: str, model: str = "", terminal: bool = True) -> list[str]:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours of rest.\n")
    world.note("Tea.md", "# Tea\n\nTea at night keeps one awake.\n")
    world.configure('[ui]\npanel = "footnotes"\ncolor = "never"\n')
    model = model or world.script([{"text": "Seven hours, says [[Sleep]]. See [[Nowhere]].\n"}])
    said = world.run("ask", "what do [[Sleep]] and [[Tea]] say?", "--model", model, *options, terminal=terminal)
    assert said.code == 0, said
    return ESCAPES.sub("", said.out + said.err).splitlines()


def test_each_source_is_a_numbered_footnote_with_what_it_says(world: World) -> None:
    lines = asked(world)
    answer = next(number for number, line in enumerate(lines) if "Seven hours, says" in line)
    notes = [line for line in lines[answer + 1 :] if "[1]" in line or "[2]" in line or "[3]" in line]
    assert [line[:3] for line in lines if line.startswith("[")] == ["[1]", "[2]", "[3]"]
    assert any("Sleep.md" in line and "Adults need seven hours of rest." in line for line in notes)
    assert any("[[Nowhere]], no such note" in line for line in notes)


def test_they_are_plain_lines_for_a_screen_reader_and_go_into_no_pipe(world: World) -> None:
    assert any(line.startswith("[1] Sleep.md") for line in asked(world, "--plain"))
    assert not any(line.startswith("[1]") for line in asked(world, terminal=False))


def test_a_quoted_answer_is_not_quoted_again(world: World) -> None:
    lines = asked(world, model="quote")
    assert any(line.startswith("[1] Sleep.md:") for line in lines)
    assert sum("Adults need seven hours of rest." in line for line in lines) == 1


ANSWER = [{"text": "See [[Sleep]] and `code`.\n"}]
CYAN, BLUE, LIGHT_LINK, ORANGE = "36m", "94m", "38;5;26m", "38;5;208m"


def answer(world: World, theme: str | None = None) -> str:
    world.note("Sleep.md", "# Sleep\n\nSeven hours.\n")
    if theme is not None:
        world.configure(f'[ui]\ntheme = "{theme}"\n')
    said = world.run("ask", "what of [[Sleep]]?", "--model", world.script(ANSWER), terminal=True)
    assert said.code == 0, said
    return said.out


def test_the_colours_are_for_a_dark_background_unless_set(world: World) -> None:
    usual = answer(world)
    assert BLUE in usual
    assert CYAN in usual
    assert answer(world, "dark") == usual


def test_a_light_theme_has_darker_colours_and_none_has_no_colour(world: World) -> None:
    said = answer(world, "light")
    assert (LIGHT_LINK in said, BLUE in said, CYAN in said) == (True, False, False)
    said = answer(world, "none")
    assert ("\x1b[1m" in said, BLUE in said, CYAN in said) == (True, False, False)


@pytest.mark.parametrize("theme", ["link=#FF8700", "light, link=#ff8700"])
def test_colours_of_ones_own_stand_beside_those_of_a_theme(world: World, theme: str) -> None:
    said = answer(world, theme)
    assert ORANGE in said
    assert BLUE not in said
    assert (CYAN in said) == ("light" not in theme)


def test_a_theme_that_is_none_is_told_with_what_is_one(world: World) -> None:
    for theme in ("gloomy", "dark sky=blue", "dark link=sky", "dark light"):
        world.configure(f'[ui]\ntheme = "{theme}"\n')
        said = world.run("ask", "what of sleep?", "--model", "quote")
        assert (said.code, "ui.theme" in said.err) == (ExitCode.CONFIG, True)
        assert '"dark", "light" or "none"' in said.err


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    world.note("ZKCHAT.md", "# Page\n\nTheirs, and not approved.\n")
    return world.script([{"text": "Seven."}])


ASKED = "How long is [[Sleep]]?"


def test_a_pipe_gets_the_answer_alone_and_standard_error_what_was_sent(world: World, model: str) -> None:
    result = world.run("ask", ASKED, "--model", model, "--show-context")
    assert (result.code, result.out) == (0, "Seven.\n")
    usage, *lines = result.err[result.err.index("Context:") :].splitlines()
    assert "/ 8,192 tokens" in usage
    assert any(line.startswith("+ instructions default [always], ") for line in lines)
    assert "+ note Sleep.md [manual], 10 tokens: linked in the message" in lines
    assert any(line.startswith("+ tool read_document [always], ") for line in lines)
    assert any(line.startswith("+ 1 message, ") for line in lines)
    assert (
        "- memory ZKCHAT.md, left out (not approved: zkchat config trust): came with the vault and is not approved"
        in lines
    )


def test_json_has_the_record_also_of_a_turn_that_failed(world: World, model: str) -> None:
    answered = world.run("ask", ASKED, "--model", model, "--show-context", "--json")
    assert answered.json["context"]["items"][1]["name"] == "read_document"
    assert "Context:" not in answered.err
    failed = world.run("ask", ASKED, "--model", "ollama:nowhere", "--json")
    assert failed.code == ExitCode.MODEL
    assert "Sleep.md" in [item["name"] for item in failed.json["context"]["items"]]


BELL = "\a"
SAID = [{"text": "Seven hours."}]


@pytest.fixture
def long(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Whoever looks at the clock of the bell finds it a second later."""
    monkeypatch.setattr("zkchat.render.BellPresenter", partial(BellPresenter, clock=partial(next, count())))
    world.configure("[ui]\nbell = 1\n")
    return world


def test_the_terminal_rings_when_a_long_answer_is_done_or_failed(long: World) -> None:
    for answer, options in ((SAID, []), (SAID, ["--plain"]), ([{"error": "It is away."}], [])):
        said = long.run("ask", "how long?", "--model", long.script(answer), *options, terminal=True)
        assert said.out.count(BELL) == 1


def test_a_quick_answer_is_silent(world: World) -> None:
    assert BELL not in world.run("ask", "how long?", "--model", world.script(SAID), terminal=True).out


def test_a_pipe_and_no_bell_are_silent(long: World) -> None:
    pipe = long.run("ask", "how long?", "--model", long.script(SAID))
    as_json = long.run("ask", "how long?", "--model", long.script(SAID), "--json", terminal=True)
    long.configure("[ui]\nbell = 0\n")
    off = long.run("ask", "how long?", "--model", long.script(SAID), terminal=True)
    for said in (pipe, as_json, off):
        assert (said.code, BELL in said.out + said.err) == (0, False)


def test_a_goal_rings_at_its_end_and_not_at_each_step(long: World) -> None:
    model = long.script([{"text": "1. Look up sleep.\n2. Write it down.\n"}], SAID, [{"text": "Done."}], SAID)
    said = long.run("ask", "--goal", "tell how long to sleep", "--yes", "--model", model, terminal=True)
    assert said.out.count(BELL) == 1, said
