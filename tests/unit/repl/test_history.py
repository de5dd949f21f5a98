import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.repl.key_bindings import Pastes, SharedHistory, looks_secret

LONG = "\n".join(f"line {number}" for number in range(50))


def remembered(file: Path) -> list[str]:
    """As another session finds it, the newest first."""
    return list(SharedHistory(file, Pastes()).load_history_strings())


def test_what_was_typed_is_there_in_the_next_session_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "data" / "history"
    history = SharedHistory(file, Pastes())
    history.append_string("What is sleep?")
    history.append_string("two\nlines")
    assert remembered(file) == ["two\nlines", "What is sleep?"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text",
    [
        "export OPENAI_API_KEY=sk-1234567890abcdef1234",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "password: hunter2",
        "Authorization: Bearer abcdefghijk123456",
        "postgres://me:secret@example.org/db",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "mine is correct-horse",
    ],
)
def test_a_line_with_a_secret_is_not_kept(tmp_path: Path, text: str) -> None:
    file = tmp_path / "history"
    history = SharedHistory(file, Pastes(), keys=("correct-horse",))
    history.append_string(text)
    history.append_string("harmless")
    assert remembered(file) == ["harmless"]
    assert history.get_strings() == ["harmless"]


def test_a_secret_inside_a_folded_paste_is_not_kept(tmp_path: Path) -> None:
    pastes = Pastes()
    history = SharedHistory(tmp_path / "history", pastes)
    history.append_string(f"Look: {pastes.fold(LONG + ' AKIAIOSFODNN7EXAMPLE')}")
    assert remembered(tmp_path / "history") == []


@pytest.mark.parametrize("text", ["What is a token?", "Does [[Sleep]] keep secrets?", "Is my password safe?"])
def test_words_about_secrets_are_none(text: str) -> None:
    assert not looks_secret(text)


def test_a_paste_is_kept_whole_and_shown_folded(tmp_path: Path) -> None:
    file, pastes = tmp_path / "history", Pastes()
    SharedHistory(file, pastes).append_string(pastes.fold(LONG))
    assert "line 49" in file.read_text()
    later = Pastes()
    (shown,) = SharedHistory(file, later).load_history_strings()
    assert (shown, later.expand(shown)) == ("[pasted 50 lines]", LONG)


def test_without_a_place_to_write_there_is_simply_no_history(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = SharedHistory(tmp_path / "file" / "history", Pastes())
    history.append_string("hello")
    assert list(history.load_history_strings()) == []
    (tmp_path / "folder").mkdir()
    assert remembered(tmp_path / "folder") == []


def test_what_was_put_aside_is_there_once_until_the_chat_ends_unless_it_is_secret(tmp_path: Path) -> None:
    file = tmp_path / "history"
    SharedHistory(file, Pastes()).append_string("sent")
    history = SharedHistory(file, Pastes(), keys=("correct-horse",))
    for text in ("half", "half", "mine is correct-horse"):
        history.put_aside(text)
    assert history.get_strings() == ["sent", "half"]
    assert remembered(file) == ["sent"]


def test_a_large_paste_is_folded_and_sent_whole_and_two_are_told_from_each_other() -> None:
    pastes = Pastes()
    first, second = pastes.fold(LONG), pastes.fold(LONG.upper())
    assert (first, second) == ("[pasted 50 lines]", "[pasted 50 lines, 2]")
    assert pastes.expand(f"{second} See: {first}") == f"{LONG.upper()} See: {LONG}"
    assert pastes.fold(LONG) == first
    third = pastes.fold(f"{first}\n" * 30)  # it holds the words of another
    assert pastes.expand(f"{first}|{third}") == f"{LONG}|{f'{first}{chr(10)}' * 30}"
    assert pastes.fold("x" * 2_001) == "[pasted 2,001 characters]"
    assert pastes.fold("x\n" * 10) == "[pasted 11 lines]"
    for small in ("x" * 2_000, "x\n" * 9):
        assert pastes.fold(small) == small


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab\n[] ", min_size=2001, max_size=2100), max_size=4), st.text("xyz \n", max_size=20))
def test_whatever_is_pasted_arrives(texts: list[str], between: str) -> None:
    pastes = Pastes()
    assert pastes.expand(between.join([pastes.fold(text) for text in texts])) == between.join(texts)
