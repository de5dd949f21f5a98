"""The words of questions about the vault itself: "which notes changed this week", "notes tagged x", "broken links".

By language and by what they mean; between two bars stands a word or a phrase, without accents. A question is one about
the vault only if all its words are among these, so what is missing here costs an answer and never a wrong one.
"""

from collections.abc import Mapping
from typing import Final

from zkchat.lexicon.vault_questions_unspaced import CHINESE, JAPANESE

ENGLISH: Final = {
    "ask": """
        which|what|whats|what's|who's|i|i've|my|me|mine|we|our|you|the|a|an|of|in|at|by|and|are|is|was|were|be
        been|being|has|have|had|do|does|did|that|this|these|those|there|any|some|all|every|everything|anything
        please|can|could|would|will|it|its|their|currently|now|named|called|so far|only|just|also|right now
        what are the|what are my|what is the|what is my|what's my|what's the|which are|in total|altogether|here
        within|exist|either|from|my own
    """,
    "define": "what is|what are|what's|whats|what is a|what is an|what's a|what's an",
    "list": "list|show|show me|give me|display|print|find|find me|tell me|get|let me see|i want to see",
    "note": "notes|markdown files|zettel|files|markdown notes|my notes",
    "vault": "vault|zettelkasten|notebook|knowledge base|collection of notes|note collection",
    "changed": """
        changed|change|changes|modified|modify|edited|edit|updated|update|touched|touch|altered|worked on|work on
        working on|revised
    """,
    "written": "written|wrote|write|created|create|added|add|saved",
    "new": "new",
    "recent": "recently|lately|of late|recent|latest changes|last changes|recent changes",
    "newest": """
        newest|latest|most recent|most recently|last|last changed|last edited|last modified|most recently changed
    """,
    "oldest": """
        oldest|least recently|least recently changed|not been changed for the longest time
        not changed for the longest time|not touched for the longest time|not been touched for the longest time
        longest untouched|stalest
    """,
    "longest": "longest|largest|biggest",
    "shortest": "shortest|smallest",
    "tag": "tag|hashtag|keyword",
    "tagged": """
        tagged|tagged with|tagged as|with the tag|with tag|with the tags|has the tag|have the tag|having the tag
        carry the tag|carries the tag|carrying the tag|under the tag
    """,
    "untagged": "untagged|without tags|without a tag|without any tags|no tags|not tagged|with no tags",
    "frequent": "use most|used most|most used|most often|most frequent|most common|most|use|used|top",
    "orphan": """
        orphan|orphans|orphaned|orphan notes|without links|without any links|no links|with no links|unlinked
        isolated|not linked|not linked to anything|not linked to any other note|not connected|disconnected
        unconnected|without links or backlinks|no links or backlinks|no backlinks or links|no connections
        without connections|aren't linked|are not linked|is not linked|isn't linked|not linked anywhere
        not linked with anything|with no backlinks or links|with no links or backlinks|without backlinks or links
        are not linked to anything|not linked to any note|are not linked to any other note|aren't linked to anything
    """,
    "broken": """
        broken links|broken link|dead links|dead link|unresolved links|unresolved link|links broken|dangling links
        links that are broken|links are broken|broken wikilinks|links lead nowhere|links go nowhere
        links point nowhere|links that lead nowhere|links to missing notes|links that do not work|links do not work
        links don't work|links not work|links that don't work
    """,
    "about": """
        about|overview|overview of|an overview of|an overview over|summary of|a summary of|summarize|summarise
        topics|topic|main topics|subjects|themes|what topics|cover|covered|what do i write about|what do i have
        deal with|describe|what is in this|what is in my|what's in this|what's in my
    """,
    "count": "how many|number of|count|count of|total number of|how much",
    "size": "how big is|how large is|size of|the size of",
    "linkto": """
        link to|links to|linking to|linked to|point to|points to|pointing to|refer to|refers to|link here
        who links to|who link to
    """,
    "backlink": "backlink|backlinks|backlinks of|backlinks to|backlinks for|incoming links|incoming links of|inlinks",
    "outlink": "outgoing links|forward links|outlinks|linked from|links from|links in|links of|outbound links",
    "linked": "linked",
    "whereis": "where is",
    "whereto": "where does",
    "mostlinked": """
        most linked|most-linked|linked most|linked the most|most linked to|most backlinks|linked to most|hubs
        hub notes|linked to the most|linked most often|most often linked|most connected|central notes
    """,
    "folder": "folder|folders|directory|directories|subfolders",
    "infolder": "in folder|in the folder|inside the folder|in my folder|in directory|in the directory|under folder",
    "on": "on",
    "single": "note",
    "tags": "tags|hashtags|keywords",
    "with": "with|as",
    "or": "or",
    "and": "and",
    "not": """
        not|but not|and not|without|but without|except|not tagged|but not tagged|and not tagged|without the tag
        not with
    """,
    "all": "all|every|everything|all of",
    "own": "my|my own|our",
}

