"""The rules by which examples of the documentation are found, run and compared."""

from pathlib import Path

import pytest

from tests.support import doc_examples
from tests.support.doc_examples import blocks_of, examples_of, shows, shows_json
from tests.support.doc_shell import Shell, UnknownProgram, typed_and_printed
from tests.support.world import World

PAGE = """\
`Sleep.md`:

```markdown
Seven hours.
```

  ```console
$ zkchat index
1 note
$ zkchat search --json
  ```

```json
[]
```

Text.

```
a drawing
```
"""


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("a\n", "a\n"),
        ("a  \n\n", "a\n"),
        ("a\n…\n", "a\nb\nc\n"),
        ("…\nc\n", "a\nb\nc\n"),
        ("a\n…\nc\n", "a\nc\n"),
        ("a … c\n", "a b c\n"),
        ("Remembered. (4k2v9x7q1m3a)\n", "Remembered. (7h2m9x0q1v3a)\n"),
        ("2026-03-01: 0.54, 1,510 → 1,521 tokens\n", "2026-04-01: 0.98, 9 → 10 tokens\n"),
    ],
)
def test_what_is_printed_is_what_is_shown(expected: str, printed: str) -> None:
    assert shows(expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("a\n", "b\n"),
        ("a\n", "a\nb\n"),
        ("a\nb\n", "a\n"),
        ("…\nb\n", "a\n"),
        ("a … c\n", "a b\nc\n"),
        ("a.c\n", "abc\n"),
        ("53 notes\n", "54 notes\n"),
    ],
)
def test_what_is_printed_is_something_else(expected: str, printed: str) -> None:
    assert not shows(expected, printed)


def test_json_is_compared_by_values_but_for_what_varies() -> None:
    assert shows_json('[{"path": "a", "score": 1.5}]', '[\n{"score": 2.5, "path": "a"}]')
    assert shows_json('{"a": 1}\n{"a": 2}', '{"a": 1}\n{"a": 2}\n')
    assert not shows_json('[{"path": "a", "score": 1.5}]', '[{"path": "a", "score": "high"}]')
    assert not shows_json('[{"path": "a"}]', '[{"path": "b"}]')


def test_blocks_and_examples_of_a_page_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doc_examples, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(PAGE)
    note, console, output, drawing = blocks_of("page.md")
    assert (note.language, note.caption, note.text) == ("markdown", "Sleep.md", "Seven hours.\n")
    assert [(each.place, each.command, each.printed) for each in examples_of(console)] == [
        ("page.md:8", "zkchat index", "1 note\n"),
        ("page.md:10", "zkchat search --json", ""),
    ]
    assert (output.language, output.follows_block) == ("json", True)
    assert (drawing.language, drawing.follows_block, drawing.place) == ("", False, "page.md:19")


def test_lines_run_as_in_a_shell(world: World) -> None:
    world.note("Sleep.md", "Seven hours.\n")
    shell = Shell(world, {"~/notes": str(world.vault)})
    assert shell.run("echo 'a | b' > play.json  # a comment").out == ""
    assert (world.vault / "play.json").read_text() == "a | b\n"
    assert shell.run("zkchat search hours --notes --json --vault ~/notes | jq -r '.[].path'").out == "Sleep.md\n"
    assert shell.run("ZKCHAT_VAULT__EXCLUDE='[\"Sleep.md\"]' zkchat search hours --json | jq '.[].path'").out == ""
    shell.run("export ZKCHAT_VAULT__EXCLUDE=Sleep.md")
    assert shell.run("zkchat search hours --json | jq '.[].path'").out == ""
    with pytest.raises(UnknownProgram):
        shell.run("rm -r ~/notes")


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ("'.[].a'", '"x"\n"y"\n'),
        ("-r '.[].a'", "x\ny\n"),
        ('-r \'.[] | select(.a == "y") | "\\(.a):\\(.b)"\'', "y:2\n"),
    ],
)
def test_jq_is_played_as_far_as_pages_use_it(world: World, program: str, printed: str) -> None:
    line = f"""echo '[{{"a": "x", "b": 1}}, {{"a": "y", "b": 2}}]' | jq {program}"""
    assert Shell(world, {}).run(line).out == printed


def test_what_is_typed_in_a_chat_is_told_from_what_is_printed() -> None:
    assert typed_and_printed("you › Hello\nHi.\nyou › /quit\n") == (["Hello", "/quit"], "Hi.\n")
