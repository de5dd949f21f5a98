"""The open tasks that the index keeps: whose, and as of when."""

from pathlib import Path

from tests.support.libraries import Located, library_of

TASKS = {
    "Home.md": "# Home\n\n- [ ] pay the rent\n- [x] sweep\n",
    "Templates/Day.md": "- [ ] fill in\n",
    "Chat.md": "---\nzkchat-note: conversation\n---\n- [ ] said by a model\n",
    "Secret.md": "---\nzkchat: local\n---\n- [ ] see the doctor\n",
    "Diary.md": "---\nzkchat: never\n---\n- [ ] nobody reads this\n",
    ".obsidian/templates.json": '{"folder": "Templates"}',
}


def test_tasks_are_those_of_notes_that_may_be_read(tmp_path: Path) -> None:
    with library_of(tmp_path, TASKS) as library:
        assert [(task.path, task.line, task.text) for task in library.tasks()] == [
            ("Home.md", 3, "pay the rent"),
            ("Secret.md", 4, "see the doctor"),
        ]
        elsewhere = library.guarded_for(Located(on_this_machine=False))
        assert [task.path for task in elsewhere.tasks()] == ["Home.md"]
        here = library.guarded_for(Located(on_this_machine=True))
        assert [task.path for task in here.tasks()] == ["Home.md", "Secret.md"]


def test_tasks_follow_their_notes(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Home.md": "- [ ] pay the rent\n"}) as library:
        (home,) = tmp_path.rglob("Home.md")
        home.write_text("- [x] pay the rent\n- [ ] sweep the yard\n")
        library.refresh()
        assert [(task.line, task.text) for task in library.tasks()] == [(2, "sweep the yard")]
        home.unlink()
        library.refresh()
        assert library.tasks() == []
