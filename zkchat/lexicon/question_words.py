"""The words by which people ask, and not what they ask about: "What do my notes say about sleep?" is about sleep."""

from typing import Final

INTERROGATIVES: Final = {
    "english": """
        what which who whom whose when where why how many much kind type sort
    """,
    "german": """
        wie was welche welcher welches welchem welchen wer wen wem wann wo woher wohin warum wieso weshalb wofür
        womit wieviel viele heißt hieß lautet
    """,
    "french": """
        quel quelle quels quelles qui que quoi quand où comment pourquoi combien lequel laquelle lesquels est-ce
    """,
    "spanish": """
        qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas tipo llama llamaba
    """,
    "italian": """
        che cosa quale quali chi quando dove come perché quanto quanta quanti quante
    """,
    "portuguese": """
        que qual quais quem quando onde como quanto quanta quantos quantas porquê
    """,
    "dutch": """
        wat welke wie wanneer waar waarom hoe hoeveel soort
    """,
    "romanian": """
        ce cine când cum câte câți cât câtă unde cui care cărui cărei numele numește numea este sunt a de la în și
        pe din
    """,
    "turkish": """
        ne nedir neydi neyi neye neyin hangi kim kimdir kimdi kimin kaç nasıl nerede nereye niçin neden zaman tane
        tür türü ve bir bu için ile
    """,
    "vietnamese": """
        nào gì ai sao đâu bao nhiêu khi là của và có được trong những các cho
    """,
    "russian": """
        что кто кого кому кем чего чему какой какая какое какие каком каким какого какую каких какова когда где куда
        откуда почему зачем сколько как такое называется называются называлась
    """,
    "greek": """
        τι ποια ποιο ποιος ποιον ποιες ποιοι ποιου ποιας πότε πού πώς πόσο πόσα πόσες πόσοι γιατί τίνος είδους
        λέγεται
    """,
    "arabic": """
        ما ماذا من متى أين كم كيف لماذا أي أية هل الذي بماذا هو هي
    """,
    "hindi": """
        क्या कौन किस किसने किसके किसका किसकी किसे किन कब कहाँ कितने कितनी कितना कैसे क्यों सा सी
    """,
}
"""By language. They were learnt: words that are at least 2.5 times as frequent in the questions of XQuAD as in the
sentences that answer them, in each of its twelve languages. Names of things were struck out by hand, and the languages
that XQuAD does not have follow the others."""

REQUESTS: Final = {
    "english": """
        note notes noted say says said tell mention mentions mentioned know knew known anything everything something
        explain describe summarise summarize summary outline list show give find wrote written write think work
        works mean means information content contents overview please
        must might shall want wants ought supposed allowed
        difference differences differ compare compared comparison versus vs between
    """,
    "german": """
        Notiz Notizen sagen sagt steht stehen weiß wissen erkläre erklären erklär beschreibe fasse fass zusammen
        zeige zeig nenne geschrieben mein meine meinen meiner etwas alles bedeutet funktioniert Inhalt Überblick
        Zusammenfassung erzähl erzähle bitte
        muss müssen soll sollen sollte darf dürfen können könnte möchte will braucht
        Unterschied Unterschiede unterscheidet unterscheiden vergleiche Vergleich zwischen
    """,
    "french": """
        note notes dit disent sais savoir explique résume résumé résumer montre écrit mes quelque tout signifie
        raconte contenu parle fonctionne moi
        doit dois faut peut peux pouvoir devoir veux
        différence différences compare comparer comparaison entre
    """,
    "spanish": """
        nota notas dice dicen sé saber explica explícame resume resumen resúmeme muestra muéstrame escribí escrito
        mis algo todo significa cuéntame contenido háblame funciona
        debe debo deben puedo puede hay tengo tiene quiero hacer
        diferencia diferencias compara comparar comparación
    """,
    "italian": """
        nota note dice dicono so sapere spiega spiegami riassumi riassunto mostra mostrami scritto miei mie qualcosa
        tutto parlami funziona significa
        deve devo devono può posso bisogna voglio
        differenza differenze confronta confrontare confronto
    """,
    "portuguese": """
        nota notas diz dizem sei saber explica explique resuma resume resumo mostra mostre escrevi minhas meus tudo
        fala fale significa funciona
        deve devo devem pode posso preciso quero
        diferença diferenças compara comparar comparação
    """,
    "dutch": """
        notitie notities zeg zegt leg uit vat samen toon mijn vertel geschreven betekent werkt
        moet moeten mag mogen kunnen kun wil
        verschil verschillen vergelijk vergelijken tussen
    """,
    "russian": """
        заметка заметки заметках говорят говорится сказано знаю объясни расскажи покажи написал написано моих моей
        моём значит работает перескажи кратко изложи содержание
        можно нужно надо должен должна должны могу хочу
        разница отличие отличается отличаются сравни между
    """,
    "hindi": """
        टिप्पणी नोट नोट्स बताओ बताइए समझाओ समझाइए सारांश लिखा
    """,
}
"""What people say when they want to be told something, or speak of their notes, modal verbs, and what asks to
compare."""

CONNECTIVES: Final = """
    and or vs versus und oder et ou y o e ed en of и или
"""
"""Words between the names of notes that are asked about together."""

UNSPACED_CONNECTIVES: Final = "和与跟或とや"

UNSPACED: Final = """
    有什么区别 有什么不同 有何区别 的区别 区别 の違いは何ですか の違い 違い 차이점 차이
    我的笔记里关于 我的笔记 笔记里 说了什么 是什么时候 什么时候 为什么 是什么 叫什么 有什么 什么样 什么
    多少 哪一个 哪个 哪一 哪些 哪里 哪位 哪种 哪 何时 如何 怎么样 怎么 怎样 是谁 谁 几个
    请告诉我 告诉我 我知道 总结一下 总结 概括 介绍一下 介绍 解释 说明 请问 关于 吗 呢
    私のメモには何が書いてありますか について教えてください について教えて を教えてください を教えて
    教えてください 教えて とは何ですか は何ですか 何ですか とは何 について どのような どのくらい どれくらい
    どうやって どうして どこ どの どれ どう いつ いくつ いくら 誰が 誰 何を 何が 何の なぜ なに
    要約して まとめて 説明して ですか ますか でしょうか ください ノートに メモに เมื่อไหร่
    เมื่อไร เมื่อใด เท่าไหร่ เท่าไร เท่าใด อย่างไร ยังไง
    ที่ไหน ที่ใด อะไร ทำไม ใคร ไหน ใด กี่ สรุป อธิบาย
    무엇인가요 무엇 무슨 누구 언제 어디 어떻게 얼마나 얼마 어느 어떤 알려줘 설명해 요약해
"""
"""Both where no spaces are written (Chinese, Japanese, Thai, Korean), the longer before what is part of them."""
