"""Small words that say how much a sentence matters, and those it can do without, by language."""

DISPENSABLE = {
    "en": "a an the is are was were be been being am do does did has have had of that this these those it its it's "
    "there there's just really very so such quite actually basically literally simply also and then "
    "oh wow yeah yes hey hi hello ok okay please definitely absolutely totally sure great i'm i've you're we're",
    "de": "der die das den dem des ein eine einen einem einer eines ist sind war waren bin sein hat haben habe hatte "
    "wird werden wurde dass es auch und dann so sehr ja doch mal eben halt schon nun also eigentlich wirklich einfach "
    "bitte hallo ok okay natürlich gern gerne",
    "fr": "le la les l un une des du de d est sont était été être a ai as ont avait ce c cet cette ces que qu il y et "
    "alors très vraiment juste aussi bien donc oui bonjour salut merci voilà s'il ok",
    "es": "el la los las un una unos unas de del es son era fue ser ha han había que esto eso este esta y entonces muy "
    "realmente solo también bien pues sí hola gracias claro vale ok",
    "it": "il lo la i gli le l un uno una di del della dei delle è sono era essere ha hanno aveva che questo questa "
    "ciò e ed allora molto davvero proprio anche bene sì ciao grazie certo ok",
    "pt": "o a os as um uma uns umas de do da dos das é são era foi ser tem têm tinha que isso isto este esta e então "
    "muito realmente só também bem sim olá obrigado obrigada claro ok",
    "nl": "de het een is zijn was waren ben heeft hebben had wordt worden dat dit die en dan zo heel erg wel ook nou "
    "eigenlijk gewoon echt ja hallo hoi dank ok",
    "ru": "это этот эта эти то тот и а же ли бы был была было были есть быть так очень просто ну вот тоже также "
    "действительно привет спасибо пожалуйста да ладно ок",
}
"""Articles, forms of `to be` and `to have`, fillers: without them a sentence is a telegram and says the same."""

DECIDED = """
    decide decided decision agree agreed choose chose chosen prefer must need needs always never only deadline budget
    plan planned because instead important remember rule goal will promised
    entschieden entscheiden beschlossen entscheidung vereinbart muss müssen brauche brauchen immer nie niemals nur frist
    weil stattdessen wichtig regel ziel geplant soll
    décidé décision choisi préfère doit faut toujours jamais seulement délai parce important règle objectif prévu
    decidido decisión elegido prefiero debe hay siempre nunca solo plazo porque importante regla objetivo
    deciso decisione scelto preferisco deve bisogna sempre mai soltanto scadenza perché importante regola obiettivo
    decisão escolhido prefiro sempre apenas prazo regra
    besloten beslissing gekozen altijd nooit alleen omdat belangrijk afgesproken moet
    решили решил решила решено решение договорились выбрали нужно надо должен должна должны всегда никогда только срок
    потому важно правило цель
"""

OWN = """
    i i'm i've i'd i'll my mine me we we're we've our ours us
    ich mein meine meinen meinem meiner mir mich wir unser unsere uns
    je j mon ma mes moi nous notre nos
    yo mi mis me nosotros nuestro nuestra
    io mio mia miei noi nostro nostra
    eu meu minha meus minhas nós nosso nossa
    ik mijn mij wij ons onze
    я мой моя мои мне меня мы наш наша наши нас нам
"""

TOLD_WITHOUT_SPACES = (
    "我",
    "我们",
    "私",
    "僕",
    "俺",
    "저는",
    "나는",
    "决定",
    "決定",
    "決め",
    "결정",
    "必须",
    "必要",
    "ตัดสินใจ",
    "ฉัน",
    "ผม",
)
"""Decisions and the first person, in languages whose words are not set apart."""

GREETING = """
    hi hey hello thanks thank welcome bye goodbye cheers great sure okay ok wow cool nice awesome congrats sorry haha
    hallo hi danke bitte tschüss gerne super klar genau
    bonjour salut merci bienvenue hola gracias adiós ciao grazie prego olá obrigado obrigada
    hoi dank bedankt привет здравствуйте спасибо пожалуйста пока
    你好 谢谢 こんにちは ありがとう 안녕하세요 감사합니다
"""
