"""`privacy.local_only` as people write it."""

import pytest

from zkchat.notes.privacy import is_inside, local_folders, unmatched

ROOTS = ("/home/me/Vault", "/data/notes")
PATHS = ["Journal/2026/May.md", "Work/Clients/A.md", "Plans.md"]


def matched(entry: str) -> list[str]:
    (folder,) = local_folders([entry], ROOTS, "/home/me")
    return [path for path in PATHS if is_inside(path, folder.globs)]


def warned(entry: str, *, user_wide: int = 0) -> list[str]:
    folders = local_folders([entry], ROOTS, "/home/me", user_wide=user_wide)
    return [warning.text for warning in unmatched(folders, PATHS)]


@pytest.mark.parametrize(
    "entry",
    [
        "Journal", " Journal ", "journal", "/Journal", "Journal\\", "Journal\\2026", "/home/me/Vault/Journal",
        "/home/me/vault/JOURNAL/", "~/Vault/Journal", "../Vault/Journal", "**/2026", "~/Vault/**/2026",
        "Journal/2026/May.md", "Journal/2026/May",
    ],
)  # fmt: skip
def test_a_folder_is_known_by_each_of_its_names(entry: str) -> None:
    assert matched(entry) == ["Journal/2026/May.md"]
    assert warned(entry) == []


@pytest.mark.parametrize("entry", [".", "/", "./", "~/Vault", "/home/me/Vault/", "/data/notes", "**", "../Vault"])
def test_the_vault_itself_means_all_of_it(entry: str) -> None:
    assert matched(entry) == PATHS


@pytest.mark.parametrize("entry", ["~/Other", "/etc/passwd", "..", "../Other", "~", "C:\\Users\\me", ""])
def test_what_leads_out_of_the_vault_matches_nothing_and_is_warned_of(entry: str) -> None:
    assert matched(entry) == []
    (text,) = warned(entry)
    assert text.startswith(f"'{entry}' ")
    assert "it keeps no note private" in text


@pytest.mark.parametrize(
    ("entry", "nearest"), [("Jurnal", "Journal"), ("Work/Client", "Work/Clients"), ("Vault/Journal", "Journal")]
)
def test_an_entry_that_matches_nothing_is_warned_of_with_the_nearest_folder(entry: str, nearest: str) -> None:
    (text,) = warned(entry)
    assert text == f"'{entry}' matches no note, so it keeps no note private. Did you mean '{nearest}'?"


def test_an_entry_for_all_vaults_may_match_nothing_in_this_one_unless_it_is_almost_a_folder_of_it() -> None:
    for entry in ("Diary", "Words", "Journal", "~/Other/Journal", "../Other", "C:/Notes", "**/Private"):
        assert warned(entry, user_wide=1) == []
    for entry in ("Jurnal", "Journals", "./Jurnal", "Work/Client/", " jounral "):
        (text,) = warned(entry, user_wide=1)
        assert "Did you mean" in text
