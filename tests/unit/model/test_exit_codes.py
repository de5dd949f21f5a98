import re
from pathlib import Path

from zkchat.core import ExitCode

PAGE = Path(__file__).parents[3] / "docs/exit-codes.md"


def test_each_exit_code_is_told() -> None:
    told = re.findall(r"^\| (\d+) \| ([A-Z_]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [(int(code), name) for code, name in told] == [(each.value, each.name) for each in ExitCode]
