"""Words before those whom one met or talked to."""

COMPANY: dict[str, str] = {
    "en": "with",
    "de": "mit",
    "fr": "avec",
    "es": "con",
    "pt": "com",
    "it": "con",
    "nl": "met",
}
ARTICLES = """
    a an the my our his her their
    der die das dem den des ein eine einem einer einen mein meine meinem meiner meinen unser unsere unserem unserer
    le la les l un une mon ma mes notre nos
    el los las una mi mis nuestro nuestra nuestros
    o os as um uma meu minha meus nosso nossa
    il lo gli i mio mia nostro nostra
    de het een mijn onze
"""
"""Words that may stand between them and a name."""
CONJUNCTIONS = "and und et y e en"
"""Words between two names."""
UNSPACED_COMPANY = (
    r"(?:和|与|與|跟|同)\s*(?P<name>[^\s的和与與跟，。？！]{1,12}?)\s*(?:的|一起|开|開|见|見|讨论|討論|谈|談|聊)",
    r"(?P<name>[^\s、。？！のはがをにでと]{1,12}?)\s*(?:さん|君|くん|ちゃん|様|氏|先生)?\s*と(?:の|会|話|打)",
)
"""Patterns of a name between such words, in Chinese and Japanese."""
