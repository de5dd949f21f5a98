import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.waiting import DEADLINE


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """A real terminal, which folds its rows when it is made narrower."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("there is no tmux here")

    def call(*arguments: str) -> str:
        command = [program, "-S", str(tmp_path / "tmux"), "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout

    yield call
    call("kill-server")
