"""Pictures of a note with everything that notes add to Markdown, at 40 and 100 columns, with colour and without.

To take a picture anew, delete its file and run the test twice: the first run writes it, and asks for a look at it.
"""

from pathlib import Path

import pytest

from tests.support.screens import terminal
from tests.unit.render.markdown.test_wikilinks import Vault
from zkchat.render.markdown import note_rows

FOLDER = Path(__file__).parent
NOTE = (FOLDER / "note.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("color", "kind"), [("auto", "color"), ("never", "plain")])
@pytest.mark.parametrize("width", [40, 100])
def test_a_note_looks_as_it_did(width: int, color: str, kind: str) -> None:
    rows = note_rows(terminal(width, color=color), NOTE, links=Vault())
    assert all(row.cells <= width for row in rows)
    picture = "".join(f"{row.text}\n" for row in rows).replace("\x1b", "␛")
    file = FOLDER / "note_snapshots" / f"note-{width}-{kind}.txt"
    if not file.exists():
        file.write_text(picture, encoding="utf-8")
        pytest.fail(f"{file.name} is new: look at it, and run the test again")
    assert picture == file.read_text(encoding="utf-8")
