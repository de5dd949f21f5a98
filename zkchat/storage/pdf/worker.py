"""The process that extracts: files come in on standard input, texts go out as JSON on standard output.

A request is a line of JSON with the length of the file and what it may cost, and the file itself. A reply is its own
length in a line, and JSON. The process holds nothing worth stealing: no environment, no open file of the vault.
"""

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, Final

from zkchat.storage.pdf.layout import texts_of
from zkchat.storage.pdf.limits import PdfLimits
from zkchat.storage.pdf.reading import NeedsPassword, read_pdf

_TIME_SHARE: Final = 0.6
"""Of the time for a file, after which no further page is begun, so that what was read until then is not lost."""


def serve() -> None:
    """Extract what comes in, and exit when the process that sends it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    requests: SimpleQueue[tuple[PdfLimits, bytes]] = SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    try:
        import pypdfium2  # noqa: F401 - before the first limit counts

        while True:
            limits, data = requests.get()
            _limit(limits)
            reply = json.dumps(extracted(data, limits)).encode()
            replies.write(b"%d\n" % len(reply) + reply)
            replies.flush()
    finally:
        os._exit(1)  # there is nothing to clean up


def _receive(stream: IO[bytes], requests: "SimpleQueue[tuple[PdfLimits, bytes]]") -> None:
    """Read on while a file is extracted: the end of the input is the end of this process, whatever a file does."""
    try:
        while line := stream.readline():
            length, *limits = json.loads(line)
            requests.put((PdfLimits(*limits), stream.read(length)))
    finally:
        os._exit(0)


def _limit(limits: PdfLimits) -> None:
    """Where the system has such limits: memory, processor time of this file, no files written, no core dumps."""
    try:
        import resource
    except ImportError:
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    for kind, amount in (
        (resource.RLIMIT_AS, limits.max_memory + limits.max_bytes),
        (resource.RLIMIT_CPU, int(used + 2 * limits.max_seconds) + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


def extracted(data: bytes, limits: PdfLimits) -> dict[str, Any]:
    """The reply for one file: its text, or in a word why there is none."""
    deadline = time.monotonic() + _TIME_SHARE * limits.max_seconds
    try:
        read = read_pdf(data, limits.max_pages, limits.max_characters, lambda: time.monotonic() < deadline)
        return {
            "pages": texts_of(read.pages),
            "page_count": read.page_count,
            "title": read.title,
            "outline": read.outline,
        }
    except NeedsPassword:
        return {"problem": "encrypted"}
    except MemoryError:
        return {"problem": "memory"}
    except Exception:  # noqa: BLE001 - whatever the file did
        return {"problem": "broken"}


if __name__ == "__main__":
    serve()
