"""What people say of themselves: decisions, preferences, the first person; and what they only ask for."""

import re
from typing import Final

from zkchat.model.patterns import lazy_pattern

DECISIONS: Final = """
    decide decided decision agree agreed choose chose chosen prefer must need needs always never only deadline budget
    plan planned because instead important remember rule goal will promised
    entschieden entscheiden beschlossen entscheidung vereinbart muss müssen brauche brauchen immer nie niemals nur frist
    weil stattdessen wichtig regel ziel geplant soll
    décidé décision choisi préfère doit faut toujours jamais seulement délai parce important règle objectif prévu
    decidido decisión elegido prefiero debe hay siempre nunca solo plazo porque importante regla objetivo
    deciso decisione scelto preferisco deve bisogna sempre mai soltanto scadenza perché importante regola obiettivo
    decisão escolhido prefiro sempre apenas prazo regra
    besloten beslissing gekozen altijd nooit alleen omdat belangrijk afgesproken moet
    решили решил решила решено решение договорились выбрали нужно надо должен должна должны всегда никогда только срок
    потому важно правило цель
"""

FIRST_PERSON: Final = """
    i i'm i've i'd i'll my mine me we we're we've our ours us
    ich mein meine meinen meinem meiner mir mich wir unser unsere uns
    je j mon ma mes moi nous notre nos
    yo mi mis me nosotros nuestro nuestra
    io mio mia miei noi nostro nostra
    eu meu minha meus minhas nós nosso nossa
    ik mijn mij wij ons onze
    я мой моя мои мне меня мы наш наша наши нас нам
"""

UNSPACED_STATEMENTS: Final = (
    "我",
    "我们",
    "私",
    "僕",
    "俺",
    "저는",
    "나는",
    "决定",
    "決定",
    "決め",
    "결정",
    "必须",
    "必要",
    "ตัดสินใจ",
    "ฉัน",
    "ผม",
)
"""Decisions and the first person, in languages whose words are not set apart."""

PREFERENCES: Final = """
    like love hate enjoy use live work called name favourite favorite birthday allergic vegetarian
    mag liebe hasse nutze wohne arbeite heiße geburtstag bevorzuge
    aime déteste habite travaille appelle utilise gusta odio vivo trabajo llamo uso
"""

REQUEST: Final = lazy_pattern(
    r"[?？]|\b(?:(?:can|could|would|will) you|tell me|show me|help me|give me|let me|wonder\w*|please"
    r"|(?:want|need|like|love) (?:you|to (?:know|see|find|read|hear|understand|ask|learn))"
    r"|kannst du|könntest du|sag mir|zeig mir|hilf mir|gib mir|bitte|peux-tu|dis-moi|montre-moi|puedes|dime)\b",
    re.IGNORECASE,
)
"""A question or a request: it says nothing about the speaker."""
