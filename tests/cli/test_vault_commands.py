import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.screens import what_acts_on_a_terminal
from tests.support.world import World
from zkchat.core.errors import ExitCode


@pytest.fixture
def garden(world: World) -> World:
    world.note("Compost.md", "# Compost\n\nTurn the heap. See [[Gardening#Autumn]] and [[Worms]].\n")
    world.note("Gardening.md", "---\naliases: [garden work]\n---\n# Gardening\n\n## Spring\n\nUse [[Compost]].\n")
    world.note("Sub/Notes.md", "Garden work begins with compost, and with garden work.\n")
    return world


# --- index ---


def test_the_index_counts_what_it_found(garden: World) -> None:
    result = garden.run("index")
    assert result.code == 0
    assert "3 notes, 0 other files, 3 links, 4 sections" in result.out
    assert "3 new or changed, 0 removed" in result.out
    (garden.vault / "Compost.md").unlink()
    assert "0 new or changed, 1 removed" in garden.run("index").out


def test_the_index_says_which_files_it_cannot_use_and_goes_on(garden: World) -> None:
    garden.note("latin.md", b"caf\xe9")
    garden.note("yaml.md", "---\ntitle: [\n---\nstill found\n")
    result = garden.run("index")
    assert result.code == 0
    for name in ("latin.md", "yaml.md"):
        assert f"warning: {name}" in result.err
    warnings = garden.run("index", "--json").json["warnings"]
    assert [warning["path"] for warning in warnings] == ["latin.md", "yaml.md"]
    assert garden.run("search", "still found", "--json").json[0]["path"] == "yaml.md"


# --- search ---


def test_a_hit_says_where_it_is_and_why_it_was_found(garden: World) -> None:
    (hit,) = garden.run("search", '"heap"', "--json").json
    assert hit == {
        "path": "Compost.md",
        "title": "Compost",
        "heading": "Compost",
        "lines": {"first": 1, "last": 3},
        "snippet": "Turn the heap. See [[Gardening#Autumn]] and [[Worms]].",
        "score": hit["score"],
        "why": "text",
    }
    assert hit["score"] > 0
    assert "\x1b[1;33mheap\x1b[0m" in garden.run("search", "heap", terminal=True).out
    hits = garden.run("search", "compost", "path:Sub", "--notes", "--json").json
    assert [hit["path"] for hit in hits] == ["Sub/Notes.md"]


def test_each_line_of_standard_input_is_a_query(garden: World) -> None:
    result = garden.run("search", "--stdin", "--limit", "1", stdin='"heap"\n\n"xylophone"\r\nspring')
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert [answer["query"] for answer in answers] == ['"heap"', "", '"xylophone"', "spring"]
    assert [len(answer["hits"]) for answer in answers] == [1, 0, 0, 1]


def test_a_filter_that_names_no_time_is_refused(garden: World) -> None:
    for query in ("on:foo heap", 'heap on:"3/8/2026"', "heap DURING:foo"):
        refused = garden.run("search", query, "--json")
        assert (refused.code, refused.out) == (ExitCode.USAGE, "")
        assert " is not a time." in refused.err
        assert "2026-03-08" in refused.err
        (answer,) = [json.loads(line) for line in garden.run("search", "--stdin", stdin=query).out.splitlines()]
        assert (answer["hits"], answer["error"].endswith(" is not a time.")) == ([], True)
    told = garden.run("search", "after:2026-06-01 before:2026-05-01", "--json")
    assert (told.code, told.json, told.err) == (0, [], "No day fits after:2026-06-01 and before:2026-05-01.\n")


