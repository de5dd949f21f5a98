"""`zkchat` and `python -m zkchat`."""

import os
import sys
from typing import TYPE_CHECKING

from zkchat.subprocesses import remove_working_folder

if TYPE_CHECKING:
    from zkchat.environment import Environment
    from zkchat.repl.early_prompt import EarlyPrompt


def main() -> None:
    remove_working_folder(sys.path, os.environ)  # noqa: TID251 - there is no Environment yet
    # Asked for by every bug report and many scripts: answered before anything else is imported.
    if sys.argv[1:] == ["--version"] and _version_is_printed():
        return
    if "_ZKCHAT_COMPLETE" in os.environ:  # noqa: TID251
        _complete()
        return
    from zkchat.cli.early_keys import keep_early_keys
    from zkchat.cli.termination import graceful_termination

    with graceful_termination(), keep_early_keys(sys.argv[1:], os.environ) as early:  # noqa: TID251 - as above
        code = _run(early)
    from zkchat.cli.collection import skip_last_collection

    skip_last_collection()
    sys.exit(code)


def _run(early: "EarlyPrompt | None") -> int:
    from zkchat.cli.collection import collect_rarely, without_collection

    try:
        with without_collection():
            from zkchat.cli.main import run
        collect_rarely()
        return run(sys.argv[1:], _environment(early))
    except KeyboardInterrupt:  # while all this is imported
        from zkchat.errors import ExitCode

        return ExitCode.INTERRUPTED


def _environment(early: "EarlyPrompt | None") -> "Environment":
    from zkchat.environment import Environment

    if early is None:
        return Environment.of_this_process()
    return Environment.of_this_process(before_output=early.end, take_early_keys=early.take_typed)


def _complete() -> None:
    """Answer a shell that asks what may be typed next."""
    from zkchat.cli.complete import answer
    from zkchat.environment import Environment

    answer(sys.argv[1:], Environment.of_this_process())


def _version_is_printed() -> bool:
    from zkchat.version import __version__

    try:
        os.write(1, f"zkchat {__version__}\n".encode())
    except OSError:  # what to do then is known by who prints everything else
        return False
    return True


if __name__ == "__main__":
    main()
