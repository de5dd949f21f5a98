from collections.abc import Iterator
from pathlib import Path

import pytest
from acp.helpers import (
    embedded_blob_resource,
    embedded_text_resource,
    resource_block,
    resource_link_block,
    text_block,
)
from acp.schema import AudioContentBlock

from tests.support.libraries import library_of
from zkchat.acp.prompts import Block, PromptReader
from zkchat.core.errors import UsageError
from zkchat.core.prompt import ModelInfo
from zkchat.index.library import Library

NOTES = {
    "Sleep.md": "# Sleep\n\nSeven.\n",
    "Ideas/Öl & Ähre.md": "# Öl\n\nx\n",
    "Two/Same.md": "# a\n",
    "Same.md": "# b\n",
    "data.csv": "a,b\n",
    "my data.csv": "a,b\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompts")


@pytest.fixture(scope="module")
def library(root: Path) -> Iterator[Library]:
    with library_of(root, NOTES) as opened:
        yield opened


@pytest.fixture
def vault(root: Path) -> Path:
    return root / "vault"


def read(vault: Path, library: Library, *blocks: Block, most: int = 1000) -> tuple[str, tuple[str, ...]]:
    model = ModelInfo(provider="here", id="x", on_this_machine=True)
    prompt = PromptReader(vault, library, model, local_globs=(), max_bytes=most).read(blocks)
    return prompt.text, prompt.notices


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("Sleep.md", "[[Sleep]]"),
        ("Ideas/Öl & Ähre.md", "[[Öl & Ähre]]"),
        ("Two/Same.md", "[[Two/Same]]"),
        ("data.csv", "@data.csv"),
        ("my data.csv", '@"my data.csv"'),
    ],
)
def test_a_document_of_the_vault_is_named_as_if_it_was_typed(
    vault: Path, library: Library, path: str, link: str
) -> None:
    assert read(vault, library, resource_link_block("x", (vault / path).as_uri())) == (link, ())
    assert read(vault, library, resource_link_block("x", str(vault / path)))[0] == link


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/hostname",
        "file://server/share/Sleep.md",
        "untitled:1",
        "{vault}/../vault2/x.md",
        "{vault}/nothing.md",
        "file:///a%00b",
        "file://[::1",
    ],
)
def test_anything_else_is_not_read_and_the_user_is_told(vault: Path, library: Library, uri: str) -> None:
    text, notices = read(vault, library, text_block("See "), resource_link_block("it", uri.format(vault=vault)))
    assert text == "See `it`"
    assert notices == ("it is not in this vault, so it was not read.",)


@pytest.mark.parametrize(
    ("fragment", "words"),
    [("L3:3", "line 3"), ("L3:5", "lines 3 to 5"), ("L3-L5", "lines 3 to 5"), ("x", "")],
)
def test_lines_are_told_in_words(vault: Path, library: Library, fragment: str, words: str) -> None:
    uri = f"{(vault / 'Sleep.md').as_uri()}#{fragment}"
    assert read(vault, library, resource_link_block("x", uri))[0] == "[[Sleep]]" + (f" ({words})" if words else "")


def test_a_text_that_comes_along_stands_below_the_question(vault: Path, library: Library) -> None:
    embedded = resource_block(embedded_text_resource((vault / "Sleep.md").as_uri() + "#L3", "Seven."))
    assert read(vault, library, resource_link_block("x", "https://example.org/a")) == ("https://example.org/a", ())
    text, _ = read(vault, library, text_block("What is "), embedded, text_block("?"))
    assert text == "What is `Sleep.md, line 3`?\n\nSleep.md, line 3:\n```\nSeven.\n```"


def test_of_a_note_that_cannot_be_read_nothing_is_sent_to_any_model(vault: Path, library: Library) -> None:
    (vault / ".trash").mkdir(exist_ok=True)
    (vault / ".trash" / "Old.md").write_text("---\nzkchat: local\n---\nSeven.\n")
    selected = resource_block(embedded_text_resource((vault / ".trash" / "Old.md").as_uri(), "Seven."))
    text, notices = read(vault, library, text_block("Hm? "), selected)
    assert text == "Hm?"
    assert notices == (".trash/Old.md is not a note that zkchat can read, so it was not sent.",)


def test_what_is_no_text_is_left_out(vault: Path, library: Library) -> None:
    blob = resource_block(embedded_blob_resource("file:///x/picture.png", "AAAA"))
    sound = AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav")
    text, notices = read(vault, library, text_block("So?"), blob, sound)
    assert text == "So?"
    assert len(notices) == 2


def test_more_than_the_limit_is_refused(vault: Path, library: Library) -> None:
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        read(vault, library, text_block("ä" * 6), most=10)
