"""How the answer benchmark judges what is shown."""

import pytest

from benchmarks.retrieval.answer_set import Asked, Passage, Place
from benchmarks.retrieval.answers import Figures, Result, Shown, misses

ANSWERED = Asked("a", "garden", "dev", "en", "linked", "Where is [[X]]?", ((Place("X.md", "in the shed"),),))
TWO_PARTS = Asked("b", "garden", "dev", "en", "linked", "[[X]] [[Y]]?", ((Place("X.md", ""),), (Place("Y.md", ""),)))
NOT_ANSWERED = Asked("c", "garden", "dev", "en", "near", "Who?", ())
RIGHT = Passage("X.md", "It is in the\nshed.")
BESIDE = Passage("X.md", "It is green.")
OTHER = Passage("Y.md", "It is in the shed.")


def judged(asked: Asked, *passages: Passage, nearest: tuple[str, ...] = (), is_doubtful: bool = False) -> Result:
    return Result(asked, Shown(passages, nearest, is_doubtful), frozenset({"X.md"}))


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (judged(ANSWERED, RIGHT, OTHER), "right"),
        (judged(ANSWERED, OTHER, RIGHT), "later"),
        (judged(ANSWERED, BESIDE, OTHER), "wrong"),
        (judged(ANSWERED), "silent"),
        (judged(TWO_PARTS, RIGHT, OTHER), "right"),
        (judged(TWO_PARTS, RIGHT, BESIDE), "later"),
        (judged(NOT_ANSWERED), "right"),
        (judged(NOT_ANSWERED, OTHER), "answered"),
    ],
)
def test_a_result_is_judged_by_what_is_shown(result: Result, verdict: str) -> None:
    assert result.verdict == verdict
    assert bool([*misses([result])]) == (verdict != "right")


def test_the_figures_count_each_question_where_it_belongs() -> None:
    figures = Figures.of(
        [
            judged(ANSWERED, RIGHT),
            judged(ANSWERED, OTHER, RIGHT),
            judged(ANSWERED, OTHER),
            judged(ANSWERED, nearest=("X.md",)),
            judged(TWO_PARTS, RIGHT),
            judged(NOT_ANSWERED),
            judged(NOT_ANSWERED, nearest=("Y.md",)),
            judged(NOT_ANSWERED, OTHER),
            judged(NOT_ANSWERED, OTHER, is_doubtful=True),
        ]
    )

    assert figures == Figures(
        answerable=5,
        first=2,
        any=2,
        wrong=1,
        wrong_without_doubt=1,
        silent=1,
        near=1,
        doubted=0,
        linked=5,
        from_linked=2,
        unanswerable=4,
        answered=1,
        answered_with_doubt=1,
        with_nearest=1,
    )
