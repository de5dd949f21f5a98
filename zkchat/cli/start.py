"""`zkchat` alone: the chat in the vault around, the default one, or a folder of notes after a yes; else a help."""

from typing import Final

from zkchat.cli.chat import chat
from zkchat.cli.common import CommandIO
from zkchat.cli.vault_consent import confirmed_vault, holds_notes, is_in_vault
from zkchat.errors import UnconfirmedVault

HELP: Final = """\
Usage: zkchat COMMAND [OPTIONS]

Chat about the notes in this folder (you are asked before it is used):
  zkchat chat
Chat about the notes in another one:
  zkchat chat --vault ~/notes
Ask one question:
  zkchat ask "What is compost?" --vault ~/notes
Choose your notes, a model, and what stays on this machine:
  zkchat setup
All commands:
  zkchat --help

In a folder of notes with .obsidian/ or .zkchat/ in it, or that you
have confirmed, `zkchat` alone starts the chat. Once you have named
the folder of your notes in `zkchat setup`, it does so everywhere."""


def start(io: CommandIO) -> None:
    """Start the chat where somebody sits at a terminal and has a vault, or agrees that this folder of notes is one."""
    environment = io.environment
    is_at_terminal = environment.stdin_is_tty and environment.stdout_is_tty
    if is_at_terminal and (is_in_vault(environment) or holds_notes(environment)):
        try:
            vault = confirmed_vault(io, None)
        except UnconfirmedVault:
            io.out(HELP)
        else:
            chat(vault=vault)
    else:
        io.out(HELP)
