"""Everyday words that say the same, by language: a group between bars or line ends."""

from typing import Final

from zkchat.lexicon.words import by_name

SYNONYMS: Final = by_name("synonyms")
