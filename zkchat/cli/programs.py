"""Other programs that a command starts: the user's editor, and the desktop."""

import sys
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from zkchat.cli.common import CommandIO
from zkchat.errors import ConfigError, UsageError
from zkchat.subprocesses import find_program, run_program

if TYPE_CHECKING:
    from zkchat.environment import Environment


def edit_file(io: CommandIO, path: str) -> None:
    """Open a file in the user's editor and wait until it is closed."""
    import shlex

    variables = io.environment.variables
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


class SystemDesktop:
    """Implements `repl.surface.Desktop`."""

    def __init__(self, environment: "Environment") -> None:
        self._variables = environment.variables

    def open(self, address: str) -> bool:
        """Hand an address to the desktop; False where there is none to be seen."""
        is_mac = sys.platform == "darwin"
        has_desktop = is_mac or any(self._variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        opener = find_program("open" if is_mac else "xdg-open", self._variables)
        if not (has_desktop and opener):
            return False
        # Some openers stay until the window is closed; nobody waits for that.
        run = partial(run_program, [opener, address], quietly=True)
        Thread(target=run, name="zkchat-open", daemon=True).start()
        return True
