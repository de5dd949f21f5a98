"""`zkchat serve`: the chat in a browser, and the vault for programs that speak HTTP; `zkchat lsp`: for editors."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from zkchat import hosting, web
from zkchat.app import load_workspace
from zkchat.cli.common import CommandIO, ModelOption, SettingsVaultOption, current_io, flag, option, require
from zkchat.cli.terminal import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import ConfigError, UsageError, install_command
from zkchat.hosting import AccessToken

PORT: Final = 7718
HOST: Final = "127.0.0.1"
VARIABLE: Final = "ZKCHAT_SERVE_TOKEN"
_OPEN: Final = "warning: Others in your network can reach this address, and the connection is not encrypted."

app = typer.Typer(
    help="Chat in a browser, and serve editors and other programs.",
    epilog="Without a command, the chat is served to a browser on this machine.",
    invoke_without_command=True,
)


WriteOption = Annotated[bool, flag("--write", "Let the model propose changes to notes; you review each.")]
PortOption = Annotated[int, option("--port", "N", f"Default: {PORT}.", min=0, max=65535)]
HostOption = Annotated[str, option("--host", "ADDRESS", f"Where to listen. Default: {HOST}, this machine only.")]
OriginOption = Annotated[
    str, option("--origin", "URL", "Behind a proxy: the address for browsers, for example https://notes.example.org.")
]
_TOKEN_FILE: Final = f"The file with the token, created if missing. Default: the token in ${VARIABLE}, or a new one."
TokenFileOption = Annotated[Path | None, option("--token-file", "FILE", _TOKEN_FILE)]


@app.callback()
def serve(
    context: typer.Context,
    vault: SettingsVaultOption = None,
    model: ModelOption = None,
    write: WriteOption = False,
    port: PortOption = PORT,
    host: HostOption = HOST,
    origin: OriginOption = "",
    token_file: TokenFileOption = None,
) -> None:
    """Chat in a browser, and serve editors and other programs.

    It prints an address for your browser, which works once, and a token for programs that speak the API of OpenAI. Only
    programs on this machine reach it, and no note is changed, unless you say so.

    zkchat serve --vault ~/notes
    """
    if context.invoked_subcommand is not None:
        return
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io), model=model)
    if not (find_spec("starlette") and find_spec("uvicorn")):
        how = f"Install them: {install_command('serve')}"
        raise ConfigError("This needs the packages starlette and uvicorn, which are not installed.", hint=how)
    is_here = web.is_loopback(host)
    token = _token(io, token_file, is_open=not is_here or bool(origin))
    options = web.WebOptions(
        vault=workspace.paths.vault,
        model=model,
        write=write,
        host=host,
        origin=origin.rstrip("/"),
    )
    listening = hosting.listen(port, host)
    site = web.Site(workspace, options, listening, token)
    if not is_here:
        io.note(_OPEN)
    io.note(f"Open this in your browser: {site.address}", as_it_is=True)
    shown = f"in {token.file}" if token.file else token.text if token.is_new else f"${VARIABLE}"
    io.note(f"Other programs use the address {site.api} and the token {shown}. Ctrl-C stops the server.", as_it_is=True)
    try:
        site.serve()
    except Terminated as end:
        raise typer.Exit(128 + end.signal) from None


def _token(io: CommandIO, file: Path | None, *, is_open: bool) -> AccessToken:
    """Raises `UsageError` where others may reach the server, and the user has chosen none."""
    named = io.environment.cwd / file.expanduser() if file else None
    token = hosting.access_token(named, io.environment.variables, VARIABLE)
    if is_open and token.is_new and not token.file:
        raise UsageError(
            "Other machines can reach this address, so zkchat needs a password that you choose (a token).",
            hint=f"Add --token-file FILE, or set ${VARIABLE}.",
        )
    return token


def lsp(vault: SettingsVaultOption = None) -> int:
    """Follow, check and rename links in your editor (LSP).

    Neovim, Helix, VS Code, Emacs and others start it, and talk to it over standard input and output by the Language
    Server Protocol: `zkchat help lsp` says how. Without --vault, it uses the vault that the editor's folder is in, or
    your default vault. No model is asked, and nothing leaves this machine.

    zkchat lsp --vault ~/notes
    """
    io = current_io(vault)
    require("pygls", "zkchat lsp needs the package pygls", "lsp")
    from zkchat.lsp import serve

    chosen = confirmed_vault(io) if vault is not None else None
    if io.environment.stdin_is_tty:
        io.note("Waiting for an editor, which usually starts this itself; see zkchat help lsp. Ctrl-D stops it.")
    try:
        return serve(io.environment, chosen)
    except Terminated as end:  # how some editors end a server
        raise typer.Exit(128 + end.signal) from None
