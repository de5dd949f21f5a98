"""`privacy.local_only`: what each place names adds up."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from zkchat.config.loading import Loaded, load
from zkchat.core.errors import ConfigError


def loaded(folder: Path, user: str = "", vault: str = "", variables: Mapping[str, str] | None = None) -> Loaded:
    user_file, vault_file = folder / "user.toml", folder / "vault" / ".zkchat" / "config.toml"
    vault_file.parent.mkdir(parents=True)
    user_file.write_text(f"[privacy]\nlocal_only = {user}\n" if user else "")
    vault_file.write_text(f"[privacy]\nlocal_only = {vault}\n" if vault else "")
    return load(user_file, vault_file, variables or {}, {}, lambda _: False)


@pytest.mark.parametrize(
    ("user", "vault", "variable", "expected"),
    [
        ('["Journal"]', "", "", ("Journal",)),
        ('["Journal"]', '["Clients"]', "", ("Journal", "Clients")),
        ('["Journal"]', "[]", "", ("Journal",)),
        ('["Journal"]', '["Clients"]', "Diary, Old", ("Journal", "Clients", "Diary", "Old")),
    ],
)
def test_each_place_adds_folders_and_takes_none_away(
    tmp_path: Path, user: str, vault: str, variable: str, expected: tuple[str, ...]
) -> None:
    found = loaded(tmp_path, user, vault, {"ZKCHAT_PRIVACY__LOCAL_ONLY": variable})
    assert found.settings.privacy.local_only == expected
    assert found.warnings == ()


@pytest.mark.parametrize(("user", "vault"), [('"Journal"', '["Clients"]'), ('["Journal"]', '"Clients"'), ("[1]", "[]")])
def test_what_is_no_list_of_folders_is_refused_wherever_it_stands(tmp_path: Path, user: str, vault: str) -> None:
    with pytest.raises(ConfigError, match=r"privacy\.local_only"):
        loaded(tmp_path, user, vault)


@pytest.mark.parametrize("folders", [["Journal"] * 201, ["J" * 301], ["**/a/" * 2_000]])
def test_more_folders_than_can_be_looked_at_stop_zkchat_and_none_is_passed_over(
    tmp_path: Path, folders: list[str]
) -> None:
    with pytest.raises(ConfigError, match=r"'privacy\.local_only' .* must be a list of texts \(at most 200, of up to"):
        loaded(tmp_path, '["Diary"]', str(folders))