GERMAN: Final = {
    "ask": """
        welche|welcher|welches|welchen|welchem|was|ich|mein|meine|meinen|meinem|meiner|mir|mich|wir|unser|unsere|der
        die|das|den|dem|des|ein|eine|einen|einem|einer|von|vom|in|im|aus|und|ist|sind|war|waren|wurde|wurden
        worden|habe|haben|hat|hatte|sich|es|gibt|alle|alles|bitte|kannst du|da|davon|diese|dieser|derzeit|gerade
        insgesamt|was sind die|was sind meine|welche sind|enthalten|liegt|liegen|steht|stehen|namens|man|denn
        uberhaupt|noch|seit der|verwende|benutze|nutze|gibt's|auf|entweder
    """,
    "define": "was ist|was sind|was ist ein|was ist eine",
    "list": """
        liste|zeig|zeige|zeig mir|zeige mir|liste auf|gib mir|nenne|nenn mir|finde|such|suche|auflisten
        zeige mir die
    """,
    "note": "notizen|zettel|dateien|notes",
    "vault": "vault|zettelkasten|notizsammlung|sammlung|notizbuch|tresor",
    "changed": """
        geandert|verandert|bearbeitet|geanderte|geanderten|bearbeitete|bearbeiteten|aktualisiert|aktualisierte
        angefasst|anderte|anderungen|anderten|modifiziert
    """,
    "written": """
        geschrieben|geschriebene|geschriebenen|erstellt|erstellte|erstellten|angelegt|angelegte|hinzugefugt|gespeichert
    """,
    "new": "neu|neue|neues|neuen|neuer",
    "recent": "kurzlich|neulich|zuletzt|in letzter zeit|letztens|jungst",
    "newest": """
        neueste|neuesten|neuester|neuste|neusten|letzten|letzte|aktuellste|aktuellsten|jungste|jungsten
        zuletzt geandert
    """,
    "oldest": "alteste|altesten|altester|am langsten nicht geandert|am langsten nicht bearbeitet",
    "longest": """
        langste|langsten|langster|grosste|grossten|großte|großten|umfangreichste|umfangreichsten
    """,
    "shortest": "kurzeste|kurzesten|kleinste|kleinsten|kurzester",
    "tag": "tag|schlagwort|hashtag",
    "tagged": """
        getaggt|getaggt mit|getaggte|getaggten|mit dem tag|mit tag|mit dem schlagwort|mit schlagwort|markiert
        markierte|markierten|verschlagwortet|haben das schlagwort|haben den tag|das schlagwort|den tag
    """,
    "untagged": """
        ohne tags|ohne tag|ohne schlagworter|ohne schlagwort|keine tags|keine schlagworter|ungetaggte|ungetaggt
    """,
    "frequent": "am haufigsten|haufigste|haufigsten|meistgenutzte|meistgenutzten|am meisten",
    "orphan": """
        verwaist|verwaiste|verwaisten|waisen|ohne links|ohne verlinkung|ohne verlinkungen|ohne link|keine links
        isolierte|nicht verlinkt|unverlinkt|unverlinkte|unverlinkten|ohne verweise|keine verlinkungen
        nirgends verlinkt|keinen link|ohne verbindungen|ohne verbindung|nicht verknupft|unverknupfte|orphans
    """,
    "broken": """
        kaputte links|kaputten links|tote links|toten links|defekte links|defekten links|links kaputt
        links sind kaputt|links sind defekt|links sind tot|links fuhren ins leere|ungultige links|gebrochene links
        broken links|links tot|links defekt|unaufgeloste links|links ins leere|kaputten link|defekte verweise
        tote verweise|kaputte verweise
    """,
    "about": """
        worum geht es|worum geht's|wovon handeln|wovon handelt|uberblick|uberblick uber|ubersicht|ubersicht uber
        themen|zusammenfassung|fasse zusammen|fass zusammen|woruber schreibe ich|behandeln|was steht in|was ist in
        was enthalt|was habe ich in|um was geht es
    """,
    "count": "wie viele|wieviele|anzahl|anzahl der|zahl der|wie viel",
    "size": "wie gross ist|wie groß ist|grosse von|große von|umfang",
    "linkto": """
        verlinken|verlinkt|verweisen|verweist|verlinken auf|verlinkt auf|verweisen auf|verweist auf|zeigen auf
        zeigt auf
    """,
    "backlink": """
        backlink|backlinks|rucklinks|ruckverweise|eingehende links|backlinks von|backlinks zu|eingehenden links
    """,
    "outlink": "ausgehende links|links in|links von|links aus|ausgehenden links|verweise in|links enthalt",
    "whereto": "worauf|auf welche|wohin|auf was",
    "mostlinked": """
        am meisten verlinkt|meistverlinkte|meistverlinkten|am haufigsten verlinkt|am meisten verlinkten
        meist verlinkte
    """,
    "folder": "ordner|ordnern|verzeichnis|verzeichnisse|unterordner",
    "infolder": "im ordner|in ordner|in dem ordner|im verzeichnis|aus dem ordner",
    "on": "am|an",
    "single": "notiz",
    "tags": "tags|schlagworter|schlagworte|hashtags|stichworter|stichworte",
    "with": "mit",
    "or": "oder",
    "and": "und",
    "not": """
        nicht|aber nicht|und nicht|ohne|aber ohne|ausser|außer|nicht getaggt|nicht mit|ohne tag
        ohne den tag
    """,
    "all": "alle|alles",
    "own": "mein|meine|meinen|unsere",
}

