"""The words that tell whether a question asks for notes of a time: verbs in the past, notes and meetings, "last".

Words are in lower case and without accents. By language; of Chinese and Japanese, regular expressions.
"""

from collections.abc import Mapping
from typing import Final

PAST: Final[Mapping[str, str]] = {
    "en": "did was were had wrote came went said met saw made got took ate bought ran slept told thought gave found "
    "began spoke felt left paid sold sent spent built heard held kept knew lost led grew drank drove flew chose won "
    "have has been read done seen didn't wasn't haven't",
    "de": "habe haben hat hatte hatten war waren wurde wurden gab ging kam schrieb sagte machte traf stand las hast "
    "passiert passierte notiert geschah lief aßen assen sprach sprachen",
    "fr": "ai as avons avez ont etait etaient fut avait avais avions",
    "es": "he hemos habia fue fui fuimos hice hizo hicimos estuve estuvo tuve tuvo dije dijo puse vi vio fueron "
    "hicieron escribi anote apunte hable decidimos escribimos",
    "pt": "fiz fez fizemos fui foi fomos estive esteve tive teve disse havia tinha vi viu houve foram escrevi li "
    "decidi decidimos escrevemos comi",
}
"""Verbs that tell of the past, where their endings do not."""

PAST_ENDINGS: Final[Mapping[str, str]] = {
    "en": r"[a-z]{2,}ed",
    "de": r"(?:ge|[a-zäöü]{2,4}ge)[a-zäöüß]{2,}(?:t|en)",
    "fr": r"s'(?:est|était)(?:-\w+)*|(?:qu')?a-t-\w+",
    "es": r"(?!qué|aquí|allí|ahí|así|café|porqué)\w{2,}[éíó]|\w{2,}(?:aste|iste|aron|ieron)",
    "pt": r"(?!estou)\w{2,}(?:ei|ou|iu|aram|eram|iram)|\w{3,}eu",
}
"""Whole words in lower case, with their accents, as a regular expression."""

PRESENT: Final[Mapping[str, str]] = {
    "en": "is are am do does can could should would must may might will shall need needs be what's whats",
    "de": "ist sind kann konnen konnte soll sollte sollen muss mussen darf wird werden macht mache gibt heisst hat's "
    "bedeutet braucht brauche",
    "fr": "est sont peut peux dois doit devrais faut fait fais sera vais va c'est peut-on",
    "es": "es son puedo puede debo debe deberia hay esta estan hago voy sera significa tengo",
    "pt": "e sao posso pode devo deve deveria ha esta estao faco vou sera significa preciso",
}

MODALS: Final[Mapping[str, str]] = {
    "en": "should can could must may might shall would need",
    "de": "soll sollte muss kann konnte darf brauche",
    "fr": "dois devrais peux faut puis-je dois-je devrais-je",
    "es": "debo deberia puedo hay",
    "pt": "devo deveria posso preciso",
}
"""With them even "I" asks what holds at any time: what should I sow this month?"""

FIRST_PERSON: Final[Mapping[str, str]] = {
    "en": "i me my mine we us our ours i've we've i'm",
    "de": "ich mir mich mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem",
    "fr": "je j j' moi mon ma mes nous notre nos j'ai ai-je avons-nous",
    "es": "yo me mi mis nosotros nos nuestro nuestra nuestros nuestras",
    "pt": "eu me meu minha meus minhas nos nosso nossa nossos nossas",
}

EVENTS: Final[Mapping[str, str]] = {
    "en": "note notes entry entries diary journal log minutes meeting meetings call calls standup stand-up standups "
    "retro retrospective review appointment session sessions conversation talk visit interview workshop kickoff "
    "checkup check-in one-on-one sync demo",
    "de": "notiz notizen zettel eintrag eintrage tagebuch tagebucheintrag protokoll besprechung besprechungen treffen "
    "sitzung sitzungen termin termine gesprach gesprache anruf telefonat meeting meetings besuch interview workshop "
    "tagesnotiz retro standup",
    "fr": "note notes journal entree entrees reunion reunions rendez-vous appel entretien seance compte-rendu visite "
    "conversation atelier point",
    "es": "nota notas diario entrada entradas reunion reuniones cita llamada sesion acta visita conversacion "
    "entrevista taller junta",
    "pt": "nota notas anotacao anotacoes diario entrada entradas reuniao reunioes encontro chamada ligacao sessao ata "
    "visita conversa entrevista oficina consulta",
}
"""What has a date of its own: notes, and what notes are taken of."""