def test_an_answer_comes_before_the_next_query_is_asked(garden: World) -> None:
    command = [sys.executable, "-m", "zkchat", "search", "--stdin", "--vault", str(garden.vault)]
    environment = {**os.environ, "HOME": str(garden.home)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as asking:
        assert asking.stdin
        assert asking.stdout
        for query in ("heap", "spring"):
            asking.stdin.write(f"{query}\n")
            asking.stdin.flush()
            assert json.loads(asking.stdout.readline())["query"] == query
        asking.stdin.close()
    assert asking.returncode == 0


# --- links ---


def test_the_links_of_a_note_and_those_to_it_are_shown(garden: World) -> None:
    assert garden.run("links", "Compost").out == (
        "Compost\n"
        "\nLinks (2), 2 broken\n"
        "line 3  [[Gardening#Autumn]] → Gardening.md (no such place in it)\n"
        "line 3  [[Worms]] → nothing\n"
        "\nBacklinks (1)\n"
        "Gardening.md:8\n"
        "  Use [[Compost]].\n"
    )
    value = garden.run("links", "Compost", "--json").json
    assert (value["path"], value["title"]) == ("Compost.md", "Compost")
    assert [link["text"] for link in value["links"]] == ["[[Gardening#Autumn]]", "[[Worms]]"]
    assert [(link["status"], link["anchor_found"]) for link in value["links"]] == [
        ("resolved", False),
        ("missing", True),
    ]
    assert [(link["source"], link["context"]) for link in value["backlinks"]] == [("Gardening.md", "Use [[Compost]].")]


def test_a_note_may_be_named_by_path_title_alias_or_link(garden: World) -> None:
    for name in ("Gardening", "Gardening.md", "/Gardening", "[[gardening#Spring]]", "garden work", "[[garden work|x]]"):
        assert garden.run("links", name, "--json").json["path"] == "Gardening.md"


def test_a_path_may_start_from_where_the_user_is(garden: World) -> None:
    garden.note("Sub/Compost.md", "another")
    inside = garden.vault / "Sub"
    vault = ("--vault", str(garden.vault), "--json")
    assert garden.run("links", "Compost.md", *vault, cwd=inside).json["path"] == "Sub/Compost.md"
    assert garden.run("links", "../Compost.md", *vault, cwd=inside).json["path"] == "Compost.md"
    assert garden.run("links", str(inside / "Notes.md"), *vault, cwd=garden.home).json["path"] == "Sub/Notes.md"


# --- resolve ---


def test_broken_ambiguous_and_outer_links_are_described(garden: World) -> None:
    garden.note("A/Same.md", "")
    garden.note("B/Same.md", "[[Same]]")
    assert "\nLinks (1), 1 ambiguous\n" in garden.run("links", "B/Same.md").out
    assert "nothing (closest: [[Compost]])" in garden.run("resolve", "[[Compst]]").out
    assert "A/Same.md (could also be B/Same.md)" in garden.run("resolve", "[[Same]]").out
    assert "outside the vault" in garden.run("resolve", "[x](https://example.org)").out
    shown = garden.run("resolve", "[[Compost#^nothing]]", "--json")
    assert (shown.code, shown.json["text"]) == (ExitCode.VAULT, "[[Compost#^nothing]]")


def test_what_is_not_one_link_is_a_mistake(garden: World) -> None:
    for text in ("[[a]] and [[b]]", "[[]]", ""):
        result = garden.run("resolve", text)
        assert (result.code, "[[Note#Heading]]" in result.err) == (ExitCode.USAGE, True)


# --- vault ---


def test_the_status_lists_what_wants_mending(garden: World) -> None:
    garden.note("Copy.md", (garden.vault / "Sub/Notes.md").read_text())
    garden.note("Same.md", "[[Copy]]")
    garden.note("Sub/Same.md", b"\xff [[Same]]")
    result = garden.run("vault", "status")
    assert result.code == 0
    assert [line for line in result.out.splitlines() if line.endswith(")") and not line.startswith(" ")] == [
        "Broken links (1)",
        "Ambiguous links (1)",
        "Links to a heading or block that is not there (1)",
        "Notes without a link to or from another note (1)",
        "Notes of the same name (1)",
        "Notes with the same text (1)",
        "Files with a problem (1)",
    ]
    assert "  Compost.md:3: [[Worms]] → nothing" in result.out
    assert result.err == ""
    value = garden.run("vault", "status", "--json").json
    assert [link["text"] for link in value["broken_links"]] == ["[[Worms]]"]
    assert [link["text"] for link in value["ambiguous_links"]] == ["[[Same]]"]
    assert [link["text"] for link in value["missing_places"]] == ["[[Gardening#Autumn]]"]
    assert value["orphans"] == ["Sub/Notes.md"]
    assert value["duplicates"] == {
        "same_name": [["Same.md", "Sub/Same.md"]],
        "same_content": [["Copy.md", "Sub/Notes.md"]],
    }
    assert [file["path"] for file in value["unreadable"]] == ["Sub/Same.md"]
    assert value["index_bytes"] > 0
    assert value["index_changed_at"].endswith("+00:00")


@pytest.mark.parametrize("count", [10, 11])
def test_long_lists_are_folded_for_people_and_whole_for_scripts(world: World, count: int) -> None:
    for number in range(count):
        world.note(f"{number:02}/Same.md", f"[[Missing {number}]]")
    shown = world.run("vault", "status").out
    assert f"Broken links ({count})" in shown
    assert shown.count("→ nothing") == 10
    assert ["… and 1 more, which --json lists" in shown, "09/Same.md and 1 more" in shown] == [count == 11] * 2
    assert (" more" in shown) == (count == 11)
    assert len(world.run("vault", "status", "--json").json["broken_links"]) == count


def test_mentions_are_names_without_a_link(garden: World) -> None:
    assert garden.run("vault", "mentions", "Gardening").out == (
        "Sub/Notes.md:1: Garden work\n  Garden work begins with compost, and with garden work.\n"
    )
    assert garden.run("vault", "mentions", "Compost", "--json").json == [
        {
            "path": "Sub/Notes.md",
            "line": 1,
            "name": "compost",
            "context": "Garden work begins with compost, and with garden work.",
        }
    ]
    nothing = garden.run("vault", "mentions", "Sub/Notes.md", terminal=True)
    assert (nothing.code, nothing.out) == (0, "")
    assert "Sub/Notes.md" in nothing.err


def test_neighbours_are_as_many_links_away_as_asked_for(garden: World) -> None:
    garden.note("Sub/Notes.md", "[[Gardening]]")
    assert garden.run("vault", "neighbours", "Compost").out == "1  Gardening (Gardening.md)\n"
    assert garden.run("vault", "neighbours", "Compost", "--steps", "2", "--json").json == [
        {"path": "Gardening.md", "title": "Gardening", "steps": 1},
        {"path": "Sub/Notes.md", "title": "Notes", "steps": 2},
    ]
    garden.note("Alone.md", "")
    assert "has no links to or from" in garden.run("vault", "neighbours", "Alone", terminal=True).err


# --- all of them ---


def test_an_empty_vault_is_said_to_be_empty(world: World) -> None:
    for arguments in (["search", "x"], ["links", "--all"], ["vault", "status"]):
        result = world.run(*arguments)
        assert result.code == 0
        assert f"no Markdown notes in {world.vault}" in result.err
    assert "0 notes" in world.run("index").out


def test_nothing_in_a_note_acts_on_the_terminal(world: World) -> None:
    bad = "\x1b]0;owned\x07 \x9b2J \u202e zebra"
    world.note("Bad.md", f"# {bad}\n\n{bad} [[{bad}]] and [[Bad]]\n")
    world.note("Other.md", f"[[Bad|{bad}]] {bad}\n")
    for arguments in (
        ["search", "zebra"], ["links", "Bad"], ["links", "--all"], ["backlinks", "Bad"], ["resolve", f"[[{bad}]]"],
        ["vault", "status"], ["vault", "mentions", "Bad"], ["vault", "neighbours", "Bad"], ["index"],
        ["search", "zebra", "--json"], ["links", "Bad", "--json"],
    ):  # fmt: skip
        result = world.run(*arguments, terminal=True)
        assert result.code == 0
        assert what_acts_on_a_terminal(result.out + result.err) == set(), arguments


@contextmanager
def almost_no_room() -> Iterator[None]:
    """For a while, no file can grow beyond what an index needs in order to be read."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (36_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_notes_are_found_as_they_were(garden: World) -> None:
    garden.run("index")
    garden.note("New.md", f"A new heap. {'More words. ' * 5_000}")
    with almost_no_room():
        found = garden.run("search", "heap")
        indexed = garden.run("index")
    assert "may be missing: The disk is full" in found.err
    assert "Turn the heap." in found.out
    assert "New.md" not in found.out
    assert found.code == 0
    assert indexed.code == ExitCode.STORAGE
    assert {hit["path"] for hit in garden.run("search", '"heap"', "--json").json} == {"Compost.md", "New.md"}


def test_no_glob_of_a_vault_stops_it(garden: World) -> None:
    garden.note("/".join(["a"] * 30) + f"/{'a' * 200}.md", "A garden far away.\n")
    exclude = f'vault.exclude = ["{"*a" * 140}b", "[z-a]", "[", "x/**/**/y"]'
    garden.note(".zkchat/config.toml", f'{exclude}\nprivacy.local_only = ["{"**/a/" * 59}b"]\n')
    garden.run("config", "trust", "--yes")
    result = garden.run("search", "far away")
    assert (result.code, "aaaa" in result.out) == (0, True)


def test_a_damaged_index_is_built_anew_and_that_is_said_once(garden: World) -> None:
    garden.run("index")
    (index,) = garden.home.rglob("index.db")
    said = "The index of this vault was damaged and has been rebuilt from the notes; nothing is lost."
    for command in (("search", "compost"), ("index",), ("ask", "compost?")):
        index.write_bytes(b"no database" * 1000)
        assert garden.run(*command).err.count(said) == 1
        assert said not in garden.run(*command).err
    assert "compost" in garden.run("search", "compost").out.lower()


@pytest.mark.parametrize("with_another", [False, True])
def test_a_link_that_leads_nowhere_is_told_once(world: World, with_another: bool) -> None:
    world.note("A.md", "heap")
    world.run("search", "heap")
    (world.vault / "out.md").symlink_to(world.vault / "nowhere.md")
    if with_another:
        world.note("B.md", "heap")
    first, second = (world.run("search", "heap").err for _ in range(2))
    assert "out.md" in first
    assert "out.md" not in second
