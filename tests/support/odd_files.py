"""What may stand where a regular file is expected."""

import os
from pathlib import Path

KINDS = ("pipe", "folder", "loop", "device")


def replace_with_kind(file: Path, kind: str) -> None:
    """Replace whatever has this name, if anything, by one of the `KINDS`, or by a text."""
    file.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "loop":
            file.symlink_to(file.name)
        case "device":
            file.symlink_to("/dev/zero")
        case _:
            file.write_text("Not a database.\n" * 300)
