"""The words of questions for tasks, beside those of `vault_questions`: "which tasks are due this week".

By language and by what they mean; between two bars stands a word or a phrase, without accents.
"""

from collections.abc import Mapping
from typing import Final

TASK_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "task": "tasks|todos|to-dos|to dos|to-do list|todo list|task list",
        "overdue": "overdue|past due|late",
        "due": "due|due in|due by|due on|scheduled for|to be done",
        "open": "open|unfinished|undone|incomplete|not done|left|outstanding|still open",
        "todo": "what do i have to do|what must i do|what do i need to do|what should i do|what is there to do",
    },
    "de": {
        "task": "aufgaben|todos|to-dos|to-do-liste|aufgabenliste",
        "overdue": "uberfallig|uberfallige|uberfalligen",
        "due": "fallig|fallige|falligen",
        "open": "offen|offene|offenen|noch offen|unerledigt|unerledigte|unerledigten",
        "todo": "was muss ich|was habe ich|was ist|was steht|was soll ich",
        "doing": "tun|zu tun|erledigen|zu erledigen|machen|an",
    },
    "fr": {
        "task": "taches|todos",
        "overdue": "en retard",
        "due": "a faire|dues|prevues|a rendre|pour",
        "open": "ouvertes|non terminees|pas terminees|inachevees|en cours|restantes",
        "todo": "que dois-je faire|qu'est-ce que je dois faire|qu'ai-je a faire|qu'est-ce que j'ai a faire",
    },
    "es": {
        "task": "tareas|pendientes",
        "overdue": "atrasadas|vencidas|retrasadas",
        "due": "vencen|para|previstas",
        "open": "abiertas|pendientes|sin terminar|por hacer",
        "todo": "que tengo que hacer|que debo hacer|que hay que hacer",
    },
    "pt": {
        "task": "tarefas|pendencias",
        "overdue": "atrasadas|vencidas|em atraso",
        "due": "vencem|para|previstas",
        "open": "abertas|pendentes|em aberto|por fazer|por terminar",
        "todo": "o que tenho que fazer|o que tenho de fazer|o que preciso fazer|o que devo fazer",
    },
    "zh": {
        "task": "任务|待办|待办事项",
        "overdue": "逾期|逾期的|过期|过期的|超期",
        "due": "到期|到期的|截止|要完成",
        "open": "未完成|未完成的|没完成|没有完成|没完成的|没有完成的",
        "todo": "要做什么|该做什么|需要做什么|有什么要做|要做的事",
    },
    "ja": {
        "task": "タスク",
        "overdue": "期限切れ|期限切れの|期限を過ぎた|遅れている",
        "due": "期限|期限の|が期限の|締め切りの|締め切り",
        "open": "未完了|未完了の|終わっていない|残っている",
        "todo": "やること|すること|しなければならないこと|何をすべき|やるべきこと",
    },
}
