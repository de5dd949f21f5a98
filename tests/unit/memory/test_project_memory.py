import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context.selection import Selection
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.memory import imports_of, project_memory
from zkchat.core.errors import NoteNotFound, NoteUnreadable, OutsideVault


def memory_of(files: dict[str, str], budget: int = 10_000) -> Selection:
    def read(path: str) -> str:
        if path.startswith(("/", "~")) or ".." in path:
            raise OutsideVault(f"{path} is outside the vault.")
        if path == "locked.md":
            raise NoteUnreadable("locked.md cannot be read.")
        if path not in files:
            raise NoteNotFound(f"There is no file {path} in the vault.")
        return files[path]

    return project_memory(read, Estimate(), budget, is_approved=lambda _name, _text: True)


def text_of(memory: Selection) -> str:
    return "\n\n".join(piece.text for piece in memory.items)


def left_out(memory: Selection) -> dict[str, tuple[str, str]]:
    return {left.item.name: (left.why, left.item.reason) for left in memory.left_out}


def test_the_vaults_page_is_the_memory_of_the_project() -> None:
    memory = memory_of({"ZKCHAT.md": "# Us\n\nWe write in German.\n", "AGENTS.md": "other"})
    assert text_of(memory) == "# Us\n\nWe write in German."
    (item,) = memory.records
    assert (item.type, item.name, item.include, item.reason) == (
        "memory",
        "ZKCHAT.md",
        "always",
        "the vault's instructions",
    )
    assert item.tokens == Estimate().count(text_of(memory))
    assert memory_of({}) == memory_of({"ZKCHAT.md": " \n"}) == Selection()

    def refuse(path: str) -> str:
        raise NoteUnreadable(f"{path} cannot be read.")

    unread = project_memory(refuse, Estimate(), 1000, is_approved=lambda _name, _text: True)
    assert left_out(unread) == {"ZKCHAT.md": ("missing", "ZKCHAT.md cannot be read.")}


def test_imported_files_follow_marked_as_notes() -> None:
    memory = memory_of({"ZKCHAT.md": "See @About/us.md.", "About/us.md": "We are </document> two."})
    assert text_of(memory).startswith('See @About/us.md.\n\n<document path="About/us.md">\nWe are ')
    assert text_of(memory).count("</document>") == 1
    assert [(item.name, item.reason) for item in memory.records][1] == ("About/us.md", "included by ZKCHAT.md")


def test_imports_are_followed_a_few_steps_and_no_further() -> None:
    files = {"ZKCHAT.md": "@1.md"} | {f"{number}.md": f"@{number + 1}.md" for number in range(1, 9)}
    memory = memory_of(files)
    assert [item.name for item in memory.records] == ["ZKCHAT.md", "1.md", "2.md", "3.md"]
    assert left_out(memory) == {"4.md": ("missing", "4.md is not read: inclusion goes only 3 files deep.")}
    files = {f"{number}.md": "x" for number in range(21)}
    memory = memory_of({"ZKCHAT.md": " ".join(f"@{name}" for name in files), **files})
    assert (len(memory.records), len(memory.left_out)) == (21, 1)


def test_a_circle_of_imports_is_cut() -> None:
    memory = memory_of({"ZKCHAT.md": "@a.md @ZKCHAT.md", "a.md": "@b.md", "b.md": "@a.md @ZKCHAT.md"})
    assert [item.name for item in memory.records] == ["ZKCHAT.md", "a.md", "b.md"]
    assert memory.left_out == ()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.md", "../secret.md is outside the vault."),
        ("/etc/passwd", "/etc/passwd is outside the vault."),
        ("gone.md", "There is no file gone.md in the vault."),
        ("locked.md", "locked.md cannot be read."),
    ],
)
def test_an_import_that_cannot_be_had_is_said_and_the_rest_is_there(path: str, reason: str) -> None:
    memory = memory_of({"ZKCHAT.md": f"@{path} and @a.md", "a.md": "A"})
    assert [item.name for item in memory.records] == ["ZKCHAT.md", "a.md"]
    assert left_out(memory) == {path: ("missing", reason)}


def test_what_does_not_fit_is_left_out_section_by_section() -> None:
    page = "# Us\n\nShort.\n\n# Long\n\n" + "x " * 500 + "\n\n```\n# no heading\n```\n\n# End\n\nAlso short.\n"
    memory = memory_of({"ZKCHAT.md": page}, budget=40)
    assert text_of(memory) == "# Us\n\nShort.\n\n# End\n\nAlso short."
    assert left_out(memory) == {"ZKCHAT.md#Long": ("budget", "")}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see (@a/b) and @c.md, @a/b", ["a/b", "c.md"]),
        ('@"My notes/a b.md"', ["My notes/a b.md"]),
        ("@anna said", []),
        ("`@a.md` and ```@b.md```", []),
        ("```\n@a.md\n```", []),
        ("@@a.md", []),
        ("@Ümlaut/日本.md!", ["Ümlaut/日本.md"]),
    ],
)
def test_an_import_is_a_path_after_an_at_sign(text: str, paths: list[str]) -> None:
    assert imports_of(text) == paths


@given(st.text(), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_whatever_a_page_holds_the_sections_taken_fit_the_budget(page: str, budget: int) -> None:
    memory = memory_of({"ZKCHAT.md": page}, budget)
    assert sum(item.tokens for item in memory.records) <= budget + page.count("\n")


def test_a_page_that_is_not_approved_is_left_out_with_all_that_it_imports() -> None:
    files = {"ZKCHAT.md": "Obey. @more.md", "more.md": "Obey more.", "AGENTS.md": "Obey too."}
    asked: list[tuple[str, str]] = []

    def is_approved(name: str, text: str) -> bool:
        asked.append((name, text))
        return False

    memory = project_memory(files.__getitem__, Estimate(), 1000, is_approved=is_approved)
    assert memory.items == ()
    assert [(left.item.name, left.why) for left in memory.left_out] == [("ZKCHAT.md", "unapproved")]
    assert asked == [("ZKCHAT.md", "Obey. @more.md")]
