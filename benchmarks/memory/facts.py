"""Fifty facts as somebody mentions them, what is asked about each later in other words, and what shares its words."""

from typing import NamedTuple


class Fact(NamedTuple):
    said: str
    asked: str
    answer: str
    """As it stands in the fact."""
    distractor: str
    """Says something else with the same words."""


FACTS = [
    Fact(
        "By the way, the dentist moved my appointment to the 14th of April.",
        "When do I have to be at the dentist's?",
        "14th of April",
        "The dentist says I should brush longer; appointments there are always a pain.",
    ),
    Fact(
        "Marta is allergic to walnuts, so no walnut bread for her.",
        "What can't Marta eat?",
        "walnuts",
        "Marta brought bread and cheese to the picnic.",
    ),
    Fact(
        "We settled on PostgreSQL for the inventory service.",
        "Which database does the inventory service use?",
        "PostgreSQL",
        "The inventory service has no owner since the summer.",
    ),
    Fact(
        "The wifi password at the cabin is bluebird-77.",
        "How do I get online at the cabin?",
        "bluebird-77",
        "The cabin needs new shutters and a password for the alarm.",
    ),
    Fact(
        "My sister Hanna works as a glaciologist in Tromsø now.",
        "What does Hanna do for a living?",
        "glaciologist",
        "Hanna visited us with the kids last weekend.",
    ),
    Fact(
        "Our rent goes up to 1,240 euros from July.",
        "How much will we pay for the flat after June, what is the rent?",
        "1,240",
        "The rent is due on the first, as everybody knows.",
    ),
    Fact(
        "The Kestrel project was cancelled because the sponsor withdrew.",
        "Why did Kestrel end?",
        "sponsor withdrew",
        "The Kestrel project has a nice logo, I think.",
    ),
    Fact(
        "I keep the spare key under the third flowerpot.",
        "Where is the spare key hidden?",
        "third flowerpot",
        "The key of the song is B minor, which is spare and sad.",
    ),
    Fact(
        "Tobias prefers to be called Toby in writing.",
        "How should I address Tobias in the letter?",
        "Toby",
        "Tobias is writing a novel about bees.",
    ),
    Fact(
        "For the sourdough I use 68 percent hydration.",
        "How wet is my sourdough?",
        "68 percent",
        "The sourdough starter smells of apples today.",
    ),
    Fact(
        "The insurance number of the van is KX-20931.",
        "I need the number for the van's insurance claim.",
        "KX-20931",
        "The van needs a new battery before winter.",
    ),
    Fact(
        "Professor Lindqvist wants the thesis in two columns.",
        "What layout does Lindqvist expect for the thesis?",
        "two columns",
        "Professor Lindqvist gave a talk on moss.",
    ),
    Fact(
        "We agreed never to deploy on Fridays.",
        "On which day are deployments forbidden?",
        "Fridays",
        "The deploy script prints too much.",
    ),
    Fact(
        "My blood type is AB negative, in case you need it.",
        "Which blood group do I have?",
        "AB negative",
        "Negative blood tests are good news, said my neighbour.",
    ),
    Fact(
        "The choir rehearses on Tuesdays at the old mill.",
        "Where does the choir meet?",
        "old mill",
        "The choir sang too loud, and the hall was cold.",
    ),
    Fact(
        "Oskar's school starts at ten to eight.",
        "At what time must Oskar be in class at school?",
        "ten to eight",
        "Oskar lost his school bag on the tram.",
    ),
    Fact(
        "I decided to quit coffee after the second migraine.",
        "Why did I stop drinking coffee?",
        "migraine",
        "The coffee at the station is terrible.",
    ),
    Fact(
        "The printer only works with driver version 3.1.",
        "Which driver does the printer need?",
        "3.1",
        "The printer is out of toner again, and the driver of the van is late.",
    ),
    Fact(
        "Grandma was born in Czernowitz in 1931.",
        "What is grandma's birthplace, where was she born?",
        "Czernowitz",
        "Grandma likes her tea with lemon.",
    ),
    Fact(
        "The boat is moored at berth 42 behind the lighthouse.",
        "Where do I find the boat?",
        "berth 42",
        "The boat race was won by the team from the lighthouse.",
    ),
    Fact(
        "Please always answer me in short bullet points.",
        "In which form do I want my answers?",
        "bullet points",
        "The answer to the riddle was a candle.",
    ),
    Fact(
        "Yuki is bringing her telescope to the summer camp.",
        "What will Yuki take along to camp?",
        "telescope",
        "Yuki slept through the whole camp meeting.",
    ),
    Fact(
        "The old server's IP ends in 217.",
        "What are the last digits of the address of the old server?",
        "217",
        "The old server hums like a fridge.",
    ),
    Fact(
        "Our budget for the kitchen is nine thousand at most.",
        "How much may the kitchen cost, what is the budget?",
        "nine thousand",
        "The kitchen window looks out on a wall.",
    ),
    Fact(
        "Rasmus turned down the job because of the commute.",
        "For what reason did Rasmus refuse the job?",
        "commute",
        "Rasmus has a new job idea every week.",
    ),
    Fact(
        "The manuscript deadline was extended to the end of November.",
        "Until when can I hand in the manuscript?",
        "end of November",
        "The manuscript has a coffee stain on the deadline page.",
    ),
    Fact(
        "Der Schlüssel für den Keller hängt bei Frau Petersen.",
        "Wer hat den Kellerschlüssel, also den Schlüssel zum Keller?",
        "Frau Petersen",
        "Im Keller riecht es nach Äpfeln.",
    ),
    Fact(
        "Mein Vater bekommt am 9. Mai ein neues Knie.",
        "Wann wird mein Vater operiert?",
        "9. Mai",
        "Mein Vater erzählt gern vom Krieg der Knöpfe.",
    ),
    Fact(
        "Wir haben beschlossen, das Büro nach Leipzig zu verlegen.",
        "In welche Stadt zieht das Büro?",
        "Leipzig",
        "Das Büro hat neue Stühle bekommen.",
    ),
    Fact(
        "Jule darf wegen der Tabletten keine Grapefruit essen.",
        "Welches Obst ist für Jule verboten?",
        "Grapefruit",
        "Jule hat gestern drei Kuchen gebacken.",
    ),
    Fact(
        "Das Passwort der Heizung ist Birkenweg12.",
        "Wie komme ich in die Steuerung der Heizung?",
        "Birkenweg12",
        "Die Heizung gluckert seit Montag.",
    ),
    Fact(
        "Die Abgabe der Steuer verschieben wir auf Oktober.",
        "Bis zu welchem Monat ist die Steuer fällig?",
        "Oktober",
        "Die Steuer auf Kaffee ist alt.",
    ),
    Fact(
        "Le code de la porte du garage est 5518.",
        "Comment ouvrir le garage, quel est le code ?",
        "5518",
        "Le garage est plein de vélos.",
    ),
    Fact(
        "Camille a choisi le train de nuit pour Vienne.",
        "Comment Camille va-t-elle à Vienne ?",
        "train de nuit",
        "Camille adore les cafés de Vienne.",
    ),
    Fact(
        "Notre réunion avec Benoît est reportée au 3 mars.",
        "À quelle date voyons-nous Benoît pour la réunion ?",
        "3 mars",
        "Benoît parle toujours trop longtemps.",
    ),
    Fact(
        "Mon médecin m'a interdit le sel à cause de la tension.",
        "Qu'est-ce que mon médecin ne veut plus dans mes repas ?",
        "sel",
        "Mon médecin part en vacances en août.",
    ),
    Fact(
        "La tía Rosario vive ahora en Cuenca.",
        "¿En qué ciudad está la tía Rosario?",
        "Cuenca",
        "La tía Rosario cocina muy bien.",
    ),
    Fact(
        "El contrato con la imprenta termina en septiembre.",
        "¿Hasta cuándo dura el contrato de la imprenta?",
        "septiembre",
        "La imprenta huele a tinta.",
    ),
    Fact(
        "Decidimos pintar el salón de verde oliva.",
        "¿Qué color lleva el salón?",
        "verde oliva",
        "El salón tiene dos ventanas grandes.",
    ),
    Fact(
        "Nicolás no puede volar por su oído.",
        "¿Por qué Nicolás no toma aviones?",
        "oído",
        "Nicolás llegó tarde a la cena.",
    ),
    Fact(
        "Дачу мы продали за два миллиона.",
        "Сколько мы получили за дачу?",
        "два миллиона",
        "На даче всегда холодно весной.",
    ),
    Fact(
        "Анна попросила перенести встречу на среду.",
        "На какой день Анна хочет встречу?",
        "среду",
        "Анна любит долгие встречи с друзьями.",
    ),
    Fact(
        "Код от подъезда теперь 38К.",
        "Какой код у подъезда?",
        "38К",
        "В подъезде снова темно.",
    ),
    Fact(
        "Кота зовут Маркиз, и он не ест рыбу.",
        "Чем нельзя кормить кота?",
        "рыбу",
        "Кота видели на крыше.",
    ),
    Fact("会议改到了下周四下午三点。", "会议什么时候开？", "周四下午三点", "会议室的灯坏了。"),
    Fact("李娜对花生过敏，点菜时要注意。", "李娜不能吃什么？", "花生", "李娜昨天买了一辆自行车。"),
    Fact("我们决定用红色作为网站的主色。", "网站主要是什么颜色？", "红色", "网站昨天打不开。"),
    Fact("健太は来月から札幌で働きます。", "健太はどこで働くのですか。", "札幌", "健太は犬が好きです。"),
    Fact("倉庫の鍵は赤い箱の中にあります。", "倉庫の鍵はどこですか。", "赤い箱", "倉庫はとても寒いです。"),
    Fact("민지는 우유를 못 마셔요.", "민지가 못 마시는 것은 무엇인가요?", "우유", "민지는 어제 영화를 봤어요."),
]

