"""Texts come back as they were packed, and what is damaged is noticed."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.stored_text import incompressible
from zkchat.sessions import rows as packed_text
from zkchat.sessions.rows import pack, unpack

RECORD = '{"kind":"message","message":{"id":"m1","role":"user","parts":[{"kind":"text","text":"Wörter und Worte"}]}}'
STORED = bytes.fromhex("78bb4a1d5b5d23a240cf3524b5cc0e3fbcad08d8325600b68814c2f3814c601a1db56ad42aac560100c0d1d747")
"""How the first version that packs stored six times the record."""


def test_a_text_that_is_too_long_to_be_unpacked_is_stored_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_text, "_LONGEST", 1000)
    assert pack("x" * 1001) == "x" * 1001
    assert unpack(pack("\U0001f33f" * 1000)) == "\U0001f33f" * 1000


def test_short_texts_and_endless_ones_are_stored_as_they_are() -> None:
    kinds = [type(pack("x" * length)) for length in (511, 512, 1 << 24, (1 << 24) + 1)]
    assert kinds == [str, bytes, bytes, str]


def test_what_was_packed_once_can_be_read_for_ever() -> None:
    assert unpack(STORED) == RECORD * 6


@given(st.integers(0, 8 * 300 - 1))
def test_a_flipped_bit_is_noticed(bit: int) -> None:
    whole = pack(RECORD + incompressible(600))
    assert isinstance(whole, bytes)
    packed = bytearray(whole)
    place = bit // 8 % len(packed)
    packed[place] ^= 1 << bit % 8
    with pytest.raises(ValueError, match="Invalid packed text"):
        unpack(bytes(packed))


def test_what_is_not_whole_is_noticed() -> None:
    for damaged in (STORED[:-1], STORED + b"x", b"", b"x"):
        with pytest.raises(ValueError, match="Invalid packed text"):
            unpack(damaged)


def test_what_unpacks_to_more_than_any_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_text, "_LONGEST", 1000)
    with pytest.raises(ValueError, match="Invalid packed text"):
        unpack(zlib.compress(b"x" * 4001))