FRENCH: Final = {
    "ask": """
        quel|quelle|quels|quelles|que|qu'est-ce qui|qu'est-ce que|je|j'ai|ai-je|mon|ma|mes|moi|nous|nos|le|la|les|l'
        un|une|des|du|de|d'|dans|en|a|au|aux|et|est|sont|etait|etaient|ete|a-t-il|ont|ont ete|ai|as|y a-t-il
        il y a|qui|ce|cette|ces|tous|toutes|tout|s'il te plait|s'il vous plait|se|elles|ils|quelles sont les
        quelles sont mes|quels sont les|quels sont mes|j'|ont-elles|utilise|j'utilise|se trouvent|trouve
        actuellement|est-ce que|pouvez-vous|peux-tu|quelles sont|quels sont
    """,
    "define": "que sont|que sont les|qu'est-ce qu'|qu'est-ce qu'un|qu'est-ce qu'une|c'est quoi",
    "list": "liste|lister|affiche|montre|montre-moi|donne-moi|trouve|cherche|affiche-moi|voir",
    "note": "notes|fiches|fichiers",
    "vault": "coffre|vault|zettelkasten|carnet",
    "changed": """
        change|changees|modifie|modifiee|modifiees|modifies|edite|editees|editee|mis a jour|mises a jour
        modifications|changements|retouchees|travaille
    """,
    "written": "ecrit|ecrites|cree|creees|creee|ajoutees|ajoute",
    "new": "nouveau|nouvelles|nouveaux|neuf",
    "recent": "recemment|dernierement|recentes|recent|recents",
    "newest": "les plus recentes|la plus recente|plus recentes|plus recente|dernieres|derniere|les dernieres",
    "oldest": "les plus anciennes|la plus ancienne|plus anciennes|plus ancienne|les plus vieilles|plus vieilles",
    "longest": "les plus longues|la plus longue|plus longues|plus longue|les plus grandes|plus grandes",
    "shortest": "les plus courtes|la plus courte|plus courtes|plus courte",
    "tag": "tag|etiquette|mot-cle|l'etiquette",
    "tagged": """
        avec le tag|avec l'etiquette|etiquetees|etiquetee|etiquete|taguees|taguee|ont l'etiquette|ont le tag
        marquees|marque|portant le tag|etiquetees avec|etiquete avec
    """,
    "untagged": "sans tag|sans tags|sans etiquette|sans etiquettes|pas de tags|pas d'etiquettes|n'ont pas de tags",
    "frequent": "le plus|les plus utilises|les plus utilisees|les plus frequents|le plus souvent",
    "orphan": """
        orpheline|orphelines|orphelins|sans lien|sans liens|n'ont pas de liens|n'ont pas de lien|n'ont aucun lien
        isolees|n'a pas de liens|sans aucun lien|non liees|pas liees
    """,
    "broken": """
        liens casses|lien casse|liens brises|liens morts|liens rompus|liens non resolus
        liens qui ne menent nulle part|liens sont casses|liens sont brises|liens sont morts
    """,
    "about": """
        de quoi parlent|de quoi parle|de quoi traitent|apercu|apercu de|resume|resume de|resumer|vue d'ensemble
        themes|sujets|un apercu de|qu'y a-t-il dans|resume-moi|de quoi traite|une vue d'ensemble de
    """,
    "count": "combien|combien de|combien d'|nombre de|le nombre de",
    "size": "quelle est la taille de|la taille de|taille de",
    "linkto": """
        pointent vers|pointe vers|pointent|pointe|renvoient a|renvoie a|menent a|mene a|lient vers|lient
        renvoient vers|renvoie
    """,
    "backlink": "backlinks|backlink|retroliens|retrolien|liens entrants|liens entrants de",
    "outlink": "liens sortants|liens dans|liens de|liens depuis",
    "whereto": "vers quelles|vers quoi|vers quelle|a quoi|a quelles|ou mene",
    "mostlinked": "les plus liees|plus liees|les plus referencees",
    "folder": "dossier|dossiers|repertoire|repertoires",
    "infolder": "dans le dossier|dans dossier|du dossier|dans le repertoire",
    "single": "note",
    "tags": "tags|etiquettes|mots-cles|hashtags",
    "with": "avec",
    "or": "ou",
    "and": "et",
    "not": "pas|mais pas|et pas|sans|mais sans|sauf|sans le tag|sans l'etiquette",
    "all": "tous|toutes|tout",
    "own": "mon|ma|mes|nos",
}

