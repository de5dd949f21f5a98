"""Numbers in words with their values, by language."""

from typing import Final

from zkchat.lexicon.words import by_code

NUMBER_WORDS: Final[dict[str, str]] = by_code("number_words")
