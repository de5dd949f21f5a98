"""Work for other processes, which must be able to import it."""

import os
import time
from multiprocessing import parent_process


def die_in_a_child(number: int) -> int:
    """Twice the number, unless this is a process that another one started."""
    if parent_process() is not None and number > 1:
        os._exit(1)
    return 2 * number


def pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()
