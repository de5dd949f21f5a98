"""Words of questions that ask for a number, for a time or for a list."""

from typing import Final

from zkchat.lexicon.words import of_all

FOR_A_NUMBER: Final = of_all("for_a_number", spaced=True)
DEGREES: Final = of_all("degrees")
FOR_A_TIME: Final = of_all("for_a_time", spaced=True)
FOR_A_LIST: Final = of_all("for_a_list", spaced=True)
HOW_TO: Final = of_all("how_to")
UNSPACED_FOR_A_NUMBER: Final = of_all("for_a_number", spaced=False)
UNSPACED_FOR_A_TIME: Final = of_all("for_a_time", spaced=False)
UNSPACED_FOR_A_LIST: Final = of_all("for_a_list", spaced=False)
