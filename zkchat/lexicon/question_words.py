"""The words by which people ask, and not what they ask about: "What do my notes say about sleep?" is about sleep."""

from typing import Final

from zkchat.lexicon.words import by_name, of_all

INTERROGATIVES: Final = by_name("interrogatives")
REQUESTS: Final = by_name("requests")
CONNECTIVES: Final = of_all("connectives", spaced=True)
UNSPACED_CONNECTIVES: Final = "".join(of_all("connectives", spaced=False).split())
UNSPACED: Final = of_all("asking_phrases")