AMBIGUOUS_EVENTS: Final = "call calls talk review log visit sync demo point appel chamada llamada ligacao cita conversa"
"""Of these, what need not be an event: who is on call in week 49?"""

HAPPENED: Final[Mapping[str, str]] = {
    "en": "happen happened",
    "de": "passiert passierte geschah geschehen",
    "fr": "passe arrive",
    "es": "paso ocurrio sucedio",
    "pt": "aconteceu ocorreu passou",
}

NEWEST: Final[Mapping[str, str]] = {
    "en": "last latest newest most-recent",
    "de": "letzte letzten letzter letztes letztem neueste neuesten neuester neuestes jungste jungsten",
    "fr": "dernier derniere derniers dernieres",
    "es": "ultimo ultima ultimos ultimas",
    "pt": "ultimo ultima ultimos ultimas",
}
FIRST: Final[Mapping[str, str]] = {
    "en": "first earliest oldest",
    "de": "erste ersten erster erstes erstem alteste altesten altester altestes",
    "fr": "premier premiere",
    "es": "primer primera primero",
    "pt": "primeiro primeira",
}

LAST_TIME: Final[Mapping[str, str]] = {
    "en": r"(?:the )?last time(?: that)?|last(?= (?:write|wrote|talk|speak|mention|note|meet|see|discuss|read|visit"
    r"|call|do|update|change|work|think|go|eat|run|water|have|edit)\b)|most recently|(?<=did i )last|(?<=did we )last"
    r"|last(?=\s*[?]?$)",
    "de": r"zuletzt|(?:das |zum )letzten? mal|letztmals",
    "fr": r"(?:pour )?la derniere fois(?: que)?|en dernier",
    "es": r"(?:por |la )ultima vez(?: que)?",
    "pt": r"(?:pela |a )ultima vez(?: que)?",
}
"""That the newest is asked for."""

FIRST_TIME: Final[Mapping[str, str]] = {
    "en": r"(?:the |for the )?first time(?: that)?|first(?= (?:write|wrote|talk|speak|mention|note|meet|see|discuss"
    r"|read|visit)\b)",
    "de": r"zuerst|(?:das |zum )ersten? mal|erstmals",
    "fr": r"(?:pour )?la premiere fois(?: que)?",
    "es": r"(?:por |la )primera vez(?: que)?",
    "pt": r"(?:pela |a )primeira vez(?: que)?",
}

WHEN: Final[Mapping[str, str]] = {
    "en": r"when|what day|which day|what date|how long ago",
    "de": r"wann|an welchem tag|welchen tag",
    "fr": r"quand|quel jour|a quelle date",
    "es": r"cuando|que dia|en que fecha",
    "pt": r"quando|que dia|em que data",
}

EACH: Final[Mapping[str, str]] = {
    "en": "every each per any most",
    "de": "jeden jede jedes jeder jedem pro alle",
    "fr": "chaque par tous toutes",
    "es": "cada por todos todas",
    "pt": "cada por toda todo todas todos",
}
"""Before a time: it comes again and again."""

USUALLY: Final[Mapping[str, str]] = {
    "en": "usually always normally typically generally often every each",
    "de": "immer meist meistens normalerweise gewohnlich ublicherweise oft jeden jedes",
    "fr": "toujours d'habitude habituellement generalement normalement souvent chaque",
    "es": "siempre normalmente generalmente suelo habitualmente cada",
    "pt": "sempre normalmente geralmente costumo habitualmente cada",
}

ABOUT: Final[Mapping[str, str]] = {
    "en": "about regarding concerning called named titled",
    "de": "uber zu namens bezuglich",
    "fr": "sur concernant",
    "es": "sobre acerca",
    "pt": "sobre acerca",
}
"""What follows is what is asked about."""

CHANGES: Final[Mapping[str, str]] = {
    "en": "changed change changes modified edited updated",
    "de": "geandert verandert bearbeitet aktualisiert anderungen",
    "fr": "change modifie modifiees modifies edite mis",
    "es": "cambiado cambio cambiaron modificado modificadas editado actualizado",
    "pt": "mudou mudado modificado modificadas editado atualizado alterado",
}

