import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.libraries import Located, library_of
from zkchat.answers.catalog import CatalogAnswer, answer_query
from zkchat.answers.catalog_parser import CatalogQuery
from zkchat.core.note import Calendar, DayRange
from zkchat.index.library import Library

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
THIS_WEEK = DayRange(date(2026, 3, 2), date(2026, 3, 9))
LAST_WEEK = DayRange(date(2026, 2, 23), date(2026, 3, 2))
LAST_MONTH = DayRange(date(2026, 2, 1), date(2026, 3, 1))
NOTES = {
    "Projects/Roof.md": "#project/roof #home\n[[Slate]] [[Slate]] [[Gone]] [[Lost]] https://x.y",
    "Projects/Old/Shed.md": "#project\n[[Roof]]",
    "Slate.md": "slate " * 50,
    "Alone.md": "nobody",
    "Diary.md": "---\nzkchat: local\ntags: [secret]\n---\n[[Slate]]",
    "屋根.md": "屋" * 200,
}
AGE = {"Projects/Roof.md": 0, "Projects/Old/Shed.md": 1, "Slate.md": 3, "Alone.md": 40, "Diary.md": 2, "屋根.md": 400}
"""In days."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("catalog")
    with library_of(folder, NOTES) as library:
        for path, days in AGE.items():
            changed = (NOW - timedelta(days=days)).timestamp()
            os.utime(folder / "vault" / path, (changed, changed))
        library.refresh()
        yield library


def ask(library: Library, path: str = "", **query: object) -> CatalogAnswer:
    return answer_query(library, CatalogQuery(**query), path, Calendar(NOW))  # type: ignore[arg-type]


def rows(answer: CatalogAnswer) -> list[tuple[str | None, str]]:
    return [(row.path, row.details) for row in answer.rows]


def test_notes_of_a_time_are_listed_with_it_the_last_changed_first(library: Library) -> None:
    answer = ask(library, kind="notes", period=THIS_WEEK, by_change=True, is_about_changes=True)
    assert answer.heading == (
        "3 notes changed this week (since Monday 2026-03-02), according to the time their files were last changed:"
    )
    assert rows(answer) == [
        ("Projects/Roof.md", "today 15:30"),
        ("Projects/Old/Shed.md", "yesterday 15:30"),
        ("Diary.md", "2026-03-02"),
    ]
    assert [path for path, _ in rows(ask(library, kind="notes", period=LAST_WEEK))] == ["Slate.md"]


def test_where_there_are_none_the_last_change_is_named(library: Library) -> None:
    answer = ask(library, kind="notes", tags=("project",), period=LAST_MONTH, by_change=True)
    assert answer.rows == ()
    assert answer.heading == (
        "No note tagged #project changed last month (2026-02-01 to 2026-02-28), according to the time their files were "
        "last changed. The last one to change was [[Roof]], today 15:30."
    )
    for tag in ("nothing", "pro"):
        assert ask(library, kind="notes", tags=(tag,)).heading == f"There is no note tagged #{tag}."
    assert (
        ask(library, kind="notes", folder="Projetcs").heading
        == "There is no folder Projetcs. Nearest: Projects/, Projects/Old/."
    )


def test_tags_and_folders_filter(library: Library) -> None:
    answer = ask(library, kind="notes", tags=("Project",))
    assert answer.heading == "2 notes tagged #Project:"
    assert [path for path, _ in rows(answer)] == ["Projects/Roof.md", "Projects/Old/Shed.md"]
    assert [path for path, _ in rows(ask(library, kind="notes", tags=("project", "home")))] == ["Projects/Roof.md"]
    either = ask(library, kind="notes", tags=("home", "secret"), any_tag=True)
    assert either.heading == "2 notes tagged #home or #secret:"
    assert [path for path, _ in rows(either)] == ["Projects/Roof.md", "Diary.md"]
    without = ask(library, kind="notes", tags=("project",), without_tags=("home",))
    assert without.heading == "1 note tagged #project but not #home:"
    assert [path for path, _ in rows(without)] == ["Projects/Old/Shed.md"]
    assert ask(library, kind="notes", without_tags=("project", "secret")).heading == (
        "3 notes not tagged #project or #secret:"
    )
    answer = ask(library, kind="notes", folder="old")
    assert (answer.heading, len(answer.rows)) == ("1 note in Projects/Old/:", 1)


def test_notes_are_ranked_by_time_and_by_characters(library: Library) -> None:
    def first(order: str, limit: int | None = None) -> list[tuple[str | None, str]]:
        return rows(ask(library, kind="notes", order=order, limit=limit))

    assert first("newest", limit=1) == [("Projects/Roof.md", "today 15:30")]
    assert [path for path, _ in first("oldest", limit=2)] == ["屋根.md", "Alone.md"]
    assert first("longest", limit=2) == [("Slate.md", "300 characters"), ("屋根.md", "200 characters")]
    assert first("shortest", limit=1) == [("Alone.md", "6 characters")]
    assert len(first("newest")) == 5


def test_orphans_and_untagged_notes_are_listed(library: Library) -> None:
    answer = ask(library, kind="orphans")
    assert answer.heading == "2 notes have no link to or from another note:"
    assert [path for path, _ in rows(answer)] == ["Alone.md", "屋根.md"]
    assert ask(library, kind="orphans", folder="Projects").heading == (
        "Every note in Projects/ has a link to or from another note."
    )
    assert ask(library, kind="orphans", folder="Nowhere").heading == "There is no folder Nowhere."
    assert [path for path, _ in rows(ask(library, kind="untagged"))] == ["Alone.md", "Slate.md", "屋根.md"]


def test_long_lists_are_cut(tmp_path: Path) -> None:
    with library_of(tmp_path, {f"{number:02}.md": "" for number in range(16)}) as library:
        answer = ask(library, kind="orphans")
        assert (len(answer.rows), answer.more) == (15, 1)
        assert answer.heading.startswith("16 notes have")
        assert ask(library, kind="orphans", wants_all=True).more == 0


def test_of_many_tags_and_links_some_are_named_and_tasks_of_a_week_are_due(tmp_path: Path) -> None:
    tags = " ".join(f"#tag{number:02}" for number in range(41))
    tasks = "".join(f"- [ ] water 📅 {NOW.date() + timedelta(days)}\n" for days in (7, 8))
    notes = {
        "Many.md": f"{tags}\n\n[[A1]] [[A2]] [[A3]] [[A4]]\n\n{tasks}",
        "Leaf.md": "🌿" * 10,
        "Word.md": "eleven word",
    }
    with library_of(tmp_path, notes) as library:
        ((_, named),) = rows(ask(library, kind="tags"))
        assert "#tag39 (1)" in named
        assert "#tag40" not in named
        assert rows(ask(library, kind="broken_links"))[0][1].endswith("`[[A3]]` in line 3 and 1 more")
        assert len(ask(library, kind="tasks", tasks="due").rows) == 1
        assert rows(ask(library, kind="notes", order="shortest", limit=1)) == [("Leaf.md", "10 characters")]


def test_templates_are_said_not_to_be_counted(tmp_path: Path) -> None:
    notes = {"Templates/Daily.md": "{{date}}", "Templates/Book.md": "", "A.md": "#x [[B]]", "B.md": "#x"}
    notes[".obsidian/templates.json"] = '{"folder": "Templates"}'
    with library_of(tmp_path, notes) as library:
        for kind in ("orphans", "untagged"):
            assert ask(library, kind=kind, folder="Templates/").heading == (
                "The notes in Templates/ are templates, which are not counted."
            )
        assert ask(library, kind="untagged").heading == "Every note has a tag (2 templates are not counted)."


def test_links_in_both_directions_are_listed(library: Library) -> None:
    answer = ask(library, "Slate.md", kind="backlinks")
    assert answer.heading == "2 notes link to [[Slate]]:"
    assert rows(answer) == [("Diary.md", ""), ("Projects/Roof.md", "2 times")]
    assert ask(library, "Alone.md", kind="backlinks").heading == "No note links to [[Alone]]."
    assert ask(library, kind="backlinks", note="gone").heading == (
        "There is no note “gone”, but 1 note links to that name:"
    )
    assert ask(library, kind="backlinks", note="Nil").heading.endswith("and no note links to that name.")
    assert ask(library, kind="links", note="Nil").heading == "There is no note “Nil”."
    answer = ask(library, "Projects/Roof.md", kind="links")
    assert answer.heading == "[[Roof]] links to 1 document; 2 of its links lead nowhere:"
    assert rows(answer) == [("Slate.md", "2 times")]
    assert ask(library, "Alone.md", kind="links").heading == "[[Alone]] links to no other note."
    answer = ask(library, kind="hubs")
    assert rows(answer)[0] == ("Slate.md", "linked by 2 notes")


def test_a_link_to_itself_is_none_to_another_note_and_characters_count_not_bytes(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    with library_of(tmp_path, {"Self.md": "[[Self]] [[#A]]", "Wide.md": "屋" * 10, "Long.md": "x" * 20}) as library:
        assert ask(library, "Self.md", kind="links").heading == "[[Self]] links to no other note."
        for order, path in (("longest", "Long.md"), ("shortest", "Wide.md")):
            assert rows(ask(library, kind="notes", order=order, limit=1))[0][0] == path


def test_broken_links_are_listed_by_note(library: Library) -> None:
    answer = ask(library, kind="broken_links")
    assert answer.heading == "2 links lead nowhere, in 1 note:"
    assert ask(library, kind="broken_links", folder="Projects").heading == (
        "2 links lead nowhere, in 1 note in Projects/:"
    )
    assert ask(library, kind="broken_links", folder="Old").heading == "No link in notes in Projects/Old/ is broken."
    assert ask(library, kind="broken_links", tags=("secret",)).rows == ()
    assert rows(answer) == [("Projects/Roof.md", "`[[Gone]]` in line 2, `[[Lost]]` in line 2")]


def test_the_vault_is_described_in_a_few_lines(library: Library) -> None:
    answer = ask(library, kind="overview")
    assert answer.heading == "6 notes in 2 folders, with 6 links, 4 tags and 0 other files:"
    assert [details for _, details in rows(answer)] == [
        "Largest folders: Projects/ (2)",
        "Most frequent tags: #project (2), #home (1), #project/roof (1), #secret (1)",
        "Most linked: [[Slate]] (2), [[Roof]] (1)",
        "Changed last: [[Roof]] (today 15:30), [[Shed]] (yesterday 15:30), [[Diary]] (2026-03-02)",
    ]
    assert ask(library, kind="count").heading == "6 notes in 2 folders, with 6 links, 4 tags and 0 other files."
    assert rows(ask(library, kind="folders")) == [(None, "Projects/ (2)"), (None, "Projects/Old/ (1)")]
    assert rows(ask(library, kind="tags")) == [(None, "#project (2), #home (1), #project/roof (1), #secret (1)")]


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "notes", "period": THIS_WEEK},
        {"kind": "notes", "order": "newest"},
        {"kind": "notes", "order": "shortest"},
        {"kind": "notes", "tags": ("secret",)},
        {"kind": "holding", "words": "Slate"},
        *({"kind": kind} for kind in ("backlinks", "unlinked", "orphans", "untagged", "broken_links", "overview")),
        *({"kind": kind} for kind in ("tags", "folders", "hubs")),
    ],
)
def test_no_answer_for_a_model_elsewhere_names_a_local_note(library: Library, query: dict[str, object]) -> None:
    told = repr(ask(library.guarded_for(Located(False)), "Slate.md", **query))
    assert "Diary" not in told
    assert "secret (" not in told


def test_it_is_known_that_an_answer_names_a_local_note(library: Library) -> None:
    here = library.guarded_for(Located(True))
    here.disclosed = False
    assert "Diary" in repr(ask(here, kind="notes", order="newest"))
    assert here.disclosed


def test_one_note_is_not_spoken_of_as_many_and_its_name_tells_its_day(tmp_path: Path) -> None:
    notes = {"2026-02-25.md": "soup", "2026-02-03 Ann.md": "roof", "2025-12-01 Bob.md": "shed"}
    with library_of(tmp_path, notes) as library:
        calendar = Calendar(NOW)
        last_week = answer_query(library, CatalogQuery(kind="notes", period=LAST_WEEK), "", calendar)
        last_month = answer_query(library, CatalogQuery(kind="notes", period=LAST_MONTH), "", calendar)
    assert last_week.heading == "1 note written last week (2026-02-23 to 2026-03-01), according to its name:"
    assert last_month.heading.endswith(", according to their names:")
    assert [(row.path, row.details) for row in last_month.rows] == [
        ("2026-02-25.md", ""),
        ("2026-02-03 Ann.md", "2026-02-03"),
    ]


def test_when_a_note_was_written_and_changed_is_told_with_how_that_is_known(tmp_path: Path) -> None:
    with library_of(tmp_path, {"2026-02-01 Plan.md": "A plan.\n", "Roof.md": "Slate.\n"}) as library:
        day = library.dates()["Roof.md"].changed.day
        of_plan, of_roof, of_none = (
            ask(library, path, kind="dates", note=name).heading
            for path, name in (("2026-02-01 Plan.md", "Plan"), ("Roof.md", "Roof"), ("", "Gone"))
        )
    by_file = "according to the time its file was last changed"
    of_name = "[[2026-02-01 Plan]] was written on 2026-02-01 (according to its name)"
    assert of_plan == f"{of_name} and last changed on {day} ({by_file})."
    assert of_roof == f"[[Roof]] was last changed on {day} ({by_file})."
    assert of_none == "There is no note “Gone”."


def test_notes_that_hold_a_word_are_listed_and_those_that_nothing_links_to(library: Library) -> None:
    held = ask(library, kind="holding", words="nobody")
    assert (held.heading, rows(held)) == ("1 note contains “nobody”:", [("Alone.md", "")])
    unlinked = ask(library, kind="unlinked")
    assert {path for path, _ in rows(unlinked)} == {"Projects/Old/Shed.md", "Alone.md", "Diary.md", "屋根.md"}


def test_of_a_note_is_told_what_stands_beside_its_text(library: Library) -> None:
    answer = ask(library, "Projects/Roof.md", kind="note")
    told = ["tags (2): #home, #project/roof", "links to (1): [[Slate]]", "linked from (1): [[Shed]]"]
    assert (answer.heading, [details for _, details in rows(answer)]) == ("What is known of [[Roof]]:", told)
