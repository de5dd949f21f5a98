"""What people say to a model without asking for anything that stands in notes: greetings, thanks, "shorter, please"."""

from typing import Final

from zkchat.lexicon.words import of_all

GREETINGS: Final = of_all("greetings", spaced=True)
UNSPACED_GREETINGS: Final = of_all("greetings", spaced=False)
ABOUT_THE_ANSWER: Final = of_all("about_the_answer")
PHRASES: Final = of_all("small_talk")