ACTIVITY: Final[Mapping[str, str]] = {
    "en": "write wrote written writing note notes noted entry entries happen happened happening do did done jot jotted "
    "record recorded log logged add added worked work change changed mention mentioned talk talked notice noticed "
    "going went on up last time have i my me we our s say said put down",
    "de": "schrieb geschrieben schreiben notiz notizen notiert notieren eintrag eintrage passiert passierte geschah "
    "gemacht machte getan festgehalten erwahnt gesagt gearbeitet geandert aufgeschrieben vermerkt gesprochen ich mein",
    "fr": "ecrit ecrite ecrites ecrire note notes note notees passe fait arrive mentionne dit consigne travaille "
    "change parle ai-je j'ai ai s'est fois",
    "es": "escribi escrito escribir nota notas anote anotado apunte apuntado paso pasado ocurrio sucedio hice hecho "
    "dije mencione trabaje hable registre hicimos vez",
    "pt": "escrevi escrito escrever nota notas anotei anotado anotacoes aconteceu fiz feito disse mencionei trabalhei "
    "falei registrei passou fizemos vez",
}
"""What people do with notes, and at any time: it says nothing of what they are about."""

OWN_WRITING: Final[Mapping[str, str]] = {
    "en": "write wrote written writing jot jotted noted",
    "de": "schrieb schrieben schreibe geschrieben notiert notierte aufgeschrieben festgehalten",
    "fr": "ecrit ecrite ecrites ecrivais ecrire note notee",
    "es": "escribi escribimos anote anotamos apunte apuntamos",
    "pt": "escrevi escrevemos anotei anotamos",
}
"""With "I" or "we": what the user wrote."""
WITHOUT_PRONOUN: Final = frozenset({"es", "pt"})
"""Languages in which the verb alone says who."""
UNSPACED_OWN_WRITING: Final = "^(?!.*[谁誰])(?:.*(?:写了|写过|寫了|寫過|書いた|書きました))"

PARTS_OF_DAY: Final = (
    "night morning evening afternoon noon abend morgen nachmittag vormittag mittag nacht fruh soir matin midi noche "
    "tarde manana noite manha"
)

UNSPACED_PAST: Final = "写|書|了|过|過|た(?!い)|ました|だった|写的|做的|書いた|発生"
UNSPACED_EVENTS: Final = (
    "笔记|筆記|日记|日記|日志|会议|會議|例会|周会|记录|讨论|约会|面谈"
    "|ノート|メモ|会議|打ち合わせ|ミーティング|面談|記録"
)
UNSPACED_FIRST_PERSON: Final = "我|咱|私|僕|俺|自分"
UNSPACED_USUALLY: Final = "每|毎|通常|一般|总是|總是|平时|往往|いつも|普段|たいてい"
UNSPACED_NEWEST: Final = (
    "最后一次|最後一次|最近一次|上一次|上次|最新的?一?[次篇]?|最後に|前回の?|この前の?|最新の|一番最近の?|直近の"
    rf"|(?:最後の|最后的|最後的|最近的)(?=[^，。、？！?!]{{0,12}}(?:{UNSPACED_EVENTS}))"
)
UNSPACED_FIRST: Final = "第一次|最早的?|首次|最初の?に?|初めて|一番古い"
UNSPACED_WHEN: Final = "什么时候|什麼時候|何时|何時|哪天|哪一天|几号|いつ|何日"
UNSPACED_ABOUT_BEFORE: Final = "关于|關於|叫做?|名为"
UNSPACED_ABOUT_AFTER: Final = "について|に関する|という|の歴史|的历史|的歷史"
UNSPACED_CHANGES: Final = "改了|修改|变更|更新|编辑|变化|変更|編集"
UNSPACED_ACTIVITY: Final = (
    "写了|写过|写的|写|書いた|書きました|書い|記録した|记录了|记了|记下|发生了|发生|做了|做过|做|起きた|あった|ありました"
    "|した|しました|やった|说了|提到了|提到|什么时候|什么|什麼|哪些|何を|何が|なに|いつ|我|私|は|の|笔记|ノート|メモ|日記|日记|事|了"
)
