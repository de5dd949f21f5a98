"""The slash commands of the chat that make sense in a client, over an open conversation."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NoReturn

from acp.schema import AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput

from zkchat.acp_agent.surface import MarkdownSurface
from zkchat.chat.session_items import SessionItems
from zkchat.compose.conversation import OpenConversation
from zkchat.compose.daily_notes import daily_note_settings
from zkchat.compose.goals import bounds_of, open_goal_run
from zkchat.compose.model_catalogue import ModelCatalogue
from zkchat.environment import Environment
from zkchat.errors import UsageError
from zkchat.repl.command_context import Command, CommandContext
from zkchat.repl.commands.table import COMMANDS, find_command
from zkchat.repl.vault_browser import VaultBrowser, VaultView
from zkchat.writing.conventions import LinkStyle

NOT_OFFERED: Final = frozenset({"open", "link", "copy", "edit", "sessions", "resume", "new", "memory", "help", "quit"})
"""They need a terminal, an editor or a desktop, or the client has them itself."""
HELP: Final = "help"
_HELP_SENTENCE: Final = "The commands that can be used here; /help NAME tells more of one."


def offered_commands() -> tuple[Command, ...]:
    return tuple(command for command in COMMANDS if command.name not in NOT_OFFERED)


def commands_update() -> AvailableCommandsUpdate:
    described = [_described(command.name, command.help, command.arguments) for command in offered_commands()]
    return AvailableCommandsUpdate(
        session_update="available_commands_update",
        available_commands=[*described, _described(HELP, "what the commands do", "[NAME]")],
    )


def _described(name: str, help_text: str, arguments: str) -> AvailableCommand:
    hint = AvailableCommandInput(UnstructuredCommandInput(hint=arguments)) if arguments else None
    return AvailableCommand(name=name, description=help_text, input=hint)


def help_text(argument: str) -> str:
    """What `/help` says here, as Markdown. Raises `UsageError` for a command that there is not."""
    if argument:
        command = find_command(argument.removeprefix("/"))
        return f"`{command.usage}`: {command.help}. {command.details}".strip()
    rows = [f"- `{command.usage}`: {command.help}" for command in offered_commands()]
    return "\n".join([_HELP_SENTENCE, "", *rows])


def check_offered(line: str) -> None:
    """Raises `UsageError` for a command that only the terminal has."""
    name = (*line.removeprefix("/").split(maxsplit=1), "")[0]
    if "/" in name or ":" in name:  # a message that begins with a path, a prompt of an MCP server
        return
    command = find_command(name)
    if command.name in NOT_OFFERED:
        raise UsageError(f"/{command.name} is for the terminal.", hint="/help lists what can be used here.")


class _NoEditor:
    """Implements `PageEditor`, `DocumentEditor` and `MentionChooser` where nobody edits."""

    name = ""
    style = LinkStyle()

    def edit(self, *_: object, **__: object) -> NoReturn:
        raise UsageError("Nothing can be edited from here.")

    def choose(self, _groups: object) -> NoReturn:
        raise UsageError("Nobody can be asked about links from here.", hint="In a terminal: zkchat note link NAME")


class ClientCommands:
    """What slash commands of one session need, over the conversation that is open."""

    def __init__(self, environment: Environment, surface: MarkdownSurface) -> None:
        self._environment = environment
        self.surface = surface
        self._view = VaultView()

    def context(
        self, opened: OpenConversation, models: ModelCatalogue, keys: Callable[[OpenConversation], Sequence[str]]
    ) -> CommandContext:
        goals = open_goal_run(self._environment, opened, bounds_of(opened.settings))
        goals.way_back = lambda _: "/goal resume goes on with it."
        return CommandContext(
            conversation=opened.conversation,
            store=opened.store,
            changes=opened.changes,
            surface=self.surface,
            links=opened.document_links,
            items=SessionItems(opened.conversation),
            page_editor=_NoEditor(),
            browser=VaultBrowser(
                library=opened.library,
                view=self._view,
                editor=_NoEditor(),
                open_with=opened.settings.ui.open_with,
                daily_notes=partial(daily_note_settings, opened.paths.vault),
            ),
            now=self._environment.now,
            models=models,
            goals=goals,
            mentions=_NoEditor(),
            keys=keys(opened),
            servers=opened.conversation.servers,
            embedding_progress=opened.library.embedding_progress,
        )
