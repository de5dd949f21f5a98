"""Properties are set by their lines: all others stay, or the edit is refused with a reason."""

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pytest
import yaml

from tests.unit.writing.properties.odd_frontmatters import odd_notes
from zkchat.core.errors import EditRefused, UsageError
from zkchat.writing.properties import PropertyScalar, PropertyValue, add_tag, parse_property_value, set_property

_BLOCK = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
EDITED = {"every property": 297, "a new property": 338, "remove": 324}
"""How many of the 400 notes are edited; the others are refused."""
VALUES: tuple[PropertyScalar | Sequence[PropertyScalar], ...] = (
    *(
        "changed: value",
        "2024-01-01",
        "yes",
        "",
        " x ",
        "a # b",
        "[[Note]]",
        "'",
        '"',
        "one\ntwo\n",
        "- x",
        "#tag",
        "07",
    ),
    *(5, 2.5, 1e22, True, date(2024, 2, 3), datetime(2024, 2, 3, 4, 5), [], ["x"]),
    ["x", "[[N]]", "5", "y", "a, b"],
    [5, True, 1.5],
)


def _nodes(note: str) -> list[tuple[str, int, Any]]:
    """The properties of a note by another reader: name, line and value, in order, also those that are there twice."""
    block = _BLOCK.match(note)
    root = yaml.compose(block[1], yaml.CSafeLoader) if block else None
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    return [(str(key.value), key.start_mark.line, _plain(value)) for key, value in pairs]


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return node.tag, node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return [(_plain(key), _plain(value)) for key, value in node.value]


def _lines(note: str) -> list[str]:
    return re.split(r"(?<=\n)", note)


