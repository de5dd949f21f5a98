"""What a command is called now does the same as its earlier name, to the last byte."""

import os

import pytest

from tests.support.world import World

DRAFT = "Adults need seven hours.\n"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("vault"))
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours. See [[Tea]] and [[Nothing]].\n")
    world.note("Tea.md", "# Tea\n\nTea, and what Sleep has to do with it.\n")
    (world.root / "draft.txt").write_text(DRAFT)
    world.run("note", "append", "Tea", "Green.", "--yes")
    world.run("ask", "How long? [[Sleep]]", "--model", "quote")
    for note in world.vault.glob("*.md"):
        os.utime(note, (1_700_000_000, 1_700_000_000))  # one that was just written would be read again
    world.run("index")
    return world


@pytest.mark.parametrize(
    ("now", "earlier"),
    [
        ("show Sleep --links", "links Sleep"),
        ("show --links", "links --all"),
        ("show Sleep --mentions", "vault mentions Sleep"),
        ("show Sleep --neighbours --steps 2", "vault neighbours Sleep --steps 2"),
        ("show Sleep --timeline --limit 3", "timeline Sleep --limit 3"),
        ("show Sleep --used", "refs Sleep"),
        ("show --used", "refs --top"),
        ("show [[Sleep#Nap]] --why --from Tea", "resolve [[Sleep#Nap]] --from Tea"),
        ("check", "vault status"),
        ("check --fix --dry-run", "vault fix-links --dry-run"),
        ("check {draft} --problems", "verify {draft} --problems"),
        ("undo --list", "changes"),
        ("undo --list Tea --since yesterday --diff", "changes Tea --since yesterday --diff"),
        ("undo --list --id 1", "changes --id 1"),
        ("today --note", "daily"),
        ("config agents list", "agent list"),
        ("config servers list", "mcp list"),
        ("config trust", "trust"),
        ("memory rules list", "rules list"),
    ],
)
def test_both_names_do_the_same(vault: World, now: str, earlier: str) -> None:
    for options in ((), ("--json",)):
        lines = [line.format(draft=vault.root / "draft.txt").split() for line in (now, earlier)]
        found = [vault.run(*line, *options) for line in lines]
        assert found[0] == found[1]
        assert found[0].code in {0, 4}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("show", "Which note do you want to see?"),
        ("show Sleep --links --used", "Choose one: --links, --used."),
        ("check --yes", "--yes and --dry-run need --fix."),
        ("check draft.txt --fix", "FILE and --fix cannot be used together."),
        ("undo --diff", "--since and --diff need --list."),
        ("undo --list --id x", "'x' is not the number of a change."),
        ("undo --list --id ²", "'²' is not the number of a change."),
        ("ask --yes What?", "--yes works only if the model may change notes."),
        ("ask --dry-run What?", "--dry-run works only if the model may change notes."),
    ],
)
def test_what_does_not_go_together_is_refused(vault: World, line: str, said: str) -> None:
    refused = vault.run(*line.split())
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
