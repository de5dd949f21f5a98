import re
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.context import tokens
from zkchat.chat.context.tokens import CachedTokenizer, Encoding, Estimate, tokenizer_for
from zkchat.core.errors import ConfigError


@pytest.mark.parametrize(
    ("encoding", "counts"),
    # Counts that OpenAI publishes in its cookbook.
    [("o200k_base", (6, 7, 8)), ("cl100k_base", (6, 7, 9))],
)
def test_a_shipped_encoding_counts_as_its_models_do(encoding: str, counts: tuple[int, ...]) -> None:
    texts = ("antidisestablishmentarianism", "2 + 2 = 4", "お誕生日おめでとう")
    assert tuple(map(Encoding(encoding).count, texts)) == counts


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_a_shipped_encoding_has_the_ranks_and_splits_as_tiktoken_says(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_public = import_module("tiktoken_ext.openai_public")  # it comes without types
    shipped = tokens.load_encoding(name)
    ranks = {shipped.decode_single_token_bytes(token): token for token in range(shipped.n_vocab)}

    def load(_url: str, expected_hash: str) -> dict[bytes, int]:
        assert expected_hash == tokens.DIGESTS[name]
        return ranks

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", load)
    defined = getattr(openai_public, name)()
    original = tiktoken.Encoding("original", pat_str=defined["pat_str"], mergeable_ranks=ranks, special_tokens={})
    choices = Random(20260301)
    for _ in range(2_000):
        text = "".join(choices.choices("ab'sS1.!/ \t\r\néЖ眠", k=choices.randint(1, 20)))
        assert shipped.encode_ordinary(text) == original.encode_ordinary(text), repr(text)


def test_a_special_token_in_a_note_is_plain_text() -> None:
    assert Encoding("o200k_base").count("<|endoftext|>") > 1


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_makes_a_count_fail(text: str) -> None:
    assert Encoding("o200k_base").count(text) >= 0
    assert Encoding("cl100k_base").count(text) >= 0
    assert Estimate().count(text) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "A title is a promise. " * 50,
        "Ein Titel ist ein Versprechen, das die Notiz einlösen muss. " * 30,
        "Заголовок заметки это обещание читателю. " * 30,
        "标题是对读者的承诺。" * 40,
        "タイトルは読者への約束です。" * 40,
    ],
)
def test_the_estimate_is_rather_high_than_low(text: str) -> None:
    exact = Encoding("o200k_base").count(text)
    assert exact * 0.95 <= Estimate().count(text) <= exact * 4


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=re.escape("There is no tokenizer 'p9000'.")) as caught:
        tokenizer_for("p9000")
    assert "o200k_base" in caught.value.hint


@pytest.mark.parametrize("text", [" " * 1_000_000, "x" + "\t\n" * 600_000 + "y"], ids=["spaces", "tabs and line ends"])
def test_a_million_blanks_are_counted(text: str) -> None:
    assert 0 < Encoding("o200k_base").count(text) < len(text)


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def with_another_byte(data: bytes) -> bytes:
    return data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]


@pytest.fixture
def encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy of the encodings, from which they are loaded anew."""
    copied = shutil.copytree(tokens.FOLDER, tmp_path / "encodings")
    monkeypatch.setattr(tokens, "FOLDER", copied)
    monkeypatch.setattr(tokens, "load_encoding", tokens.load_encoding.__wrapped__)
    return copied


TEXT = "Ein Titel ist ein Versprechen. 标题是承诺。"


@pytest.mark.parametrize("damage", [truncated, with_another_byte, lambda _data: b""])
def test_a_damaged_encoding_is_an_estimate_with_a_reason(encodings: Path, damage: Callable[[bytes], bytes]) -> None:
    file = encodings / "o200k_base.tiktoken"
    file.write_bytes(damage(file.read_bytes()))
    tokenizer = CachedTokenizer(Encoding("o200k_base"))
    assert (tokenizer.exact, tokenizer.problem) == (True, "")
    assert tokenizer.count(TEXT) == Estimate().count(TEXT)
    assert (tokenizer.exact, tokenizer.problem) == (
        False,
        "zkchat's file o200k_base.tiktoken is damaged.",
    )
    with pytest.raises(ConfigError, match="damaged"):
        tokens.check_encodings()
    assert Encoding("cl100k_base").count(TEXT) != Estimate().count(TEXT)


def test_a_missing_encoding_is_an_estimate_and_is_looked_for_once(
    encodings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (encodings / "o200k_base.tiktoken").unlink()
    tokenizer = Encoding("o200k_base")
    assert tokenizer.count(TEXT) == Estimate().count(TEXT)
    assert tokenizer.problem == "zkchat's file o200k_base.tiktoken cannot be read."
    monkeypatch.setattr(tokens, "load_encoding", None)
    assert tokenizer.count("hello") == Estimate().count("hello")


@pytest.mark.usefixtures("encodings")
def test_a_tiktoken_that_cannot_be_imported_is_an_estimate_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    tokenizer = Encoding("o200k_base")
    assert tokenizer.count(TEXT) == Estimate().count(TEXT)
    assert tokenizer.problem.startswith("The token counter cannot be loaded (")
    with pytest.raises(ConfigError, match="The token counter cannot be loaded"):
        tokens.check_encodings()
