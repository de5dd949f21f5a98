"""The process that extracts texts of PDFs, as seen from ours: started when needed, ended when a file is too much."""

import json
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Final, Literal

import msgspec

from zkchat.model.extracted_text import ExtractedText
from zkchat.model.text import counted
from zkchat.storage.pdf.limits import MAX_REPLY_BYTES, PdfLimits
from zkchat.subprocesses import start_python

_CODE: Final = "import sys; sys.path[:] = sys.argv[1:]; from zkchat.storage.pdf.reading import serve; serve()"
_KEPT_VARIABLES: Final = ("SYSTEMROOT", "TEMP", "TMP")
"""What Windows needs to start a process at all; keys and the like stay here."""
_SECONDS_TO_START: Final = 20.0
_FILES_OF_PROCESS: Final = 200
"""After which a new process takes over, so that what a library does not give back does not add up."""
_INTERRUPTIONS: Final = frozenset({signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)})
_MAX_TITLE: Final = 200
_BY_NAME: Final = "and is found by its name only."


class _Reply(msgspec.Struct, kw_only=True):
    """What the process says of a file that may be hostile: nothing else is taken from it."""

    problem: Literal["", "encrypted", "broken", "memory"] = ""
    pages: tuple[str, ...] = ()
    page_count: int = 0
    title: str = ""
    outline: tuple[tuple[int, str], ...] = ()


class PdfExtractor:
    """Implements `ports.extraction.TextExtractor`. One thread extracts; every thread may stop it."""

    def __init__(self, limits: PdfLimits, variables: Mapping[str, str]) -> None:
        self.limits = limits
        self._variables = {name: variables[name] for name in _KEPT_VARIABLES if name in variables}
        self._process: Popen[bytes] | None = None
        self._served = 0
        self._stopped = threading.Event()

    @property
    def max_bytes(self) -> int:
        return self.limits.max_bytes

    def extract(self, data: bytes) -> ExtractedText | None:
        """The text of a PDF, or why there is none; None where it was stopped."""
        if self._stopped.is_set():
            return None
        try:
            process = self._running()
        except OSError:  # no process can be started now
            return None
        is_late = threading.Event()
        seconds = self.limits.max_seconds + (_SECONDS_TO_START if self._served == 1 else 0)
        timer = threading.Timer(seconds, _end_late, (process, is_late))
        timer.daemon = True
        timer.start()
        try:
            reply = self._ask(process, data)
        finally:
            timer.cancel()
        if reply is None:
            self._end()
            return self._failure(process.returncode, is_late.is_set())
        return _extracted(reply)

    def stop(self) -> None:
        """End the process now; what it extracts is extracted another time."""
        self._stopped.set()
        if process := self._process:
            with suppress(OSError):
                process.kill()

    def close(self) -> None:
        self.stop()
        self._end()

    def _running(self) -> Popen[bytes]:
        if self._process and (self._process.poll() is not None or self._served >= _FILES_OF_PROCESS):
            self._end()
        if not self._process:
            modules = [folder for folder in sys.path if Path(folder).is_absolute()]
            self._process = start_python(
                "-c", _CODE, *modules, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, variables=self._variables
            )
            self._served = 0
            if self._stopped.is_set():
                self._process.kill()
        self._served += 1
        return self._process

    def _ask(self, process: Popen[bytes], data: bytes) -> _Reply | None:
        """The reply; None where the process ended, or sent what is no reply."""
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps([len(data), *self.limits]).encode() + b"\n")
            process.stdin.write(data)
            process.stdin.flush()
            length = int(process.stdout.readline(20))
            if not 0 < length <= MAX_REPLY_BYTES:
                return None
            return msgspec.json.decode(process.stdout.read(length), type=_Reply)
        except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
            return None

    def _end(self) -> None:
        process, self._process = self._process, None
        if not process:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                assert stream
                stream.close()
        process.wait()

    def _failure(self, code: int, is_late: bool) -> ExtractedText | None:
        if self._stopped.is_set() or -code in _INTERRUPTIONS:
            return None
        if is_late:
            return ExtractedText(trouble=f"It takes longer than {self.limits.max_seconds:g} seconds to read {_BY_NAME}")
        return ExtractedText(trouble=f"It is too large to read, or made to crash what reads it, {_BY_NAME}")


def _end_late(process: Popen[bytes], is_late: threading.Event) -> None:
    is_late.set()
    with suppress(OSError):
        process.kill()


_PROBLEMS: Final = {
    "encrypted": f"It is encrypted {_BY_NAME}",
    "broken": f"It is no PDF, or a broken one, {_BY_NAME}",
    "memory": f"It takes more memory to read than a PDF may {_BY_NAME}",
}


def _extracted(reply: _Reply) -> ExtractedText:
    if reply.problem:
        return ExtractedText(trouble=_PROBLEMS[reply.problem])
    read, total = len(reply.pages), max(reply.page_count, len(reply.pages))
    return ExtractedText(
        pages=reply.pages,
        title=reply.title[:_MAX_TITLE],
        outline=tuple((page, title[:_MAX_TITLE]) for page, title in reply.outline if 0 < page <= read),
        omission=f"Only the first {read:,} of its {counted(total, 'page')} are read." if total > read else "",
    )
