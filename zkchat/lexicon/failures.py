"""Words by which people ask what went wrong, and signs of failure in what programs write."""

from typing import Final

from zkchat.lexicon.words import of_all, phrases

FOR_A_FAILURE: Final = of_all("for_a_failure", spaced=True)
FOR_A_SUCCESS: Final = of_all("for_a_success")
UNSPACED_FOR_A_FAILURE: Final = of_all("for_a_failure", spaced=False)
SIGNS_OF_FAILURE: Final = tuple(phrases(of_all("signs_of_failure")))
