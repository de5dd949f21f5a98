"""The sources of an answer as footnotes below it."""

import re

from tests.support.world import World

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
