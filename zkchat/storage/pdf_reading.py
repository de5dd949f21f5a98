"""The lines, outline and title of a PDF, by PDFium. Runs in a process of its own, because PDFium may crash or loop.

Files come in on standard input, texts go out as JSON on standard output. A request is a line of JSON with the length of
the file and what it may cost, and the file itself. A reply is its own length in a line, and JSON. The process holds
nothing worth stealing: no environment, no open file of the vault.
"""

import ctypes
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import IO, Any, Final, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from zkchat.storage.pdf_layout import Line, PageLines, PdfLimits, clean, texts_of
from zkchat.subprocesses import answer_requests

_HYPHEN: Final = "\ufffe"
"""What PDFium has in the place of a hyphen at the end of a line, where a word goes on in the next one."""
_PART: Final = re.compile(rf"[^\n{_HYPHEN}]*[\n{_HYPHEN}]|[^\n{_HYPHEN}]+")
"""What ends with a line, or with a hyphen that stood at the end of one."""
_MAX_OUTLINE: Final = 2_000
_MAX_TITLE: Final = 200
_MAX_REMARK: Final = 4_000
_WIDE_SPACE: Final = 1.0
"""In heights of a line: wider than a space within a line, so that what follows may be another column."""

_TIME_SHARE: Final = 0.6
"""Of the time for a file, after which no further page is begun, so that what was read until then is not lost."""
_WIDGET: Final = 20
_REMARKS: Final = frozenset({1, 3, 9, 10, 11, 12})
"""Kinds of annotations whose text somebody wrote: note, free text, highlight, underline, squiggly, strike-out."""


Rectangle = tuple[float, float, float, float]
"""Left, bottom, right and top."""


class ReadPdf(NamedTuple):
    pages: list[PageLines]
    page_count: int
    title: str
    outline: list[tuple[int, str]]
    """Page, from 1 on, and title of each entry."""


class NeedsPassword(Exception):
    """The PDF is encrypted."""


def read_pdf(data: bytes, max_pages: int, max_characters: int, keep_on: Callable[[], bool] = lambda: True) -> ReadPdf:
    """Page after page, as long as `keep_on` says so.

    Raises `NeedsPassword`, or anything at all for a file that is no PDF, or a broken one.
    """
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise NeedsPassword from error
        raise
    with closing(document):
        pages: list[PageLines] = []
        left = max_characters
        for number in range(min(len(document), max_pages)):
            try:
                page = _read_page(document[number])
            except pypdfium2.PdfiumError:  # one broken page: the others are read
                page = PageLines(width=0, height=0, lines=())
            pages.append(page)
            left -= sum(len(line.text) for line in page.lines)
            if left < 0 or not keep_on():
                break
        title = clean(document.get_metadata_value("Title"))[:_MAX_TITLE]
        return ReadPdf(pages, len(document), title, _outline(document))


def _outline(document: Any) -> list[tuple[int, str]]:
    entries: list[tuple[int, str]] = []
    with suppress(Exception):
        for entry in document.get_toc(max_depth=3):
            destination = entry.get_dest()
            page = destination.get_index() if destination else None
            if page is not None and (title := clean(entry.get_title())[:_MAX_TITLE]):
                entries.append((page + 1, title))
            if len(entries) >= _MAX_OUTLINE:
                break
    return entries


def _read_page(page: Any) -> PageLines:
    with closing(page):
        with closing(page.get_textpage()) as text_page:
            found = [*_lines(text_page)]
        width, height = page.get_size()
        rotation, crop = page.get_rotation(), page.get_cropbox()
        lines = [_turned(line, rotation, width, height, crop) for line in found]
        remarks: list[str] = []
        for kind, text, box in _annotations(page):
            if kind == _WIDGET:
                value = _turned(Line(text, *box, cells=2), rotation, width, height, crop)
                # It is read after what stands on its left, or above it.
                after = (
                    number + 1
                    for number, line in reversed([*enumerate(lines)])
                    if line.bottom >= value.top or (value.bottom < line.middle < value.top and line.left < value.left)
                )
                lines.insert(next(after, 0), value)
            else:
                remarks.append(text)
        return PageLines(width=width, height=height, lines=lines, remarks=remarks)


