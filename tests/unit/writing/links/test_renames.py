from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts.check_renames import VaultInMemory
from zkchat.core.changes import ChangeSet, FileMove
from zkchat.core.errors import EditRefused, NoteNotFound, VaultError
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.writing.links.renames import MoveSummary, stage_move
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkFormat, LinkStyle


class Vault:
    """A vault in memory with a real index."""

    def __init__(self, library: Library, files: VaultInMemory) -> None:
        self.library = library
        self.files = files
        self.history: list[ChangeSet] = []
        self.staged = StagedChanges(files, self.last_applied)

    def stage(self, source: str, target: str, link_format: LinkFormat = "shortest") -> MoveSummary:
        return stage_move(self.library, self.staged, source, target, LinkStyle(format=link_format))

    def move(self, source: str, target: str, link_format: LinkFormat = "shortest") -> MoveSummary:
        summary = self.stage(source, target, link_format)
        self.apply()
        return summary

    def last_applied(self, move: FileMove) -> ChangeSet | None:
        return next((changes for changes in reversed(self.history) if move in changes.moves), None)

    def apply(self) -> None:
        self.history.append(self.staged.change_set())
        self.files.apply(self.history[-1])
        self.staged.clear()

    def text(self, path: str) -> str:
        return self.files.files[path].decode()


@contextmanager
def vault(folder: Path, **notes: str) -> Iterator[Vault]:
    """With `__` for a slash in the name of a note."""
    with files_of(folder, {f"{name.replace('__', '/')}.md": text for name, text in notes.items()}) as made:
        yield made


@contextmanager
def files_of(folder: Path, files: dict[str, str]) -> Iterator[Vault]:
    held = VaultInMemory({path: text.encode() for path, text in files.items()})
    index = SqliteNoteIndex(folder / "index.db")
    library = Library.over(held, index)
    yield Vault(library, held)
    library.close()
    index.close()


Step = tuple[str, str, dict[str, str]]
"""The old and the new path, and what notes hold then; all paths without their suffix."""
RELATIVE = "[[Topics/Hub]] [a](Topics/Hub.md) [[../Topics/Hub]] [[Hub]]"
KNOT = "[[Topics/Knot]] [a](Topics/Knot.md)"
KNOT_OF_A_DAY = f"{KNOT} [[../Topics/Knot]] [[Knot]]"
FOLLOWED: dict[str, tuple[LinkFormat, dict[str, str], list[Step]]] = {
    "a name that others have becomes a path": (
        "shortest",
        {"b/N": "", "M": "", "a/Other": "[[N]] [m](N.md)"},
        [("b/N", "b/M", {"a/Other": "[[b/M]] [m](b/M.md)"})],
    ),
    "a name that others have becomes a relative path where new links are": (
        "relative",
        {"b/N": "", "M": "", "a/Other": "[[N]] [m](N.md)"},
        [("b/N", "b/M", {"a/Other": "[[../b/M]] [m](../b/M.md)"})],
    ),
    "a path stays a path also at the root": (
        "shortest",
        {"a/N": "# N\n", "Other": "[[a/N]] [[N]]"},  # not as a title that Obsidian would not find
        [("a/N", "b/c/N", {"Other": "[[b/c/N]] [[N]]"}), ("b/c/N", "M", {"Other": "[[M]] [[M]]"})],
    ),
    "links inside a moved note are relative to its new folder": (
        "shortest",
        {"a/N": "[[../Other]] [x](./Near.md) [[Near]] [[#Here]]", "Other": "", "a/Near": "", "b/c/x": ""},
        [("a/N", "b/c/N", {"b/c/N": "[[../../Other]] [x](../../a/Near.md) [[Near]] [[#Here]]"})],
    ),
    "a vault of relative links keeps the paths from its root": (
        "relative",
        {"Topics/Hub": "", "Topics/Spoke": RELATIVE, "Journal/Day": RELATIVE},
        [("Topics/Hub", "Topics/Knot", {"Topics/Spoke": f"{KNOT} [[./Knot]] [[Knot]]", "Journal/Day": KNOT_OF_A_DAY})],
    ),
    "a bare link of a moved note goes on to mean the note of its old folder": (
        "shortest",
        {"a/N": "[[Log]]", "a/Log": "", "b/Log": ""},
        [("a/N", "b/N", {"b/N": "[[a/Log]]"}), ("b/N", "a/N", {"a/N": "[[Log]]"})],
    ),
    "a link that would mean the moved file goes on to mean another": (
        "shortest",
        {"a/b/N": "", "c/X": "", "Other": "[[N]] [[X]]"},
        [("c/X", "N", {"Other": "[[a/b/N]] [[N]]"}), ("N", "c/X", {"Other": "[[N]] [[X]]"})],
    ),
    "a heading with a link gives its note another title that links follow": (
        "shortest",
        {"N": "", "About": "# About [[N]]\n", "Other": "[[About N]] [[N]]", "Third": "[[About N]]"},
        [
            ("About", "Essay", {"Other": "[[About N]] [[N]]"}),
            ("N", "M", {"Other": "[[Essay]] [[M]]", "Third": "[[Essay]]"}),
            ("M", "N", {"Other": "[[About N]] [[N]]"}),
        ],
    ),
    "a link by id follows when the id goes": (
        "shortest",
        {"202401011200 Tea": "", "Other": "[[202401011200]]"},
        [
            ("202401011200 Tea", "202401011200 Coffee", {"Other": "[[202401011200]]"}),
            ("202401011200 Coffee", "Coffee", {"Other": "[[Coffee]]"}),
            ("Coffee", "202401011200 Coffee", {"Other": "[[202401011200]]"}),
        ],
    ),
    "a link that came to life follows back, unless the journal has its text from before": (
        "shortest",
        {"N": "", "Other": "[[M]]", "Both": "[[M]] [[N]]"},
        [("N", "M", {}), ("M", "N", {"Other": "[[N]]", "Both": "[[M]] [[N]]"})],
    ),
}


