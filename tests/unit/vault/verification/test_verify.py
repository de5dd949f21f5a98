"""Which statements of a text the notes support, and where."""

from pathlib import Path

import pytest

from benchmarks.retrieval.verification import ALTERED, judge, opened, read_statements
from tests.support.libraries import Located, library_of
from zkchat.answers.verification.verify import verify
from zkchat.core.message import LineRange
from zkchat.core.reports import CheckedStatement
from zkchat.index.library import Library

TEMPLATE = "The day begins with the plan of the week."
NOTES = {
    "Compost.md": "---\ntags: [garden]\n---\n# Compost\n\n## Turning\n\nA cold heap is left alone and needs a year.\n"
    "A hot heap reaches **65 °C** in its first week.\n"
    "Never put diseased tomato plants on the heap.\n",
    "Caffeine.md": "# Caffeine\n\nDecaffeinated coffee is not quite free of caffeine.\n"
    "It blocks the receptors for adenosine.\n",
    "Diary.md": "# Diary\n\n- Mara is reading about [[Spaced repetition|spacing]] for her Portuguese exam in June.\n"
    "- Anna lent Mara a ladder.\n- The fee rises from 32 to 38 euros.\n"
    "- Opinions go into [[Evergreen notes]] and link back.\n- The oldest was kept by [[Niklas Luhmann]].\n"
    "- The drawing is by Tomás Rivas.\n",
    "People/Mara.md": "# Mara\n\nMara is allergic to hazelnuts; walnuts and almonds are fine.\n"
    "Tomás is afraid of spiders. Her budget is 1,200 euros; by March she had spent 486 euros.\n",
    "Seeds.md": "# Seeds\n\nWe keep two: **Bertha**, wheat, born in May, and **Otto**, rye, a gift from Mara.\n"
    "Darkness matters more than silence.\nThe small pot takes 17 g of ground coffee.\n"
    "All is decided by both of us.\nIn the shed stand 3 barrels and 12 pots.\n",
    "Budget.md": "# Budget\n\nIf the sheets cost more than 430 euros, we leave out the barrel.\n"
    "The lease of the allotment runs for three years.\n",
    "Haufen.md": "# Haufen\n\nDie trockenen Zweige liegen ganz unten im Haufen.\n",
    "Грибы.md": "# Грибы\n\nБелые грибы появляются через неделю после тёплого дождя, и не раньше.\n",
    "茶.md": "# 茶\n\n泡绿茶的水温以八十度左右为宜，不要用沸水。\n",
    "Secret.md": "---\nzkchat: local\n---\nThe safe opens with the code 4711.\n",
    "Saved.md": "---\nzkchat-note: answer\n---\nThe blue whale sings at midnight.\n",
    **{f"Days/{day}.md": f"# Day {day}\n\n{TEMPLATE}\n" for day in range(8)},
}


def check(library: Library, text: str) -> CheckedStatement:
    (checked,) = verify(library, text).statements
    return checked


def test_a_quote_is_found_with_its_place_whatever_its_marks(library: Library) -> None:
    checked = check(library, "“A *hot* heap\nreaches 65 °C in its FIRST week.”")
    (place,) = checked.places
    assert checked.verdict == "quoted"
    assert (place.path, place.heading, place.lines) == ("Compost.md", "Turning", LineRange(first=9, last=9))
    assert place.quote == "A hot heap reaches **65 °C** in its first week."
    assert len(check(library, TEMPLATE).places) == 3


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("A hot heap reaches 65 °C in its first week ([[Compost]]).", "quoted"),
        ("In its first week, a hot heap reaches 65 °C (see Compost.md:9).", "supported"),
        ("Caffeine blocks the receptors for adenosine.", "supported"),
        ("Bertha is wheat, born in May.", "supported"),
        ("A cold heap is left alone and needs one year.", "supported"),
        ("泡绿茶的水温以八十度左右为宜。", "quoted"),
    ],
)
def test_what_notes_say_is_supported_in_another_order_and_with_its_source(
    library: Library, statement: str, verdict: str
) -> None:
    assert check(library, statement).verdict == verdict


@pytest.mark.parametrize(
    ("statement", "difference"),
    [
        ("A hot heap reaches 75 °C in its first week.", "number"),
        ("A cold heap is left alone and needs two years.", "number"),
        ("The lease of the allotment runs for a year.", "number"),
        ("Decaffeinated coffee is quite free of caffeine.", "negation"),
        ("Mara is reading about spacing for her Spanish exam in June.", "name"),
        ("泡绿茶的水温以九十度左右为宜。", "number"),
    ],
)
def test_another_number_or_name_and_the_opposite_contradict(library: Library, statement: str, difference: str) -> None:
    checked = check(library, statement)
    assert (checked.verdict, checked.difference) == ("contradicted", difference)
    assert len(checked.places) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "Elephants are afraid of mice.",
        "In the shed stand 12 barrels and 3 pots.",
        "The small pot takes 17 kg of ground coffee.",
        "Evergreen notes should never be linked.",
        "The drawing by Tomás Rivas was never watered.",
        "The blue whale sings at midnight.",
    ],
)
def test_what_no_note_says_is_not_supported_by_its_words(library: Library, statement: str) -> None:
    assert check(library, statement).verdict == "unsupported"


def test_the_nearest_sentence_of_an_unsupported_statement_is_named_if_it_is_close(library: Library) -> None:
    near = check(library, "A cold heap is left alone and needs a month.")
    assert near.nearest is not None
    assert (near.verdict, near.places, near.nearest.lines.first) == ("unsupported", (), 8)
    assert check(library, "Elephants are afraid of mice.").nearest is None
    assert check(library, "A cold heap is left alone and needs two years.").nearest is None


def test_notes_that_are_kept_back_support_nothing(library: Library) -> None:
    statement = "The safe opens with the code 4711."
    assert check(library, statement).verdict == "quoted"
    assert check(library.guarded_for(Located(on_this_machine=False)), statement).verdict == "unsupported"


def test_a_draft_that_is_a_note_does_not_support_itself(library: Library) -> None:
    found = verify(library, NOTES["Compost.md"], without={"Compost.md"})
    assert [each.verdict for each in found.statements] == ["unsupported"] * 3


def test_a_text_without_end_is_checked_in_part(library: Library) -> None:
    assert [verify(library, " " * length).is_complete for length in (200_000, 200_001)] == [True, False]
    long = "A hot heap reaches 65 °C in its first week, " + "a hot heap " * 2_000
    assert check(library, long[:4_000]).verdict == "unsupported"


def test_statements_of_the_benchmark_are_judged_as_it_says() -> None:
    """A share of them; `python -m benchmarks.retrieval.verification` judges all."""
    with opened("garden") as library:
        judged = judge(library, read_statements()[::20])
    quoted = [each.verdict == "quoted" for each in judged if each.statement.kind == "verbatim"]
    supported = [each.verdict in {"quoted", "supported"} for each in judged if each.statement.kind == "near"]
    wrong = [each for each in judged if each.statement.kind in ALTERED and each.verdict in {"quoted", "supported"}]
    assert all(quoted)
    assert sum(supported) >= 0.7 * len(supported) > 0
    assert len(wrong) <= 1


def test_a_quote_is_found_where_many_notes_come_nearer(tmp_path: Path) -> None:
    near = {f"{number}.md": "# New app\n\nAdd the new app. New, new app: add it.\n" for number in range(12)}
    with library_of(
        tmp_path, {**near, "Far.md": f"Add it to the app as if new.\n{'Something else. ' * 60}\n"}
    ) as library:
        assert check(library, "Add it to the app as if new.").places[0].path == "Far.md"
