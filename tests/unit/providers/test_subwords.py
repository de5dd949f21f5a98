from importlib.util import find_spec
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from zkchat.lexicon.stop_words import STOP_WORDS
from zkchat.providers.static_vectors import Subwords

WORDLLAMA = find_spec("wordllama")
assert WORDLLAMA
assert WORDLLAMA.origin
FILE = Path(WORDLLAMA.origin).parent / "tokenizers/l2_supercat_tokenizer_config.json"
WORDS = """
    memory sleep zettelkasten internationalisation häuser façade łódź straße œuvre naïve aaaaaaaa bananana x
    привет здравствуйте ελληνικά שלום العربية ไทย हिन्दी 日 龘 한 ｶ 🜁
"""


def test_words_are_cut_as_by_the_library_that_the_vectors_were_made_with() -> None:
    library, own = Tokenizer.from_file(str(FILE)), Subwords.from_file(FILE)
    for word in {*" ".join([WORDS, *STOP_WORDS.values()]).split()}:
        encoded = library.encode(word, add_special_tokens=False)
        expected = [(piece.strip("▁"), number) for piece, number in zip(encoded.tokens, encoded.ids, strict=True)]
        assert own.pieces(word) == expected, word


def test_pieces_that_were_learned_first_are_joined_first() -> None:
    own = Subwords({"<0x00>": 0, "bc": 300, "ab": 301, "▁": 303, "a": 304, "b": 305, "c": 306})
    assert own.pieces("abc") == [("", 303), ("a", 304), ("bc", 300)]


def test_a_letter_without_a_piece_is_written_in_bytes() -> None:
    assert Subwords({"<0x00>": 3, "▁": 300}).pieces("é") == [("", 300), ("<0xC3>", 198), ("<0xA9>", 172)]


@pytest.mark.parametrize("content", ["", "{}", '{"vocab": {"a": "b"}, "merges": []}', '{"vocab": {}, "merges": []}'])
def test_a_file_without_a_vocabulary_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises((ValueError, KeyError)):
        Subwords.from_file(tmp_path / "tokenizer.json")
