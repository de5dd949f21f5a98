"""Lines as they stand on the pages of a PDF, as text in paragraphs: columns, hyphenation, running headers."""

import itertools
import json
import signal
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from subprocess import DEVNULL, PIPE, Popen
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from zkchat.core import ExtractedText, counted, lazy_pattern
from zkchat.subprocesses import start_python


class PdfLimits(NamedTuple):
    max_bytes: int = 100_000_000
    max_pages: int = 2_000
    max_seconds: float = 60.0
    max_memory: int = 400_000_000
    """Of the process that extracts, in bytes, libraries included, besides the `max_bytes` that a file may have."""
    max_characters: int = 20_000_000
    """Of all pages together."""


MAX_REPLY_BYTES: Final = 200_000_000
"""That the process may send for one file, whatever it holds."""


_CODE: Final = "import sys; sys.path[:] = sys.argv[1:]; from zkchat.storage.pdf_reading import serve; serve()"
_KEPT_VARIABLES: Final = ("SYSTEMROOT", "TEMP", "TMP")
"""What Windows needs to start a process at all; keys and the like stay here."""
_SECONDS_TO_START: Final = 20.0
_FILES_OF_PROCESS: Final = 200
"""After which a new process takes over, so that what a library does not give back does not add up."""
_INTERRUPTIONS: Final = frozenset({signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)})
_MAX_TITLE: Final = 200
_BY_NAME: Final = "and is only found by its name."


class _Reply(msgspec.Struct, kw_only=True):
    """What the process says of a file that may be hostile: nothing else is taken from it."""

    problem: Literal["", "encrypted", "broken", "memory"] = ""
    pages: tuple[str, ...] = ()
    page_count: int = 0
    title: str = ""
    outline: tuple[tuple[int, str], ...] = ()


class PdfExtractor:
    """Implements `TextExtractor`. One thread extracts; every thread may stop it."""

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
        if self._stopped.is_set():
            return None
        try:
            process = self._running()
        except OSError:  # no process can be started now
            return None
        seconds = self.limits.max_seconds + (_SECONDS_TO_START if self._served == 1 else 0)
        is_late = threading.Event()

        def end_late() -> None:
            is_late.set()
            with suppress(OSError):
                process.kill()

        timer = threading.Timer(seconds, end_late)
        timer.daemon = True
        timer.start()
        try:
            reply = self._ask(process, data)
        finally:
            timer.cancel()
        if reply:
            return _extracted(reply)
        self._end()
        if self._stopped.is_set() or -process.returncode in _INTERRUPTIONS:
            return None
        if is_late.is_set():
            return ExtractedText(trouble=f"It takes longer than {self.limits.max_seconds:g} seconds to read {_BY_NAME}")
        return ExtractedText(trouble=f"It is too large or damaged {_BY_NAME}")

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


