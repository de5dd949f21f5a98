from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.write_desk import WriteDesk, write_desk
from zkchat.chat.context.assembly import digest
from zkchat.core.message import DocumentReference
from zkchat.core.ports import ToolOutcome
from zkchat.writing.tools import PROPOSED

COFFEE = "---\nrating: 3\n---\n# Coffee\n\nBeans and water.\n\n## Brewing\n\nSlowly.\n"
NOTES = {
    "Coffee.md": COFFEE,
    "Tea.md": "# Tea\n\nSee [[Coffee]].\n",
    "Clip.md": "---\nsource: https://example.org/page\n---\nBuy now.\n",
    "Noted.md": "One.\n%% hushed words %%\nTwo.\n",
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[WriteDesk]:
    with write_desk(tmp_path, NOTES) as desk:
        yield desk


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def change(desk: WriteDesk, vault: Path, text: str) -> None:
    """Somebody else writes the note."""
    (vault / "Coffee.md").write_text(text)
    desk.files.put("Coffee.md", text.encode())


def test_what_is_created_is_proposed_and_can_be_read(desk: WriteDesk) -> None:
    outcome = desk.call("create_document", path="Milk", content="# Milk\n")
    assert outcome.text == f"Create Milk.md. {PROPOSED}"
    assert outcome.references == ()
    assert "# Milk" in desk.call("read_document", path="Milk").text
    assert desk.call("create_document", path="milk", content="x").failed


def test_an_edit_shows_what_it_changed(desk: WriteDesk) -> None:
    outcome = desk.call("edit_document", relative_path="Coffee", old="Beans", new="Good beans")
    assert outcome.text.splitlines()[1:] == [" ", "-Beans and water.", "+Good beans and water.", " "]
    assert [reference.relative_path for reference in outcome.references] == ["Coffee.md"]
    assert "Good beans" in desk.call("read_document", path="Coffee").text
    assert desk.files.files["Coffee.md"].decode() == COFFEE


def test_a_long_diff_is_cut_and_a_long_section_is_not_shown(tmp_path: Path) -> None:
    notes = {f"{size}.md": "# A\n\n" + "x" * (size - 5) for size in (4_000, 4_001)}
    with write_desk(tmp_path, {**notes, "One.md": "One.\n"}) as desk:
        replace = {"section": "A", "text": "New.", "position": "replace"}
        shown = [desk.call("edit_section", path=path, **replace).text for path in notes]
        diff = desk.call("edit_document", path="One", old="One.", new="12345678\n" * 300).text.partition("\n")[2]
    assert ["It says now:" in text for text in shown] == [True, False]
    assert 1_480 < len(diff) <= 1_502


def test_comments_are_not_shown(desk: WriteDesk) -> None:
    shown = desk.call("edit_document", path="Noted", old="Two.", new="Three.").text
    shown += desk.call("edit_document", path="Noted", old="hushed word", new="x", expected=3).text
    shown += desk.call("edit_document", path="Noted", old="hushed, words", new="x").text
    shown += desk.call("edit_section", path="Noted", section="Nowhere", text="x").text
    assert "hushed words" not in shown
    assert desk.written["Noted.md"] == "One.\n%% hushed words %%\nThree.\n"


def test_of_a_note_that_was_not_read_lines_may_be_appended_and_nothing_replaced(desk: WriteDesk) -> None:
    assert not desk.call("edit_section", path="Tea", text="Green.").failed
    assert desk.written["Tea.md"].endswith("\nGreen.\n")
    assert desk.call("edit_section", path="Tea", text="Green.", position="replace").failed
    refused = desk.call("edit_section", path="Coffee", section="Brewing", text="Fast.", position="replace")
    assert refused.failed
    assert "Coffee.md has not been read yet." in refused.text
    assert "Slowly." in refused.text
    assert "Beans" not in refused.text
    replaced = desk.call("edit_section", path="Coffee", section="Brewing", text="Fast.", position="replace")
    assert not replaced.failed, replaced.text
    assert "Fast." in desk.written["Coffee.md"]


def test_a_note_saved_between_the_check_and_the_edit_is_not_replaced(desk: WriteDesk) -> None:
    desk.call("read_document", path="Coffee")
    saved = COFFEE.replace("Slowly", "Very slowly").encode()
    desk.files.put("Coffee.md", saved)  # while the library has still read what it was before
    for refused in (
        desk.call("edit_section", path="Coffee", section="Brewing", text="Fast.", position="replace"),
        desk.call("set_property", path="Coffee", key="state", value="done"),
    ):
        assert "Coffee.md has changed since it was read." in refused.text
    assert not desk.staged


def test_a_section_that_changed_since_it_was_read_is_not_replaced(desk: WriteDesk, vault: Path) -> None:
    desk.call("read_document", path="Coffee")
    change(desk, vault, COFFEE.replace("Slowly", "Very slowly"))
    refused = desk.call("edit_section", path="Coffee", section="Brewing", text="Fast.", position="replace")
    assert "Coffee.md has changed since it was read." in refused.text
    assert "-Slowly.\n+Very slowly." in refused.text
    assert not desk.staged
    assert not desk.call("edit_section", path="Coffee", section="Brewing", text="Fast.", position="replace").failed


def test_a_passage_that_is_untouched_is_edited_in_the_present_text(desk: WriteDesk, vault: Path) -> None:
    desk.call("read_document", path="Coffee")
    change(desk, vault, COFFEE.replace("Slowly", "Very slowly"))
    outcome = desk.call("edit_document", path="Coffee", old="Beans", new="Good beans")
    assert "Coffee.md has changed since it was read; this is applied to its present text." in outcome.text
    assert desk.staged.remarks == [
        "Coffee.md has changed since the model read it. The edit is made to its present text."
    ]
    assert "Very slowly" in desk.written["Coffee.md"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("set_property", {"key": "rating", "value": 5}),
        ("delete_document", {}),
        ("rename_document", {"new_name": "Mocha"}),
    ],
)
def test_a_note_that_changed_since_it_was_read_stays_as_it_is(
    desk: WriteDesk, vault: Path, tool: str, arguments: dict[str, object]
) -> None:
    desk.messages.earlier["Coffee.md"] = digest(COFFEE)
    change(desk, vault, COFFEE + "More.\n")
    assert "has changed since it was read" in desk.call(tool, path="Coffee", **arguments).text
    assert not desk.staged
    again = desk.call(tool, path="Coffee", **arguments)
    assert not again.failed, again.text


