"""`zkchat acp`: the chat as the agent behind an editor or app that speaks the Agent Client Protocol."""

from zkchat.app import find_vault
from zkchat.cli.ask import AgentOption, WriteOption
from zkchat.cli.change_review import keys_of
from zkchat.cli.common import ModelOption, SettingsVaultOption, current_io
from zkchat.core import ConfigError, install_command


def acp(
    vault: SettingsVaultOption = None, model: ModelOption = None, agent: AgentOption = None, write: WriteOption = False
) -> None:
    """Answer in an editor, by the Agent Client Protocol (ACP).

    Zed, Neovim, Emacs, Obsidian, VS Code and JetBrains start it, and speak to it on standard input and output: `zkchat
    help acp` says how. Sessions are those of the vault, and `zkchat chat --resume` goes on with them.

    Without --vault, each session is about the vault around its working folder, else about your default vault.

    zkchat acp --vault ~/notes
    """
    io = current_io()
    try:
        import acp as _  # noqa: F401
    except ImportError:
        raise ConfigError(
            "zkchat acp needs the package agent-client-protocol, which is not installed.",
            hint=f"Install it: {install_command('acp')}",
        ) from None
    from zkchat.acp import AgentOptions, serve

    if vault is not None:
        find_vault(io.environment, vault)
    serve(
        io.environment,
        AgentOptions(
            vault=vault, model=model, agent=agent, write=write, keys=lambda opened: keys_of(io.environment, opened)
        ),
    )
