"""Words that deny a statement, by language; those of languages without spaces as regular expressions."""

from typing import Final

from zkchat.lexicon.words import by_code

NEGATORS: Final[dict[str, str]] = by_code("negators", spaced=True)
SECOND_NEGATORS: Final[dict[str, str]] = by_code("second_negators")
UNSPACED_NEGATORS: Final[dict[str, str]] = by_code("negators", spaced=False)
UNSPACED_WITHOUT_NEGATION: Final[dict[str, str]] = by_code("no_negation")
