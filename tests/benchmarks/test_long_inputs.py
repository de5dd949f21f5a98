"""The long inputs of the benchmark, and that the line which answers reaches the model."""

from benchmarks.context.long_input_cases import CHARACTERS, long_inputs
from benchmarks.context.long_inputs import by_condensing, found, holds


def test_there_are_forty_and_their_answers_stand_in_their_middle() -> None:
    inputs = long_inputs(2)
    assert len(inputs) == 40
    for each in inputs:
        assert len(each.material) >= CHARACTERS // 2
        assert holds(each.material[len(each.material) // 8 : -len(each.material) // 8], each.answer)


def test_of_the_unseen_half_nine_of_ten_answers_reach_a_window_of_4096_tokens() -> None:
    hits = found(long_inputs(2)[1::2], by_condensing, 4_096)
    assert sum(hits) >= 0.9 * len(hits)