def _assert_only_the_lines_of(name: str, before: str, after: str) -> None:
    """Lines that are gone or new stand between the line of the name and that of the next one."""
    if before == after:
        return
    old, new = _lines(before), _lines(after)
    head = next((number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((number for number, pair in enumerate(rest) if pair[0] != pair[1]), min(len(old), len(new)) - head)
    starts = [line + 1 for key, line, _ in _nodes(before)]
    if not (mine := [line + 1 for key, line, _ in _nodes(before) if key == name]):
        assert len(old) - tail <= head, "a new property removes no line"
        return
    following = min((start for start in starts if start > mine[0]), default=len(old))
    assert mine[0] <= head
    assert len(old) - tail <= following


def _is_edited(note: str, name: str, value: PropertyScalar | Sequence[PropertyScalar] | None) -> bool:
    try:
        after = set_property(note, name, value)
    except EditRefused:
        return False
    is_there = _BLOCK.match(after) and (value is not None or len(_nodes(note)) > 1)
    if is_there:
        assert [(key, kept) for key, _, kept in _nodes(after) if key != name] == [
            (key, kept) for key, _, kept in _nodes(note) if key != name
        ]
        _assert_only_the_lines_of(name, note, after)
    if value is not None:
        assert _value(after, name) == value
        assert set_property(after, name, value) == after
    return True


def _value(note: str, name: str) -> Any:
    block = _BLOCK.match(note)
    assert block
    loaded: dict[str, Any] = {str(key): value for key, value in yaml.load(block[1], yaml.CSafeLoader).items()}
    return loaded.get(name, loaded.get({"yes": "True"}.get(name, name)))


@pytest.mark.parametrize("change", ["every property", "a new property", "remove"])
def test_all_other_bytes_of_400_odd_frontmatters_stay_or_the_edit_is_refused(change: str) -> None:
    edited = 0
    notes = odd_notes()
    assert len(notes) == 400
    for number, note in enumerate(notes):
        value = None if change == "remove" else VALUES[number % len(VALUES)]
        try:
            names = [name for name, _, _ in _nodes(note)]
        except yaml.YAMLError:
            names = ["a"]
        name = "new one" if change == "a new property" or not names else names[number % len(names)]
        edited += _is_edited(note, name, value)
    assert edited == EDITED[change]


NOTES = ("", "text", "---\na: 1\n---\n", "---\na: 'x' # c\n---\n", "---\na: [x, y]\n---\n", "---\na:\n---\n")


def test_values_are_read_back_as_they_were_given() -> None:
    for value in VALUES:
        for note in NOTES:
            assert _value(set_property(note, "a", value), "a") == value


@pytest.mark.parametrize(
    ("block", "name", "value", "expected"),
    [
        ("a: 1 # c\nb: 2\n", "a", 5, "a: 5 # c\nb: 2\n"),
        ("a: 'x'   # c\n", "a", "it's", "a: 'it''s'   # c\n"),
        ("a: x\n", "a", "yes", 'a: "yes"\n'),
        ("a: x\n", "a", "2024-01-01", 'a: "2024-01-01"\n'),
        ("a: x\n", "a", date(2024, 1, 1), "a: 2024-01-01\n"),
        ("a: 2024-01-01\n", "a", datetime(2024, 1, 1, 9, 30), "a: 2024-01-01T09:30:00\n"),
        ("a: x\n", "a", "1e3", 'a: "1e3"\n'),
        ("a: x\n", "a", "[[Note|label]]", 'a: "[[Note|label]]"\n'),
        ("a: x\n", "a", "b: c", 'a: "b: c"\n'),
        ("a: x\n", "a", "b #c", 'a: "b #c"\n'),
        ("a: x\n", "a", "b#c", "a: b#c\n"),
        ("a: x\n", "a", 'say "x"', 'a: say "x"\n'),
        ("a: x\n", "a", '"x" he said', "a: '\"x\" he said'\n"),
        ("a: x\n", "a", "", 'a: ""\n'),
        ("a: x\n", "a", "tab\there", 'a: "tab\\there"\n'),
        ("a: x\n", "a", 1e20, "a: 1.0e+20\n"),
        ("a: x\n", "a", False, "a: false\n"),
        ("A: 1\na: 2\n", "a", 3, "A: 1\na: 3\n"),
        ("a: |\n  one\n  two\n\n# c\nb: 1\n", "a", "x", "a: x\n\n# c\nb: 1\n"),
        ("a: | # c\n  one\nb: 1\n", "a", "x\ny\n", "a: | # c\n  x\n  y\nb: 1\n"),
        ("a: x\nb: 1\n", "a", "x\n\ny", "a: |-\n  x\n\n  y\nb: 1\n"),
        ("a: x\nb: 1\n", "a", " x\ny", 'a: " x\\ny"\nb: 1\n'),
        ("a: text\n  goes on # c\nb: 1\n", "a", "x", "a: x # c\nb: 1\n"),
        ("a:\n  below\nb: 1\n", "a", "x", "a: x\nb: 1\n"),
        ("a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"),
        ("a: # c\nb: 1\n", "a", ["x"], "a: # c\n  - x\nb: 1\n"),
        ("a: [x, y] # c\n", "a", ["y", "z"], "a: [y, z] # c\n"),
        ("a: [ 'x','y' ]\n", "a", ["x", "y", "z"], "a: [ 'x','y','z' ]\n"),
        ("a: [x,\n  y]\nb: 1\n", "a", ["x", "y", "z"], "a: [x,\n  y,\n  z]\nb: 1\n"),
        ("a: [x]\n", "a", [], "a: []\n"),
        ("a: # c\n  - x\nb: 1\n", "a", [], "a: [] # c\nb: 1\n"),
        ("a:\n- x # why\n- y\n", "a", ["x", "z", "y"], "a:\n- x # why\n- z\n- y\n"),
        ("a:\n  # top\n  - x\n  # mid\n  - y\n", "a", ["x", "y", "z"], "a:\n  # top\n  - x\n  # mid\n  - y\n  - z\n"),
        ("l:\n- x\na: 1\n", "b", ["z"], "l:\n- x\na: 1\nb:\n- z\n"),
        ("a: [[Note]]\n", "a", "[[Other]]", 'a: "[[Other]]"\n'),
        ("a: 1\n# end\n", "b", 2, "a: 1\n# end\nb: 2\n"),
        ("a: 1\n", "my: key", 3, 'a: 1\n"my: key": 3\n'),
        ("a: 1\n", "été", "à", "a: 1\nété: à\n"),
        ("", "a", 1, "a: 1\n"),
        ("a: 1\nb: |\n  x\n\nc: 3\n", "b", None, "a: 1\n\nc: 3\n"),
        ('a: "{{title}}"\nb: 1\n', "b", 2, 'a: "{{title}}"\nb: 2\n'),
    ],
)
def test_only_the_lines_of_the_property_change(
    block: str, name: str, value: PropertyScalar | Sequence[PropertyScalar] | None, expected: str
) -> None:
    assert set_property(f"---\n{block}---\ntext", name, value) == f"---\n{expected}---\ntext"
    windows = set_property(f"\ufeff---\n{block}---\n".replace("\n", "\r\n"), name, value)
    assert windows == f"\ufeff---\n{expected}---\n".replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("", "---\na: 1\n---\n"),
        ("text", "---\na: 1\n---\ntext"),
        ("\ufefftext\r\n", "\ufeff---\r\na: 1\r\n---\r\ntext\r\n"),
        ("# T\n\n---\n", "---\na: 1\n---\n# T\n\n---\n"),
        ("---\n---\n", "---\na: 1\n---\n"),
        ("---\n---", "---\na: 1\n---"),
    ],
)
def test_a_note_without_properties_gets_a_block_at_its_top(note: str, expected: str) -> None:
    assert set_property(note, "a", 1) == expected
    assert set_property(expected, "a", None) == ("" if note.startswith("---\n---") else note)


