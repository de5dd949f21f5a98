"""`zkchat config agents` and `zkchat memory rules`, from the command line to the files."""

import stat
from pathlib import Path

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

POET = "---\ndescription: Answers in verse.\nmodel: ollama:x\n---\nYou are a poet.\n"


@pytest.fixture
def mine(world: World) -> Path:
    folder = world.home / ".config" / "zkchat" / "agents"
    folder.mkdir(parents=True)
    return folder


def test_the_agents_are_listed_with_where_they_come_from(world: World, mine: Path) -> None:
    (mine / "poet.md").write_text(POET)
    world.note(".zkchat/agents/writer.md", "---\ndescription: Ours.\n---\nWrite.\n")
    world.run("trust", "--yes")
    lines = world.run("agent", "list").out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == ["default", "librarian", "poet", "research", "writer"]
    assert "(user)  Answers in verse." in lines[2]
    assert "(vault)  Ours." in lines[4]


def test_a_broken_file_is_named_with_its_line_and_the_rest_is_listed(world: World, mine: Path) -> None:
    (mine / "poet.md").write_text("---\ncolour: red\n---\n")
    (mine.parent / "rules").mkdir()
    (mine.parent / "rules" / "Tone.md").write_text("---\ninclude: often\n---\nx")
    agents, rules = world.run("agent", "list"), world.run("rules", "list")
    assert agents.code == rules.code == ExitCode.OK
    assert f"warning: {mine / 'poet.md'}, line 2: Unknown setting 'colour'." in agents.err
    assert "Tone" not in agents.err
    assert "line 2: 'include' must be" in rules.err
    assert "librarian" in agents.out
    assert [problem["line"] for problem in world.run("agent", "list", "--json").json["problems"]] == [2, 2]


def test_a_conversation_names_five_mistakes_and_counts_the_others(world: World, mine: Path) -> None:
    for number in range(6):
        (mine / f"poet{number}.md").write_text("---\ncolour: red\n---\nx")
    told = " ".join(world.run("ask", "Who?", "--model", world.script([{"text": "Me."}])).err.split())
    assert told.count("Unknown setting 'colour'") == 5
    assert "… and 1 more: zkchat config agents list" in told


def test_an_agent_is_shown_with_what_is_at_hand_for_it(world: World, mine: Path) -> None:
    (mine / "poet.md").write_text(POET.replace("model", "rules: [Tone]\ncontext: {max_tokens: 4096}\nmodel"))
    shown = world.run("agent", "show", "Poet").out
    assert "model: ollama:x\n" in shown
    assert "context.max_tokens: 4096\n" in shown
    assert "rules: Tone [always]\n" in shown
    assert shown.endswith("\nYou are a poet.\n")
    assert world.run("agent", "show", "poet", "--json").json["origin"] == "user"


def test_an_agent_of_the_vault_is_shown_for_the_user_to_judge_before_it_is_approved(world: World) -> None:
    world.note(".zkchat/agents/poet.md", POET)
    listed, shown = world.run("agent", "list"), world.run("agent", "show", "poet")
    assert "poet" not in listed.out
    assert "Not used, because they came with the vault: poet." in listed.err
    assert shown.out.startswith("poet  (vault, not approved)\n")
    assert POET in shown.out
    assert world.run("agent", "show", "poet", "--json").json["is_approved"] is False
    world.run("trust", "--yes")
    assert "model: ollama:x\n" in world.run("agent", "show", "poet").out


def test_a_new_agent_with_the_name_of_another_is_a_copy_of_it(world: World) -> None:
    result = world.run("agent", "new", "research", "--scope", "vault")
    assert f"Created {world.vault / '.zkchat/agents/research.md'}." in result.out
    shown = world.run("agent", "show", "research", "--json").json
    assert shown["origin"] == "vault"
    assert "You research the user's own notes" in shown["text"]
    world.run("agent", "new", "research")
    mine = world.home / ".config/zkchat/agents/research.md"
    assert mine.read_text() == (world.vault / ".zkchat/agents/research.md").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [("my poet", "cannot be typed in a message"), ("../x", "cannot be typed"), ("poet", "already exists")],
)
def test_a_name_that_cannot_be_used_is_refused(world: World, mine: Path, name: str, said: str) -> None:
    (mine / "poet.md").write_text(POET)
    result = world.run("agent", "new", name)
    assert (result.code, said in result.err) == (ExitCode.USAGE, True)
    assert [file.read_text() for file in mine.iterdir()] == [POET]


def test_one_value_of_an_agent_is_changed_and_a_built_in_one_is_copied_before(world: World, mine: Path) -> None:
    (mine / "poet.md").write_text(POET)
    told = world.run("agent", "config", "poet", "rules.Tone", "manual").out
    assert told == f"Set rules.Tone in {mine / 'poet.md'}.\n"
    changed = world.run("agent", "config", "poet", "model", "quote", "--json").json
    assert (changed["model"], changed["rules"]) == ("quote", {"Tone": "manual"})
    copied = world.run("agent", "config", "research", "model", "quote")
    assert f"Copied the built-in research to {mine / 'research.md'}." in copied.err
    shown = world.run("agent", "show", "research", "--json").json
    assert (shown["origin"], shown["model"]) == ("user", "quote")


