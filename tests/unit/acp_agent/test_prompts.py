from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acp.helpers import embedded_blob_resource, embedded_text_resource, resource_block, resource_link_block, text_block
from acp.schema import AudioContentBlock

from tests.support.libraries import library_of
from zkchat.acp.prompts import Block, PromptReader
from zkchat.core.errors import UsageError
from zkchat.core.prompt import ModelInfo

NOTES = {
    "Sleep.md": "# Sleep\n\nSeven.\n",
    "Ideas/Öl & Ähre.md": "# Öl\n\nx\n",
    "Two/Same.md": "# a\n",
    "Same.md": "# b\n",
    "Diary.md": "---\nzkchat: local\n---\n",
    "data.csv": "a,b\n",
    "my data.csv": "a,b\n",
}


Read = Callable[..., tuple[str, tuple[str, ...]]]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prompts") / "vault"


@pytest.fixture(scope="module")
def read(vault: Path) -> Iterator[Read]:
    model = ModelInfo(provider="here", id="x", on_this_machine=True)
    with library_of(vault.parent, NOTES) as library:

        def of_blocks(*blocks: Block, most: int = 1000) -> tuple[str, tuple[str, ...]]:
            prompt = PromptReader(vault, library, model, local_globs=(), max_bytes=most).read(blocks)
            return prompt.text, prompt.notices

        yield of_blocks


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
def test_a_document_of_the_vault_is_named_as_if_it_was_typed(vault: Path, read: Read, path: str, link: str) -> None:
    assert read(resource_link_block("x", (vault / path).as_uri())) == (link, ())
    assert read(resource_link_block("x", str(vault / path)))[0] == link


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
def test_anything_else_is_not_read_and_the_user_is_told(vault: Path, read: Read, uri: str) -> None:
    text, notices = read(text_block("See "), resource_link_block("it", uri.format(vault=vault)))
    assert text == "See `it`"
    assert notices == ("it is not in this vault, so it was not read.",)


@pytest.mark.parametrize(
    ("fragment", "words"), [("L3:3", "line 3"), ("L3:5", "lines 3 to 5"), ("L3-L5", "lines 3 to 5"), ("x", "")]
)
def test_lines_are_told_in_words(vault: Path, read: Read, fragment: str, words: str) -> None:
    uri = f"{(vault / 'Sleep.md').as_uri()}#{fragment}"
    assert read(resource_link_block("x", uri))[0] == "[[Sleep]]" + (f" ({words})" if words else "")


def test_a_text_that_comes_along_stands_below_the_question(vault: Path, read: Read) -> None:
    embedded = resource_block(embedded_text_resource((vault / "Sleep.md").as_uri() + "#L3", "Seven."))
    assert read(resource_link_block("x", "https://example.org/a")) == ("https://example.org/a", ())
    text, _ = read(text_block("What is "), embedded, text_block("?"))
    assert text == "What is `Sleep.md, line 3`?\n\nSleep.md, line 3:\n```\nSeven.\n```"


def test_of_a_note_that_cannot_be_read_nothing_is_sent_to_any_model(vault: Path, read: Read) -> None:
    (vault / ".trash").mkdir(exist_ok=True)
    (vault / ".trash" / "Old.md").write_text("---\nzkchat: local\n---\nSeven.\n")
    selected = resource_block(embedded_text_resource((vault / ".trash" / "Old.md").as_uri(), "Seven."))
    text, notices = read(text_block("Hm? "), selected)
    assert text == "Hm?"
    assert notices == (".trash/Old.md is not a note that zkchat can read, so it was not sent.",)


def test_of_a_note_that_no_model_may_see_not_even_the_link_is_sent(vault: Path, read: Read) -> None:
    uri = (vault / "Sleep.md").as_uri()
    marked = [resource_block(embedded_text_resource(uri, f"---\nzkchat: {each}\n---\n")) for each in ("local", "never")]
    assert read(marked[0]) == ("[[Sleep]]", ())
    assert read(marked[1]) == ("", ("Sleep.md is private, so it was not sent.",))
    diary = embedded_text_resource((vault / "Diary.md").as_uri(), "---\nzkchat: never\n---\n")
    assert read(resource_block(diary)) == ("", ("Diary.md is private, so it was not sent.",))


def test_what_is_no_text_is_left_out(read: Read) -> None:
    blob = resource_block(embedded_blob_resource("file:///x/picture.png", "AAAA"))
    sound = AudioContentBlock(type="audio", data="AAAA", mime_type="audio/wav")
    text, notices = read(text_block("So?"), blob, sound)
    assert text == "So?"
    assert len(notices) == 2


def test_more_than_the_limit_is_refused(read: Read) -> None:
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        read(text_block("ä" * 6), most=10)
