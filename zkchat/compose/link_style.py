"""How the notes of a vault and their links are to be written, by Obsidian's settings in its files."""

from pathlib import Path
from typing import Final

from zkchat.compose.daily_notes import daily_note_settings, obsidian_settings, text_setting
from zkchat.storage.template_folders import template_folders
from zkchat.writing.conventions import LinkStyle, VaultConventions

_APP: Final = ".obsidian/app.json"
_TEMPLATES: Final = ".obsidian/templates.json"


def link_style(vault: Path) -> LinkStyle:
    """How new links are written in this vault; Obsidian's defaults where it does not say, or not in words we know."""
    settings = obsidian_settings(vault, _APP)
    markdown = settings.get("useMarkdownLinks") is True
    match settings.get("newLinkFormat"):
        case "relative":
            return LinkStyle(format="relative", markdown=markdown)
        case "absolute":
            return LinkStyle(format="absolute", markdown=markdown)
        case _:
            return LinkStyle(markdown=markdown)


def vault_conventions(vault: Path) -> VaultConventions:
    """What is set; Obsidian's own defaults for the rest."""
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
