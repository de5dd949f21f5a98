"""How the notes of a vault are to be written, read from Obsidian's settings in its files."""

from pathlib import Path
from typing import Final

from zkchat.compose.daily_notes import daily_note_settings, obsidian_settings, text_setting
from zkchat.compose.link_style import link_style
from zkchat.writing.conventions import VaultConventions

_APP: Final = ".obsidian/app.json"
_TEMPLATES: Final = ".obsidian/templates.json"


def vault_conventions(vault: Path) -> VaultConventions:
    """What is set; Obsidian's own defaults for the rest."""
    from zkchat.storage.template_folders import template_folders

    app, templates = obsidian_settings(vault, _APP), obsidian_settings(vault, _TEMPLATES)
    defaults = VaultConventions()
    attachments = text_setting(app, "attachmentFolderPath")  # `./` is the folder of the note
    in_folder = app.get("newFileLocation") == "folder"
    return VaultConventions(
        link_style=link_style(vault),
        daily=daily_note_settings(vault),
        template_folders=tuple(template_folders(vault)),
        date_format=text_setting(templates, "dateFormat") or defaults.date_format,
        time_format=text_setting(templates, "timeFormat") or defaults.time_format,
        new_note_folder=text_setting(app, "newFileFolderPath").strip("/") if in_folder else "",
        attachment_folder="" if attachments.startswith(".") else attachments.strip("/"),
    )
