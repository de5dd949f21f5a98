"""`zkchat` and `python -m zkchat`."""

import sys


def main() -> None:
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