SPANISH: Final = {
    "ask": """
        que|cual|cuales|yo|mi|mis|me|nosotros|nuestras|el|la|los|las|lo|un|una|unos|unas|de|del|en|a|al|y|es|son
        era|eran|fue|fueron|ha|han|he|hemos|tengo|tienen|tiene|hay|esta|estan|este|estas|estos|todas|todos|todo
        por favor|se|sido|cuales son las|cuales son mis|cuales son los|uso|usadas|puedes|ahora|que hay|existen
        alguna|algun|alguno|cuales son|que tengo
    """,
    "define": "que es|que son|que es un|que es una|que son las|que son los",
    "list": "lista|listar|muestra|muestrame|mostrar|dame|busca|encuentra|ensename|ver",
    "note": "notas|fichas|archivos",
    "vault": "boveda|vault|zettelkasten|cuaderno",
    "changed": """
        cambio|cambiaron|cambiado|cambiadas|modifique|modificado|modificadas|modificada|modificados|edite|editado
        editadas|actualizado|actualizadas|cambios|cambie|modificaron|actualizaron|editaron
    """,
    "written": "escribi|escrito|escritas|cree|creadas|creado|anadidas",
    "new": "nuevo|nuevas|nueva|nuevos|novedades",
    "recent": "recientes|reciente|recientemente|ultimamente",
    "newest": "las mas recientes|la mas reciente|mas recientes|mas reciente|ultimas|mas nuevas|las mas nuevas",
    "oldest": "las mas antiguas|la mas antigua|mas antiguas|mas antigua|mas viejas|las mas viejas|mas vieja",
    "longest": "las mas largas|la mas larga|mas largas|mas larga|mas grandes|mas extensas",
    "shortest": "las mas cortas|la mas corta|mas cortas|mas corta|mas breves",
    "tag": "tag|etiqueta",
    "tagged": """
        con la etiqueta|con etiqueta|con el tag|etiquetadas|etiquetado|etiquetada|etiquetadas con|etiquetadas como
        etiquetado con|tienen la etiqueta|tiene la etiqueta
    """,
    "untagged": "sin etiquetas|sin etiqueta|sin tags|no tienen etiquetas",
    "frequent": "mas usadas|mas frecuentes|mas|mas utilizadas",
    "orphan": """
        huerfana|huerfanas|huerfanos|sin enlaces|sin enlace|no tienen enlaces|sin vinculos|aisladas
        no estan enlazadas|no enlazadas|no tienen vinculos|sin conexiones
    """,
    "broken": """
        enlaces rotos|enlace roto|enlaces muertos|vinculos rotos|enlaces sin resolver|enlaces estan rotos
        links rotos|enlaces que no llevan a ninguna parte
    """,
    "about": """
        de que tratan|de que trata|de que hablan|de que van|resumen|resumen de|un resumen de|vision general
        vision general de|temas|una vision general de|panorama de|que hay en
    """,
    "count": "cuantas|cuantos|cuanta|numero de|cantidad de|el numero de",
    "size": "que tan grande es|como de grande es|tamano de",
    "linkto": """
        enlazan a|enlaza a|enlazan con|enlaza con|enlazan|enlaza|apuntan a|apunta a|apuntan|apunta|vinculan a
        remiten a
    """,
    "backlink": "backlinks|backlink|retroenlaces|enlaces entrantes|backlinks de|enlaces entrantes de",
    "outlink": "enlaces salientes|enlaces en|enlaces de|enlaces desde",
    "whereto": "a que|hacia que|adonde|a donde|a cuales",
    "mostlinked": "mas enlazadas|las mas enlazadas|mas vinculadas|mas referenciadas",
    "folder": "carpeta|carpetas|directorio|directorios",
    "infolder": "en la carpeta|en carpeta|de la carpeta|en el directorio",
    "single": "nota",
    "tags": "tags|etiquetas|hashtags|palabras clave",
    "with": "con",
    "or": "o|u",
    "and": "y",
    "not": "pero no|y no|sin|pero sin|excepto|menos|sin la etiqueta",
    "all": "todas|todos|todo",
    "own": "mi|mis|nuestras",
}

