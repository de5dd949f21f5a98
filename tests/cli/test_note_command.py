"""`zkchat note`: each change is shown, asked for, made whole, and told."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.world import Result, Terminal, World
from zkchat.cli.main import run
from zkchat.core.errors import ExitCode

INBOX = "---\nstatus: open\n---\n# Inbox\n\n## Ideas\n\n- One\n\n## Later\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Inbox.md", INBOX)
    world.note("Plants/Compost.md", "# Compost\n\nSee [[Inbox]].\n")
    world.note("Plants/Notes.md", "first\n")
    world.note("Tools/Notes.md", "second\n")
    return world


def note(world: World, *arguments: str, typed: str = "", terminal: bool = False, cwd: Path | None = None) -> Result:
    return world.run("note", *arguments, typed=typed, terminal=terminal, cwd=cwd)


def test_a_new_note_is_made_with_its_text(garden: World) -> None:
    made = note(garden, "new", "Compost in winter", "Turn it less often.", "--folder", "Plants", "--yes")
    assert (made.code, made.out) == (0, "Create Plants/Compost in winter.md: done.\n")
    assert garden.run("show", "Compost in winter").out == "Turn it less often.\n"


def test_a_folder_takes_the_place_of_the_one_that_obsidian_names(world: World) -> None:
    world.note(".obsidian/app.json", '{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}')
    for arguments in (["A"], ["B", "--folder", "/"], ["C", "--folder", "Box/"], ["D/E"]):
        assert note(world, "new", *arguments, "--yes").code == 0
    assert {path for path in world.files if path.endswith(".md")} == {"Inbox/A.md", "B.md", "Box/C.md", "D/E.md"}
    assert note(world, "new", "D/F", "--folder", "Box", "--yes").code == ExitCode.USAGE


def test_words_and_standard_input_are_appended_also_to_a_section(garden: World) -> None:
    assert note(garden, "append", "Inbox", "buy", "milk", "--yes").code == 0
    assert garden.run("note", "append", "inbox", "-", "--yes", stdin="a line\nand more\n").code == 0
    assert note(garden, "append", "Inbox", "---", "-y").code == 0
    assert note(garden, "append", "Inbox", "-- ", "--yes", "-y").code == ExitCode.USAGE
    assert note(garden, "append", "[[Inbox#Ideas]]", "--yes", "- [ ] Buy seeds").code == 0
    assert note(garden, "append", "Inbox", "- Zero", "-s", "Ideas", "--prepend", "--yes").code == 0
    ideas = INBOX.replace("- One\n", "- Zero\n- One\n- [ ] Buy seeds\n")
    assert (garden.vault / "Inbox.md").read_text() == f"{ideas}\nbuy milk\n\na line\nand more\n\n---\n"


def test_a_section_that_is_not_there_gets_nothing_and_nothing_else_does(garden: World) -> None:
    before = garden.files
    for arguments in (["Inbox", "x", "-s", "Dreams"], ["[[Inbox#Dreams]]", "x"]):
        refused = note(garden, "append", *arguments, "--yes")
        assert refused.code == ExitCode.VAULT
        assert "Dreams" in refused.err
        assert "Ideas" in refused.err, "the outline"
    assert garden.files == before


def test_the_daily_note_is_appended_to_and_made_first(garden: World) -> None:
    path = garden.run("daily", "--json").json["expected_path"]
    assert note(garden, "append", "--daily", "Slept well.", "--yes").code == 0
    assert note(garden, "append", "--daily", "Ate well.", "--yes").code == 0
    assert (garden.vault / path).read_text().endswith("Slept well.\n\nAte well.\n")


def test_a_property_is_set_with_its_type_and_removed(garden: World) -> None:
    for arguments in (["rating", "-5"], ["version", "--text", "2"], ["with", "a", "b"]):
        assert note(garden, "set", "Inbox", *arguments, "--yes").code == 0
    head = (garden.vault / "Inbox.md").read_text().partition("# Inbox")[0]
    assert head.startswith('---\nstatus: open\nrating: -5\nversion: "2"\nwith:\n')
    for key in ("rating", "version", "with"):
        assert note(garden, "set", "Inbox", key, "--remove", "--yes").code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX


def test_what_is_so_already_is_no_failure(garden: World) -> None:
    arguments = ("tag", "Compost", "soil")
    note(garden, *arguments, "--yes")
    before = garden.files
    again = note(garden, *arguments)
    assert (again.code, again.err) == (0, "Nothing was changed: Plants/Compost.md already says this.\n")
    assert note(garden, *arguments, "--yes", "--json").json["applied"] is False
    assert (garden.files, len(garden.run("changes", "--json").json)) == (before, 1)


def test_a_folder_is_renamed_and_moved(garden: World) -> None:
    assert note(garden, "rename", "Plants/", "Garden/", "--yes").code == 0
    assert note(garden, "move", "Garden/", "Tools/", "--yes").code == 0
    assert (garden.vault / "Tools/Garden/Compost.md").exists()
    assert note(garden, "move", "Tools/Garden/Compost.md", "/", "--yes").code == 0
    assert (garden.vault / "Compost.md").exists()
    told = note(garden, "move", "Tools", "Elsewhere", "--yes")
    assert told.code == ExitCode.VAULT
    assert "Tools/" in told.err


def test_links_follow_a_rename_and_come_back_with_it(world: World) -> None:
    notes = {
        "a/Tea.md": "# Tea\n\nSee [[../Water]].\n",
        "Water.md": "[[tea]], [[a/Tea|Tea]] and [brewed](a/Tea.md#Tea 'Tea').\r\n`[[Tea]]`",
    }
    for path, text in notes.items():
        world.note(path, text)
    assert note(world, "rename", "Tea", "Black tea", "--yes").code == 0
    assert (world.vault / "Water.md").read_bytes().decode() == (
        "[[Black tea]], [[a/Black tea|Tea]] and [brewed](a/Black%20tea.md#Tea 'Tea').\r\n`[[Tea]]`"
    )
    assert note(world, "move", "Black tea", "b", "--yes").code == 0
    for command in (("move", "Black tea", "a"), ("rename", "Black tea", "Tea")):
        assert note(world, *command, "--yes").code == 0
    assert {path: (world.vault / path).read_bytes().decode() for path in notes} == notes


def test_the_trash_takes_a_note_and_tells_who_links_to_it(garden: World) -> None:
    trashed = note(garden, "trash", "Inbox", "--yes")
    assert trashed.code == 0
    assert (garden.vault / ".trash/Inbox.md").read_text() == INBOX
    assert trashed.err == "1 link in 1 note leads to Inbox.md, and will lead nowhere.\n"
    assert note(garden, "trash", "Plants/Compost.md", "--yes").code == 0
    assert (garden.vault / ".trash/Compost.md").exists()


def test_a_change_is_shown_and_asked_for(garden: World) -> None:
    before = garden.files
    no = note(garden, "append", "Inbox", "- New", typed="n\n", terminal=True)
    assert no.code == ExitCode.USAGE
    assert "- New" in no.err
    assert "Nothing was changed." in no.err
    piped = garden.run("note", "append", "Inbox", "-", stdin="x")
    assert (piped.code, "--yes" in piped.err) == (ExitCode.USAGE, True)
    assert garden.files == before
    assert note(garden, "append", "Inbox", "- New", typed="y\n", terminal=True).code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX + "\n- New\n"


def test_a_dry_run_prints_the_diff_and_changes_nothing(garden: World) -> None:
    before = garden.files
    shown = garden.run("note", "append", "Inbox", "- New", "--dry-run", stdin="")
    assert shown.code == 0
    assert "+- New" in shown.out
    long = "\n".join(f"line {number}" for number in range(300))
    assert "line 299" in note(garden, "append", "Inbox", long, "--dry-run", terminal=True).out
    found = garden.run("note", "rename", "Inbox", "Entrance", "--dry-run", "--json", stdin="").json
    assert (found["id"], found["applied"], found["path"]) == (None, False, "Entrance.md")
    assert [(each["path"], each["action"]) for each in found["files"]] == [
        ("Entrance.md", "moved"),
        ("Plants/Compost.md", "edited"),
    ]
    assert "[[Entrance]]" in found["diff"]
    assert garden.files == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["append", "Inbox"], "Append what?"),
        (["append", "Inbox", "  "], "Append what?"),
        (["append", "Inbox", "x", "--prepend"], "--prepend needs a section."),
        (["set", "Inbox", "due"], "What should due be?"),
        (["set", "Inbox", "due", "x", "--remove"], "Give either a value or --remove"),
        (["new", "A", "text", "--template", "T"], "either a template or a text"),
    ],
)
def test_wrong_use_is_told_with_a_way_out(garden: World, arguments: list[str], told: str) -> None:
    before = garden.files
    result = note(garden, *arguments, "--yes")
    assert result.code == ExitCode.USAGE
    assert told in result.err
    assert len(result.err.splitlines()) == 2
    assert garden.files == before


def said_while(garden: World, text: str, *arguments: str) -> tuple[int, str]:
    """The exit code and all that is said, where somebody saves this text of the inbox while the user decides."""

    class Slow(Terminal):
        def readline(self, *_: object) -> str:  # type: ignore[override]
            garden.note("Inbox.md", text)
            return "y\n"

    environment = replace(garden.environment(terminal=True), stdin=Slow())
    code = run(("note", *arguments), environment)
    streams = (environment.stdout, environment.stderr)
    return code, "".join(each.getvalue() for each in streams if isinstance(each, io.StringIO))


@pytest.mark.parametrize(
    ("arguments", "theirs", "expected"),
    [
        (["append", "Inbox", "- New"], INBOX + "- Mine\n", INBOX + "- Mine\n- New\n"),
        (
            ["tag", "Inbox", "new"],
            INBOX.replace("---\n#", "tags: [mine]\n---\n#"),
            INBOX.replace("---\n#", "tags: [mine, new]\n---\n#"),
        ),
    ],
)
def test_a_change_is_made_of_what_somebody_saves_while_the_user_decides(
    garden: World, arguments: list[str], theirs: str, expected: str
) -> None:
    code, told = said_while(garden, theirs, *arguments)
    assert code == 0
    assert "Changed meanwhile: Inbox.md." in told
    assert (garden.vault / "Inbox.md").read_text() == expected
    assert told.count("Apply?") == (2 if "tag" in arguments else 1)  # asked again where the diff is another one


def in_a_process(world: World, *arguments: str) -> bytes:
    """What zkchat prints into a pipe."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(world.home)}
    command = [sys.executable, "-m", "zkchat", *arguments]
    return subprocess.run(command, cwd=world.vault, env=variables, capture_output=True, check=True, timeout=60).stdout


