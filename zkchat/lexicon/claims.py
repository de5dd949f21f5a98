"""How facts are worded: what links a subject to its value, and which subjects have one value at a time."""

import re
from typing import Final

from zkchat.model.patterns import lazy_pattern

FACT_STOP_WORDS: Final = (
    "a an the that please remember der die das ein eine dass bitte le la les un une que el los las una"
)

LINKING_VERB: Final = lazy_pattern(
    r"\s(?:is|are|was|were|ist|sind|war|heißt|lautet|est|sont|es|è|equals)\s|\s*(?:[:：]\s|=|是|は)", re.IGNORECASE
)
"""Between a subject and its value."""

ONE_PLACE_VERB: Final = lazy_pattern(
    r"\s(?:lives? in|live in|works? (?:at|for|in)|wohn\w* in|leb\w+ in|arbeite\w* (?:bei|für|in)|vivo en|vive en"
    r"|habite (?:à|en)|travaille (?:à|chez))\s|住在",
    re.IGNORECASE,
)
"""What somebody does in one place at a time."""

SINGLE_VALUED: Final = (
    "name birthday address phone number email mail job age deadline date time day budget price colour color "
    "favourite favorite language goal city home employer boss size version editor title capital rent salary "
    "geburtstag adresse nummer alter frist datum preis farbe sprache ziel stadt größe beruf lieblingsfarbe "
    "nom anniversaire adresse âge date prix couleur langue nombre cumpleaños edad fecha precio idioma"
)
"""Words for what a thing has one of at a time."""

UNSPACED_SINGLE_VALUED: Final = ("生日", "名字", "地址", "电话", "誕生日", "名前", "住所")

ADDITIONS: Final = "also too auch aussi también another sometimes manchmal 也"

NEGATIONS: Final = "not no never isn doesn don nicht kein keine nie pas jamais nunca 不 没"
