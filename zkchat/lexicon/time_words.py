"""The words by which people say when something happens, by which they ask for that, and how a question ends."""

import re
from typing import Final

from zkchat.lexicon.words import of_all, phrases

ENDS_AS_QUESTION: Final = re.compile(r"(?:[?？؟]|[\u0370-\u03ff];|か[。．]?|吗[。．]?|嗎[。．]?|ไหม|มั้ย)\W*\Z")
"""At the end of a text. Greek asks with a semicolon."""
TIME_WORDS: Final = of_all("time_words", spaced=True)
UNSPACED_TIME_WORDS: Final = tuple(of_all("time_words", spaced=False).split())
ASKING_FOR_TIME: Final = of_all("asking_for_time", spaced=True)
UNSPACED_ASKING_FOR_TIME: Final = tuple(phrases(of_all("asking_for_time", spaced=False)))