def test_a_patch_in_a_pipe_keeps_line_ends_and_bytes_that_are_no_text(garden: World) -> None:
    before = b"# Windows\r\n\r\nfirst\r\nunix\nold mac\rend\r\n\x1b[31m \xe2\x80\xa8 red\r\n"
    file = garden.note("Windows.md", before)
    patch = in_a_process(garden, "note", "append", "Windows", "more", "--dry-run")
    assert note(garden, "append", "Windows", "more", "--yes").code == 0
    after = file.read_bytes()
    assert after == before + b"\r\nmore\r\n"
    file.write_bytes(before)
    subprocess.run(["git", "apply", "-"], input=patch, cwd=garden.vault, check=True)
    assert file.read_bytes() == after
    history = in_a_process(garden, "changes", "--diff")
    subprocess.run(["git", "apply", "--reverse", "-"], input=history, cwd=garden.vault, check=True)
    assert file.read_bytes() == before


CANVAS = '{"nodes":[{"id":"1","file":"Plan.md"},{"id":"2","text":"See [[Sleep]] and [[Plan]]."}],"edges":[]}'
BASE = 'filters:\n  - file.hasLink("Sleep")\n  - \'file == link("Plan")\'\n# [[Sleep]]\n'


def test_links_of_canvases_and_bases_are_counted(world: World) -> None:
    world.note("Reference/Sleep.md", "# Sleep\n")
    world.note("A.md", "[[Sleep]], and once a [[Plan]]")
    world.note("Board.canvas", CANVAS)
    world.note("All.base", BASE)
    taken_over = world.run("note", "new", "Sleep", "--dry-run")
    assert "3 links in 3 files that led to Reference/Sleep.md will lead to" in " ".join(taken_over.err.split())
    awaited = world.run("note", "new", "Plan", "--yes")
    assert "4 links in 3 files that led nowhere will lead to Plan.md." in awaited.err
    trashed = world.run("note", "trash", "Plan", "--dry-run")
    assert "4 links in 3 files lead to Plan.md, and will lead nowhere." in trashed.err
    asked = note(world, "rename", "Plan", "Scheme", typed="n\n", terminal=True)
    assert "4 links in 3 files will be changed too" in asked.err
    assert "The links in 3 other files are changed too." in note(world, "rename", "Plan", "Scheme", "--yes").err


