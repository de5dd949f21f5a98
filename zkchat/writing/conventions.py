"""How a vault wants its notes written: where new ones go, how links are spelled, where templates are."""

from typing import Literal

from msgspec import Struct, field

from zkchat.vault.daily_notes import DailyNoteSettings

LinkFormat = Literal["shortest", "relative", "absolute"]


class LinkStyle(Struct, frozen=True, kw_only=True):
    """How new link targets are spelled, by `newLinkFormat` and `useMarkdownLinks` of Obsidian."""

    format: LinkFormat = "shortest"
    markdown: bool = False


class VaultConventions(Struct, frozen=True, kw_only=True):
    """What the settings of Obsidian say about writing."""

    link_style: LinkStyle = field(default_factory=LinkStyle)
    daily: DailyNoteSettings = field(default_factory=DailyNoteSettings)
    template_folders: tuple[str, ...] = ()
    """Each with a slash at its end."""
    date_format: str = "YYYY-MM-DD"
    time_format: str = "HH:mm"
    """Of `{{date}}` and `{{time}}` in templates, in the notation of moment.js."""
    new_note_folder: str = ""
    """Where a note goes that is named by its title alone; empty for the root of the vault."""
    attachment_folder: str = ""
    """Where attachments go; empty where that is no one folder."""

    @property
    def named_paths(self) -> list[tuple[str, str]]:
        """The folders and notes that settings name, each after what it is for; folders end in a slash."""
        named = [
            ("daily notes", f"{self.daily.folder.strip('/')}/"),
            ("the template of daily notes", self.daily.template.strip("/")),
            *(("templates", folder) for folder in self.template_folders),
            ("new notes", f"{self.new_note_folder}/"),
            ("attachments", f"{self.attachment_folder}/"),
        ]
        return [(setting, path) for setting, path in named if path.strip("/")]
