"""Every tool that proposes changes, called by a model on this machine and by one elsewhere, around a local note."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.egress import FILE, ID, OPEN, SECRET, Recorder, leaked, make_scene
from tests.support.write_desk import WriteDesk, write_desk
from zkchat.core.message import ToolCallPart
from zkchat.index.daily_notes import DailyNoteSettings
from zkchat.writing.targets import VaultConventions

SECRET_FILES = {
    FILE: SECRET,
    "Open garden (conflicted copy Quokkafile).md": SECRET,
    "Templates/Quokkafile template.md": SECRET,
    "Templates/Plain.md": "# {{title}}\n",
    "Bookmarks.md": f"[[{ID}]]\n%% Quollsecret %%\nplain\n",
    "Quokkafile/Twin.md": SECRET,
    "Open/Twin.md": "twin\n",
    "Days/2026-03-01.md": SECRET,
}
NOTES = {**OPEN, **SECRET_FILES}
CONVENTIONS = VaultConventions(
    daily=DailyNoteSettings(folder="Days", format="YYYY-MM-DD"), template_folders=("Templates/",)
)
CALLS: list[tuple[str, dict[str, object]]] = [
    ("create_document", {"path": "Diaries/x", "text": "x"}),
    ("create_document", {"path": FILE.lower(), "text": "x"}),
    ("create_document", {"path": "quokkafile/New", "text": "x"}),
    ("edit_document", {"path": ID, "old": "The lighthouse", "new": "x"}),
    ("edit_document", {"path": FILE, "old": "The lighthouse password", "new": "x"}),
    ("edit_document", {"path": "Open garden", "old": "Tomatoes", "new": "Peas"}),
    ("edit_document", {"path": "Bookmarks", "old": "plain", "new": "simple"}),
    ("edit_document", {"path": "Bookmarks", "old": "Plain", "new": "simple"}),
    ("edit_section", {"path": ID, "section": "Dunnart", "text": "x"}),
    ("edit_section", {"path": ID, "text": "x"}),
    ("edit_section", {"path": ID, "section": "Dunnartheading", "text": "x", "position": "replace"}),
    ("edit_section", {"path": "Open garden", "section": "Nowhere", "text": "x"}),
    ("set_property", {"path": ID, "key": "mood", "value": "x"}),
    ("set_property", {"path": "Open garden", "key": "mood", "value": "x"}),
    ("add_tag", {"path": ID, "tag": "bilbytag2"}),
    ("append_daily", {"text": "x"}),
    ("append_daily", {"text": "x", "section": "Nowhere"}),
    ("create_from_template", {"template": "Quokkafile template", "title": "Y"}),
    ("create_from_template", {"template": "template", "title": "Y"}),
    ("rename_document", {"path": ID, "new_name": "Y"}),
    ("rename_document", {"path": "Open garden", "new_name": "Y"}),
    ("rename_document", {"path": "Open garden", "new_name": "quokkafile/twin"}),
    ("move_document", {"path": "Open garden", "folder": "Diaries"}),
    ("move_document", {"path": "Twin", "folder": "Elsewhere"}),
    ("move_document", {"path": "Diaries/", "folder": "Open"}),
    ("delete_document", {"path": ID}),
    ("delete_document", {"path": "Open garden"}),
    ("delete_document", {"path": "Twin"}),
]
GIVE_NOTHING_AWAY = {"create_document"}
"""Which name no other note, whoever asks."""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteDesk]:
    with write_desk(tmp_path_factory.mktemp("elsewhere"), NOTES, conventions=CONVENTIONS) as desk:
        yield desk


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteDesk]:
    with write_desk(tmp_path_factory.mktemp("here"), NOTES, here=True, conventions=CONVENTIONS) as desk:
        yield desk


def told(desk: WriteDesk, tool: str, arguments: dict[str, object]) -> str:
    """All that a model hears, when it calls a tool and then again."""
    outcomes = [desk.call(tool, **arguments) for _ in range(2)]
    desk.staged.clear()
    return " ".join(f"{each.text} {each.references!r}" for each in outcomes).lower()


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda each: str(each)[:60])
def test_a_model_elsewhere_hears_nothing_of_a_local_note(
    elsewhere: WriteDesk, tool: str, arguments: dict[str, object]
) -> None:
    assert leaked(told(elsewhere, tool, arguments), str(arguments)) == set()


def test_every_tool_is_tried_and_would_give_something_away(here: WriteDesk) -> None:
    writing = {spec.name for spec in here.box.specs} & {tool for tool, _ in CALLS}
    assert len(writing) == 10
    telling = {tool for tool, arguments in CALLS if leaked(told(here, tool, arguments), str(arguments))}
    assert telling == writing - GIVE_NOTHING_AWAY


def test_a_local_note_is_not_changed_by_a_model_elsewhere_but_for_its_links(elsewhere: WriteDesk) -> None:
    for tool, arguments in CALLS:
        elsewhere.call(tool, **arguments)
        writes = () if elsewhere.staged.refusals else elsewhere.staged.change_set().writes
        for write in writes:
            if write.before is not None and b"zkchat: local" in write.before:
                assert tool in {"rename_document", "move_document"}
                assert write.after.replace(b"[[Y]]", b"[[Open garden]]") == write.before
        elsewhere.staged.clear()


def test_no_name_of_a_hidden_file_is_told_by_a_rename_that_is_refused(tmp_path: Path) -> None:
    with write_desk(tmp_path, {"Open.md": "x"}) as desk:
        hidden = b"---\nzkchat: local\n---\n[[Open]] caf\xe9\n"
        desk.files.put("Quokkafile.md", hidden)
        (tmp_path / "vault" / "Quokkafile.md").write_bytes(hidden)
        desk.library.refresh()
        outcome = desk.call("rename_document", path="Open", new_name="Other")
        assert outcome.failed
        assert "Quokkafile" not in outcome.text


def test_what_became_of_a_proposal_is_told_without_what_is_local(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("rename_document", {"path": "Open garden", "new_name": "Y"}),
        ("create_document", {"path": FILE, "text": "x"}),
    ]
    with Recorder() as server:
        scene = make_scene(tmp_path, server)
        scene.world.variables["ZKCHAT_WRITE__ENABLED"] = "true"
        for tool, arguments in calls:
            written = json.dumps(arguments)
            server.call = ToolCallPart(call_id="c1", name=tool, arguments=written)
            received = scene.ask(scene.elsewhere, "Do it.", "What became of it?", go_on=True)
            assert tool in received
            assert "were not applied" in received
            assert leaked(received, written) == set()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_document", {"path": "Diary.md", "text": "mine"}),
        ("create_document", {"path": "diary", "text": "mine"}),
        ("create_document", {"path": "Deep", "text": "mine"}),
        ("create_from_template", {"template": "Plain", "title": "Diary"}),
        ("append_daily", {"text": "mine"}),
        ("rename_document", {"path": "Open", "new_name": "Diary"}),
        ("rename_document", {"path": "Folder/", "new_name": "Private"}),
        ("move_document", {"path": "Folder/Inner", "folder": "Private"}),
    ],
    ids=str,
)
def test_what_a_tool_answers_is_the_same_whether_or_not_a_local_note_is_in_the_way(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    notes = {"Open.md": "[[Diary]] [[Deep]]\n", "Folder/Inner.md": "inner\n", "Templates/Plain.md": "# {{title}}\n"}
    hidden = ("Diary.md", "Days/2026-03-01.md", "Private/Inner.md", "Private/Deep.md")
    read = ("Diary", "diary", "Deep", "Open", "Inner")
    heard, refusals = [], []
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        local = dict.fromkeys(hidden if name == "with" else (), "---\nzkchat: local\n---\nsecret\n")
        with write_desk(tmp_path / name, notes | local, conventions=CONVENTIONS) as desk:
            outcomes = [desk.call(tool, **arguments) for _ in range(2)]
            outcomes += [desk.call("read_document", path=path) for path in read]
            heard.append([each.text for each in outcomes])
            refusals.append([*desk.staged.refusals])
    assert heard[0] == heard[1]
    assert (len(refusals[0]), refusals[1]) == (1, [])
