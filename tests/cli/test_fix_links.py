"""`zkchat check --fix`: broken links, proposals with their reasons, and repairs."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

SOURCE = "[[Old/Compost heap|heap]] and [[Compost heaps]].\n\n[[Compost heap#Turnings it]] [[Nothing like it]]\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Garden/Compost heap.md", "# Compost heap\n\n## Turning it\n")
    world.note("Source.md", SOURCE)
    return world


def source(world: World) -> str:
    return (world.vault / "Source.md").read_text(encoding="utf-8")


def test_a_dry_run_lists_proposals_with_their_reasons_the_certain_ones_first(garden: World) -> None:
    shown = garden.run("vault", "fix-links", "--dry-run")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "Source.md:1: [[Old/Compost heap|heap]]",
        "  [[Compost heap|heap]]  it is in Garden/ now, sure",
        "Source.md:1: [[Compost heaps]]",
        "  [[Compost heap]]  has a similar name, 90%",
        "Source.md:3: [[Compost heap#Turnings it]]",
        "  [[Compost heap#Turning it]]  there is a similar heading, 90%",
    ]
    assert "3 broken links can be repaired, 1 have no known target" in shown.err
    assert source(garden) == SOURCE


def test_of_many_lines_with_the_same_link_three_are_named(garden: World) -> None:
    for count, place in ((3, "Source.md:1, 2, 3: "), (4, "Source.md:1, 2, 3, …: ")):
        garden.note("Source.md", "[[Compost heaps]]\n" * count)
        assert garden.run("vault", "fix-links", "--dry-run").out.startswith(place)


def test_yes_repairs_what_is_certain_and_nothing_else(garden: World) -> None:
    done = garden.run("vault", "fix-links", "--yes")
    assert done.out == "Source.md:1: [[Old/Compost heap|heap]] → [[Compost heap|heap]]\n"
    assert done.err.startswith("1 link repaired; 2 broken links can be repaired, 1 have no known target")
    assert source(garden) == SOURCE.replace("Old/Compost heap", "Compost heap")
    again = garden.run("vault", "fix-links", "--yes")
    assert (again.out, again.err[:19]) == ("", "Nothing was changed")
    assert garden.run("undo", "--yes").code == 0
    assert source(garden) == SOURCE


def test_a_key_chooses_a_repair(garden: World) -> None:
    done = garden.run("vault", "fix-links", typed="n\n1\n1\n")
    assert "Source.md:1  2 of 3\n  [[Compost heaps]]\n  1 [[Compost heap]]  has a similar name, 90%\n" in done.err
    assert "Which? 1 repair it like this · n leave it · c create the note · q enough" in done.err
    assert source(garden) == SOURCE.replace("heaps", "heap").replace("Turnings it", "Turning it")


def test_the_missing_note_can_be_created(garden: World) -> None:
    stopped = garden.run("vault", "fix-links", typed="n\nc\n\x03\n")
    assert (stopped.out, "Nothing was changed; 3 broken links can be repaired" in stopped.err) == ("", True)
    done = garden.run("vault", "fix-links", typed="n\nc\nq\n")
    assert done.out == "Compost heaps.md: created\n"
    assert done.err.endswith("2 broken links can be repaired, 1 have no known target (zkchat check lists them).\n")
    assert (garden.vault / "Compost heaps.md").read_text() == ""
    assert source(garden) == SOURCE


def test_scripts_get_proposals_and_repairs(garden: World) -> None:
    told = garden.run("vault", "fix-links", "--yes", "--json").json
    assert told["applied"]
    assert told["repaired"] == [
        {
            "source": "Source.md",
            "lines": [1],
            "text": "[[Old/Compost heap|heap]]",
            "link": "[[Compost heap|heap]]",
            "path": "Garden/Compost heap.md",
            "reason": "it is in Garden/ now",
        }
    ]
    assert [each["text"] for each in told["unknown"]] == ["[[Nothing like it]]"]
    assert told["proposed"][1]["missing"] == "place"
    assert told["proposed"][0]["repairs"] == [
        {
            "link": "[[Compost heap]]",
            "path": "Garden/Compost heap.md",
            "anchor": "",
            "reason": "has a similar name",
            "confidence": 0.9,
            "certain": False,
        }
    ]


def test_without_a_terminal_it_is_refused(garden: World) -> None:
    refused = garden.run("vault", "fix-links", stdin="1\n")
    assert refused.code == ExitCode.USAGE
    assert "--dry-run" in refused.err
    assert source(garden) == SOURCE
