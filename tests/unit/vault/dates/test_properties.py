from datetime import date

import pytest

from zkchat.notes.dates.day_texts import stated_dates


@pytest.mark.parametrize(
    "name",
    [
        "date", "created", "Created", "created_at", "created-at", "created at", "date created", "Date Created",
        "dateCreated", "creation-date", "ctime", "erstellt", "Erstellt am", "créé le", "fecha", "data de criação",
        "创建时间", "作成日",
    ],
)  # fmt: skip
def test_properties_tell_when_a_note_was_written(name: str) -> None:
    assert stated_dates({name: "8.3.2026"}) == ("2026-03-08", None)


@pytest.mark.parametrize(
    "name",
    [
        "updated", "modified", "last_modified", "Last modified", "lastmod", "updated-at", "date modified", "mtime",
        "geändert", "geandert", "aktualisiert am", "modifié", "actualizado", "atualizado em", "更新时间", "更新日",
    ],
)  # fmt: skip
def test_properties_tell_when_a_note_was_changed(name: str) -> None:
    assert stated_dates({name: date(2026, 3, 8)}) == (None, "2026-03-08")


def test_the_first_property_that_holds_a_date_counts() -> None:
    assert stated_dates({"created": "2026-01-01", "date": "2026-02-02"}) == ("2026-02-02", None)
    assert stated_dates({"date": "soon", "created": "2026-01-01"}) == ("2026-01-01", None)
    assert stated_dates({"updated": None, "modified": "2026-03-08"}) == (None, "2026-03-08")


def test_other_properties_tell_nothing() -> None:
    assert stated_dates({"due": "2026-03-08", "birthday": "2026-03-08", "title": "2026-03-08"}) == (None, None)
    assert stated_dates({}) == (None, None)
