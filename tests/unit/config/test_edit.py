"""Changing a file by command: the value changes, everything else stays."""

import resource
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.config.edit import set_value, unset
from zkchat.config.loading import load
from zkchat.core.errors import ConfigError, StorageError

COMMENTED = """\
# my settings
model = "quote"  # no server at home

[context]
# the big machine
max_tokens = 16384
threshold = 0.5

[ui]
color = "never"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("context.max_tokens", "many", 'must be a whole number of at least 256, but it is the text "many"'),
        ("context.max_tokens", "300", "leaves nothing of"),
        ("ui.color", "red", 'must be "auto", "always" or "never"'),
        ("context.max_token", "4096", "Unknown setting 'context.max_token'"),
    ],
)
def test_what_is_not_valid_is_not_written(file: Path, key: str, text: str, says: str) -> None:
    file.write_text(COMMENTED)
    with pytest.raises(ConfigError) as caught:
        set_value(file, key, text)
    assert says in caught.value.message
    assert file.read_text() == COMMENTED


def test_other_mistakes_in_the_file_do_not_stand_in_the_way(file: Path) -> None:
    file.write_text('mistake = 1\n[ui]\ncolor = "red"\n')
    set_value(file, "model", "quote")
    set_value(file, "ui.color", "auto")
    assert unset(file, "mistake")
    assert not unset(file, "ui.panel")
    with pytest.raises(ConfigError, match="Unknown setting 'nonsense'"):
        unset(file, "nonsense")
    assert load(file, None, {}, {}, lambda _: False).settings.model == "quote"


def test_a_value_where_the_section_belongs_is_told_with_the_way_out(file: Path) -> None:
    file.write_text("context = 5\n")
    with pytest.raises(ConfigError, match="'context' in the file is not a section") as caught:
        set_value(file, "context.max_tokens", "4096")
    assert caught.value.hint == "Remove it: zkchat config unset context"
    assert unset(file, "context")
    assert file.read_text() == ""


def test_a_write_that_fails_halfway_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    file.write_text(COMMENTED)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, hard))
    try:
        with pytest.raises(StorageError, match="could not be written"):
            set_value(file, "model", "another")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == COMMENTED
    assert [path.name for path in file.parent.iterdir()] == [file.name]


LAYOUTS = [
    "",
    "# only a comment",
    COMMENTED,
    'context = {threshold = 0.5}  # inline\nmodel = "x"\n',
    "context.threshold = 0.5\ncontext.reserve_tokens = 100 # dotted\n",
    "[ui]\n\n# about the context\n[context]\n\n[vault] # at the end\nexclude = [\n  'a', # one\n]",
    "# mine\r\n[context]\r\n[ui]\r\ncolor = 'auto'\r\n[openai]\r\nbase_url = ''\r\n",
]
CHANGES = [
    ("model", "ollama:qwen3:8b"),
    ("context.max_tokens", "4096"),
    ("context.threshold", "0.9"),
    ("vault.exclude", "a,b"),
    ("ui.color", "always"),
    ("ollama.host", "http://h:1"),
]


@given(layout=st.sampled_from(LAYOUTS), changes=st.lists(st.sampled_from(CHANGES), max_size=6))
@settings(deadline=None, max_examples=80)
def test_any_changes_to_any_layout_change_what_they_name_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, layout: str, changes: list[tuple[str, str]]
) -> None:
    file = tmp_path_factory.mktemp("edit") / "config.toml"
    file.write_bytes(layout.encode())
    expected = tomllib.loads(layout)
    for key, text in changes:
        value = set_value(file, key, text)
        *section, name = key.split(".")
        (expected.setdefault(section[0], {}) if section else expected)[name] = value
    assert tomllib.loads(file.read_text()) == expected
    kept = [line.partition("#")[2] for line in layout.splitlines() if "#" in line and "'a'" not in line]
    assert [comment for comment in kept if comment not in file.read_text()] == []
    assert not changes or (b"\r\n" in file.read_bytes()) == ("\r" in layout)


def test_a_whole_section_is_not_removed(file: Path) -> None:
    file.write_text("[context]\nmax_tokens = 4096\n")
    with pytest.raises(ConfigError):
        unset(file, "context")
    assert file.read_text() == "[context]\nmax_tokens = 4096\n"
