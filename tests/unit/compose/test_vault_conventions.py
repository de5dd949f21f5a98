import json
from pathlib import Path

from zkchat.app.writing import vault_conventions
from zkchat.writing.targets import LinkStyle, VaultConventions


def put(vault: Path, **files: object) -> None:
    (vault / ".obsidian").mkdir(exist_ok=True)
    for name, content in files.items():
        (vault / ".obsidian" / f"{name.replace('_', '-')}.json").write_text(json.dumps(content))


def test_the_settings_of_obsidian_are_read(tmp_path: Path) -> None:
    put(
        tmp_path,
        app={
            "newFileLocation": "folder",
            "newFileFolderPath": "/Inbox/",
            "newLinkFormat": "relative",
            "useMarkdownLinks": True,
        },
        templates={"folder": "Templates", "dateFormat": "DD.MM.", "timeFormat": "H:mm"},
        daily_notes={"folder": "Days", "template": "Templates/Day"},
    )
    found = vault_conventions(tmp_path)
    assert found.new_note_folder == "Inbox"
    assert found.link_style == LinkStyle(format="relative", markdown=True)
    assert (found.template_folders, found.date_format, found.time_format) == (("Templates/",), "DD.MM.", "H:mm")
    assert (found.daily.folder, found.daily.template) == ("Days", "Templates/Day")


def test_a_folder_counts_only_where_new_notes_go_to_one(tmp_path: Path) -> None:
    assert vault_conventions(tmp_path) == VaultConventions()
    put(tmp_path, app={"newFileLocation": "root", "newFileFolderPath": "Inbox", "newLinkFormat": "odd"})
    assert vault_conventions(tmp_path) == VaultConventions()


def test_a_setting_that_is_too_long_is_none(tmp_path: Path) -> None:
    put(tmp_path, daily_notes={"folder": "x" * 201, "format": "y" * 200})
    assert (vault_conventions(tmp_path).daily.folder, vault_conventions(tmp_path).daily.format) == ("", "y" * 200)
