"""Work for other processes, which must be able to import it."""

import os
import time


def die_in_a_child(task: tuple[int, int]) -> int:
    """Twice the number, unless this is another process than the one named, and the number more than 1."""
    process, number = task
    if process != os.getpid() and number > 1:
        os._exit(1)
    return 2 * number


def pid_and_a_print(seconds: float) -> int:
    """Work that takes a while, and prints, and writes, what nobody should take for its result."""
    print("print")  # noqa: T201
    os.write(1, b"write")
    time.sleep(seconds)
    return os.getpid()


def sleep_in_a_child(process: int) -> None:
    if process != os.getpid():
        time.sleep(600)