def test_an_empty_block_stays_where_the_text_below_would_become_properties() -> None:
    assert set_property("---\na: 1\n---\n---\nb: 2\n---\n", "a", None) == "---\n---\n---\nb: 2\n---\n"


@pytest.mark.parametrize(
    ("note", "name", "value", "reason"),
    [
        ("---\na: [x\n---\n", "b", 1, "not valid YAML"),
        ("---\na: 1\nb: 2\n", "b", 1, "no `name: value` lines"),
        ("---\ntext\n---\n", "b", 1, "no `name: value` lines"),
        ("---\na: 1\na: 2\n---\n", "a", 3, "2 times, in lines 2, 3"),
        ("---\na: &x 1\nb: *x\n---\n", "c", 3, "aliases"),
        ("---\na: &x 1\nb: 2\n---\n", "a", 3, "anchor"),
        ("---\n<<: {x: 1}\nb: 2\n---\n", "b", 3, "written as {a: 1, b: 2} or with `<<`"),
        ("---\n{a: 1}\n---\n", "a", 3, "written as {a: 1, b: 2} or with `<<`"),
        ("---\n? a\n: 1\n---\n", "a", 3, "not on a line of its own"),
        ("---\na:\n  k: v\n---\n", "a", 3, "properties of its own"),
        ("---\na:\n  - x # c\n---\n", "a", 3, "in the property a would be lost"),
        ("---\na:\n  - x # c\n  - y\n---\n", "a", ["y", "z"], "in the list a would be lost"),
        ("---\na:\n  - x\n  # mid\n  - y\n---\n", "a", ["y"], "in the list a would be lost"),
        ("---\na: [x, # c\n  y]\n---\n", "a", ["x"], "nested values in the brackets of the list a"),
        ("---\na:\n  -\n    x\n---\n", "a", ["y"], "not have a line for each item"),
        ("---\na: 1\n---\n", "b", None, "no property b"),
        ("---\na: 1\n---\n", "", 1, "cannot be the name"),
        ("---\na: 1\n---\n", "a\nb", 1, "cannot be the name"),
        ("---\na: 1\n---\n", "a", float("nan"), "not a number"),
        ("---\na: 1\n---\n", "a", "\ud800", "invalid character"),
        ("---\na: |+\n  x\n\nb: 1\n\nc: 2\n---\n", "b", None, "without changing others"),
        ("---\na: 1\n...\n---\n", "b", 1, "no longer be read"),
    ],
)
def test_what_cannot_be_set_alone_is_refused(
    note: str, name: str, value: PropertyScalar | Sequence[PropertyScalar] | None, reason: str
) -> None:
    with pytest.raises(EditRefused) as refused:
        set_property(note, name, value)
    assert reason in refused.value.message


