"""`zkchat note link`: mentions become links, one answer each."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

COMPOST = "# Compost\n\nWorms turn it.\n"
ROOTS = "Roots like compost, and compost heaps.\n\nWorms do too. Compost again.\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Compost.md", COMPOST)
    world.note("Worms.md", "# Worms\n\nThey eat.\n")
    world.note("deep/Roots.md", ROOTS)
    return world


def text(world: World, path: str) -> str:
    return (world.vault / path).read_text(encoding="utf-8")


def test_mentions_are_shown_as_links_in_their_lines_and_linked_after_a_yes(garden: World) -> None:
    done = garden.run("note", "link", "Compost", typed="a\ny\n")
    assert done.code == 0
    assert "deep/Roots.md:1\n  Roots like [[Compost|compost]], and compost heaps.\n" in done.err
    assert "Link it? y yes · n no · a all 3 here · s skip this name · q enough" in done.err
    assert "Compost.md:3\n  [[Worms]] turn it.\n" in done.err
    assert done.out == "4 mentions linked in 2 notes.\n"
    assert text(garden, "deep/Roots.md") == (
        "Roots like [[Compost|compost]], and [[Compost|compost]] heaps.\n\nWorms do too. [[Compost]] again.\n"
    )
    assert text(garden, "Compost.md") == "# Compost\n\n[[Worms]] turn it.\n"
    assert garden.run("undo", "--yes").code == 0
    assert (text(garden, "deep/Roots.md"), text(garden, "Compost.md")) == (ROOTS, COMPOST)


@pytest.mark.parametrize(
    ("typed", "linked"),
    [("y\ny\ny\n", 3), ("n\ny\nn\n", 1), ("y\nq\n", 1), ("s\ny\n", 1), ("n\ns\ny\n", 0), ("x\ny\n", 1), ("", 0)],
)
def test_each_answer_does_what_it_says(garden: World, typed: str, linked: int) -> None:
    done = garden.run("note", "link", typed=typed)
    assert done.code == 0
    texts = [text(garden, path) for path in ("Compost.md", "Worms.md", "deep/Roots.md")]
    assert sum(each.count("[[") for each in texts) == linked
    assert ("linked in" in done.out) == bool(linked)
    assert ("Nothing was changed: no mention was chosen." in done.err) == (not linked)


def test_a_dry_run_prints_the_diff_and_changes_nothing(garden: World) -> None:
    shown = garden.run("note", "link", "Worms", "--dry-run", "--limit", "1")
    assert "+[[Worms]] " in shown.out
    assert shown.out.count("@@") == 2
    assert shown.err == "Nothing was changed: this is a dry run.\n"
    assert text(garden, "deep/Roots.md") == ROOTS


def test_scripts_are_told_which_links_were_made(garden: World) -> None:
    told = garden.run("note", "link", "Compost", "--yes", "--json").json
    assert told["applied"]
    assert told["links"] == [
        {"source": "deep/Roots.md", "line": 1, "text": "compost", "link": "[[Compost|compost]]", "path": "Compost.md"},
        {"source": "Compost.md", "line": 3, "text": "Worms", "link": "[[Worms]]", "path": "Worms.md"},
    ]
    assert [each["path"] for each in told["files"]] == ["deep/Roots.md", "Compost.md"]
    assert garden.run("changes", "--json").json[0]["command"] == "note link"


def test_without_a_terminal_it_is_refused(garden: World) -> None:
    refused = garden.run("note", "link", stdin="y\n")
    assert refused.code == ExitCode.USAGE
    assert "and needs a terminal" in refused.err
    assert "--yes" in refused.err
    assert text(garden, "deep/Roots.md") == ROOTS


def test_a_name_cannot_act_on_the_terminal(world: World) -> None:
    world.note("Evil \x1b]0;x\x07name.md", "")
    world.note("A.md", "An evil \x1b]0;x\x07name here.\n")
    shown = world.run("note", "link", typed="n\n")
    assert "Evil ␛]0;x" in shown.err
    assert "\x1b" not in shown.err
