"""Apply a change set where files can no longer be written.

    python -m tests.faults.change_without_room FOLDER full|read-only

`full`: no file may grow beyond 250 kB, as on a disk that is nearly full. `read-only`: nothing may be written in one of
the folders; the superuser gives up the right to do so. Prints one JSON object.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from contextlib import closing
from pathlib import Path

from tests.support.change_disk import Disk, move, write
from zkchat.core.errors import ZkchatError

LONG = b"A line that is as long as most lines are.\n" * 7000
CAPABILITIES_VERSION = 0x20080522


def drop_capabilities() -> None:
    """From now on permissions count for the superuser too."""
    header = struct.pack("Ii", CAPABILITIES_VERSION, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, bytes(24)):
        raise OSError(ctypes.get_errno(), "capset")


def limit(disk: Disk, way: str) -> None:
    if way == "full":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))
        return
    (disk.vault / "Locked").chmod(0o555)
    if os.getuid() == 0:
        drop_capabilities()


def main(folder: Path, way: str) -> None:
    disk = Disk(folder)
    disk.note("A.md", b"a")
    disk.note("Locked/B.md", b"b")
    with closing(disk.store):
        disk.apply(write("C.md", None, b"c"))  # so that the journal is there
        limit(disk, way)
        before = disk.tree
        refused = []
        for steps in (
            [write("A.md", b"a", b"a2"), write("Locked/B.md", b"b", LONG)],
            [move("A.md", "New/A.md"), write("Locked/New.md", None, LONG)],
            [move("Locked/B.md", "New/B.md"), write("New/B.md", b"b", LONG)],
        ):
            try:
                disk.apply(*steps)
            except ZkchatError as error:
                refused.append(f"{type(error).__name__}: {error.message}")
        disk.apply(write("A.md", b"a", b"small"))
        disk.store.undo(disk.store.records(limit=1)[0].id)
        report = {"refused": refused, "as_before": disk.tree == before, "states": disk.states}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
