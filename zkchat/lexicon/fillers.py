"""Words that a sentence can do without, by language."""

from typing import Final

FILLERS: Final = {
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
"""Articles, forms of `to be` and `to have`, fillers: a sentence without them is shorter and says the same."""
