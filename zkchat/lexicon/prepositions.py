"""Articles and prepositions, by language: what tells the part that a noun has in a sentence."""

from typing import Final

ARTICLES: Final = (
    "a an the der die das den dem des ein eine einen einem einer eines le la les l un une el los las una il lo gli i o "
    "os as um uma de het een"
)
PREPOSITIONS: Final = {
    "en": "of in on at by for from to with into onto about through during within behind beside like as",
    "de": "in im ins an am ans auf aus bei beim mit von vom zu zum zur für durch um neben hinter wie als aus",
    "fr": "de du des d à au aux en dans par pour sur avec chez comme",
    "es": "de del en a al por para con como",
    "it": "di del della dei delle in nel nella a al alla da dal dalla per con su sul sulla come",
    "pt": "de do da dos das em no na nos nas a ao à por pelo pela para com como",
    "nl": "van in op aan bij met naar uit door om te als",
    "ru": "в во на с со к ко по о об от из у за для при через как",
}
"""Without those that relate two statements, such as "before"."""