@pytest.mark.parametrize("case", FOLLOWED)
def test_links_follow(tmp_path: Path, case: str) -> None:
    link_format, notes, steps = FOLLOWED[case]
    with files_of(tmp_path, {f"{path}.md": text for path, text in notes.items()}) as made:
        for source, target, expected in steps:
            made.move(f"{source}.md", f"{target}.md", link_format)
            assert {path: made.text(f"{path}.md") for path in expected} == expected


def test_where_links_are_relative_they_stay_so(tmp_path: Path) -> None:
    text = "[x](Near.md) [[Near]] [[Far]] [y](sub/Below.md) [z](./Near.md) [[b/c/Far]]"
    with vault(tmp_path, a__N=text, a__Near="[[N]]", a__sub__Below="", b__c__Far="[[N]] [[../../a/N]]") as made:
        made.move("a/N.md", "b/N.md", "relative")
        assert made.text("b/N.md") == (
            "[x](../a/Near.md) [[Near]] [[Far]] [y](../a/sub/Below.md) [z](../a/Near.md) [[b/c/Far]]"
        )
        assert made.text("a/Near.md") == "[[N]]"
        assert made.text("b/c/Far.md") == "[[N]] [[../N]]"
        made.move("b/N.md", "a/N.md", "relative")
        assert made.text("a/N.md") == text
        made.history.clear()
        made.move("a/N.md", "a/sub/N.md", "relative")
        assert made.text("a/Near.md") == "[[N]]"


def test_a_title_or_an_alias_that_is_now_a_name_goes_on_to_mean_its_note(tmp_path: Path) -> None:
    aliased = "---\naliases: [Tea time]\n---\n# Great title\n"
    with vault(tmp_path, A=aliased, X="", Other="[[Tea time]] [[Great title]]") as made:
        assert made.move("A.md", "B.md").links == 0
        made.move("X.md", "Tea time.md")
        assert made.text("Other.md") == "[[B]] [[Great title]]"
        made.move("Tea time.md", "X.md")
        assert made.text("Other.md") == "[[Tea time]] [[Great title]]"


def test_links_that_still_lead_there_and_those_that_come_to_life_are_left(tmp_path: Path) -> None:
    with vault(tmp_path, note="", Other="[[note]] [[Note]] [x](note.md) [[M]]") as made:
        assert made.stage("note.md", "Note.md").rewritten == ()
        assert made.staged.change_set().moves
        made.staged.clear()
        assert made.move("note.md", "M.md").revived == ("Other.md",)
        assert made.text("Other.md") == "[[M]] [[M]] [x](M.md) [[M]]"


def test_canvases_and_bases_that_a_move_left_alone_are_left_alone_when_it_is_taken_back(tmp_path: Path) -> None:
    files = {
        "f/N.md": "",
        "a/b/board.canvas": '{"nodes": [{"text": "[[f/N]] [n](f/N.md)"}]}',
        "a/b/view.base": "filters: file.hasLink('f/N')",
    }
    with files_of(tmp_path, files) as made:
        assert made.move("f", "a/b/f", "relative").rewritten == ()
        assert made.move("a/b/f", "f", "relative").rewritten == ()
        assert {path: made.text(path) for path in files} == files


