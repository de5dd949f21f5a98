"""Other programs that a command starts: the user's editor, and the desktop."""

import sys
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from zkchat.cli.common import Process
from zkchat.errors import ConfigError, UsageError
from zkchat.subprocesses import find_program, run_program

if TYPE_CHECKING:
    from zkchat.environment import Environment


def edit_file(here: Process, path: str) -> None:
    """Open a file in the user's editor and wait until it is closed."""
    import shlex

    variables = here.environment.variables
    editor = variables.get("VISUAL") or variables.get("EDITOR")
    if not editor:
        raise UsageError("No editor is set.", hint=f"Set EDITOR, or open the file yourself: {path}")
    try:
        name, *options = shlex.split(editor)
        found = find_program(name, variables)
        if found is None:
            raise FileNotFoundError("no such program in an absolute folder")
        code = run_program([found, *options, path])
    except (OSError, ValueError) as error:
        hint = "Set EDITOR to the name of a program that is installed, or to its whole path."
        raise UsageError(f"The editor '{editor}' cannot be started: {error}.", hint=hint) from error
    if code:
        raise ConfigError(f"The editor '{editor}' ended with {code}.", hint=f"The file is {path}.")


def open_address(environment: "Environment", address: str) -> bool:
    """Hand an address to the desktop, if there is one to be seen."""
    has_desktop = sys.platform == "darwin" or any(environment.variables.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))
    opener = find_program("open" if sys.platform == "darwin" else "xdg-open", environment.variables)
    if not (has_desktop and opener):
        return False
    # Some openers stay until the window is closed; nobody here waits for that.
    run = partial(run_program, [opener, address], quietly=True)
    Thread(target=run, name="zkchat-open", daemon=True).start()
    return True
