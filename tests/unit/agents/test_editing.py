import pytest

from zkchat.chat.agents import set_value
from zkchat.core.errors import ConfigError, UsageError
from zkchat.core.profile import ProfileFile


def file(text: str) -> ProfileFile:
    return ProfileFile(kind="agent", name="poet", origin="user", path="poet.md", text=text)


TEXT = """---
# who it is
description: A poet  # in one line
rules:
  Tone: manual   # on demand
  Dates: agent

model: quote
---
You are a poet.
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("description", "A bard: old", "description: A poet", "description: 'A bard: old'"),
        ("model", "ollama:qwen3:8b", "model: quote", "model: ollama:qwen3:8b"),
        ("rules.Tone", "always", "Tone: manual", "Tone: always"),
        ("rules.Names", "agent", "  Tone:", "  Names: agent\n  Tone:"),
        ("references.[[A b]]", "agent", "model: quote\n", "model: quote\nreferences:\n  '[[A b]]': agent\n"),
        ("memory", "false", "model: quote\n", "model: quote\nmemory: false\n"),
        ("context.max_tokens", "4096", "model: quote\n", "model: quote\ncontext:\n  max_tokens: 4096\n"),
    ],
)
def test_one_value_changes_and_everything_else_stays(key: str, value: str, old: str, new: str) -> None:
    assert set_value(file(TEXT), key, value) == TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("---\nrules: [Dates]\n---\nx", "rules.Tone", "---\nrules:\n  Dates: always\n  Tone: agent\n---\nx"),
        ("---\nrules:\n- B\nmodel: a\n---\n", "rules.A", "---\nrules:\n  B: always\n  A: agent\nmodel: a\n---\n"),
        ("---\nrules: {Tone: manual}\n---\nx", "rules.Tone", "---\nrules:\n  Tone: agent\n---\nx"),
        ("---\nrules:\n---\nx", "rules.Tone", "---\nrules:\n  Tone: agent\n---\nx"),
        ("x", "rules.Tone", "---\nrules:\n  Tone: agent\n---\nx"),
        ('---\nreferences:\n  "[[A]]": always\n---\n', "references.A", '---\nreferences:\n  "[[A]]": agent\n---\n'),
        ("---\ncolour: red\n---\nx", "rules.Tone", "---\ncolour: red\nrules:\n  Tone: agent\n---\nx"),
    ],
)
def test_a_mode_can_be_set_however_the_others_are_written(before: str, key: str, after: str) -> None:
    assert set_value(file(before), key, "agent") == after


@pytest.mark.parametrize("key", ["colour", "rules", "model.name", "rules."])
def test_a_key_that_there_is_not_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="has no setting"):
        set_value(file(TEXT), key, "x")


def test_nothing_is_changed_into_something_that_cannot_be_read() -> None:
    with pytest.raises(ConfigError, match=r"Nothing was changed\. 'rules\.Tone' must be") as caught:
        set_value(file(TEXT), "rules.Tone", "sometimes")
    assert caught.value.hint == "See poet.md, line 5."


@pytest.mark.parametrize("written", ["Tone", "5", "[5]"])
def test_a_section_that_is_written_wrongly_is_not_written_over(written: str) -> None:
    with pytest.raises(ConfigError, match=r"Nothing was changed\. 'rules' must be"):
        set_value(file(f"---\nrules: {written}\n---\nx"), "rules.Dates", "always")
