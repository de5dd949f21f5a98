"""`zkchat eval`: how well the notes answer a file of questions."""

import pytest

from tests.support.world import World

QUESTIONS = """\
# What I look up often
- How long does a cold heap take? => [[Compost]] "needs a year"
    And a hot heap? => "ready after\u0020three months"
What does the oven need? => [[Compost]] | [[Missing heat]]

Which planet is the largest? =>
"""


@pytest.fixture
def vault(world: World) -> World:
    world.note("Compost.md", "# Compost\n\nA cold heap needs a **year**.\n\nA hot heap is ready after three months.\n")
    world.note("Bread.md", "# Bread\n\nThe oven needs half an hour to get hot.\n")
    world.note("Missing heat.md", "# Missing heat\n\nWithout sun the greenhouse stays cold.\n")
    (world.root / "questions.txt").write_text(QUESTIONS)
    return world


def test_each_question_has_a_row_and_all_have_figures(vault: World) -> None:
    shown = vault.run("eval", "../questions.txt")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "Questions",
        "right  How long does a cold heap take? (search rank: 1)",
        "right  How long does a cold heap take? → And a hot heap? (search rank: 1)",
        "wrong  What does the oven need? (search rank: 2)",
        "  expected Compost.md or Missing heat.md; shown Bread.md",
        "right  Which planet is the largest?",
        "",
        "Figures",
        "2 of 3  the note is the first search result",
        "3 of 3  the note is among the first three",
        "3 of 3  the note is among the first ten",
        "2 of 3  the first passage shown answers the question",
        "2 of 3  one of the passages shown answers the question",
        "1 of 3  only wrong passages are shown",
        "0 of 3  nothing is shown",
        "0 of 3  passages are shown, but marked uncertain",
        "0 of 1  something is shown although no note answers",
    ]


def test_scripts_get_figures_and_what_was_shown(vault: World) -> None:
    found = vault.run("eval", "../questions.txt", "--json").json
    assert (found["figures"]["answerable"], found["figures"]["first"], found["figures"]["unanswerable"]) == (3, 2, 1)
    assert [each["verdict"] for each in found["questions"]] == ["right", "right", "wrong", "right"]
    follow_up = found["questions"][1]
    assert follow_up["before"] == ["How long does a cold heap take?"]
    assert follow_up["expected"] == [{"path": "", "contains": "ready after three months"}]
    assert [each["path"] for each in found["questions"][2]["shown"]] == ["Bread.md"]


def test_a_note_that_is_not_sure_enough_or_in_doubt_is_said_to_be(vault: World) -> None:
    asked = "Which cold planet is the largest? => [[Compost]]\nWhy is a sunless place cold and dark? =>\n"
    found = vault.run("eval", "-", "--json", stdin=asked).json["questions"]
    assert [each["verdict"] for each in found] == ["silent", "right"]
    assert all(each["nearest"] for each in found)
    assert found[1]["search_rank"] is None
    assert vault.run("eval", "-", stdin=asked).out.count("nearest") == 1  # a right row needs no more words


def test_json_as_that_of_the_benchmarks_is_read_too(vault: World) -> None:
    asked = '[{"question": "What does the oven need?", "answers": [[["Bread.md", "half an hour"]]], "id": "x1"}]'
    assert vault.run("eval", "-", "--json", stdin=asked).json["figures"]["first"] == 1
    broken = vault.run("eval", "-", stdin='[{"question": 3}]')
    assert (broken.code, "The JSON cannot be used" in broken.err) == (2, True)
    unknown = vault.run("eval", "-", stdin='[{"question": "What?", "answers": [[["Gone.md", ""]]]}]')
    assert (unknown.code, "There is no note 'Gone.md' in the vault." in unknown.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# all\n\nWhat is it?\n", "Line 3: The line needs a question, then =>."),
        ("What? => Compost\n", "Line 1: 'Compost' is neither a [[Note]] nor words in quotation marks."),
        ("What? => [[Comopst]]\n", "Line 1: There is no note '[[Comopst]]' in the vault."),
        ("  And that? => [[Compost]]\n", "Line 1: It is indented as a follow-up, but there is no question above it."),
        ("# nothing\n", "There is no question in the file."),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(vault: World, text: str, said: str) -> None:
    refused = vault.run("eval", "-", stdin=text)
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err


def test_a_file_that_is_a_note_of_the_vault_is_refused(vault: World) -> None:
    vault.note("Questions.md", QUESTIONS)
    refused = vault.run("eval", "Questions.md")
    assert refused.code == 2
    assert "Questions.md is a note of this vault, so the search would find the answers in it." in refused.err
    assert vault.run("eval", "gone.txt").code == 2


def test_another_setting_is_shown_beside(vault: World) -> None:
    lines = vault.run("eval", "../questions.txt", "--compare", "vault.exclude=Comp*").out.splitlines()
    assert lines[1] == "right  How long does a cold heap take? (search rank: 1 · vault.exclude=Comp*: wrong)"
    assert "Figures: → with vault.exclude=Comp*" in lines
    assert "2 → 0 of 3  the first passage shown answers the question" in lines
    compared = vault.run("eval", "../questions.txt", "--compare", "vault.exclude=Comp*", "--json").json["compared"]
    assert (compared["settings"], compared["figures"]["first"]) == ("vault.exclude=Comp*", 0)
    assert vault.run("search", "heap").out  # the index is that of the settings again


def test_a_setting_that_there_is_not_is_refused(vault: World) -> None:
    for setting, code in (("vault.exclude", 2), ("vault.unknown=1", 3), ("vault.max_note_bytes=x", 3)):
        assert vault.run("eval", "../questions.txt", "--compare", setting).code == code
