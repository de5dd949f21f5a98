"""Words of questions that ask for a number, for a time or for a list."""

from typing import Final

FOR_A_NUMBER: Final = """
    many much long far tall high heavy old fast hot cold cost costs price number percentage often
    viel viele wieviel lange weit hoch schwer alt oft kostet kosten Preis Anzahl
    combien coûte prix nombre longtemps temps
    cuánto cuánta cuántos cuántas cuesta precio número tiempo
    quanto quanta quanti quante costa prezzo numero quantos quantas custa preço tempo
    hoeveel lang kost prijs
    сколько долго далеко цена стоит часто
    कितना कितने कितनी
    kaç câte câți cât πόσο πόσα πόσες πόσοι كم bao nhiêu
"""

DEGREES: Final = """
    how wie wieviel hoe combien cuánto cuánta cuántos cuántas quanto quanta quanti quante quantos quantas сколько как
    насколько
"""
"""A word for a number asks only, and tells nothing, after one of these: "how long", "wie hoch", "cuánto tiempo"."""

FOR_A_TIME: Final = """
    when date day year time until since
    wann datum tag jahr uhr bis seit
    quand date jour année heure
    cuándo fecha día año hora
    quando data giorno anno ora dia ano
    wanneer datum dag jaar
    когда дата день год время
    कब
    zaman când πότε متى
"""

UNSPACED_FOR_A_NUMBER: Final = (
    "多少 几 多久 多长 多高 いくつ いくら 何分 何度 何本 何人 どのくらい どれくらい กี่ เท่าไร เท่าไหร่ 몇 얼마"
)

UNSPACED_FOR_A_TIME: Final = "什么时候 何时 几点 哪天 哪年 哪一年 いつ 何時 何日 何年 เมื่อไร เมื่อไหร่ 언제"

FOR_A_LIST: Final = """
    step steps list lists ingredient ingredients checklist items
    Schritt Schritte Liste Zutaten Checkliste
    étape étapes liste ingrédients
    paso pasos lista ingredientes
    passo passi ingredienti passos
    stap stappen lijst
    шаг шаги список ингредиенты
"""

HOW_TO: Final = """
    how do|how to|how can|how should|how does one|what do i need|what should go
    wie mache|wie setze|wie richte|wie kann|wie bekomme|was brauche|was kommt
    comment faire|comment puis|comment je
    cómo se|cómo puedo|cómo hago
    come si|come faccio|como se|como faço
    hoe maak|hoe kan
    как сделать|как приготовить
"""
"""Phrases that ask for steps or things, between line ends and bars."""

UNSPACED_FOR_A_LIST: Final = "步骤 材料 清单 怎么做 手順 材料 一覧 ขั้นตอน ส่วนผสม"