_PROBLEMS: Final = {
    "encrypted": f"It is encrypted {_BY_NAME}",
    "broken": f"It is not a valid PDF {_BY_NAME}",
    "memory": f"It takes too much memory to read {_BY_NAME}",
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


LAYOUT_VERSION: Final = 1
"""To be raised when other text is made of the same lines: what was extracted before is extracted again."""

_COLUMN_GAP: Final = 1.0
"""Between columns, in heights of a line."""
_CELL_GAP: Final = 1.5
_MIN_COLUMN_ROWS: Final = 4
_PROSE_SHARE: Final = 0.6
"""Of the width of a column that half of its lines fill, if it is prose; the cells of a table are shorter."""
_MARGIN_SHARE: Final = 0.13
"""Of a page, at its top and at its bottom, where running headers and footers stand."""
_MAX_RUNNING_LENGTH: Final = 120
_MIN_RUNNING_PAGES: Final = 3
_MAX_UNNUMBERED_PAGES: Final = 40
"""Of a cover, contents and preface: how far the number on a page may be from its place in the file."""
_NUMBER = lazy_pattern(r"(?<!\d)[0-9]{1,6}(?!\d)")
_ROMAN = lazy_pattern(r"[ivxlcdm]{1,8}")
_BULLET = lazy_pattern(r"([•▪◦‣∙–—*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_SENTENCE_END = lazy_pattern(r"""[.!?:;。！？：；…]["'”’»)\]）」』]*$""")
_CJK = lazy_pattern(r"[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff]")
_WORD_BEFORE_BREAK = lazy_pattern(r"([^\W\d_]+(?:-[^\W\d_]+)*)$")
_WORD_AFTER_BREAK = lazy_pattern(r"^([^\W\d_]+)")
_WORDS = lazy_pattern(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\u00a0": " ", "\u00ad": ""}
)
_NO_TEXT = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff\ufeff\ufffe\uffff\ud800-\udfff]+")


class Line(NamedTuple):
    """Text on one line of a page, or a part of it. Upwards and to the right is positive, in points."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    is_hyphenated: bool = False
    """Whether a hyphen stood at its end, where a word was broken; it is not in the text."""
    cells: int = 1
    """Parts of it that stand further apart than words, as those of a table or form do."""

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


class PageLines(Struct, frozen=True, kw_only=True):
    """The lines of a page in the order in which the file has them."""

    width: float
    height: float
    lines: Sequence[Line]
    remarks: Sequence[str] = ()


def clean(text: str) -> str:
    """Text of a PDF without what is no text: controls, private characters, ligatures, soft hyphens."""
    return " ".join(_NO_TEXT.sub(" ", text.translate(_LIGATURES)).split())


def texts_of(pages: Sequence[PageLines]) -> list[str]:
    running = _running_lines(pages)
    rows: list[list[Line]] = []
    for number, page in enumerate(pages, 1):
        lines = [line for line in page.lines if (_slot(line, page), _pattern(line.text, number)) not in running]
        gutter = _gutter(page, lines)
        rows.append(_joined(_by_column(lines, *gutter) if gutter else lines))
    words = Counter(word for page in rows for line in page for word in _WORDS.findall(line.text.lower()))
    return ["\n\n".join([*_paragraphs(lines, words), *page.remarks]) for page, lines in zip(pages, rows, strict=True)]


# --- running headers and footers ---


def _running_lines(pages: Sequence[PageLines]) -> set[tuple[int, str]]:
    """Place and pattern of the lines that stand in the margin of most pages and say the same there."""
    if len(pages) < _MIN_RUNNING_PAGES:
        return set()
    found = [
        {
            (_slot(line, page), _pattern(line.text, number))
            for line in page.lines
            if line.bottom > page.height * (1 - _MARGIN_SHARE) or line.top < page.height * _MARGIN_SHARE
            if len(line.text) <= _MAX_RUNNING_LENGTH
        }
        for number, page in enumerate(pages, 1)
    ]
    seen = Counter(key for keys in found for key in keys)
    repeated = {key for key, count in seen.items() if count >= 2}
    filled = Counter(slot for keys in found for slot in {slot for slot, _ in keys & repeated})
    return {(slot, pattern) for slot, pattern in repeated if filled[slot] > len(pages) / 2}


def _slot(line: Line, page: PageLines) -> int:
    return round(line.middle / page.height * 100) if page.height else 0


def _pattern(text: str, page: int) -> str:
    """What stays the same of a header from page to page: no number that may be the page's."""
    folded = text.casefold()
    if _ROMAN.fullmatch(folded):
        return "#"
    return _NUMBER.sub(lambda found: "#" if abs(int(found[0]) - page) <= _MAX_UNNUMBERED_PAGES else found[0], folded)


# --- reading order ---


def _gutter(page: PageLines, lines: Sequence[Line]) -> tuple[float, float] | None:
    """The space between two columns of prose, where the file has their lines in turn; the order helps otherwise."""
    pairs = [
        (left, right)
        for left, right in itertools.pairwise(lines)
        if _on_one_row(left, right) and right.left - left.right > _COLUMN_GAP * min(left.height, right.height)
    ]
    if len(pairs) < _MIN_COLUMN_ROWS:
        return None
    start, end = median(left.right for left, _ in pairs), median(right.left for _, right in pairs)
    start = max((left.right for left, _ in pairs if left.right < end), default=start)
    if start >= end:
        return None
    columns = [
        [line for line in lines if line.right <= end and line.left < start],
        [line for line in lines if line.left >= start],
    ]
    for column in columns:
        left, right = min(line.left for line in column), max(line.right for line in column)
        if right - left < page.width / 5 or median(line.right - line.left for line in column) < _PROSE_SHARE * (
            right - left
        ):
            return None
    return start, end


def _by_column(lines: Sequence[Line], start: float, end: float) -> list[Line]:
    """Both columns one after the other, between the lines that go across them."""
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        if line.left < start and line.right > end:
            ordered += [*left, *right, line]
            left, right = [], []
        elif line.left >= start:
            right.append(line)
        else:
            left.append(line)
    return [*ordered, *left, *right]


def _on_one_row(first: Line, second: Line) -> bool:
    overlap = min(first.top, second.top) - max(first.bottom, second.bottom)
    return overlap > 0.6 * min(first.height, second.height) and second.left >= first.right - first.height


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Lines whose parts stand beside each other are one line."""
    rows: list[Line] = []
    for line in lines:
        if rows and _on_one_row(rows[-1], line) and not rows[-1].is_hyphenated:
            before = rows[-1]
            rows[-1] = Line(
                f"{before.text}{_space(before.text, line.text)}{line.text}",
                min(before.left, line.left),
                min(before.bottom, line.bottom),
                max(before.right, line.right),
                max(before.top, line.top),
                line.is_hyphenated,
                max(before.cells + (line.left - before.right > _CELL_GAP * line.height), line.cells),
            )
        else:
            rows.append(line)
    return rows


# --- paragraphs ---


def _paragraphs(lines: Sequence[Line], words: Counter[str]) -> list[str]:
    if not lines:
        return []
    # The usual way from one line to the next below it, in heights of a line.
    steps = sorted(
        (before.middle - line.middle) / line.height
        for before, line in itertools.pairwise(lines)
        if line.height > 0 and 0 < before.middle - line.middle < 3 * line.height
    )
    leading = median(steps[: len(steps) // 2 + 1]) if steps else 1.0
    paragraphs: list[list[Line]] = [[lines[0]]]
    for before, line in itertools.pairwise(lines):
        if _begins_paragraph(paragraphs[-1], before, line, leading):
            paragraphs.append([])
        paragraphs[-1].append(line)
    return [text for paragraph in paragraphs if (text := _text(paragraph, words))]


def _begins_paragraph(paragraph: Sequence[Line], before: Line, line: Line, leading: float) -> bool:
    if before.is_hyphenated:
        return False
    height = max(line.height, 0.1)
    step = (before.middle - line.middle) / height
    if _BULLET.match(line.text) or not 0.8 < (before.height / height) < 1.25:
        return True
    if step > leading + 0.3:
        return True
    ended = bool(_SENTENCE_END.search(before.text))
    if step <= 0:  # the next column, or a place above
        return ended
    full = max(each.right for each in (*paragraph, line)) - min(each.left for each in (*paragraph, line))
    is_short = before.right < max(each.right for each in (*paragraph, line)) - 0.2 * full
    is_indented = line.left - before.left > 0.7 * height and len(paragraph) > 1
    goes_on = line.text[:1].islower()
    return (is_short and not goes_on) or (ended and (is_short or is_indented))


def _text(paragraph: Sequence[Line], words: Counter[str]) -> str:
    text = paragraph[0].text
    for before, line in itertools.pairwise(paragraph):
        if before.is_hyphenated:
            text += _hyphen(text, line.text, words) + line.text
        elif max(before.cells, line.cells) > 1:
            text += f"\n{line.text}"
        else:
            text += _space(text, line.text) + line.text
    return f"{text}-" if paragraph[-1].is_hyphenated else text


def _space(before: str, after: str) -> str:
    if not before or not after or (_CJK.match(before[-1]) and _CJK.match(after[0])):
        return ""
    return " "


def _hyphen(before: str, after: str, words: Counter[str]) -> str:
    """The hyphen at the end of a line, if it belongs to the word: `Nord-Süd`, and `well-known` where that is usual."""
    first, second = _WORD_BEFORE_BREAK.search(before), _WORD_AFTER_BREAK.search(after)
    if not first or not second or not second[1][0].islower():
        return "-"
    kept, dropped = f"{first[1]}-{second[1]}".lower(), f"{first[1]}{second[1]}".lower()
    return "-" if words[kept] > words[dropped] else ""
