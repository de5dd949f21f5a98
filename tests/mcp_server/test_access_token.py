import stat
from pathlib import Path

import pytest

from zkchat.core.errors import ConfigError
from zkchat.hosting.http import access_token

GIVEN = "a-token-of-ones-own"


def test_without_a_word_each_token_is_another_one() -> None:
    one, other = access_token(None, {}), access_token(None, {})
    assert one.is_new
    assert len(one.text) >= 40
    assert one.text != other.text


def test_the_variable_gives_the_token() -> None:
    token = access_token(None, {"ZKCHAT_MCP_TOKEN": f" {GIVEN}\n"})
    assert (token.text, token.is_new) == (GIVEN, False)
    assert token.matches(GIVEN.encode())
    assert not any(token.matches(wrong) for wrong in (b"", GIVEN[:-1].encode(), f"{GIVEN}x".encode(), b"\xff"))


def test_a_file_keeps_the_token_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "token"
    made = access_token(file, {"ZKCHAT_MCP_TOKEN": GIVEN})
    assert (made.is_new, made.text) == (True, file.read_text().strip())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = access_token(file, {})
    assert (again.text, again.is_new, again.file) == (made.text, False, file)


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(GIVEN)
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="Others on this machine may read") as caught:
        access_token(file, {})
    assert caught.value.hint == f"Protect it: chmod 600 {file}"


@pytest.mark.parametrize("text", ["x" * 15, "with a space in its middle", "ümlaut-in-the-middle-of", "x" * 1_001])
def test_what_cannot_be_sent_in_a_header_is_no_token(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"\$ZKCHAT_MCP_TOKEN does not hold a usable access token"):
        access_token(None, {"ZKCHAT_MCP_TOKEN": text})
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ConfigError, match="does not hold a usable access token"):
        access_token(file, {})


def test_a_token_has_sixteen_to_a_thousand_characters() -> None:
    assert [len(access_token(None, {"ZKCHAT_MCP_TOKEN": "x" * size}).text) for size in (16, 1_000)] == [16, 1_000]


def test_a_folder_is_no_token(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        access_token(tmp_path, {})