def test_nodes_and_bases_that_name_the_new_path_follow_back_because_they_may_be_new(tmp_path: Path) -> None:
    files = {
        "f/N.md": "",
        "board.canvas": '{"nodes": [{"file": "g/N.md"}]}',
        "view.base": "filters: file.path == 'g/N.md'",
        "folder.base": "filters: file.inFolder('g')",
    }
    with files_of(tmp_path, files) as made:
        assert made.move("f", "g").revived == ("board.canvas", "folder.base", "view.base")
        made.move("g", "f")
        assert made.text("board.canvas") == '{"nodes": [{"file": "f/N.md"}]}'
        assert made.text("view.base") == "filters: file.path == 'f/N.md'"
        assert made.text("folder.base") == "filters: file.inFolder('f')"


def test_a_folder_moves_with_all_that_it_holds(tmp_path: Path) -> None:
    files = {
        "a/N.md": "[[../Other]] [[b/M]]",
        "a/b/M.md": "![p](../p.png) [[N]]",
        "a/p.png": "",
        "Other.md": "[[a/N]] [[N]] ![[a/p.png|100]] [m](a/b/M.md)",
    }
    with files_of(tmp_path, files) as made:
        summary = made.move("a", "x y/z")
        assert made.text("Other.md") == "[[x y/z/N]] [[N]] ![[x y/z/p.png|100]] [m](x%20y/z/b/M.md)"
        assert made.text("x y/z/N.md") == "[[../../Other]] [[b/M]]"
        assert made.text("x y/z/b/M.md") == files["a/b/M.md"]
        assert summary.rewritten == ("Other.md", "x y/z/N.md")
        made.move("x y/z", "a")
        assert {path: made.text(path) for path in files} == files


def test_private_notes_follow_though_the_index_knows_no_links_of_them(tmp_path: Path) -> None:
    secret = "---\nzkchat: never\n---\n[[N]]"
    with vault(tmp_path, N="", Secret=secret, Local="---\nzkchat: local\n---\n[[N]]") as made:
        assert made.move("N.md", "M.md").rewritten == ("Local.md", "Secret.md")
        assert made.text("Secret.md").endswith("[[M]]")


def test_moves_stack_on_staged_edits_new_notes_and_other_moves(tmp_path: Path) -> None:
    with vault(tmp_path, N="", Other="[[N]]", Third="[[N]]") as made:
        made.staged.create("New.md", "[[N]] [[Other]]", title="Create New.md")
        made.staged.write("Other.md", "text [[N]]", made_from="[[N]]", title="Edit Other.md")
        made.stage("N.md", "M.md")
        made.stage("Other.md", "b/Another.md")
        made.stage("M.md", "b/O.md")
        made.apply()
        assert made.text("New.md") == "[[O]] [[Another]]"
        assert made.text("b/Another.md") == "text [[O]]"
        assert made.text("Third.md") == "[[O]]"


def test_renaming_back_in_one_set_or_later_gives_the_old_links_and_keeps_what_was_written(tmp_path: Path) -> None:
    with vault(tmp_path, N="", Other="[[n]] [[a/N]]", Edited="[[n]]") as made:
        made.staged.write("Edited.md", "more [[n]]", made_from="[[n]]", title="Edit")
        made.stage("N.md", "M.md")
        made.stage("M.md", "N.md")
        made.apply()
        assert made.text("Other.md") == "[[n]] [[a/N]]"
        assert made.text("Edited.md") == "more [[N]]"  # what was staged before the rename stays
        made.move("N.md", "M.md")
        made.staged.write("Edited.md", "[[M]] and more", made_from="more [[M]]", title="Edit")
        made.apply()
        made.move("M.md", "N.md")
        assert made.text("Other.md") == "[[n]] [[a/N]]"
        assert made.text("Edited.md") == "[[N]] and more"


@pytest.mark.parametrize("name", ["A#B.md", "[A].md", "A]].md"])
def test_a_name_that_a_link_cannot_hold_is_refused_where_there_is_such_a_link(tmp_path: Path, name: str) -> None:
    with vault(tmp_path, N="", Other="[[N]]", Third="[n](N.md)") as made:
        if name == "[A].md":  # it can be written as a path
            made.stage("N.md", name)
        else:
            with pytest.raises(EditRefused, match=r"Other\.md"):
                made.stage("N.md", name)
            assert not made.staged
    with vault(tmp_path, N="", Third="[n](N.md)") as made:
        made.move("N.md", name)
        made.move(name, "N.md")
        assert made.text("Third.md") == "[n](N.md)"


