"""PDFs that are broken, or made to hurt whoever reads them, and small sound ones."""

import zlib
from collections.abc import Mapping

SIMPLE_PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
)
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects; the first is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, content in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    out += b"trailer\n<< /Size %d /Root 1 0 R %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), entries, content)


def text_pdf(*pages: str, title: str = "") -> bytes:
    """A sound PDF with a line for each line of each page, in Latin letters."""
    kids = b" ".join(b"%d 0 R" % (10 + 2 * number) for number in range(len(pages)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(pages)),
        3: b"<< /Title (%b) >>" % title.encode("latin-1"),
        5: FONT,
    }
    for number, page in enumerate(pages):
        lines = b"".join(b"(%b) Tj T*\n" % line.encode("latin-1") for line in page.splitlines())
        objects[10 + 2 * number] = SIMPLE_PAGE.replace(b"4 0 R", b"%d 0 R" % (11 + 2 * number))
        objects[11 + 2 * number] = stream(b"BT /F 10 Tf 12 TL 20 170 Td\n%bET" % lines)
    return pdf(objects, b"/Info 3 0 R")


def _with_content(content: bytes) -> bytes:
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            3: SIMPLE_PAGE,
            4: content,
            5: FONT,
        }
    )


def _bomb(megabytes: int) -> bytes:
    """A page whose content is packed twice, into less than a hundred-thousandth of what it unpacks to."""
    packer = zlib.compressobj(9)
    head = packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)  # needs nothing of what is before it
    return _with_content(stream(zlib.compress(head + block * megabytes, 9), b"/Filter [/FlateDecode /FlateDecode]"))


def long_page(characters: int) -> bytes:
    """A page that takes long to read: more lines than fit on it, one over the other."""
    line = b"(" + b"words " * 1_000 + b") Tj T*\n"
    content = zlib.compress(b"BT /F 10 Tf 12 TL 20 170 Td\n" + line * (characters // 6_000) + b"ET", 9)
    return _with_content(stream(content, b"/Filter /FlateDecode"))


def _page_loop() -> bytes:
    pages = b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>"
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: pages})


def _page_count(count: int) -> bytes:
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count %d >>" % count,
            3: SIMPLE_PAGE,
            4: stream(b""),
            5: FONT,
        }
    )


def _deep_tree(depth: int) -> bytes:
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>"}
    for number in range(2, depth + 2):
        objects[number] = b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1)
    objects[depth + 2] = b"<< /Type /Page /Parent %d 0 R >>" % (depth + 1)
    return pdf(objects)


def _form_loop(calls: int) -> bytes:
    """A page that is a form, which calls itself so many times."""
    form = stream(
        b"/X Do " * calls, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 4 0 R >> >>"
    )
    page = SIMPLE_PAGE.replace(b"/Font", b"/XObject << /X 4 0 R >> /Font")
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"}
    return pdf({**objects, 3: page, 4: form, 5: FONT})


def _outline_loop() -> bytes:
    entry = b"<< /Title (x) /Parent 90 0 R /Next 91 0 R /First 91 0 R /Dest [3 0 R /Fit] >>"
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R /Outlines 90 0 R >>",
            2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            3: SIMPLE_PAGE,
            4: stream(b"BT /F 10 Tf 20 100 Td (Outline without an end.) Tj ET"),
            5: FONT,
            90: b"<< /First 91 0 R /Last 91 0 R >>",
            91: entry,
        }
    )


SOUND = text_pdf("The harbour of Brest has tides of four metres.", "The second page speaks of gauges.", title="Tides")

HOPELESS: dict[str, bytes] = {
    "empty": b"",
    "garbage": b"%PDF-1.7\n" + bytes(range(256)) * 40,
    "truncated": SOUND[:120],
    "picture": b"\x89PNG\r\n\x1a\n" + b"\0" * 500,
    "web-page": b"<!doctype html><title>Not found</title>" * 20,
    "deep-arrays": pdf({1: b"<< /Type /Catalog /Pages 2 0 R /X " + b"[" * 100_000 + b"]" * 100_000 + b" >>"}),
}
"""Of which nothing can be read."""

BOMBS: dict[str, bytes] = {"stream": _bomb(2_000), "form": _form_loop(2)}
"""Take two gigabytes to read, or endless memory."""

ODD: dict[str, bytes] = {
    "huge-count": _page_count(2_000_000_000),
    "page-loop": _page_loop(),
    "deep-tree": _deep_tree(2_000),
    "form-loop": _form_loop(1),
    "outline-loop": _outline_loop(),
    "long-page": long_page(100_000),
    "negative-count": _page_count(-5),
}
"""Of which something may be read, or not; within their limits of time and memory."""
