import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.repl.note_names import NamedNote, NoteNames, normalize_name


def note(path: str, *aliases: str, title: str = "") -> NamedNote:
    return NamedNote(path=path, title=title or path.removesuffix(".md").rpartition("/")[2], aliases=aliases)


VAULT = NoteNames(
    [
        note("Ideas/Evergreen notes.md", "Evergreen note"),
        note("Ideas/Atomic notes.md"),
        note("Reference/Café au lait.md"),
        note("Reference/夜行列車.md", "night train"),
        note("Projects/Spaced-repetition_cards.md"),
        note("People/Łukasz Øre.md"),
        note("Projects/2024/Kevnor.md"),
    ]
)


def titles(typed: str, names: NoteNames = VAULT, *, first: tuple[str, ...] = ()) -> list[str]:
    return [match.note.title for match in names.find(typed, first=first)]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("EVERGREEN", "Evergreen notes"),
        ("CAFÉ", "Café au lait"),
        ("lait cafe", "Café au lait"),
        ("夜行", "夜行列車"),
        ("spaced rep", "Spaced-repetition_cards"),
        ("ideas/atom", "Atomic notes"),
        ("projects/2024", "Kevnor"),
        ("atmc", "Atomic notes"),
        ("ｃａｆｅ", "Café au lait"),
    ],
)
def test_a_note_is_found_however_its_name_is_typed(typed: str, found: str) -> None:
    assert titles(typed)[0] == found


def test_what_no_name_holds_finds_nothing() -> None:
    assert titles("zzzz") == []
    assert titles("zz/zz") == []
    assert titles("x", NoteNames(())) == []


def test_names_that_begin_with_what_was_typed_come_before_those_that_hold_it() -> None:
    names = NoteNames([note("Wine and cheese.md"), note("My cheese.md"), note("Cheese shop.md"), note("Cheese.md")])
    assert titles("cheese", names) == ["Cheese", "Cheese shop", "Wine and cheese", "My cheese"]


def test_letters_in_order_are_tried_only_where_hardly_a_name_holds_them_together() -> None:
    scattered = note("every nice oak.md")
    holding = [note(f"{number} evno.md") for number in range(5)]
    assert "every nice oak" in titles("evno", NoteNames([scattered, *holding[:4]]))
    assert "every nice oak" not in titles("evno", NoteNames([scattered, *holding]))


def test_notes_of_the_conversation_come_first_but_not_before_a_better_name() -> None:
    near = ("Projects/Spaced-repetition_cards.md", "Ideas/Atomic notes.md", "gone.md")
    assert titles("", first=near)[:2] == ["Spaced-repetition_cards", "Atomic notes"]
    assert titles("notes", first=near)[0] == "Atomic notes"
    assert titles("evergreen notes", first=near)[0] == "Evergreen notes"
    assert titles("")[:2] == ["Evergreen notes", "Atomic notes"]
    assert len(VAULT.find("", limit=3)) == 3
    assert len(NoteNames([note(f"{number}.md") for number in range(41)]).find("")) == 40
    names = NoteNames([note("Sleep log.md"), note("My sleep.md"), note("Sleep.md")])
    assert titles("sleep", names, first=("My sleep.md",)) == ["Sleep", "My sleep", "Sleep log"]
    assert titles("sleep", names) == ["Sleep", "Sleep log", "My sleep"]


def test_of_names_that_fit_alike_the_title_is_shown_and_else_the_alias() -> None:
    assert [match.name for match in VAULT.find("evergr")] == ["Evergreen notes"]
    assert [match.name for match in VAULT.find("night")] == ["night train"]


def test_a_link_is_the_name_unless_others_have_it_too() -> None:
    names = NoteNames([note("a/Same.md"), note("b/same.md"), note("b/Other.md")])
    assert [names.link(path) for path in ("a/Same.md", "b/same.md", "b/Other.md")] == ["a/Same", "b/same", "Other"]


NAME = st.text(
    st.sampled_from("abcdefgh éÉøŁß日本夜\n-_'[](){}.*+?^$|\\#%~0123\u0301\u200d"), min_size=1, max_size=12
).filter(lambda name: normalize_name(name).strip())


@settings(max_examples=150, deadline=None)
@given(st.lists(NAME, min_size=1, max_size=30, unique=True), st.data())
def test_every_piece_of_a_name_finds_its_note(names: list[str], data: st.DataObject) -> None:
    notes = [note(f"{number}.md", title=name) for number, name in enumerate(names)]
    wanted = data.draw(st.sampled_from(notes))
    whole = normalize_name(wanted.title)
    start = data.draw(st.integers(0, len(whole) - 1))
    piece = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    found = [match.note.path for match in NoteNames(notes).find(piece, limit=len(notes))]
    assert wanted.path in found
    assert len(found) == len(set(found))
