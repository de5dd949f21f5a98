"""What people say to a model without asking for anything that stands in notes: thanks, go on, shorter please."""

from functools import cache

from zkchat.context.cues import GREETING
from zkchat.vault.search.terms import asked_terms, asked_words, stem, words
from zkchat.vault.stop_words import STOP_WORDS

_ABOUT_THE_ANSWER = """
    lot much help helps helped helpful perfect good fine well done right wrong true understood got see interesting yes
    again continue go going more less short shorter longer brief briefer simpler explain translate rewrite rephrase
    repeat summarise summarize please answer try sentence sentences word words bullet bullets list table english german
    french spanish morning evening afternoon night day days today tomorrow name write think sense understand example
    examples point points first second third last elaborate idea opinion mean means detail details sound sounds
    mehr weniger kurz kürzer länger weiter nochmal noch verstanden perfekt gut prima toll hilft geholfen
    viel vielen hilfreich kannst könntest erklär erkläre erklären übersetz übersetze übersetzen wiederhole
    mach fass zusammen richtig falsch stimmt ja nein deutsch englisch satz
    sätze wort worte guten morgen abend tag
    plus moins court long encore continue parfait compris bien aide beaucoup explique traduis répète résume phrase oui
    non jour soir
    más menos corto largo vez continúa perfecto entendido bien ayuda mucho muchas explica traduce repite resume frase
    buenos buenas días tardes noches sí
    più meno breve lungo ancora continua perfetto capito bene aiuta molto spiega traduci ripeti riassumi frase
    buongiorno
"""


def telling_terms(text: str) -> frozenset[str]:
    """The terms that tell what a message is about; none where it is smalltalk."""
    small, unspoken = _small_words(), _stop_words()
    return frozenset(term for word in asked_words(text) if word not in unspoken and (term := stem(word)) not in small)


@cache
def _small_words() -> frozenset[str]:
    return frozenset(asked_terms(GREETING + _ABOUT_THE_ANSWER))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for listed in STOP_WORDS.values() for word in words(listed))
