"""The process that extracts, on sound, broken and hostile files."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.broken_pdfs import HOPELESS, ODD, SOUND, long_page, text_pdf
from tests.support.waiting import eventually, is_alive
from zkchat.core.note import ExtractedText
from zkchat.storage.pdf_layout import PdfExtractor, PdfLimits

pytestmark = pytest.mark.outside

ENCRYPTED = Path(__file__).parents[4] / "benchmarks" / "attachments" / "pdfs" / "encrypted.pdf"
LIMITS = PdfLimits(max_seconds=20, max_pages=3)
TEXTS = ("The harbour of Brest has tides of four metres.", "The second page speaks of gauges.")


@pytest.fixture(scope="module")
def extractor() -> Iterator[PdfExtractor]:
    with closing(PdfExtractor(LIMITS, {"OPENAI_API_KEY": "secret"})) as extractor:
        yield extractor


def found(extractor: PdfExtractor, data: bytes) -> ExtractedText:
    text = extractor.extract(data)
    assert text is not None
    return text


def process_of(extractor: PdfExtractor) -> int:
    assert extractor._process is not None
    return extractor._process.pid


def test_one_process_extracts_file_after_file_and_knows_no_secret(extractor: PdfExtractor) -> None:
    found(extractor, SOUND)
    process = process_of(extractor)
    found(extractor, SOUND)
    assert process_of(extractor) == process
    environment = Path(f"/proc/{process}/environ")
    assert not environment.exists() or b"secret" not in environment.read_bytes()


def test_a_file_that_is_no_pdf_or_encrypted_is_one_trouble(extractor: PdfExtractor) -> None:
    broken = ExtractedText(trouble="It is not a valid PDF and is only found by its name.")
    for data in HOPELESS.values():
        assert found(extractor, data) == broken
    encrypted = found(extractor, ENCRYPTED.read_bytes())
    assert encrypted == ExtractedText(trouble="It is encrypted and is only found by its name.")
    assert found(extractor, SOUND).pages == TEXTS


def test_an_odd_file_hurts_no_other(extractor: PdfExtractor) -> None:
    for data in ODD.values():
        found(extractor, data)
        assert found(extractor, SOUND).pages == TEXTS


BOMB = """
from resource import RUSAGE_CHILDREN, getrusage
from tests.support.broken_pdfs import BOMBS, SOUND
from zkchat.storage.pdf_layout import PdfLimits
from zkchat.storage.pdf_layout import PdfExtractor

extractor = PdfExtractor(PdfLimits(max_bytes=1_000_000, max_memory=200_000_000), {})
print({extractor.extract(bomb).trouble for bomb in BOMBS.values()})
print(len(extractor.extract(SOUND).pages))
extractor.close()
print(getrusage(RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def test_a_bomb_is_one_trouble_and_takes_no_more_memory_than_it_may() -> None:
    command = [sys.executable, "-c", BOMB]
    output = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[4]
    ).stdout
    troubles, pages, megabytes = output.splitlines()
    assert troubles == "{'It is too large or damaged and is only found by its name.'}"
    assert pages == "2"
    assert int(megabytes) < 200


def test_pages_that_are_left_out_are_told(extractor: PdfExtractor) -> None:
    text = found(extractor, text_pdf("one", "two", "three", "four", "five"))
    assert text.pages == ("one", "two", "three")
    assert text.omission == "Only the first 3 of its 5 pages are read."


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    with closing(PdfExtractor(LIMITS._replace(max_seconds=0.05), {})) as extractor:
        found(extractor, SOUND)  # the first may take as long as the process needs to start
        late = process_of(extractor)
        text = found(extractor, long_page(500_000))
        assert text.trouble == "It takes longer than 0.05 seconds to read and is only found by its name."
        assert not is_alive(late)
        assert found(extractor, SOUND).pages[0] == TEXTS[0]
        extractor.stop()
        assert extractor.extract(SOUND) is None
        last = process_of(extractor)
    assert not is_alive(last)


@pytest.mark.parametrize("end", ["stop", "signal"])
def test_a_process_that_is_ended_says_nothing_of_the_file(extractor: PdfExtractor, end: str) -> None:
    own = extractor if end == "signal" else PdfExtractor(LIMITS, {})
    found(own, SOUND)
    process, served = process_of(own), own._served
    os.kill(process, signal.SIGSTOP)  # so that it is asked, and ends before it answers
    texts: list[ExtractedText | None] = []
    thread = threading.Thread(target=lambda: texts.append(own.extract(SOUND)))
    thread.start()
    eventually(lambda: own._served == served + 1)
    if end == "stop":
        own.stop()
    else:
        os.kill(process, signal.SIGTERM)
        os.kill(process, signal.SIGCONT)
    thread.join()
    assert texts == [None]
    assert not is_alive(process)


CHILD = """
import sys
from tests.support.broken_pdfs import SOUND, long_page
from zkchat.storage.pdf_layout import PdfLimits
from zkchat.storage.pdf_layout import PdfExtractor

extractor = PdfExtractor(PdfLimits(), {})
extractor.extract(SOUND)
print(extractor._process.pid, flush=True)
extractor.extract(long_page(500_000))
"""


def test_no_process_is_left_when_ours_is_killed() -> None:
    root = Path(__file__).parents[4]
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, cwd=root) as ours:
        assert ours.stdout
        process = int(ours.stdout.readline())
        ours.kill()
    eventually(lambda: not is_alive(process))
