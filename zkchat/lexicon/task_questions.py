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
        "remaining": "what do i still have to do|what do i still need to do|what must i still do|what is still to do|"
        "what's still to do|what is left to do|what's left to do|what remains to be done|what is still to be done",
        "within": "in|of|for|from|on|about",
    },
    "de": {
        "task": "aufgaben|todos|to-dos|to-do-liste|aufgabenliste",
        "overdue": "uberfallig|uberfallige|uberfalligen",
        "due": "fallig|fallige|falligen",
        "open": "offen|offene|offenen|noch offen|unerledigt|unerledigte|unerledigten",
        "todo": "was muss ich|was habe ich|was ist|was steht|was soll ich",
        "doing": "tun|zu tun|erledigen|zu erledigen|machen|an",
        "remaining": "was ist noch zu tun|was muss ich noch tun|was muss ich noch machen|was muss ich noch erledigen|"
        "was habe ich noch zu tun|was bleibt noch zu tun|was bleibt zu tun|was ist noch zu erledigen",
        "within": "in|von|fur|aus|bei|zu",
    },
    "fr": {
        "task": "taches|todos",
        "overdue": "en retard",
        "due": "a faire|dues|prevues|a rendre|pour",
        "open": "ouvertes|non terminees|pas terminees|inachevees|en cours|restantes",
        "todo": "que dois-je faire|qu'est-ce que je dois faire|qu'ai-je a faire|qu'est-ce que j'ai a faire",
        "remaining": "que reste-t-il a faire|que me reste-t-il a faire|qu'est-ce qu'il reste a faire",
        "within": "dans|de|pour",
    },
    "es": {
        "task": "tareas|pendientes",
        "overdue": "atrasadas|vencidas|retrasadas",
        "due": "vencen|para|previstas",
        "open": "abiertas|pendientes|sin terminar|por hacer",
        "todo": "que tengo que hacer|que debo hacer|que hay que hacer",
        "remaining": "que queda por hacer|que me queda por hacer|que falta por hacer|que falta hacer",
        "within": "en|de|para",
    },
    "pt": {
        "task": "tarefas|pendencias",
        "overdue": "atrasadas|vencidas|em atraso",
        "due": "vencem|para|previstas",
        "open": "abertas|pendentes|em aberto|por fazer|por terminar",
        "todo": "o que tenho que fazer|o que tenho de fazer|o que preciso fazer|o que devo fazer",
        "remaining": "o que falta fazer|o que ainda falta fazer|o que ainda tenho que fazer|o que ainda tenho de fazer",
        "within": "em|de|para",
    },
    "zh": {
        "task": "任务|待办|待办事项",
        "overdue": "逾期|逾期的|过期|过期的|超期",
        "due": "到期|到期的|截止|要完成",
        "open": "未完成|未完成的|没完成|没有完成|没完成的|没有完成的",
        "todo": "要做什么|该做什么|需要做什么|有什么要做|要做的事",
        "remaining": "还有什么要做|还要做什么|还剩什么要做|还有什么没做",
        "within": "里|中|的",
    },
    "ja": {
        "task": "タスク",
        "overdue": "期限切れ|期限切れの|期限を過ぎた|遅れている",
        "due": "期限|期限の|が期限の|締め切りの|締め切り",
        "open": "未完了|未完了の|終わっていない|残っている",
        "todo": "やること|すること|しなければならないこと|何をすべき|やるべきこと",
        "remaining": "まだやること|まだ何をすべき|残っていること|あと何をすれば",
        "within": "の|で|に",
    },
}
