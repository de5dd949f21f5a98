"""Every form of the property `zkchat`, through the real index and over HTTP: what is not open does not leave."""

import sqlite3
from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.egress import OVER_OLLAMA, OVER_OPENAI, Recorder, Scene, make_scene
from tests.support.frontmatter_forms import FORMS
from zkchat.app.library import open_library
from zkchat.index.note_schema import VERSION

NAMES = {f"Form{number:03}": form for number, form in enumerate(FORMS)}


def canary(name: str) -> str:
    return f"{name.lower()}canary"


server = serving(Recorder)


@pytest.fixture
def scene(tmp_path: Path, server: Recorder) -> Scene:
    notes = {f"{name}.md": f"{form.text}\n\nThe word is {canary(name)}.\n" for name, form in NAMES.items()}
    return make_scene(tmp_path, server, notes)


def indexed(scene: Scene) -> dict[str, str]:
    """The class of each note, as the index of the vault has it."""
    with open_library(scene.world.environment(), scene.world.vault) as (_, library):
        library.refresh()
    (file,) = scene.world.home.rglob("index.db")
    with sqlite3.connect(file) as database:
        return dict(database.execute("SELECT path, privacy FROM notes"))


def test_the_index_has_the_class_of_every_form_and_reads_again_what_an_older_version_indexed(scene: Scene) -> None:
    expected = indexed(scene)
    assert expected == {f"{name}.md": form.privacy for name, form in NAMES.items()}
    (file,) = scene.world.home.rglob("index.db")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE notes SET privacy = 'open'")
        database.execute(f"PRAGMA user_version = {VERSION - 1}")
    assert indexed(scene) == expected


def test_a_server_gets_the_forms_that_may_leave_and_no_others(scene: Scene) -> None:
    links = [f"[[{name}]]" for name in NAMES]
    questions = [" ".join(links[start : start + 25]) for start in range(0, len(links), 25)]
    for models in (OVER_OLLAMA, OVER_OPENAI):
        elsewhere = scene.ask(models.elsewhere, *questions)
        assert_sent({name for name in NAMES if canary(name) in elsewhere}, "open")
    here = scene.ask(scene.here, *questions)
    assert_sent({name for name in NAMES if canary(name) in here}, "open", "local")


def assert_sent(names: set[str], *classes: str) -> None:
    """All notes of these classes, but for long ones, whose end, where the word stands, may have no room; no others."""
    allowed = {name: form for name, form in NAMES.items() if form.privacy in classes}
    assert {name for name, form in allowed.items() if len(form.text) < 10_000} <= names <= {*allowed}
