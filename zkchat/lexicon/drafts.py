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
    r"(?:according to|as stated in|as written in|based on|per|in|from|see|laut|nach|gemäß|siehe|selon|d['’]après|voir|"
    r"según|ver|secondo|vedi|segundo|conforme|volgens|zie|согласно|по|см\.)"
)
"""Before the name of a note."""