PORTUGUESE: Final = {
    "ask": """
        que|qual|quais|o que|o|a|os|as|um|uma|uns|umas|eu|meu|minha|meus|minhas|me|nos|de|do|da|dos|das|em|no|na|nas
        e|sao|foi|foram|era|eram|tenho|tem|ha|existem|estao|esta|este|estes|estas|todas|todos|tudo|por favor|uso
        se|sido|quais sao as|quais sao minhas|quais sao os|usadas|voce pode|agora|alguma|algum|quais sao
    """,
    "define": "o que e|o que sao|que sao|o que e um|o que e uma|que e",
    "list": "lista|liste|listar|mostre|mostre-me|mostra|mostrar|de-me|encontre|procure|ver",
    "note": "notas|anotacoes|arquivos",
    "vault": "cofre|vault|zettelkasten|caderno",
    "changed": """
        mudou|mudaram|mudado|alterado|alteradas|alterada|alterei|alterados|modificado|modificadas|modifiquei|editei
        editado|editadas|atualizado|atualizadas|atualizei|mudancas|alteracoes|mudei|modificada
    """,
    "written": "escrevi|escrito|escritas|criei|criadas|criado|adicionadas",
    "new": "novo|novas|nova|novos|novidades",
    "recent": "recentes|recente|recentemente|ultimamente",
    "newest": "as mais recentes|a mais recente|mais recentes|mais recente|ultimas|mais novas|as mais novas",
    "oldest": "as mais antigas|a mais antiga|mais antigas|mais antiga|mais velhas",
    "longest": "as mais longas|a mais longa|mais longas|mais longa|maiores|mais compridas",
    "shortest": "as mais curtas|a mais curta|mais curtas|mais curta|menores",
    "tag": "tag|etiqueta|marcador",
    "tagged": """
        com a tag|com tag|com a etiqueta|marcadas com|marcado com|etiquetadas|etiquetadas com|tem a tag
        tem a etiqueta|com o marcador
    """,
    "untagged": "sem tags|sem tag|sem etiquetas|nao tem tags",
    "frequent": "mais usadas|mais frequentes|mais|mais usados",
    "orphan": """
        orfa|orfas|orfaos|sem links|sem link|nao tem links|sem ligacoes|isoladas|nao estao ligadas|nao linkadas
        nao tem ligacoes
    """,
    "broken": "links quebrados|link quebrado|links mortos|links partidos|ligacoes quebradas|links estao quebrados",
    "about": """
        sobre o que|do que tratam|de que tratam|do que falam|resumo|resumo de|um resumo de|visao geral
        visao geral de|uma visao geral de|temas|topicos|o que ha em|o que ha no|resumo das|visao geral das
    """,
    "count": "quantas|quantos|quanta|numero de|o numero de|quantidade de",
    "size": "qual o tamanho do|tamanho do|qual e o tamanho do",
    "linkto": """
        apontam para|aponta para|apontam|aponta|linkam para|linka para|ligam a|ligam para|referenciam|linkam|linka
    """,
    "backlink": "backlinks|backlink|links de entrada|backlinks de|links recebidos",
    "outlink": "links de saida|links em|links de|links na|links no",
    "whereto": "para quais|para onde|para que|para qual",
    "mostlinked": "mais linkadas|as mais linkadas|mais ligadas|mais referenciadas",
    "folder": "pasta|pastas|diretorio|diretorios",
    "infolder": "na pasta|da pasta|no diretorio|em pasta",
    "single": "nota",
    "tags": "tags|etiquetas|marcadores|hashtags",
    "with": "com",
    "or": "ou",
    "and": "e",
    "not": "mas nao|e nao|sem|mas sem|exceto|menos|sem a tag",
    "all": "todas|todos|tudo",
    "own": "meu|minha|meus|minhas",
}

VAULT_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "pt": PORTUGUESE,
    "zh": CHINESE,
    "ja": JAPANESE,
}
