"""The rule by which what an example of the documentation prints is compared with what its page shows."""

import pytest

from tests.support.doc_examples import shows, shows_json


@pytest.mark.parametrize(
    ("expected", "printed", "is_the_same"),
    [
        ("a  \n\n", "a\n", True),
        ("a\n…\nc\n", "a\nb\nc\n", True),
        ("a … c\n", "a b c\n", True),
        ("Remembered. (4k2v9x7q1m3a)\n", "Remembered. (7h2m9x0q1v3a)\n", True),
        ("2026-03-01: 0.54, 1,510 → 1,521 tokens\n", "2026-04-01: 0.98, 9 → 10 tokens\n", True),
        ("a\n", "a\nb\n", False),
        ("a\nb\n", "a\n", False),
        ("a … c\n", "a b\nc\n", False),
        ("53 notes\n", "54 notes\n", False),
    ],
)
def test_what_is_printed_is_compared_line_by_line_but_for_what_varies(
    expected: str, printed: str, is_the_same: bool
) -> None:
    assert shows(expected, printed) == is_the_same


def test_json_is_compared_by_values_but_for_what_varies() -> None:
    assert shows_json('[{"path": "a", "score": 1.5}]', '[\n{"score": 2.5, "path": "a"}]')
    assert not shows_json('[{"path": "a", "score": 1.5}]', '[{"path": "a", "score": "high"}]')
    assert not shows_json('[{"path": "a"}]', '[{"path": "b"}]')
