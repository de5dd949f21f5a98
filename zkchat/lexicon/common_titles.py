"""What many notes are called that are named in a text by chance only, by language."""

from typing import Final

COMMON_TITLES: Final = """
    about archive area areas article articles book books card cards chapter chapters concept contact contacts
    dashboard definition diary document documents draft drafts event events example examples file files folder goal
    goals habit habits home idea ideas inbox index info introduction item items journal link links list lists log main
    meeting meetings memo misc moc name notebook note notes overview page pages people person plan plans practice
    problem process project projects question questions quote quotes readme reading reference references research
    resource resources review reviews routine start status study summary system tag tags task tasks template templates
    test text thing things thoughts title todo topic topics untitled update updates welcome work writing
    aufgabe aufgaben buch bücher entwurf fragen idee ideen liste notiz notizen person projekt projekte quelle quellen
    thema themen treffen übersicht vorlage zusammenfassung
    accueil idée idées livre livres liste notes page personne projet projets question réunion sujet tâche tâches
    archivo idea ideas libro libros lista nota notas página persona proyecto proyectos reunión resumen tarea tareas tema
    идея идеи книга книги заметка заметки задача задачи проект проекты список вопрос тема
"""
