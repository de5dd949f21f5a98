"""Words of a draft that speak of the draft itself or of where something stands, and state nothing."""

from typing import Final

ASIDES: Final = """
    summary short conclusion overall finally briefly answer hope helps help following below above let know question
    questions further need anything else here there welcome note notes sources source according based
    zusammenfassung kurz fazit insgesamt schließlich antwort hoffe hilft folgende unten oben frage fragen notizen quelle
    quellen laut
    résumé bref conclusion enfin réponse espère aide suivant question notes source sources selon
    resumen breve conclusión respuesta espero ayuda siguiente pregunta notas fuente fuentes según
    riassunto breve conclusione risposta spero aiuto seguente domanda note fonte fonti secondo
    resumo breve conclusão resposta espero ajuda seguinte pergunta notas fonte fontes segundo
    samenvatting kort conclusie antwoord hoop helpt volgende vraag notities bron bronnen volgens
    итак вкратце вывод ответ надеюсь поможет вопрос заметки источник согласно
"""
"""A sentence of nothing else introduces or ends a text."""

ATTRIBUTIONS: Final = (
    r"(?:according to|as stated in|as written in|based on|laut|nach|gemäß|selon|d['’]après|según|secondo|segundo|"
    r"conforme|volgens|согласно)"
)
"""Before the name of a note, at the beginning of a sentence."""

NOTES: Final = (
    r"(?:my|your|the|our|meinen|deinen|ihren|den|unseren|mes|vos|tes|les|nos|mis|tus|sus|las|mie|tue|le|minhas|suas|as|"
    r"mijn|je|uw|de|моим|вашим|твоим)\s+(?:notes?|notizen|notas|note|notities|заметкам)"
)

SAYINGS: Final = r"(?:says?|states?|notes|mentions?|writes?|sagen|sagt|disent|dit|dicen|dice|dizem|diz|zeggen|zegt)"
"""Between a note and what it says."""

SEE: Final = r"(?:see|siehe|vgl\.?|voir|véase|ver|vedi|zie|veja|cf\.?|см\.?|from|source|quelle)"
"""Before the name of a note, in brackets after a sentence."""
