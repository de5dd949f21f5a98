"""A place for a cache where its own cannot be written: a temporary folder, thrown away at the end."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from zkchat.files import make_private

_PROBED_BYTES: Final = 262_144
"""What a folder must have room for to be of use."""
_COPIED: Final = ("", "-wal")
"""The files of a database that hold its content."""


@contextmanager
def usable_place(path: Path, candidates: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The path of a cache, if it can be written; else one in a new folder in the first of the candidates that can,
    with what the cache holds so far, and the reason. Where none can, the path stays as it is."""
    reason = _unusable(path)
    folder = next(filter(None, map(_new_folder, candidates)), None) if reason else None
    if folder is None:
        yield path, ""
        return
    try:
        for suffix in _COPIED:
            with suppress(OSError):
                shutil.copyfile(path.with_name(path.name + suffix), folder / (path.name + suffix))
        yield folder / path.name, reason
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unusable(path: Path) -> str:
    try:
        make_private(path.parent)
        if path.exists() and not os.access(path, os.W_OK):
            return "it is read-only"
        _probe(path.parent)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def _new_folder(parent: Path) -> Path | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix="zkchat-", dir=parent))
    except OSError:
        return None
    try:
        _probe(folder)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return folder


def _probe(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(bytes(_PROBED_BYTES))
        probe.flush()
