"""Patches, taken by the programs that they are made for."""

import shutil
import subprocess
from pathlib import Path

import pytest

from zkchat.core.changes import ChangeSet, FileMove, FileWrite, edits_of_user, patch_of

pytestmark = pytest.mark.outside

FILES = {
    "Sleep.md": b"# Sleep\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine",
    "Über uns/My note.md": b"a\r\nb\r\nc\r\n",
    'Odd "name".md': b"\xef\xbb\xbfbom\n",
    "Old.md": b"See [[Sleep]].\n",
    "Gone.md": b"gone\n",
    "Draft.md": b"away\n",
}
CHANGES = ChangeSet(
    title="All kinds",
    moves=(
        FileMove(source="Old.md", target="Between.md"),
        FileMove(source="Between.md", target="New folder/New.md"),
        FileMove(source="Gone.md", target=".trash/Gone.md"),
    ),
    writes=(
        FileWrite(path="Sleep.md", before=FILES["Sleep.md"], after=FILES["Sleep.md"].replace(b"one", b"ONE") + b"\n"),
        FileWrite(path="Über uns/My note.md", before=b"a\r\nb\r\nc\r\n", after=b"a\r\nB\r\nc"),
        FileWrite(
            path='Odd "name".md', before=FILES['Odd "name".md'], after=b"\xef\xbb\xbfbom\n\xe2\x80\xa8 \x1b[31m\n"
        ),
        FileWrite(path="New folder/New.md", before=FILES["Old.md"], after=b"See [[Sleeping]].\n"),
        FileWrite(path="Inbox/Fresh one.md", before=None, after=b"first\nsecond"),
        FileWrite(path="Draft.md", before=b"away\n", after=b"", goes_away=True),
    ),
)
EXPECTED = {
    "Sleep.md": CHANGES.writes[0].after,
    "Über uns/My note.md": CHANGES.writes[1].after,
    'Odd "name".md': CHANGES.writes[2].after,
    "New folder/New.md": CHANGES.writes[3].after,
    "Inbox/Fresh one.md": CHANGES.writes[4].after,
    ".trash/Gone.md": b"gone\n",
}


@pytest.mark.parametrize("program", [("git", "apply", "-"), ("patch", "-p1", "-s", "--binary")])
def test_a_patch_makes_the_same_files_as_the_changes(tmp_path: Path, program: tuple[str, ...]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"there is no {program[0]} here")
    for path, content in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    given = patch_of(CHANGES).encode(errors="surrogateescape")
    done = subprocess.run(program, input=given, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert found == EXPECTED


def test_a_folder_that_moves_is_a_sentence_and_its_changed_files_are_there() -> None:
    changes = ChangeSet(
        title="Move",
        moves=(FileMove(source="Ideas", target="Archive/Ideas"),),
        writes=(FileWrite(path="Archive/Ideas/A.md", before=b"[[../B]]\n", after=b"[[../../B]]\n"),),
    )
    text = patch_of(changes)
    assert text.startswith("The folder Ideas becomes Archive/Ideas.\n")
    assert "rename from Ideas/A.md\nrename to Archive/Ideas/A.md\n" in text
    unchanged = ChangeSet(title="Move", moves=(FileMove(source="Ideas", target="Old"),))
    assert patch_of(unchanged) == "The folder Ideas becomes Old.\n"


def test_what_the_user_edited_is_told_apart_from_what_was_proposed() -> None:
    proposed = ChangeSet(
        title="Two",
        writes=(
            FileWrite(path="A.md", before=b"a\n", after=b"b\n"),
            FileWrite(path="B.md", before=b"a\n", after=b"b\n"),
        ),
    )
    applied = ChangeSet(title="One", writes=(FileWrite(path="A.md", before=b"a\n", after=b"c\n"),))
    told = edits_of_user(proposed, applied)
    assert "-b\n+c\n" in told
    assert "left out: B.md" in told
    assert edits_of_user(proposed, proposed) == ""
