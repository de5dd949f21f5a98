"""The words by which people ask, and not what they ask about: "What do my notes say about sleep?" is about sleep."""

from functools import cache

from zkchat.vault.search.terms import LONGEST_QUESTION, asked_terms, placed_terms, terms
from zkchat.vault.stop_words import STOP_WORDS

_WORDS = """
    note notes noted say says tell mention mentions mentioned know knew known anything everything something explain
    describe summarise summarize summary list show give find wrote written think work works mean means information
    Notiz Notizen sagen sagt steht stehen weiß wissen erkläre erklären beschreibe fasse zusammen zeige nenne geschrieben
    mein meine meinen etwas alles bedeutet funktioniert
    nota notas dice dicen sé saber explica resume muestra escribí escrito mis algo todo significa funciona
    dit disent sais savoir explique résume montre écrit mes quelque tout signifie fonctionne
    dicono spiega riassumi mostra scritto miei qualcosa tutto funziona
    заметка заметки заметках говорят говорится сказано знаю объясни расскажи покажи написал написано моих
    значит работает
    我的笔记里关于说了什么 我知道什么 告诉我 怎么 如何 是什么
    私のメモには何が書いてありますか について教えて とは何ですか ノート
"""

_LONGEST = 80
"""Words of a name, or its letters and pairs of them: whoever sends more asks for no note by its name."""
_AROUND = 12
"""Words that only ask, before or after it, which may be part of it."""


@cache
def asking_terms() -> frozenset[str]:
    return frozenset(asked_terms(_WORDS))


def topics(question: str) -> list[str]:
    """What a question may be about, as it is written there, the longest first.

    The words at its ends that only ask may be part of a name: "What is in How to take notes?"
    """
    if len(question) > LONGEST_QUESTION:
        return []
    asking = asking_terms() | _stop_terms()
    words = [*placed_terms(question)]
    telling = [place for place, (_, _, term) in enumerate(words) if term not in asking]
    if not telling or telling[-1] - telling[0] > _LONGEST:
        return []
    starts = [start for start, _, _ in words[max(0, telling[0] - _AROUND) : telling[0] + 1]]
    ends = [end for _, end, _ in words[telling[-1] : telling[-1] + _AROUND]]
    return sorted([question[start:end] for start in starts for end in ends], key=len, reverse=True)


@cache
def _stop_terms() -> frozenset[str]:
    return frozenset(term for listed in STOP_WORDS.values() for term in terms(listed))
