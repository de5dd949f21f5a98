"""Looking for marks before the patterns changes nothing but the time."""

import re
import sys
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.core.text import KEY, KEY_MARKS, NAMED_KEY, NAMED_KEY_MARKS
from zkchat.sessions.note_export import REDACTED, redact

BEGINNINGS = (
    *("sk-", "pk_", "rk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-"),
    *(f"xox{letter}-" for letter in "abeprs"),
    *("AKIA", "ASIA", "AIza", "hf_", "gsk_", "r8_", "npm_", "tvly-", "xai-", "-----BEGIN RSA PRIVATE KEY-----\n"),
    *("api_key=", "APIKEY: ", "access-key = ", "Secret: ", "toKen=", "PASSWD=", "password: ", "passphrase=", "Bearer "),
)
CODE = "A1B2C3D4E5F6G7H8A1B2C3D4"
pieces = st.sampled_from([*BEGINNINGS, *KEY_MARKS, *NAMED_KEY_MARKS, CODE, "eyJ", ".", " ", "\n", "ſ", "K", "=", ":"])
texts = st.lists(pieces | st.text(max_size=5), max_size=12).map("".join)


@given(texts)
def test_what_has_no_mark_matches_no_pattern(text: str) -> None:
    assert any(mark in text for mark in KEY_MARKS) or not KEY.search(text)
    assert any(mark in text.casefold() for mark in NAMED_KEY_MARKS) or not NAMED_KEY.search(text)


def test_every_beginning_of_a_key_has_a_mark() -> None:
    for beginning in BEGINNINGS:
        assert redact(f"It is {beginning}{CODE}, yes.") != f"It is {beginning}{CODE}, yes.", beginning
    assert redact(f"eyJ{CODE}.eyJ{CODE}.{CODE}") == REDACTED


def test_letters_of_a_name_fold_to_themselves_however_they_are_written() -> None:
    letters = sorted({*"".join(NAMED_KEY_MARKS)})
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in letters:
        assert all(letter in found.casefold() for found in re.findall(letter, every, re.IGNORECASE))


@pytest.mark.no_cover
def test_beginnings_of_keys_without_an_end_take_time_in_proportion_to_their_length() -> None:
    def cpu(length: int) -> float:
        started = process_time()
        KEY.search("eyJ-" * length)
        return process_time() - started

    # Between linear (4) and quadratic (16); a busy machine may be slow once, but not each time.
    assert any(cpu(8_000) < 10 * cpu(2_000) for _ in range(3))
    assert KEY.search("eyJ-" * 1_000 + f"eyJ{'a' * 30}.eyJ{'b' * 5_000}.c")
