"""`zkchat verify`: the statements of a text beside the notes."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

SLEEP = "# Sleep\n\n## Hours\n\nAdults need seven hours. Naps are short.\n"
DRAFT = "# Draft\n\nAdults need seven hours. Adults need nine hours.\n\nOwls read newspapers. Is that so?\n"


@pytest.fixture
def vault(world: World) -> World:
    world.note("Sleep.md", SLEEP)
    return world


def test_each_statement_has_its_mark_its_place_and_what_stands_there(vault: World) -> None:
    shown = vault.run("verify", "-", stdin=DRAFT)
    assert shown.code == ExitCode.NO_ANSWER
    assert shown.out.splitlines() == [
        "✓ Adults need seven hours. (quoted · Sleep.md:5 › Hours)",
        "✗ Adults need nine hours. (contradicted: another number · Sleep.md:5 › Hours)",
        "  “Adults need seven hours.”",
        "? Owls read newspapers. (unsupported: no note says this)",
    ]
    assert shown.err == "1 of 3 statements is in your notes, 1 contradicts them, 1 is not there.\n"


def test_scripts_get_verdicts_with_places(vault: World) -> None:
    found = vault.run("verify", "-", "--json", stdin=DRAFT).json
    assert (found["supported"], found["complete"]) == (False, True)
    assert found["counts"] == {"quoted": 1, "supported": 0, "contradicted": 1, "unsupported": 1}
    first, second, third = found["statements"]
    assert DRAFT[first["start"] : first["end"]] == first["text"] == "Adults need seven hours."
    assert (second["line"], second["difference"]) == (3, "number")
    assert second["places"][0]["lines"] == {"first": 5, "last": 5}
    assert (third["verdict"], third["places"]) == ("unsupported", [])


def test_all_supported_ends_with_zero(vault: World) -> None:
    shown = vault.run("verify", "-", stdin="Naps are short. Hello!")
    assert (shown.code, shown.err) == (0, "1 of 1 statement is in your notes.\n")
    assert vault.run("verify", "-", stdin="Owls read newspapers.").err == (
        "0 of 1 statement is in your notes, 1 is not there.\n"
    )
    nothing = vault.run("verify", "-", stdin="Hello!")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "The text has no statements to compare with your notes.\n"


def test_what_comes_nearest_to_a_statement_is_named(vault: World) -> None:
    vault.note("Heap.md", "A cold heap is left alone and needs a year.\n")
    statement = "A cold heap is left alone and needs a month."
    assert vault.run("verify", "-", stdin=statement).out.splitlines() == [
        f"? {statement} (unsupported: no note says this; nearest: Heap.md:1)",
        "  “A cold heap is left alone and needs a year.”",
    ]
    (found,) = vault.run("verify", "-", "--json", stdin=statement).json["statements"]
    assert (found["places"], found["nearest"]["path"]) == ([], "Heap.md")


def test_a_file_of_the_vault_does_not_support_itself(vault: World) -> None:
    vault.note("Draft.md", "Owls read newspapers.\n")
    (vault.vault / "Link.md").symlink_to("Draft.md")
    assert vault.run("verify", str(vault.vault / "Draft.md")).code == ExitCode.NO_ANSWER
    assert vault.run("verify", str(vault.vault / "Sleep.md")).code == ExitCode.NO_ANSWER
    assert vault.run("verify", "-", stdin="Owls read newspapers.").code == 0


def test_what_is_no_text_is_refused_with_a_sentence(vault: World) -> None:
    (vault.vault / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    for name, said in (
        ("nothing.md", "Give another file, or -"),
        (".", "Give another file, or -"),
        ("picture.png", "is not UTF-8 text"),
    ):
        failed = vault.run("verify", str(vault.vault / name))
        assert (failed.code, said in failed.err) == (ExitCode.USAGE, True)