def test_a_name_that_would_turn_links_into_code_or_end_a_quoted_property_is_refused(tmp_path: Path) -> None:
    with vault(tmp_path, N="", Other="[[N]] and [[N]]", M="", Third="---\nup: '[[M]]'\n---\n") as made:
        for source, target in (("N.md", "a`b.md"), ("M.md", "O'Brien.md")):
            with pytest.raises(EditRefused):
                made.stage(source, target)


def test_a_note_that_is_no_utf_8_is_not_changed(tmp_path: Path) -> None:
    with vault(tmp_path, N="", Other="") as made:
        made.files.files["Other.md"] = b"[[N]] caf\xe9"
        with pytest.raises(EditRefused, match="UTF-8"):
            made.stage("N.md", "M.md")
        made.files.files["Other.md"] = b"caf\xe9"
        made.stage("N.md", "M.md")


def test_what_cannot_be_moved_is_refused_and_nothing_staged(tmp_path: Path) -> None:
    refused: list[tuple[str, str, type[Exception]]] = [
        ("Missing.md", "M.md", NoteNotFound),
        ("N.md", "N.md", EditRefused),
        ("a", "a/b", EditRefused),
        ("N.md", "N.txt", EditRefused),
        ("N.md", "a/N.md", VaultError),
    ]
    with vault(tmp_path, N="", a__N="", Other="[[N]]") as made:
        for source, target, error in refused:
            with pytest.raises(error):
                made.stage(source, target)
            assert not made.staged


CANVAS = (
    '{\n\t"nodes":[\n\t\t{"id":"1","type":"file","file":"a\\/N.md","subpath":"#N"},\n'
    '\t\t{"id":"N","type":"text","text":"\\ud83d\\ude00 [[N|\\"N\\"]]\\n[[a/N]] \\u005b[N]]", "color": "[[N]]"},\n'
    '\t\t{"type":"group","background":"a/p.png","label":"[[N]]"}],\n\t"edges":[{"text":"[[N]]"}]}'
)


def test_the_nodes_of_a_canvas_follow_and_its_other_bytes_stay(tmp_path: Path) -> None:
    with files_of(
        tmp_path, {"a/N.md": "", "a/p.png": "", "b/Board.canvas": CANVAS, "Bad.canvas": '{"file": "a/N.md'}
    ) as made:
        made.move("a/N.md", "a/M é.md")
        expected = CANVAS.replace('"a\\/N.md"', '"a/M é.md"').replace('[[N|\\"', '[[M é|\\"')
        expected = expected.replace("[[a/N]] \\u005b[N]]", "[[a/M é]] \\u005b[M é]]")
        assert made.text("b/Board.canvas") == expected
        made.move("a/p.png", "q.png")
        assert made.text("b/Board.canvas") == expected.replace("a/p.png", "q.png")
        assert made.text("Bad.canvas") == '{"file": "a/N.md'


BASE = (
    'filters:\n  and:\n    - file.inFolder("a")\n    - \'file.inFolder("a/b")\'\n    - "file.folder == \\"a\\""\n'
    '    - status == "a"\n    # [[N]]\n    - file.hasLink(\'N\')\n    - file.path != "a/N.md"\n'
    'views:\n  - name: \'[[N|N]]\'\n    of: link("a/N#H", "N")\n'
)


def test_the_links_files_and_folders_of_a_base_follow(tmp_path: Path) -> None:
    with files_of(tmp_path, {"a/N.md": "", "a/b/M.md": "", "View.base": BASE}) as made:
        made.move("a/N.md", "a/O.md")
        expected = BASE.replace("'N'", "'O'").replace("a/N.md", "a/O.md").replace("[[N|", "[[O|")
        expected = expected.replace("a/N#H", "a/O#H").replace("# [[O|", "# [[N|")
        assert made.text("View.base") == expected
        made.move("a", "z")
        for old, new in (('inFolder("a")', 'inFolder("z")'), ('"a/b"', '"z/b"'), ('\\"a\\"', '\\"z\\"')):
            expected = expected.replace(old, new)
        assert made.text("View.base") == expected.replace("a/O", "z/O")
        made.move("z", "a")
        made.move("a/O.md", "a/N.md")
        assert made.text("View.base") == BASE
