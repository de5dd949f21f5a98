import re
from pathlib import Path

from zkchat.core.errors import ExitCode

PAGE = Path(__file__).parents[2] / "docs" / "exit-codes.md"


def test_the_page_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert [(int(code), name) for code, name in rows] == [(code.value, code.name) for code in ExitCode]
