import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from zkchat.index.search.method_vectors import (
    Sketches,
    Vectors,
    common_direction,
    cosines,
    nearest,
    packed,
    signs,
    unpacked,
    unusual_cosine,
)

DIMENSIONS = 32
SHARED = np.eye(DIMENSIONS, dtype=np.float32)[0]
NO_DIRECTION = np.zeros(DIMENSIONS, dtype=np.float32)

seeds = st.integers(0, 2**32 - 1)


def some_vectors(count: int, *, seed: int = 1, shared: float = 0) -> Vectors:
    """Of length 1, in all directions; with a part that all of them share."""
    return unit(np.random.default_rng(seed).standard_normal((count, DIMENSIONS)) + shared * SHARED)


def unit(vectors: NDArray[np.floating]) -> Vectors:
    of_length_one: Vectors = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return of_length_one


def without(vectors: Vectors, common: Vectors) -> Vectors:
    return unit(vectors - np.outer(vectors @ common, common))


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_packing_keeps_directions(seed: int) -> None:
    vectors = some_vectors(20, seed=seed)
    assert np.all(np.sum(unit(unpacked(packed(vectors), DIMENSIONS)) * vectors, axis=1) > 0.999)


def test_the_common_direction_does_not_depend_on_lengths_or_on_unknown_sections() -> None:
    assert abs(common_direction(some_vectors(3000, shared=5)) @ SHARED) > 0.99
    vectors = some_vectors(200, shared=3)
    longer = vectors * np.linspace(1, 100, len(vectors), dtype=np.float32)[:, None]
    with_gaps = np.concatenate([np.zeros((50, DIMENSIONS), dtype=np.float32), longer])
    assert abs(common_direction(with_gaps) @ common_direction(vectors)) > 0.9999


def test_few_sections_have_nothing_in_common() -> None:
    vectors = some_vectors(15, shared=5)
    unknown = np.zeros((1000, DIMENSIONS), dtype=np.float32)
    assert not common_direction(np.concatenate([vectors, unknown])).any()


def test_an_unusual_cosine_is_above_those_of_texts_that_have_nothing_but_the_common_in_common() -> None:
    vectors = some_vectors(300, shared=20)
    threshold = unusual_cosine(vectors, common_direction(vectors))
    assert 0.25 <= threshold <= 0.6
    raw = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (raw @ raw[0] > threshold).mean() > 0.9  # with what all share, nearly every text would pass for near
    scores = np.concatenate([cosines(vectors, common_direction(vectors), asked) for asked in vectors[:20]])
    assert (scores > threshold).mean() < 0.02
    few = some_vectors(5)
    assert unusual_cosine(few, NO_DIRECTION) == unusual_cosine(few[:0], NO_DIRECTION) == 0.5


@settings(max_examples=50, deadline=None)
@given(seeds, st.floats(0.5, 200))
def test_scores_are_cosines_without_the_common_part_on_either_side(seed: int, length: float) -> None:
    vectors = some_vectors(40, seed=seed, shared=2)
    asked = some_vectors(1, seed=seed + 1, shared=2)[0]
    common = common_direction(vectors)
    scores = cosines(vectors * np.float32(length), common, asked * np.float32(length))
    expected = without(vectors, common) @ without(asked[None], common)[0]
    assert scores.dtype == np.float32
    assert np.allclose(scores, expected, atol=1e-4)
    assert not cosines(vectors, common, common * np.float32(length)).any(), "it has nothing of its own"


def likely(vectors: Vectors, asked: Vectors, count: int, among: list[int] | None = None) -> list[int]:
    allowed = np.ones(len(vectors), dtype=np.bool_)
    if among is not None:
        allowed[:] = False
        allowed[among] = True
    return sorted(Sketches(signs(vectors)).likely(asked, allowed, count).tolist())


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_the_signs_of_vectors_tell_which_are_likely_to_be_near(seed: int) -> None:
    near, *far = some_vectors(200, seed=seed)
    asked = unit(near + 0.2 * far[0])
    assert 0 in likely(np.stack([near, *far]), asked, 20)
    nearly, hardly = near.copy(), near.copy()
    nearly[np.abs(near).argmin()] *= -1
    hardly[np.abs(near).argmax()] *= -1
    assert likely(np.stack([hardly, nearly]), near, 1) == [1], "the sign that weighs least differs least"


def test_what_is_near_is_likely_wherever_it_stands_among_many() -> None:
    vectors = np.tile(some_vectors(1, seed=2), (70_000, 1))
    asked, near = some_vectors(1, seed=3).repeat(2, axis=0)
    near[0] *= -1
    vectors[[0, 65_535, 65_536, 69_999]] = near
    assert likely(vectors, asked, 4) == [0, 65_535, 65_536, 69_999]


def test_only_those_that_are_allowed_and_known_are_likely() -> None:
    vectors = some_vectors(10)
    vectors[3] = 0
    assert likely(vectors, vectors[5], 20) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert likely(vectors, vectors[5], 20, among=[2, 3, 7]) == [2, 7]
    assert likely(vectors, vectors[5], 1) == [5]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(0, 40))
def test_the_nearest_are_the_highest_and_of_equals_the_first(values: list[int], count: int) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted(range(len(values)), key=lambda place: -values[place])[:count]
    assert nearest(scores, count) == expected
