"""What a script of this folder reports when it runs in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def report_of(script: str, *arguments: object) -> Any:
    """The JSON that `python -m tests.faults.SCRIPT ARGUMENT…` prints."""
    command = [sys.executable, "-m", f"tests.faults.{script}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