def test_an_agent_that_is_not_approved_cannot_be_changed_and_so_approved_in_passing(world: World) -> None:
    file = world.note(".zkchat/agents/poet.md", POET)
    result = world.run("agent", "config", "poet", "model", "quote")
    assert (result.code, file.read_text()) == (ExitCode.CONFIG, POET)
    assert "zkchat config trust" in result.err


def test_a_change_to_an_approved_agent_of_the_vault_is_approved_by_making_it(world: World) -> None:
    world.note(".zkchat/agents/poet.md", POET)
    world.run("trust", "--yes")
    assert world.run("agent", "config", "poet", "model", "quote", "--json").json["model"] == "quote"
    assert world.run("agent", "list").err == ""
    editor(world, 'echo "You rhyme." >> "$1"')
    assert "You rhyme." in world.run("agent", "edit", "poet", "--json").json["text"]
    assert world.run("agent", "list").err == ""


@pytest.mark.parametrize(
    ("key", "value"), [("rules.Tone", "often"), ("context.max_tokens", "many"), ("context.size", "1")]
)
def test_a_value_that_cannot_be_is_refused(world: World, mine: Path, key: str, value: str) -> None:
    (mine / "poet.md").write_text(POET)
    result = world.run("agent", "config", "poet", key, value)
    assert (result.code, result.out) == (ExitCode.CONFIG, "")
    assert (mine / "poet.md").read_text() == POET


def editor(world: World, script: str) -> None:
    program = world.root / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    world.variables["EDITOR"] = str(program)


@pytest.mark.parametrize(("script", "code"), [("exit 3", ExitCode.CONFIG), (None, ExitCode.USAGE)])
def test_an_editor_that_fails_or_is_not_set_is_said(world: World, mine: Path, script: str | None, code: int) -> None:
    (mine / "poet.md").write_text(POET)
    if script:
        editor(world, script)
    assert world.run("agent", "edit", "poet").code == code


def test_a_rule_is_made_listed_and_shown(world: World) -> None:
    options = ("--include", "agent", "--description", "Dates: all of them")
    made = world.run("rules", "new", "Dates", "Write  dates as 2026-03-01.", *options)
    assert made.out == f"Created {world.home / '.config/zkchat/rules/Dates.md'}.\n"
    assert world.run("rules", "list").out == "Dates  [agent]  (user)  Dates: all of them\n"
    shown = world.run("rules", "show", "dates").out
    assert shown.startswith("Dates  [agent]  (user)")
    assert shown.endswith("\n\nWrite dates as 2026-03-01.\n")
    rule = world.run("rules", "show", "Dates", "--json").json
    assert (rule["include"], rule["text"]) == ("agent", "Write dates as 2026-03-01.")
    assert world.run("rules", "list", "--json").json["rules"] == [rule]
    world.run("rules", "new", "commas", "None before and.")
    assert [line.split()[0] for line in world.run("rules", "list").out.splitlines()] == ["commas", "Dates"]


def test_a_rule_of_the_vault_never_takes_the_place_of_the_users_own(world: World) -> None:
    world.run("rules", "new", "Tone", "Be brief.")
    made = world.run("rules", "new", "Tone", "Be warm.", "--scope", "vault", "--json")
    assert (made.json["origin"], made.json["text"]) == ("vault", "Be warm.")
    assert "is not used: your own rule of that name counts." in made.err
    assert world.run("rules", "show", "Tone", "--json").json["text"] == "Be brief."


def test_an_agent_is_switched_off_and_on_again(world: World, mine: Path) -> None:
    assert world.run("agent", "config", "writer", "enabled", "false").code == ExitCode.OK
    assert "writer     (user, off)  Drafts" in world.run("agent", "list").out
    assert world.run("agent", "show", "writer").out.startswith("writer  (user, off)  Drafts")
    listed = world.run("agent", "list", "--json").json
    assert "writer" not in [agent["name"] for agent in listed["agents"]]
    assert [(agent["name"], agent["enabled"]) for agent in listed["off"]] == [("writer", False)]
    assert world.run("agent", "config", "writer", "enabled", "true", "--json").json["enabled"] is True
    assert world.run("agent", "list", "--json").json["off"] == []


def test_whoever_asks_an_agent_that_is_off_hears_so(world: World, mine: Path) -> None:
    (mine / "poet.md").write_text("---\nenabled: false\n---\nYou are a poet.\n")
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    way_out = "Turn it on: zkchat config agents config poet enabled true"
    chosen = world.run("ask", "--agent", "poet", "How long?", "--model", "quote")
    assert chosen.code == ExitCode.CONFIG
    assert f"The agent 'poet' is switched off.\n        {way_out}" in chosen.err
    addressed = world.run("ask", "@poet How long do adults sleep?", "--model", "quote")
    assert addressed.code == ExitCode.OK
    assert "The agent 'poet' is switched off, so default answers." in addressed.err
    in_chat = world.run("chat", "--model", "quote", stdin="/agent poet\n")
    assert "The agent 'poet' is switched off." in in_chat.out + in_chat.err
