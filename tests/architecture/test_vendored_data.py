"""What comes from other projects is named in NOTICE, and NOTICE names nothing that is gone."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text()
ENCODINGS = ROOT / "zkchat" / "chat" / "context" / "encodings"


def test_every_encoding_is_named_in_the_notice() -> None:
    files = [str(path.relative_to(ROOT).as_posix()) for path in ENCODINGS.iterdir() if path.suffix == ".tiktoken"]
    assert files
    assert [file for file in files if file not in NOTICE] == []


def test_the_files_that_the_notice_names_are_there() -> None:
    named = re.findall(r"^ +(zkchat/\S+)", NOTICE, re.MULTILINE)
    assert named
    assert [file for file in named if not (ROOT / file).is_file()] == []