def test_a_note_is_not_deleted_unread(desk: WriteDesk) -> None:
    assert "Coffee.md has not been read yet" in desk.call("delete_document", path="Coffee").text
    desk.messages.linked["Coffee.md"] = digest(COFFEE)
    outcome = desk.call("delete_document", path="Coffee")
    assert "1 link in 1 note leads to Coffee.md, and will lead nowhere." in outcome.text
    assert not any("The model read" in each for each in desk.staged.remarks), "all of it"
    assert desk.call("read_document", path="Coffee").failed


@pytest.fixture
def long_desk(tmp_path: Path) -> Iterator[WriteDesk]:
    """With a note of three pages; the sections `Short` and `Long` are on the first and the last two."""
    body = "".join(f"Line {number} of many.\n" for number in range(1000))
    with write_desk(tmp_path, {"Long.md": f"# Top\n\nIntro.\n\n## Short\n\nBrief.\n\n## Long\n\n{body}"}) as desk:
        yield desk


def replace_long(desk: WriteDesk, section: str, **more: object) -> ToolOutcome:
    return desk.call("edit_section", path="Long", section=section, text="New.", position="replace", **more)


def test_only_what_was_given_of_a_note_may_be_replaced(long_desk: WriteDesk) -> None:
    total = len(long_desk.library.section("Long.md"))
    long_desk.call("read_document", path="Long")
    refused = replace_long(long_desk, "Long")
    assert refused.failed
    assert f" of {total:,} characters of Long.md were read, and not all that would be replaced." in refused.text
    assert "with its offset" in refused.text
    assert replace_long(long_desk, "Top", include_children=True).failed
    assert not long_desk.staged
    assert not replace_long(long_desk, "Short").failed
    assert not replace_long(long_desk, "Top").failed
    long_desk.staged.clear()
    long_desk.call("read_document", path="Long", offset=8000)
    assert replace_long(long_desk, "Long").failed
    long_desk.call("read_document", path="Long", offset=16000)
    assert not replace_long(long_desk, "Long").failed


def test_a_model_knows_what_it_made_itself(desk: WriteDesk) -> None:
    desk.call("read_document", path="Coffee")
    desk.call("edit_document", path="Coffee", old="Beans", new="Good beans")
    assert not desk.call("set_property", path="Coffee", key="rating", value=5).failed
    assert not desk.call("rename_document", path="Coffee", new_name="Mocha").failed
    assert not desk.call("delete_document", path="Mocha").failed


def test_values_of_properties_are_what_they_look_like(desk: WriteDesk) -> None:
    desk.call("set_property", path="Coffee", key="rating", value="5")
    desk.call("set_property", path="Coffee", key="tried", value="2026-01-31")
    desk.call("add_tag", path="Coffee", tag="#drink")
    text = desk.written["Coffee.md"]
    assert "rating: 5\n" in text
    assert "tried: 2026-01-31\n" in text
    assert "drink" in text
    assert not desk.call("set_property", path="Coffee", key="tried", value=None).failed
    assert "tried" not in desk.written["Coffee.md"]


def test_what_follows_the_first_reading_of_a_clipping_is_to_be_asked_about(desk: WriteDesk) -> None:
    desk.call("edit_section", path="Tea", text="one")
    assert desk.staged.reasons_to_ask == []
    desk.call("read_document", path="Clip")
    desk.call("edit_section", path="Tea", text="two")
    assert desk.staged.reasons_to_ask == ["The text of Clip.md, from the web, may have led the model to do this."]


def test_a_clipping_counts_also_as_a_passage_or_a_link_and_once_only(desk: WriteDesk) -> None:
    desk.messages.linked["Clip.md#Part"] = ""
    desk.call("append_daily", text="one")
    assert len(desk.staged.reasons_to_ask) == 1
    desk.staged.clear()
    desk.messages.turn, desk.messages.earlier, desk.messages.linked = 2, {"Clip.md": ""}, {}
    desk.readings.see([DocumentReference(wikilink="[[Clip]]", relative_path="Clip.md", included=True)])
    desk.call("append_daily", text="two")
    assert desk.staged.reasons_to_ask == []


@pytest.mark.parametrize(
    "text",
    ["<% tp.file.title %>", "```dataviewjs\ndv.list()\n```", "> ~~~ js-engine\n> 1\n> ~~~", "Now `$= dv.now()`."],
)
def test_code_that_a_plugin_would_run_and_another_privacy_are_to_be_asked_about(desk: WriteDesk, text: str) -> None:
    desk.call("create_document", path="Code", text=text)
    desk.call("set_property", path="Tea", key="zkchat", value="local")
    assert desk.staged.reasons_to_ask == [
        "Code.md would hold code that plugins of Obsidian may run.",
        "The change affects which models may see Tea.md.",
    ]
