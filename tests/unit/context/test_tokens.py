import re
import shutil
import sys
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
    assert Encoding(encoding).count("<|endoftext|>") > 1, "in a note it is plain text"


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
    for _ in range(300):
        text = "".join(choices.choices("ab'sS1.!/ \t\r\néЖ眠", k=choices.randint(1, 20)))
        assert shipped.encode_ordinary(text) == original.encode_ordinary(text), repr(text)


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(codec=None)))
def test_no_text_makes_a_count_fail(text: str) -> None:
    assert Encoding("o200k_base").count(text) >= 0
    assert Encoding("cl100k_base").count(text) >= 0
    assert Estimate().count(text) >= 0


@pytest.mark.parametrize(
    "text", ["A title is a promise. ", "Ein Titel ist ein Versprechen. ", "Заголовок это обещание. ", "标题是承诺。"]
)
def test_the_estimate_is_rather_high_than_low(text: str) -> None:
    exact = Encoding("o200k_base").count(text * 30)
    assert exact * 0.95 <= Estimate().count(text * 30) <= exact * 4


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=re.escape("There is no tokenizer 'p9000'.")) as caught:
        tokenizer_for("p9000")
    assert "o200k_base" in caught.value.hint


def test_a_million_blanks_are_counted() -> None:
    assert 0 < Encoding("o200k_base").count("x" + " " * 1_000_000 + "\t\n" * 1_000) < 1_000_000


@pytest.fixture
def encodings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a copy of the encodings, from which they are loaded anew."""
    copied = shutil.copytree(tokens.FOLDER, tmp_path / "encodings")
    monkeypatch.setattr(tokens, "FOLDER", copied)
    monkeypatch.setattr(tokens, "load_encoding", tokens.load_encoding.__wrapped__)
    return copied


TEXT = "Ein Titel ist ein Versprechen. 标题是承诺。"


@pytest.mark.parametrize(("is_there", "problem"), [(True, "is damaged."), (False, "cannot be read.")])
def test_an_encoding_that_is_damaged_or_gone_is_an_estimate_with_a_reason_and_looked_for_once(
    encodings: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool, problem: str
) -> None:
    file = encodings / "o200k_base.tiktoken"
    data = file.read_bytes()
    file.unlink()
    if is_there:
        file.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    tokenizer = CachedTokenizer(Encoding("o200k_base"))
    assert (tokenizer.exact, tokenizer.problem) == (True, "")
    assert tokenizer.count(TEXT) == Estimate().count(TEXT)
    assert (tokenizer.exact, tokenizer.problem) == (False, f"zkchat's file o200k_base.tiktoken {problem}")
    with pytest.raises(ConfigError, match=problem):
        tokens.check_encodings()
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
