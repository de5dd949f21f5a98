"""From a question to the panel: summaries, embeds, and citations that the model could not know of."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode


@pytest.fixture
def vault(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n\n![[Naps]]\n")
    world.note("Naps.md", "# Naps\n\nTwenty minutes at most.\n")
    world.note("Coffee.md", "# Coffee\n\nGrind it late and fresh.\n")
    return world


def asked(vault: World, answer: str, question: str = "How long, says [[Sleep]]?") -> list[dict[str, object]]:
    result = vault.run("ask", question, "--json", "--model", vault.script([{"text": answer}]))
    assert result.code == ExitCode.OK, result.err
    references: list[dict[str, object]] = result.json["references"]
    return references


def test_a_linked_note_comes_with_its_embeds_and_each_with_its_summary(vault: World) -> None:
    rows = asked(vault, "Seven hours.")
    assert [(row["relative_path"], row["via"], row["included"], row["summary"]) for row in rows] == [
        ("Sleep.md", "name", True, "Adults need seven hours."),
        ("Naps.md", "embed", True, "Twenty minutes at most."),
    ]


def test_a_citation_of_what_was_never_given_or_is_not_there_is_marked(vault: World) -> None:
    rows = asked(vault, "Seven, says [[Sleep]]; see [[Coffee]] and [[Dreams]].")
    assert {str(row["wikilink"]): (row["cited"], row["unverified"]) for row in rows} == {
        "[[Sleep]]": (True, False),
        "![[Naps]]": (False, False),
        "[[Coffee]]": (True, True),
        "[[Dreams]]": (True, True),
    }


def test_the_links_of_a_quoted_passage_are_in_no_list(vault: World) -> None:
    vault.note("Tea.md", "# Tea\n\nGreen tea keeps you awake at night, says [[Coffee]], and so does black tea.\n")
    rows = vault.run("ask", "Does green tea keep you awake at night?", "--json", "--model", "quote").json["references"]
    assert [(row["relative_path"], row["cited"], row["unverified"]) for row in rows] == [("Tea.md", True, False)]
    panel = vault.run("ask", "Does green tea keep you awake at night?", "--model", "quote", "--panels").out
    assert "says [[Coffee]]" in panel
    assert "never given to the model" not in panel
    used = vault.run("refs", "--top", "--json").json
    assert [note["path"] for note in used] == ["Tea.md"]
    assert "Sources: [[Tea]]\n" in vault.run("context", "export", "--format", "markdown").out


def test_a_note_that_the_agent_sends_is_said_to_go_along(vault: World) -> None:
    vault.note(".zkchat/agents/barista.md", '---\nreferences:\n  "[[Coffee]]": always\n---\nYou answer.\n')
    assert vault.run("trust", "--yes").code == ExitCode.OK
    model = vault.script([{"text": "As [[Coffee]] has it."}], [{"text": "Hello."}])
    ask = ("ask", "--agent", "barista", "--model", model, "--panels")
    assert "[[Coffee]]  sent along, cited" in vault.run(*ask, "When to grind?").out
    assert "[[Coffee]]  sent along, not cited" in vault.run(*ask, "--continue", "And?").out
    assert [(note["path"], note["turns"]) for note in vault.run("refs", "--top", "--json").json] == [("Coffee.md", 2)]
    whys = [use["why"] for use in vault.run("refs", "Coffee", "--json").json]
    assert whys == ["sent along", "sent along, cited in the answer"]


def test_each_source_comes_with_a_line_about_it_and_what_fits_too_is_named_if_wanted(vault: World) -> None:
    searches = [{"tool": "find_excerpts", "arguments": {"query": "grind hours minutes"}}]

    def below() -> list[str]:
        model = vault.script(searches, [{"text": "Seven, says [[Sleep]]."}])
        return vault.run("ask", "How long, says [[Sleep]]?", "--plain", "--model", model).err.splitlines()

    first = below()
    assert "   Adults need seven hours." in first
    assert not any("Also fits" in line for line in first)
    vault.configure("[ui]\nsuggest = true\n")
    assert "Also fits: 3 [[Coffee]]" in below()
