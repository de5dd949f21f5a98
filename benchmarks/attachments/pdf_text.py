"""What two libraries make of the PDFs of `pdfs/`, and what zkchat makes of the lines of the one that it uses.

python -m benchmarks.attachments.pdf_text [--runs N] [--misses]. The other library, pypdf, is no dependency of zkchat:
`pip install pypdf` to have it measured. Both texts are cleaned in the same way (spaces, ligatures, hyphens at the ends
of lines) before they are compared with what the pages show, word by word and in order.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "pdfs"
Reader = Callable[[bytes], list[str]]


def by_pypdf(data: bytes) -> list[str]:
    from importlib import import_module

    pypdf: Any = import_module("pypdf")
    return [cleaned(page.extract_text()) for page in pypdf.PdfReader(BytesIO(data)).pages]


def by_pypdfium2(data: bytes) -> list[str]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    return [cleaned(page.get_textpage().get_text_range()) for page in document]


def by_zkchat(data: bytes) -> list[str]:
    from zkchat.storage import read_pdf, texts_of

    return texts_of(read_pdf(data, 1_000, 10_000_000).pages)


def cleaned(text: str) -> str:
    """What everybody would do: join words that were broken at the end of a line, and resolve ligatures."""
    from unicodedata import normalize

    text = re.sub(r"\s*(?:[\u00ad-]\s*\n|\ufffe)\s*(?=[a-zäöüß])", "", text).replace("\ufffe", "-")
    return "".join(normalize("NFKC", each) if "\ufb00" <= each <= "\ufb06" else each for each in text)


def normal(text: str) -> str:
    """Without the spaces at line ends between Chinese or Japanese letters, which nobody sees."""
    text = " ".join(text.split())
    return re.sub(r"(?<=[\u3000-\u9fff\uff00-\uff65]) (?=[\u3000-\u9fff\uff00-\uff65])", "", text)


def distance(first: str, second: str) -> int:
    """Of Levenshtein."""
    codes = np.array([ord(each) for each in second])
    row = np.arange(len(second) + 1)
    steps = np.arange(len(second) + 1)
    for character in first:
        moved = np.concatenate(([row[0] + 1], np.minimum(row[:-1] + (codes != ord(character)), row[1:] + 1)))
        row = np.minimum.accumulate(moved - steps) + steps
    return int(row[-1])


def scores(pages: Sequence[str], wanted: Sequence[str]) -> tuple[float, float, float]:
    """Shares of characters, of words, and of words in their order."""
    characters = words = order = total = 0.0
    for number, page in enumerate(wanted):
        found, expected = normal(pages[number] if number < len(pages) else ""), normal(page)
        weight = max(len(expected), 1)
        total += weight
        characters += weight * max(0.0, 1 - distance(found, expected) / max(len(expected), len(found), 1))
        mine, theirs = tokens(found), tokens(expected)
        shared = sum((Counter(mine) & Counter(theirs)).values())
        words += weight * (2 * shared / (len(mine) + len(theirs)) if mine or theirs else 1.0)
        order += weight * SequenceMatcher(None, mine, theirs, autojunk=False).ratio()
    return characters / total, words / total, order / total


def tokens(text: str) -> list[str]:
    return re.findall(r"[\u3000-\u9fff\uff00-\uff65]|[^\W\u3000-\u9fff]+(?:[-'.][^\W\u3000-\u9fff]+)*", text)


def seconds_per_page(read: Reader, runs: int) -> float:
    data = (FOLDER / "report.pdf").read_bytes()
    read(data)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        pages = read(data)
        times.append((time.perf_counter() - start) / len(pages))
    return statistics.median(times)


def import_ratios(modules: Sequence[str], runs: int) -> dict[str, float]:
    """To `python -c pass`, in turn, so that a busy moment falls on all of them."""
    codes = {"": "pass", **{module: f"import {module}" for module in modules}}
    times: dict[str, list[float]] = {module: [] for module in codes}
    for _ in range(runs):
        for module, code in codes.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times[module].append(time.perf_counter() - start)
    base = statistics.median(times.pop(""))
    return {module: statistics.median(each) / base for module, each in times.items()}


def installed_size(name: str) -> str:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return "-"
    size = sum(file.size or 0 for file in found.files or ())
    licence = found.metadata["License-Expression"] or found.metadata["License"] or "?"
    return f"{name} {found.version}, {licence.splitlines()[0]}, {size / 1e6:.1f} MB installed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument(
        "--misses", action="store_true", help="show the pages that zkchat reads otherwise than expected"
    )
    options = parser.parse_args()
    readers: dict[str, Reader] = {"pypdfium2": by_pypdfium2, "zkchat": by_zkchat}
    if find_spec("pypdf"):
        readers = {"pypdf": by_pypdf, **readers}
    print(f"{'characters / words / order, %':<30}" + "".join(f"{name:>24}" for name in readers))
    sums: dict[str, list[tuple[float, float, float]]] = {name: [] for name in readers}
    for expected in sorted(FOLDER.glob("*.txt")):
        path = expected.with_suffix(".pdf")
        wanted = expected.read_text(encoding="utf-8").rstrip("\n").split("\f")
        row = ""
        for name, read in readers.items():
            pages = read(path.read_bytes())
            found = scores(pages, wanted)
            sums[name].append(found)
            row += "".rjust(3) + " / ".join(f"{100 * each:5.1f}" for each in found)
            if options.misses and name == "zkchat":
                for number, (mine, theirs) in enumerate(zip(pages, wanted, strict=True), 1):
                    if mine != theirs:
                        print(f"--- {path.name}, page {number}\n{mine}\n--- expected\n{theirs}")
        print(f"{path.stem:<30}{row}")
    means = {name: [statistics.fmean(part) for part in zip(*each, strict=True)] for name, each in sums.items()}
    print(
        f"{'mean':<30}" + "".join("   " + " / ".join(f"{100 * each:5.1f}" for each in mean) for mean in means.values())
    )
    print(
        f"{'ms per page (report)':<30}"
        + "".join(f"{1e3 * seconds_per_page(read, options.runs):>24.2f}" for read in readers.values())
    )
    modules = [name for name in readers if name != "zkchat"]
    for name, ratio in import_ratios(modules, options.runs).items():
        print(f"import {name}: {ratio:.1f} × python -c pass; {installed_size(name)}")


if __name__ == "__main__":
    main()
