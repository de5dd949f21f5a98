"""The words by which people ask, and not what they ask about: "What do my notes say about sleep?" is about sleep."""

from typing import Final

QUESTION_WORDS: Final = """
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
