"""Approval: once for each content, kept out of reach of vaults and of other users."""

import stat
from pathlib import Path

import pytest

from zkchat.config.trust import TrustStore, digest, sensitive


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "trust.json"


def test_nothing_is_trusted_at_first(file: Path) -> None:
    assert not TrustStore(file).is_trusted("vault", "content")
    assert not file.exists()


def test_an_approval_lasts(file: Path) -> None:
    TrustStore(file).approve("vault", "content")
    assert TrustStore(file).is_trusted("vault", "content")


def test_an_approval_holds_for_one_vault_and_one_content(file: Path) -> None:
    store = TrustStore(file)
    store.approve("vault", "content")
    assert not store.is_trusted("vault", "changed")
    assert not store.is_trusted("another", "content")


def test_a_content_approved_earlier_need_not_be_approved_again(file: Path) -> None:
    store = TrustStore(file)
    store.approve("vault", "first")
    store.approve("vault", "second")
    assert store.is_trusted("vault", "first")


def test_approving_twice_changes_nothing(file: Path) -> None:
    TrustStore(file).approve("vault", "content")
    before = file.read_bytes()
    TrustStore(file).approve("vault", "content")
    assert file.read_bytes() == before


def test_nobody_else_may_read_the_approvals(file: Path) -> None:
    TrustStore(file).approve("vault", "content")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"approved": 5}', '{"approved": {"vault": "content"}}'])
def test_a_damaged_file_trusts_nothing_and_can_be_used_again(file: Path, damage: str) -> None:
    file.parent.mkdir()
    file.write_text(damage)
    store = TrustStore(file)
    assert not store.is_trusted("vault", "content")
    store.approve("vault", "content")
    assert store.is_trusted("vault", "content")


def test_only_settings_marked_so_are_sensitive() -> None:
    values = {"openai.base_url": "http://b", "ui.color": "never", "ollama.host": "http://a"}
    assert sensitive(values) == {"ollama.host": "http://a", "openai.base_url": "http://b"}


def test_the_digest_depends_on_values_and_not_on_their_order() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1, "b": 2}) != digest({"a": 1, "b": 3})
    assert digest({"a": 1}) != digest({"b": 1})
