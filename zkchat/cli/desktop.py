"""The desktop: hands addresses to the program that the system has for them."""

import sys
from functools import partial
from threading import Thread

from zkchat.environment import Environment
from zkchat.subprocesses import find_program, run_program


class SystemDesktop:
    """Implements `repl.surface.Desktop`."""

    def __init__(self, environment: Environment) -> None:
        self._variables = environment.variables

    @property
    def is_there(self) -> bool:
        """Whether a desktop can be seen, and a program that hands addresses to it."""
        return self._opener is not None

    @property
    def _opener(self) -> str | None:
        is_mac = sys.platform == "darwin"
        has_desktop = is_mac or any(self._variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        return find_program("open" if is_mac else "xdg-open", self._variables) if has_desktop else None

    def open(self, address: str) -> bool:
        """Hand an address to the desktop; False where there is none to be seen."""
        opener = self._opener
        if opener is None:
            return False
        # Some openers stay until the window is closed; nobody waits for that.
        run = partial(run_program, [opener, address], quietly=True)
        Thread(target=run, name="zkchat-open", daemon=True).start()
        return True