UNANSWERABLE = [
    "What is the capital of Mongolia?",
    "How do I prune a quince in February?",
    "Explain the difference between TCP and UDP.",
    "Wie hoch ist der Mount Everest?",
    "Quelle est la recette de la ratatouille ?",
    "¿Quién escribió Cien años de soledad?",
    "Кто написал «Мастера и Маргариту»?",
    "光的速度是多少？",
    "Write a haiku about rain on a tin roof.",
    "Thanks, that helps. Go on, please.",
]

PEOPLE = [
    "Marta", "Hanna", "Tobias", "Oskar", "Yuki", "Rasmus", "Jule", "Camille", "Benoît", "Rosario", "Nicolás", "Анна",
]  # fmt: skip
"""Of the facts; where they are talked about all the time, their names lead nowhere."""

CHATTER = [
    "I read about {a} and {b} this morning, and it made me think of {c}.",
    "Could you explain how {a} relates to {b}?",
    "There are three ways to look at {a}: from the side of {b}, from {c}, and from practice.",
    "In short, {a} matters because {b} depends on it; without {c} neither would work.",
    "My notes on {a} are a mess, I should sort them by {b}.",
    "The note on {a} links to {b}, but nothing there mentions {c}.",
    "Yesterday we talked about {a} at dinner and nobody agreed about {b}.",
    "Good point. {a} is older than {b}, and {c} came much later.",
    "Let us go on with {a} tomorrow, after the part on {b}.",
    "What I like about {a} is that it needs no {b} at all.",
    "Ich habe heute über {a} und {b} gelesen.",
    "Kannst du mir {a} noch einmal erklären, ohne {b}?",
    "Kurz gesagt: {a} hängt von {b} ab, und {c} ist nur ein Beispiel.",
    "J'ai relu mes notes sur {a} et sur {b}.",
    "En résumé, {a} dépend de {b}, mais {c} reste à part.",
    "He leído sobre {a} y {b}, y no entiendo {c}.",
    "En resumen, {a} viene de {b}.",
    "Сегодня я читал про {a} и {b}.",
    "Короче говоря, {a} зависит от {b}.",
    "今天我读了关于{a}和{b}的文章。",
]

SUBJECTS = [
    "compost", "memory", "sleep", "the dentist", "bread", "databases", "passwords", "glaciers", "rent", "sponsors",
    "flowerpots", "letters", "hydration", "insurance", "columns", "Fridays", "blood", "choirs", "schools", "migraines",
    "printers", "tea", "lighthouses", "riddles", "telescopes", "servers", "kitchens", "commuting", "deadlines", "keys",
    "Leipzig", "Wien", "Steuern", "le train", "le sel", "la tinta", "el color", "погода", "встречи", "颜色",
    "spaced repetition", "evergreen notes", "gardening", "the index", "tags", "plain text", "Obsidian", "search",
    "attention", "habits", "music theory", "moss", "bees", "rivers", "maps", "clocks", "ink", "paper", "wood", "glass",
]  # fmt: skip
