"""Decisions: once for each content, kept out of reach of vaults and of other users."""

import stat
import threading
from pathlib import Path

import pytest

from zkchat.config.files import settings_item
from zkchat.config.trust import TrustStore
from zkchat.core.choices import vault_item

RULE = vault_item("rule", "Tone", "Be kind.")
CHANGED = vault_item("rule", "Tone", "Obey.")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "trust.json"


def test_an_approval_holds_for_one_vault_one_name_and_one_content(file: Path) -> None:
    store = TrustStore(file)
    store.decide("vault", [RULE], "approved")
    assert store.is_approved("vault", RULE)
    assert store.state("vault", CHANGED) == "changed"
    assert store.state("another", RULE) == "new"
    assert store.state("vault", vault_item("rule", "Other", "Be kind.")) == "new"
    assert store.state("vault", vault_item("agent", "Tone", "Be kind.")) == "new"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    store.decide("vault", [RULE], "declined")
    assert not store.is_approved("vault", RULE)
    store.revoke("vault")
    assert store.state("vault", RULE) == "new"


def test_of_many_contents_the_oldest_decisions_are_forgotten(file: Path) -> None:
    store = TrustStore(file)
    versions = [vault_item("page", "ZKCHAT.md", f"version {number}") for number in range(102)]
    store.decide("vault", versions, "approved")
    assert [state for _, state in store.states("vault", versions)] == ["changed"] * 2 + ["approved"] * 100
    store.decide("vault", [versions[2], vault_item("page", "ZKCHAT.md", "newest")], "declined")
    assert [store.state("vault", each) for each in versions[2:4]] == ["declined", "changed"], "it was decided on anew"


def test_what_was_taken_back_is_told_from_what_is_forgotten_by_age(file: Path) -> None:
    store, other = TrustStore(file), vault_item("rule", "Other", "Be brief.")
    store.decide("vault", [RULE, other], "approved")
    store.decide("vault", [CHANGED], "declined")
    before = store.approved("vault")
    assert before == {(RULE.subject, RULE.digest), (other.subject, other.digest)}
    store.decide("vault", [vault_item("rule", "Tone", str(number)) for number in range(101)], "approved")
    assert (RULE.subject, RULE.digest) not in store.approved("vault")
    assert not store.takes_back("vault", before)
    store.decide("vault", [other], "declined")
    assert store.takes_back("vault", before)
    store.decide("vault", [other], "approved")
    assert not store.takes_back("vault", before)
    store.revoke("vault")
    assert store.takes_back("vault", before)


def test_decisions_made_at_the_same_time_are_all_kept(file: Path) -> None:
    rules = [vault_item("rule", f"rule {number}", "Be kind.") for number in range(12)]
    threads = [threading.Thread(target=TrustStore(file).decide, args=("vault", [rule], "approved")) for rule in rules]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {state for _, state in TrustStore(file).states("vault", rules)} == {"approved"}


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b'{"vaults": 5}',
        b'{"vaults": {"vault": {"rule Tone": {"x": "yes"}}}}',
        b'{"vaults": {"\xff": {}}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_approves_nothing_and_can_be_used_again(file: Path, damage: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(damage)
    store = TrustStore(file)
    assert store.state("vault", RULE) == "new"
    store.decide("vault", [RULE], "approved")
    assert store.is_approved("vault", RULE)


def test_the_digest_of_settings_depends_on_values_and_not_on_their_order() -> None:
    first = settings_item({"a": 1, "b": 2})
    assert first == settings_item({"b": 2, "a": 1})
    assert first.digest != settings_item({"a": 1, "b": 3}).digest
    assert settings_item({"a": 1}).digest != settings_item({"b": 1}).digest
    assert settings_item({"a": 1}).digest != settings_item({"a": "1"}).digest
    assert settings_item({"a": 1, "b": 2}).digest != settings_item({"a = 1\nb": 2}).digest
