"""Which folders hold templates."""

from pathlib import Path

from zkchat.storage.vault_files import template_folders


def write(vault: Path, file: str, text: str) -> None:
    path = vault / ".obsidian" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_obsidian_and_templater_name_them(tmp_path: Path) -> None:
    assert template_folders(tmp_path) == []
    write(tmp_path, "templates.json", '{"folder": "Meta/Templates/"}')
    write(tmp_path, "plugins/templater-obsidian/data.json", '{"templates_folder": "Snippets", "trigger": 1}')
    assert template_folders(tmp_path) == ["Meta/Templates/", "Snippets/"]


def test_no_link_out_of_the_vault_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "templates.json", '{"folder": "Templates"}')
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / ".obsidian").symlink_to(outside / ".obsidian")
    assert template_folders(vault) == []
