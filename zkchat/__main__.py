"""`zkchat` and `python -m zkchat`."""

import os
import sys

from zkchat.safe_start import leave_working_folder


def main() -> None:
    leave_working_folder(sys.path, os.environ)  # noqa: TID251 - there is no Environment yet
    # Asked for by every bug report and many scripts: answered before anything else is imported.
    if sys.argv[1:] == ["--version"]:
        from zkchat.version import __version__

        sys.stdout.write(f"zkchat {__version__}\n")
        return
    from zkchat.cli.main import run
    from zkchat.environment import Environment

    sys.exit(run(sys.argv[1:], Environment.of_this_process()))


if __name__ == "__main__":
    main()