@pytest.mark.parametrize(
    ("note", "tag", "expected"),
    [
        ("text", "new", "---\ntags:\n  - new\n---\ntext"),
        ("---\ntags: [a]\n---\n", "#new", "---\ntags: [a, new]\n---\n"),
        ("---\ntags:\n- a # c\n- 2024\n---\n", "new", "---\ntags:\n- a # c\n- 2024\n- new\n---\n"),
        ("---\ntags: a\n---\n", "b/c", "---\ntags:\n  - a\n  - b/c\n---\n"),
        ("---\ntag: a\n---\n", "b", "---\ntag:\n  - a\n  - b\n---\n"),
        ("---\ntags: a, b\n---\n", "c", "---\ntags: a, b, c\n---\n"),
        ("---\ntags: a b\n---\n", "c", "---\ntags: a b c\n---\n"),
        ("---\ntags:\n---\n", "c", "---\ntags:\n  - c\n---\n"),
        ("---\ntags:\n  -\n---\n", "c", "---\ntags:\n  - c\n---\n"),
        ("---\ntags:\n- a\n- \n---\n", "c", "---\ntags:\n- a\n- c\n---\n"),
        ("---\ntags: ['#a']\n---\n", "c", "---\ntags: ['#a', '#c']\n---\n"),
        ("---\ntags: [a]\r\n---\r\n", "yes", '---\ntags: [a, "yes"]\r\n---\r\n'),
        ("text #Inline", "inline", "text #Inline"),
        ("`#code`", "code", "---\ntags:\n  - code\n---\n`#code`"),
    ],
)
def test_a_tag_is_added_once_in_the_form_that_is_there(note: str, tag: str, expected: str) -> None:
    assert add_tag(note, tag) == expected
    assert add_tag(expected, tag) == expected


def test_what_is_no_tag_or_no_place_for_one_is_refused() -> None:
    for tag in ("", "#", "12", "a b", "a,b", "a#b", "x/"):
        with pytest.raises(EditRefused, match="is not a tag"):
            add_tag("text", tag)
    with pytest.raises(EditRefused, match="not a list of tags"):
        add_tag("---\ntags: {a: 1}\n---\n", "b")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["5"], 5),
        (["4.5"], 4.5),
        (["1.10"], "1.10"),  # a version
        (["007"], "007"),
        (["1e5"], "1e5"),
        (["123456789012345678"], 123456789012345678),
        (["1234567890123456789"], "1234567890123456789"),
        (["true"], True),
        (["false"], False),
        (["yes"], "yes"),
        (["2026-03-14"], date(2026, 3, 14)),
        (["2026-02-30"], "2026-02-30"),
        (["[[Sleep]]"], "[[Sleep]]"),
        (["a", "b"], ["a", "b"]),
        (["a", "2", "true"], ["a", 2, True]),
        (['["a", 2, 2.5, true, "2026-03-14"]'], ["a", 2, 2.5, True, date(2026, 3, 14)]),
        (["[]"], []),
        (['"5"'], "5"),
    ],
)
def test_words_of_a_command_line_mean_a_value_of_a_property(words: list[str], value: PropertyValue) -> None:
    found = parse_property_value(words)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("words", [["5"], ["true"], ['["a"]'], ["2026-03-14"], ["["]])
def test_as_text_a_word_is_itself(words: list[str]) -> None:
    assert parse_property_value(words, as_text=True) == words[0]
    assert parse_property_value([*words, "x"], as_text=True) == [*words, "x"]


@pytest.mark.parametrize("word", ["[", '"', "[a, b]", '["a"', '["a"]]', '[{"a": 1}]', "[null]", "[1e999]", "[ " * 9999])
def test_json_that_is_no_value_is_refused_with_a_way_out(word: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_property_value([word])
    assert refused.value.hint
