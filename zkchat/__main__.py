"""`zkchat` and `python -m zkchat`."""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # nothing else may be imported while the working folder is still on the path
    from collections.abc import MutableMapping

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib yet
"""Where zkchat itself is imported from; in a checkout that may be the working folder."""


def remove_working_folder(modules: "list[str]", variables: "MutableMapping[str, str]") -> None:
    """Let neither `sys.path` nor the variables name a folder that depends on where zkchat was started.

    `python -m` puts the working folder on the path, an empty entry of `PYTHONPATH` too, and one of `PATH` lets it hold
    programs.
    """
    try:
        here = os.getcwd()  # noqa: PTH109 - no pathlib yet
    except OSError:  # it was deleted
        here = ""
    entries = variables["PYTHONPATH"].split(os.pathsep) if variables.get("PYTHONPATH") else []
    unsafe = {os.path.normpath(os.path.join(here, entry)) for entry in entries if not os.path.isabs(entry)}  # noqa: PTH117, PTH118
    unsafe |= {"", here} & {"", *modules[:1]}
    modules[:] = [folder for folder in modules if folder == _OWN_FOLDER or folder not in unsafe]
    for name in ("PATH", "PYTHONPATH"):
        if name in variables:
            entries = variables[name].split(os.pathsep)
            variables[name] = os.pathsep.join(filter(os.path.isabs, entries))


def main() -> None:
    remove_working_folder(sys.path, os.environ)  # noqa: TID251 - there is no Environment yet
    if "_ZKCHAT_COMPLETE" in os.environ:  # noqa: TID251
        _complete()
        return
    from zkchat.cli import graceful_termination, keep_early_keys

    with graceful_termination(), keep_early_keys(sys.argv[1:], os.environ):  # noqa: TID251 - as above
        code = _run()
    gc.freeze()  # else Python looks through all of it for garbage before it ends, which took a fifth of a search
    sys.exit(code)


def _run() -> int:
    gc.set_threshold(100_000)  # a command leaves little garbage; looking for it took a tenth of its time
    try:
        from zkchat.cli import run
        from zkchat.core import Environment

        environment = Environment.of_this_process()
        # OpenBLAS starts a thread per core as soon as NumPy is imported, for work that one does as fast. What we start
        # ourselves gets the variables as they were.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - not read
        return run(sys.argv[1:], environment)
    except KeyboardInterrupt:  # while all this is imported
        from zkchat.core import ExitCode

        return ExitCode.INTERRUPTED


def _complete() -> None:
    """Answer a shell that asks what may be typed next."""
    from zkchat.cli import answer
    from zkchat.core import Environment

    answer(sys.argv[1:], Environment.of_this_process())
    gc.freeze()  # as above


if __name__ == "__main__":
    main()