def test_settings_of_obsidian_that_name_what_moves_are_told(world: World) -> None:
    world.note(".obsidian/daily-notes.json", '{"folder": "Log/Daily", "template": "Templates/Day"}')
    world.note(".obsidian/templates.json", '{"folder": "Templates/"}')
    settings = '{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}'
    world.note(".obsidian/app.json", settings)
    for path in ("Log/Daily/2026-03-01.md", "Templates/Day.md", "Inbox/A.md", "Logs/C.md"):
        world.note(path, "text\n")
    told = "Obsidian's setting for {} still names {}: change it there."
    for folder, expected in (
        ("Log/", [("daily notes", "Log/Daily/")]),
        ("Templates/Day.md", [("the template of daily notes", "Templates/Day")]),
        ("Templates/", [("the template of daily notes", "Templates/Day"), ("templates", "Templates/")]),
        ("Inbox/", [("new notes", "Inbox/")]),
        ("Logs/", []),
        ("Inbox/A.md", []),
    ):
        remarks = world.run("note", "rename", folder, "Elsewhere", "--dry-run", "--json").json["remarks"]
        assert remarks == [told.format(*each) for each in expected]
    assert (world.vault / ".obsidian/app.json").read_text() == settings


def test_a_bare_name_of_several_notes_is_refused_with_and_without_brackets(world: World) -> None:
    world.note("Reference/Sleep.md", "# Sleep\n")
    world.note("Sleep.md", "Mine.\n")
    for name in ("Sleep", "[[Sleep]]"):
        refused = world.run("note", "append", name, "More.", "--yes")
        assert (refused.code, "Reference/Sleep.md" in refused.err) == (ExitCode.VAULT, True)
    assert world.run("note", "append", "Sleep.md", "More.", "--yes").code == 0
    assert (world.vault / "Sleep.md").read_text() == "Mine.\n\nMore.\n"


