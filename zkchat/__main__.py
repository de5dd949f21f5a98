"""`zkchat` and `python -m zkchat`."""

import os
import sys

from zkchat.subprocesses import remove_working_folder


def main() -> None:
    remove_working_folder(sys.path, os.environ)  # noqa: TID251 - there is no Environment yet
    if "_ZKCHAT_COMPLETE" in os.environ:  # noqa: TID251
        _complete()
        return
    from zkchat.cli.early_keys import keep_early_keys
    from zkchat.cli.termination import graceful_termination

    with graceful_termination(), keep_early_keys(sys.argv[1:], os.environ):  # noqa: TID251 - as above
        code = _run()
    from zkchat.cli.collection import skip_last_collection

    skip_last_collection()
    sys.exit(code)


def _run() -> int:
    from zkchat.cli.collection import collect_rarely, without_collection

    try:
        with without_collection():
            from zkchat.cli.main import run
            from zkchat.environment import Environment
        collect_rarely()
        environment = Environment.of_this_process()
        # OpenBLAS starts a thread per core as soon as NumPy is imported, for work that one does as fast. What we start
        # ourselves gets the variables as they were.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - not read
        return run(sys.argv[1:], environment)
    except KeyboardInterrupt:  # while all this is imported
        from zkchat.errors import ExitCode

        return ExitCode.INTERRUPTED


def _complete() -> None:
    """Answer a shell that asks what may be typed next."""
    from zkchat.cli.complete import answer
    from zkchat.environment import Environment

    answer(sys.argv[1:], Environment.of_this_process())


if __name__ == "__main__":
    main()
