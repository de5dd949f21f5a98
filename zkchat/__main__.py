"""`zkchat` and `python -m zkchat`."""

import os
import sys

from zkchat.subprocesses import remove_working_folder


def main() -> None:
    remove_working_folder(sys.path, os.environ)  # noqa: TID251 - there is no Environment yet
    # Asked for by every bug report and many scripts: answered before anything else is imported.
    if sys.argv[1:] == ["--version"] and _version_is_printed():
        return
    from zkchat.cli.main import run
    from zkchat.cli.termination import graceful_termination
    from zkchat.environment import Environment

    with graceful_termination():
        code = run(sys.argv[1:], Environment.of_this_process())
    sys.exit(code)


def _version_is_printed() -> bool:
    from zkchat.version import __version__

    try:
        os.write(1, f"zkchat {__version__}\n".encode())
    except OSError:  # what to do then is known by who prints everything else
        return False
    return True


if __name__ == "__main__":
    main()