def test_words_without_quotes_are_refused(world: World) -> None:
    refused = world.run("note", "new", "My", "title", "here", "--yes")
    assert (refused.code, 'zkchat note new "My title here"' in refused.err) == (ExitCode.USAGE, True)
    daily = world.run("note", "append", "--daily", "Hub", "- x", "--yes")
    assert (daily.code, "Give either NOTE or --daily" in daily.err) == (ExitCode.USAGE, True)


def test_a_new_note_says_that_it_left_the_pipe_alone(garden: World) -> None:
    """In a loop over a file, what stands there belongs to others."""
    made = garden.run("note", "new", "Old age", "--yes", stdin="Eighty.")
    assert made.err == "Standard input was not read. To add it to the note: zkchat note append 'Old age' -\n"
    assert garden.run("note", "new", "Age", "-", "--yes", stdin="Eighty.").err == ""
    assert (garden.vault / "Age.md").read_text() == "Eighty.\n"


def test_a_saved_answer_answers_no_question(world: World) -> None:
    text, question = (
        "The heron sleeps on one leg.",
        ("ask", "On how many legs does the heron sleep?", "--model", "quote"),
    )
    world.run("note", "new", "Saved", "-", "--answer", "--yes", stdin=text)
    assert (world.vault / "Saved.md").read_text() == f"---\nzkchat-note: answer\n---\n{text}\n"
    assert text not in world.run(*question).out
    world.run("note", "new", "Own", "-", "--yes", stdin=text)
    assert text in world.run(*question).out


def test_a_note_is_opened_at_the_line_that_an_answer_showed(garden: World) -> None:
    program = garden.root / "nano"
    program.write_text(f'#!/bin/sh\necho "$@" >> {garden.root}/opened\n')
    program.chmod(0o700)
    garden.variables["EDITOR"] = str(program)
    for note in ("Compost", "Plants/Compost.md:3", "[[Inbox#Later]]"):
        assert (garden.run("show", note, "--open").code, garden.run("show", note, "--open", "--json").code) == (0, 2)
    compost, inbox = garden.vault / "Plants/Compost.md", garden.vault / "Inbox.md"
    assert (garden.root / "opened").read_text() == f"{compost}\n+3 {compost}\n+10 {inbox}\n"
