"""The vault's page for the assistant, edited in the user's editor, and approved by that."""

from zkchat.cli.common import CommandIO
from zkchat.cli.editors import edit_file
from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust, page_item, page_text
from zkchat.repl.terminal_modes import echo_on


class VaultPageEditor:
    """Implements `repl.command_context.PageEditor`."""

    def __init__(self, io: CommandIO, paths: Paths) -> None:
        self._io = io
        self._paths = paths

    def edit(self, page: str, *, is_new: bool) -> bool:
        """Editing approves the page, unless it still holds what was there unapproved before."""
        vault = self._paths.vault
        before = None if is_new else page_text(vault, page)
        with echo_on(self._io.environment.stdin):
            edit_file(self._io, str(vault / page))
        after = page_text(vault, page)
        if after is None:
            return False
        previous = None if before is None else page_item(page, before)
        return VaultTrust(self._paths).approve_own(previous, page_item(page, after))
