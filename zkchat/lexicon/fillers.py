"""Words that a sentence can do without, by language."""

from typing import Final

from zkchat.lexicon.words import by_code

FILLERS: Final[dict[str, str]] = by_code("fillers")
