"""What hostile files cost: a vault of ordinary notes is indexed as it is, and again with one file of each kind in it.

Run it with: python -m benchmarks.speed.hostile_vault --notes 5000
Some kinds cannot be used as they are: each of those has to be reported. The others are only hard to read.

A second table sets large odd notes beside plain text of the same size, each in a vault of its own: the time of the
processor to index it, and to search it, quote it, list its links and those to it, check the vault, look for mentions
and put it into a request, all together. `--size` bytes each; 0 leaves the table out.
"""

import argparse
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks.generate import write_vault
from tests.support.odd_notes import ODD_NOTES, plain
from zkchat.answers import find_undated_evidence as find_evidence
from zkchat.chat import DocumentRoom, Question, add_summaries, embedded, include_documents, resolve_links
from zkchat.chat.context.tokens import Estimate
from zkchat.index import Library, SqliteNoteIndex, graph
from zkchat.storage import VaultFiles

LARGEST = 10_000_000
"""As `vault.max_note_bytes` is unless it is set."""
RUNS = 3
AIM = 3

UNUSABLE_TEXTS: dict[str, bytes] = {
    "binary": bytes(range(256)) * 4_000,
    "zeros": bytes(1_000_000),
    "huge": b"garden " * (LARGEST // 7 + 1),
    "latin": "# Gärten\n".encode("latin-1") * 10_000,
    "half a character": "garden 東".encode()[:-1],
    "surrogates": b"garden \xed\xa0\x80",
    "unclosed yaml": b"---\ntitle: [unclosed\n---\ngarden",
    "tabbed yaml": b"---\na:\n\t- b\n---\ngarden",
    "impossible date": b"---\ndate: 0000-99-99\n---\ngarden",
    "deep yaml": b"---\na: " + b"[" * 20_000 + b"]" * 20_000 + b"\n---\ngarden",
    "endless yaml": b"---\n" + b"key: value\n" * 90_000 + b"---\ngarden",
    "endless number": b"---\na: " + b"9" * 40_000 + b"\n---\ngarden",
    "yaml bomb": b"---\na: &a [x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 9)) for letter in b"bcdefghij")
    + b"---\ngarden",
}
HARD_TEXTS: dict[str, bytes] = {
    "one line of a megabyte": b"garden " * 143_000,
    "one word of a megabyte": b"g" * 1_000_000,
    "brackets": b"[" * 100_000,
    "link openings": b"[[" * 100_000,
    "unclosed links": b"[[a" * 100_000,
    "deep quotes": b">" * 100_000 + b" garden",
    "deep lists": b"".join(b" " * depth + b"- x\n" for depth in range(600)),
    "emphasis": b"*a_" * 30_000,
    "backticks": b"`" * 100_001,
    "unclosed fence": b"```\n[[not a link]]\n" + b"garden\n" * 10_000,
    "control characters": b"\x1b]0;title\x07\x1b[31m garden \x08\x7f" * 1_000,
    "combining marks": "ga\u0301\u0302\u0303rden".encode() * 10_000,
}


def refuse(path: Path) -> None:
    path.write_text("garden")
    path.chmod(0)


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(path))


UNUSABLE_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": bind,
    "loop": lambda path: path.symlink_to(path.name),
    "way out": lambda path: path.symlink_to("/etc/hosts"),
    "way out to a folder": lambda path: path.symlink_to("/etc"),
    "round in a circle": lambda path: path.symlink_to("."),
    "to nothing": lambda path: path.symlink_to("nothing at all"),
    "no text for a name": lambda path: Path(os.fsdecode(os.fsencode(path.parent) + b"/caf\xe9.md")).write_text(
        "garden"
    ),
    "no permission": refuse,
}
HARD_FILES: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "deep folders": lambda path: path.joinpath(*["deep"] * 100).mkdir(parents=True),
}


