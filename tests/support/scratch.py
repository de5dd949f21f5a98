"""Where tests write: in memory if there is room, because they sync to the disk thousands of times."""

import shutil
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
NEEDED_BYTES = 4 * 2**30
_FOLDER = pytest.StashKey[Path]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.basetemp or not MEMORY.is_dir():
        return
    try:
        if shutil.disk_usage(MEMORY).free < NEEDED_BYTES:
            return
        folder = tempfile.mkdtemp(prefix="zkchat-tests-", dir=MEMORY)
    except OSError:
        return
    config.stash[_FOLDER] = Path(folder)
    config.option.basetemp = str(Path(folder, "run"))


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(_FOLDER, None):
        shutil.rmtree(folder, ignore_errors=True)
