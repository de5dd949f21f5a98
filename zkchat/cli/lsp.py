"""`zkchat lsp`: the vault for editors, over the Language Server Protocol."""

import typer

from zkchat.cli.common import SettingsVaultOption, current_io
from zkchat.cli.termination import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import ConfigError, install_command


def lsp(vault: SettingsVaultOption = None) -> int:
    """Follow, check and rename links in your editor (LSP).

    Neovim, Helix, VS Code, Emacs and others start it, and talk to it over standard input and output by the Language
    Server Protocol: `zkchat help lsp` says how. Without --vault, it uses the vault that the editor's folder is in, or
    your default vault. No model is asked, and nothing leaves this machine.

    zkchat lsp --vault ~/notes
    """
    io = current_io(vault)
    try:
        import pygls as _  # noqa: F401
    except ImportError:
        raise ConfigError(
            "zkchat lsp needs the package pygls, which is not installed.",
            hint=f"Install it: {install_command('lsp')}",
        ) from None
    from zkchat.lsp import serve

    chosen = confirmed_vault(io) if vault is not None else None
    if io.environment.stdin_is_tty:
        io.note("This waits for an editor, which usually starts it: see zkchat help lsp. Ctrl-D stops it.")
    try:
        return serve(io.environment, chosen)
    except Terminated as end:  # how some editors end a server
        raise typer.Exit(128 + end.signal) from None
