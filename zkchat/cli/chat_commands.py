"""What the slash commands of a chat work on: the conversation that is open, and the terminal."""

from functools import partial

from msgspec import Struct

from zkchat.chat.goals.run import GoalRun
from zkchat.chat.session_items import SessionItems
from zkchat.cli.active_conversation import keys_of
from zkchat.cli.common import CommandIO
from zkchat.cli.desktop import SystemDesktop
from zkchat.cli.editors import VaultDocumentEditor, edit_file
from zkchat.cli.mention_dialog import ChatMentions
from zkchat.cli.output import consoles
from zkchat.cli.plan_review import TerminalPlanReviewer
from zkchat.compose.conversation import OpenConversation
from zkchat.compose.daily_notes import daily_note_settings
from zkchat.compose.goals import bounds_of, open_goal_run
from zkchat.compose.model_catalogue import ModelCatalogue
from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust, page_item, page_text
from zkchat.repl.command_context import CommandContext, Surface
from zkchat.repl.surface import DrawnSurface, PlainSurface, Questioner
from zkchat.repl.terminal_modes import echo_on
from zkchat.repl.vault_browser import VaultBrowser, VaultView


class ChatCommands(Struct, frozen=True, kw_only=True):
    """Makes the context of commands; what a list showed last is the same for all conversations of a chat."""

    io: CommandIO
    questioner: Questioner
    models: ModelCatalogue
    vault_view: VaultView
    is_plain: bool

    def context(self, opened: OpenConversation) -> CommandContext:
        environment = self.io.environment
        return CommandContext(
            conversation=opened.conversation,
            store=opened.store,
            changes=opened.changes,
            surface=self.surface(opened),
            links=opened.document_links,
            items=SessionItems(opened.conversation),
            page_editor=VaultPageEditor(self.io, opened.paths),
            browser=self._browser(opened),
            now=environment.now,
            models=self.models,
            goals=self._goals(opened),
            mentions=self._mentions(opened),
            servers=opened.conversation.servers,
            embedding_progress=opened.library.embedding_progress,
            keys=keys_of(environment, opened),
        )

    def surface(self, opened: OpenConversation) -> Surface:
        environment = self.io.environment
        desktop = SystemDesktop(environment)
        if self.is_plain or not environment.stdout_is_tty:
            return PlainSurface(environment.stdout, self.questioner, desktop)
        console, _ = consoles(environment, opened.settings.ui.color)
        return DrawnSurface(console, self.questioner, desktop, opened.document_links)

    def _browser(self, opened: OpenConversation) -> VaultBrowser:
        vault = opened.paths.vault
        return VaultBrowser(
            library=opened.library,
            view=self.vault_view,
            editor=VaultDocumentEditor(self.io, vault),
            open_with=opened.settings.ui.open_with,
            daily_notes=partial(daily_note_settings, vault),
        )

    def _goals(self, opened: OpenConversation) -> GoalRun:
        environment = self.io.environment
        reviewer = TerminalPlanReviewer(self.io, plain=self.is_plain) if environment.stdin_is_tty else None
        goals = open_goal_run(environment, opened, bounds_of(opened.settings), reviewer)
        goals.way_back = lambda _: "/goal resume goes on with it."
        return goals

    def _mentions(self, opened: OpenConversation) -> ChatMentions:
        return ChatMentions(self.io, opened.paths.vault, color=opened.settings.ui.color, plain=self.is_plain)


class VaultPageEditor:
    """The vault's page for the assistant, edited in the user's editor, and approved by that."""

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
