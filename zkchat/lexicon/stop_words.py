"""Stop words by language: what people write around the words they look for."""

from typing import Final

from zkchat.lexicon.words import by_name

STOP_WORDS: Final = by_name("stop_words")