def _turned(line: Line, rotation: int, width: float, height: float, crop: tuple[float, ...]) -> Line:
    """A line as it stands when the page is turned as it is shown."""
    left, bottom, right, top = (
        line.left - crop[0], line.bottom - crop[1], line.right - crop[0], line.top - crop[1],
    )  # fmt: skip
    if rotation == 90:
        left, bottom, right, top = bottom, height - right, top, height - left
    elif rotation == 180:
        left, bottom, right, top = width - right, height - top, width - left, height - bottom
    elif rotation == 270:
        left, bottom, right, top = width - top, left, width - bottom, right
    return line._replace(left=left, bottom=bottom, right=right, top=top)


def _lines(text_page: Any) -> Iterator[Line]:
    count = min(text_page.count_chars(), 200_000)
    text = text_page.get_text_range(0, count) if count > 0 else ""
    at = 0
    for part in _PART.findall(text):
        ends_hyphenated = part.endswith(_HYPHEN)
        yield from _split_at_wide_spaces(text_page, part.rstrip("\r\n" + _HYPHEN), at, ends_hyphenated)
        at += _utf16_length(part)


def _utf16_length(text: str) -> int:
    """PDFium counts as UTF-16 does."""
    return len(text) + sum(character > "\uffff" for character in text)


def _split_at_wide_spaces(text_page: Any, text: str, at: int, is_hyphenated: bool) -> Iterator[Line]:
    """A line, or its parts where there is more room between them than a space takes."""
    words: list[tuple[int, str]] = []
    offset = at
    for word in text.split(" "):
        if word.strip():
            words.append((offset, word))
        offset += _utf16_length(word) + 1
    parts: list[tuple[list[str], list[Rectangle]]] = []
    for start, word in words:
        first, last = _box(text_page, start), _box(text_page, start + _utf16_length(word) - 1)
        if not first or not last:
            first = last = parts[-1][1][-1] if parts else (0.0, 0.0, 0.0, 0.0)
        box = (min(first[0], last[0]), min(first[1], last[1]), max(first[2], last[2]), max(first[3], last[3]))
        # The height of a line is the room of one character, also where the page is turned: none is wider than high.
        height = max(first[2] - first[0], first[3] - first[1])
        if not parts or _distance(parts[-1][1][-1], box) > _WIDE_SPACE * height:
            parts.append(([], []))
        parts[-1][0].append(word)
        parts[-1][1].append(box)
    for number, (texts, boxes) in enumerate(parts):
        if joined := clean(" ".join(texts)):
            yield Line(
                joined,
                min(box[0] for box in boxes),
                min(box[1] for box in boxes),
                max(box[2] for box in boxes),
                max(box[3] for box in boxes),
                is_hyphenated and number == len(parts) - 1,
            )


def _distance(before: Rectangle, after: Rectangle) -> float:
    """Between two words: beside each other, or above where the page is turned."""
    beside = max(after[0] - before[2], before[0] - after[2])
    above = max(after[1] - before[3], before[1] - after[3])
    return max(beside, above)


def _box(text_page: Any, text_index: int) -> Rectangle | None:
    """Of a character, with the room that its font gives to every character."""
    rectangle = pdfium.FS_RECTF()
    index = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, text_index)
    if index < 0 or not pdfium.FPDFText_GetLooseCharBox(text_page, index, rectangle):
        return None
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _annotations(page: Any) -> Iterator[tuple[int, str, Rectangle]]:
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), 200)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind != _WIDGET and kind not in _REMARKS:
                continue
            text = clean(_string(annotation, b"V" if kind == _WIDGET else b"Contents"))
            box = pdfium.FS_RECTF()
            if text and pdfium.FPDFAnnot_GetRect(annotation, box):
                yield kind, text, (box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top))
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _string(annotation: Any, key: bytes) -> str:
    length = min(pdfium.FPDFAnnot_GetStringValue(annotation, key, None, 0), 2 * _MAX_REMARK)
    buffer = ctypes.create_string_buffer(max(length, 2))
    pdfium.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", "replace")


def serve() -> None:
    """Extract what comes in, and exit when the process that sends it is gone."""

    def read(stream: IO[bytes]) -> tuple[PdfLimits, bytes]:
        length, *limits = json.loads(stream.readline())
        return PdfLimits(*limits), stream.read(length)

    def answer(request: tuple[PdfLimits, bytes]) -> bytes:
        limits, data = request
        _limit(limits)
        reply = json.dumps(extracted(data, limits)).encode()
        return b"%d\n" % len(reply) + reply

    answer_requests(read, answer)


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
