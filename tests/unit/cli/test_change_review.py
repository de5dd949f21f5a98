"""The review at a terminal that gives lines, not keys: what each answer makes of a change set."""

from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from shutil import rmtree

import pytest
from msgspec.structs import replace

from tests.support.world import World
from zkchat.chat.tools.server_tools import ServerCall
from zkchat.cli.change_review import TerminalChangeReviewer, describe_call
from zkchat.cli.common import CommandIO
from zkchat.core.changes import ChangeSet, FileMove, FileWrite
from zkchat.core.tool_server import ServerDefinition, ServerTool
from zkchat.writing.proposals import Verdict

SLEEP = FileWrite(path="Sleep.md", before=b"Seven hours.\n", after=b"Eight hours.\n")
TEA = FileWrite(path="Inbox/Tea.md", before=None, after=b"# Tea\n")
TWO = ChangeSet(title="Edit Sleep.md, and 1 more", writes=(SLEEP, TEA))
RENAME = ChangeSet(
    title="Rename",
    moves=(FileMove(source="Old.md", target="New.md"),),
    writes=(FileWrite(path="L.md", before=b"[[Old]] [[Old|x]]\n", after=b"[[New]] [[New|x]]\n"), TEA),
)


class Desk:
    """Somebody at a terminal who has typed their answers."""

    def __init__(self, folder: Path, typed: str, *, editor: str = "", columns: int = 100) -> None:
        world = World(folder, variables={"EDITOR": editor, "COLUMNS": str(columns)})
        self.environment = world.environment(typed=typed, terminal=True)

    def review(self, changes: ChangeSet = TWO, *, plain: bool = True, may_always: bool = False) -> Verdict:
        return TerminalChangeReviewer(CommandIO(self.environment), plain=plain).review(
            changes, remarks=["Mind the \x1b[31mgap."], may_always=may_always
        )

    @property
    def screen(self) -> str:
        assert isinstance(self.environment.stderr, StringIO)
        return self.environment.stderr.getvalue()


def editor(folder: Path, command: str) -> str:
    program = folder / "editor"
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    return str(program)


def test_the_diff_and_the_remarks_are_read_before_the_question(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "y\n")
    assert desk.review() == Verdict(answer="yes", changes=TWO)
    shown = desk.screen
    assert "Mind the ␛[31mgap." in shown
    assert "1  Sleep.md: changed, +1 -1\n1 - [-Seven-] hours.\n1 + {+Eight+} hours.\n" in shown
    assert "2  Inbox/Tea.md: new file, 1 line\n1 + # Tea\n" in shown
    assert shown.index("# Tea") < shown.index("Apply? y yes · n no · e edit · q stop · d more · 1-2 leave out · ? help")
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("typed", "answer"), [("n\n", "no"), ("q\n", "stop"), ("", "no"), ("?\n\nx\nno\n", "no"), ("a\nn\n", "no")]
)
def test_everything_but_a_yes_is_a_no(tmp_path: Path, typed: str, answer: str) -> None:
    desk = Desk(tmp_path, typed)
    assert desk.review().answer == answer
    assert ("apply nothing (also Ctrl-C and Esc)" in desk.screen) == ("?" in typed or "a" in typed)


def test_always_is_an_answer_where_it_is_offered(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "?\na\n")
    verdict = desk.review(may_always=True)
    assert (verdict.answer, verdict.always) == ("yes", True)
    assert "a  apply, and do not ask again about the top folder, Inbox/" in desk.screen


def test_of_many_folders_two_are_named(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "?\nn\n")
    three = ChangeSet(title="Three", writes=(*TWO.writes, replace(TEA, path="Drinks/Tea.md")))
    desk.review(three, may_always=True)
    assert "do not ask again about the top folder, Drinks/ and 1 more in this session" in " ".join(desk.screen.split())


def test_long_and_many_arguments_of_a_call_are_shown_in_part() -> None:
    definition = ServerDefinition(name="web", command="x")
    tool = ServerTool(server="web", name="send", description="", parameters={})
    arguments = {f"a{number}": "x" * 401 for number in range(13)}
    lines = [*describe_call(ServerCall(definition=definition, tool=tool, arguments=arguments))]
    assert (lines[12], lines[13:]) == (f"  a11: {'x' * 399}…", ["  … and 1 more arguments"])


