"""`zkchat serve`: the chat in a browser, and the vault for programs that speak HTTP."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from zkchat.app import load_workspace
from zkchat.cli.common import ModelOption, SettingsVaultOption, current_io, flag, option
from zkchat.cli.termination import Terminated
from zkchat.cli.vault_consent import confirmed_vault
from zkchat.core import ConfigError, UsageError, install_command

PORT: Final = 7718
VARIABLE: Final = "ZKCHAT_SERVE_TOKEN"

app = typer.Typer(
    help="Chat in a browser, and serve editors and other programs.",
    epilog="Without a command, the chat is served to a browser on this machine.",
    invoke_without_command=True,
)


@app.callback()
def serve(
    context: typer.Context,
    vault: SettingsVaultOption = None,
    model: ModelOption = None,
    write: Annotated[bool, flag("--write", "Let the model propose changes to notes; you review each.")] = False,
    port: Annotated[int, option("--port", "N", f"Default: {PORT}.", min=0, max=65535)] = PORT,
    host: Annotated[
        str, option("--host", "ADDRESS", "Where to listen, if not only on this machine. Needs a token.")
    ] = "127.0.0.1",
    origin: Annotated[
        str, option("--origin", "URL", "Where a proxy offers it, e.g. https://notes.example.org. Needs a token.")
    ] = "",
    token_file: Annotated[
        Path | None,
        option(
            "--token-file",
            "FILE",
            f"The token for other programs, created if missing. Default: ${VARIABLE}, or a new one.",
        ),
    ] = None,
) -> None:
    """Chat in a browser, and serve editors and other programs.

    It prints an address for your browser, which works once, and a token for programs that speak the API of OpenAI:
    `zkchat help serve`. Only programs on this machine reach it, and nothing changes notes, unless you say so.

    zkchat serve --vault ~/notes
    """
    if context.invoked_subcommand is not None:
        return
    io = current_io(vault)
    workspace = load_workspace(io.environment, confirmed_vault(io), model=model)
    if not (find_spec("starlette") and find_spec("uvicorn")):
        raise ConfigError(
            "zkchat serve needs the packages starlette and uvicorn, which are not installed.",
            hint=f"Install them: {install_command('serve')}",
        )
    from zkchat.cli.change_review import keys_of
    from zkchat.hosting import access_token, listen
    from zkchat.web import Site, WebOptions, is_loopback

    file = io.environment.cwd / token_file.expanduser() if token_file else None
    token = access_token(file, io.environment.variables, VARIABLE)
    is_open = not is_loopback(host) or bool(origin)
    if is_open and token.is_new and not token.file:
        raise UsageError(
            "Whoever reaches this address needs a token that you chose.",
            hint=f"Add --token-file FILE, or set ${VARIABLE}.",
        )
    options = WebOptions(
        vault=workspace.paths.vault,
        model=model,
        write=write,
        host=host,
        origin=origin.rstrip("/"),
        keys=lambda opened: keys_of(io.environment, opened),
    )
    listening = listen(port, host)
    site = Site(workspace, options, listening, token)
    if not is_loopback(host):
        io.note("warning: Others in your network reach this address. What is sent is not encrypted: zkchat help serve")
    io.note(f"Open this in your browser: {site.address}", as_it_is=True)
    shown = f"in {token.file}" if token.file else token.text if token.is_new else f"${VARIABLE}"
    io.note(f"Other programs: {site.api}, token {shown}. Ctrl-C stops it.", as_it_is=True)
    try:
        site.serve()
    except Terminated as end:
        raise typer.Exit(128 + end.signal) from None