def plant(vault: Path) -> tuple[int, int]:
    """How many files were added, and how many of them have to be reported."""
    for name, content in (UNUSABLE_TEXTS | HARD_TEXTS).items():
        (vault / f"{name}.md").write_bytes(content)
    made = UNUSABLE_FILES | HARD_FILES
    if os.geteuid() == 0:
        made.pop("no permission")  # which does not stop us
    for name, make in made.items():
        make(vault / f"{name}.md")
    unusable = len(UNUSABLE_TEXTS) + len(made) - len(HARD_FILES)
    return unusable + len(HARD_TEXTS) + len(HARD_FILES), unusable


def indexed(vault: Path) -> tuple[float, int]:
    """In a process of its own: seconds of the processor, and files reported."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        library = Library.over(VaultFiles(vault, exclude=(), max_note_bytes=LARGEST), index)
        started = time.process_time()
        warnings = library.refresh().warnings
        return time.process_time() - started, len({warning.path for warning in warnings})


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def odd_note_costs(text: str) -> tuple[float, float]:
    """Seconds of the processor to index a note, and to do with it all that commands and turns do."""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        vault = Path(folder) / "vault"
        vault.mkdir()
        (vault / "Target.md").write_text("# Target\n\nA garden with water.\n")
        (vault / "Odd.md").write_bytes(text.encode(errors="surrogatepass"))
        library = Library.over(VaultFiles(vault, exclude=(), max_note_bytes=LARGEST), index)
        return seconds(library.refresh), seconds(lambda: use(library))


def use(library: Library) -> None:
    library.search("garden water target", limit=10)
    find_evidence(library, "What does the garden say of water?", [("Odd.md", "")])
    find_evidence(library, "Odd?", [])
    graph.links(library, "Odd.md")
    graph.backlinks(library, "Target.md")
    graph.doubts(library)
    graph.orphans(library)
    graph.copies(library)
    graph.mentions(library, "Target.md")
    question = Question.parse("What do [[Odd]] and [[Target]] say?")
    references = add_summaries(library, resolve_links(library, question.links))
    include_documents(
        references,
        lambda each: library.section(each.relative_path or ""),
        Estimate(),
        DocumentRoom(tokens=6_000),
        partial(embedded, library),
    )


def odd_notes(size: int) -> None:
    odd_note_costs(plain(10_000))  # loads what all need
    base = min((odd_note_costs(plain(size)) for _ in range(RUNS)), key=sum)
    print(f"\n{'a note of':34} {size:,} bytes: index, use; both beside plain text (aim: 3)")
    print(f"{'plain text':34} {base[0]:7.2f} {base[1]:7.2f}     1.0 x")
    over = 0
    for kind, make in ODD_NOTES.items():
        cost = odd_note_costs(make(size))
        times = sum(cost) / sum(base)
        over += times > AIM
        print(f"{kind:34} {cost[0]:7.2f} {cost[1]:7.2f} {times:7.1f} x{' <' if times > AIM else ''}", flush=True)
    print(f"{len(ODD_NOTES) - over} of {len(ODD_NOTES)} kinds take at most {AIM} times as long as plain text")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=int, default=5_000)
    parser.add_argument("--size", type=int, default=4_000_000)
    arguments = parser.parse_args()
    if arguments.notes:
        whole_vaults(arguments.notes)
    if arguments.size:
        odd_notes(arguments.size)


def whole_vaults(notes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, hostile = Path(folder) / "plain", Path(folder) / "hostile"
        write_vault(plain, notes)
        shutil.copytree(plain, hostile)
        kinds, unusable = plant(hostile)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as apart:
            runs = [[*apart.map(indexed, (plain, hostile))] for _ in range(RUNS)]
    before, after = (min(seconds for seconds, _ in times) for times in zip(*runs, strict=True))
    print(f"{notes:,} notes                     {before:8.2f} s CPU")
    print(f"the same and {kinds} hostile files {after:8.2f} s CPU, {after / before:.2f} x (aim: 1.2)")
    print(f"reported                        {runs[0][1][1]:8} of {unusable} that cannot be used as they are")


if __name__ == "__main__":
    main()