def test_single_changes_are_left_out_by_their_numbers_and_taken_in_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, f"1\n2\n1\n{'5' * 5_000}\nd\ny\n")
    verdict = desk.review()
    assert verdict.changes == ChangeSet(title="Edit Sleep.md", writes=(SLEEP,))
    assert not verdict.edited
    assert "Change 2 is left out: Create Inbox/Tea.md" in desk.screen
    assert "Change 1 is included again" in desk.screen
    questions = [line.partition("?")[0] for line in desk.screen.splitlines() if "y yes" in line]
    assert questions == ["Apply", "Apply 1 of 2", "Apply 0 of 2", *["Apply 1 of 2"] * 3]
    assert "There is no change 555555555." in desk.screen
    assert "2  left out: Create Inbox/Tea.md" in desk.screen
    assert not Desk(tmp_path, "1\n2\ny\n").review().changes


def test_the_last_of_ten_changes_is_left_out_by_two_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = iter("10\ry")
    monkeypatch.setattr("zkchat.cli.key_questions.single_keys", lambda _: nullcontext(True))
    monkeypatch.setattr("zkchat.cli.key_questions.read_key", lambda _: next(keys))
    ten = ChangeSet(title="Ten", writes=tuple(replace(TEA, path=f"{number}.md") for number in range(10)))
    assert Desk(tmp_path, "").review(ten, plain=False).changes.writes == ten.writes[:9]


def test_a_rename_and_the_links_that_follow_cannot_be_parted(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "2\ny\n")
    verdict = desk.review(RENAME)
    assert verdict.changes.moves == RENAME.moves
    assert verdict.changes.writes == RENAME.writes[:1]
    assert "2 links in 1 note will be changed too\n  L.md (2 links)\n" in desk.screen
    assert "[[New]]" not in desk.screen
    desk = Desk(tmp_path, "d\nn\n")
    desk.review(RENAME)
    assert "1 + [[{+New+}]] [[{+New+}|x]]" in desk.screen
    desk = Desk(tmp_path, "e\nn\n")
    desk.review(ChangeSet(title="Move", moves=RENAME.moves))
    assert "These changes have no new text to edit." in desk.screen


@pytest.mark.outside
def test_the_proposal_is_edited_shown_again_and_returned_as_it_was_left(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "e\n1\ny\n", editor=editor(tmp_path, 'sed -i s/Eight/Nine/ "$1"; test -w "$1"'))
    verdict = desk.review()
    assert verdict.edited
    assert [write.after for write in verdict.changes.writes] == [b"Nine hours.\n", b"# Tea\n"]
    assert "1 + {+Nine+} hours." in desk.screen


@pytest.mark.outside
@pytest.mark.parametrize(
    ("command", "said"),
    [("true", "You did not change the text."), ("false", "exit code 1"), ('printf "\\377" > "$1"', "is not UTF-8")],
)
def test_an_editor_that_changes_nothing_or_fails_leaves_the_question_open(
    tmp_path: Path, command: str, said: str
) -> None:
    desk = Desk(tmp_path, "e\n9\ne\n1\ny\n", editor=editor(tmp_path, command))
    assert desk.review() == Verdict(answer="yes", changes=TWO)
    assert said in desk.screen


@pytest.mark.outside
@pytest.mark.parametrize(
    ("ending", "left"), [("exit 1", "Nine hours.\n"), ('printf "\\377" >> "$1"', "Nine hours.\n\udcff")]
)
def test_what_was_edited_is_kept_where_the_editor_fails(tmp_path: Path, ending: str, left: str) -> None:
    desk = Desk(tmp_path, "e\n1\ny\n", editor=editor(tmp_path, f'sed -i s/Eight/Nine/ "$1"; {ending}'))
    assert desk.review() == Verdict(answer="yes", changes=TWO)
    kept = Path(desk.screen.partition("Your text is not used, but kept in ")[2].splitlines()[0])
    assert kept.read_text(errors="surrogateescape") == left
    rmtree(kept.parent)


@pytest.mark.outside
def test_a_file_that_nobody_edited_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    desk = Desk(tmp_path, "e\n1\ny\n", editor=editor(tmp_path, "false"))
    desk.review()
    assert "Nothing was edited." in desk.screen
    assert not [*tmp_path.glob("zkchat-*")]


@pytest.mark.parametrize("columns", [60, 100])
def test_the_question_fits_a_narrow_screen(tmp_path: Path, columns: int) -> None:
    desk = Desk(tmp_path, "n\n", columns=columns)
    desk.review(may_always=True)
    assert max(map(len, desk.screen.splitlines())) <= columns
    assert ("Apply? [y n e a q d 1-2 ?] " in desk.screen) == (columns == 60)


def test_changes_that_are_only_shown_are_not_asked_about(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "y\n")
    assert TerminalChangeReviewer(CommandIO(desk.environment)).review(TWO, is_asked=False).answer == "no"
    assert "Apply?" not in desk.screen
    assert "Sleep.md: changed" in desk.screen
