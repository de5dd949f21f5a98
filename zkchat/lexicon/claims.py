"""How facts are worded: what links a subject to its value, and which subjects have one value at a time."""

import re
from typing import Final

from zkchat.lexicon.words import any_of, of_all

FACT_STOP_WORDS: Final = of_all("fact_stop_words")
LINKING_VERB: Final = re.compile(
    rf"\s(?:{any_of('linking_verbs', spaced=True)})\s|\s*(?:[:：]\s|=|{any_of('linking_verbs', spaced=False)})",
    re.IGNORECASE,
)
ONE_PLACE_VERB: Final = re.compile(
    rf"\s(?:{any_of('one_place_verbs', spaced=True)})\s|{any_of('one_place_verbs', spaced=False)}", re.IGNORECASE
)
SINGLE_VALUED: Final = of_all("single_valued", spaced=True)
UNSPACED_SINGLE_VALUED: Final = tuple(of_all("single_valued", spaced=False).split())
ADDITIONS: Final = of_all("additions")
NEGATIONS: Final = of_all("fact_negations")
