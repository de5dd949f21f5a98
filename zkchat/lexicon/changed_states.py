"""How notes tell that something has changed, and how questions ask for what changes."""

from typing import Final

UNSPACED_AMOUNT_ASKED: Final = (
    r"多少钱|多少|多长|多久|多高|(?:星期|周|月|年)?(?:几|幾)[月号点年]?"
    r"|いくつ|いくら|どれくらい|何(?:曜日|月|年|日|時|分)?"
)
"""How Chinese and Japanese ask for an amount or a time: letters that no answer repeats."""

NO_LONGER: Final = {
    "en": (r"\bno longer\b|\bnot any ?more\b", "not"),
    "de": (r"\bnicht mehr\b", "nicht"),
    "fr": (r"\bn(?:e |['’])(\w+) plus\b", r"ne \1 pas"),
    "es": (r"\bya no\b", "no"),
    "pt": (r"\b(?:já não|não mais)\b", "não"),
    "it": (r"\bnon (\w+) più\b", r"non \1"),
    "zh": ("不再", "不"),
    "ja": ("もう", ""),
}
"""That something has ended, by language: as a regular expression, and what denies it more plainly."""

UPDATE_WORDS: Final = """
    now currently still again new newly today already meanwhile anymore since
    jetzt nun inzwischen mittlerweile aktuell derzeit neu neue neuer neues neuen wieder noch weiterhin heute
    ab seit erst
    maintenant désormais actuellement nouveau nouvelle encore partir aujourd hui
    ahora desde actualmente nuevo nueva todavía hoy ya
    agora atualmente novo nova ainda hoje
    ora adesso attualmente nuovo nuova ancora oggi
    现 在 已 今 現 新
"""
"""Words that say when something holds, and nothing of what it is."""
