"""Numbers in words, months and days of the week, by language."""

from typing import Final

NUMBER_WORDS: Final = {
    "en": "two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 thirteen:13 "
    "fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 forty:40 fifty:50 "
    "sixty:60 seventy:70 eighty:80 ninety:90 hundred:100",
    "de": "zwei:2 drei:3 vier:4 fünf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwölf:12 fünfzehn:15 zwanzig:20 "
    "dreißig:30 vierzig:40 fünfzig:50 sechzig:60 hundert:100",
    "fr": "deux:2 trois:3 quatre:4 cinq:5 six:6 sept:7 huit:8 neuf:9 dix:10 onze:11 douze:12 quinze:15 vingt:20 "
    "trente:30 quarante:40 cinquante:50 soixante:60 cent:100",
    "es": "dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10 once:11 doce:12 quince:15 veinte:20 "
    "treinta:30 cuarenta:40 cincuenta:50 sesenta:60 cien:100",
    "it": "due:2 tre:3 quattro:4 cinque:5 sei:6 sette:7 otto:8 nove:9 dieci:10 undici:11 dodici:12 quindici:15 "
    "venti:20 trenta:30 quaranta:40 cinquanta:50 sessanta:60 cento:100",
    "pt": "dois:2 duas:2 três:3 quatro:4 cinco:5 seis:6 sete:7 oito:8 nove:9 dez:10 onze:11 doze:12 quinze:15 "
    "vinte:20 trinta:30 quarenta:40 cinquenta:50 sessenta:60 cem:100",
    "nl": "twee:2 drie:3 vier:4 vijf:5 zes:6 zeven:7 acht:8 negen:9 tien:10 elf:11 twaalf:12 vijftien:15 twintig:20 "
    "dertig:30 veertig:40 vijftig:50 zestig:60 honderd:100",
    "ru": "два:2 две:2 двух:2 три:3 трёх:3 четыре:4 четырёх:4 пять:5 пяти:5 шесть:6 шести:6 семь:7 восемь:8 девять:9 "
    "десять:10 двенадцать:12 пятнадцать:15 двадцать:20 тридцать:30 сорок:40 пятьдесят:50 сто:100",
}
"""Without one: in many languages it is the article."""

ONES: Final = {
    "en": "a an one",
    "de": "ein eine einen einem einer eines",
    "fr": "un une",
    "es": "un una",
    "it": "un una",
    "pt": "um uma",
    "nl": "een",
}
"""Words for one that are articles as well, and count only before a unit."""

UNITS_OF_TIME: Final = {
    "en": "second minute hour day week fortnight month year decade century",
    "de": "sekunde minute stunde tag tage tages woche monat monate monats jahr jahre jahres jahrzehnt jahrhundert",
    "fr": "seconde minute heure jour semaine mois an année siècle",
    "es": "segundo minuto hora día semana mes año siglo",
    "it": "secondo minuto ora giorno settimana mese anno secolo",
    "pt": "segundo minuto hora dia semana mês ano século",
    "nl": "seconde minuut uur dag week maand jaar eeuw",
}
"""In the singular."""

MONTHS: Final = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "ru": "январ феврал март апрел мая июн июл август сентябр октябр ноябр декабр",
}
"""In order; a form of the word begins with it."""

WEEKDAYS: Final = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "pt": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "ru": "понедельник вторник сред четверг пятниц суббот воскресень",
}
"""In order, from Monday."""

UNSPACED_WEEKDAYS: Final = r"(?:星期|礼拜|周)([一二三四五六日天])|([月火水木金土日])曜"
UNSPACED_UNITS: Final = (
    "个月 小时 分钟 欧元 美元 公里 厘米 公斤 週間 時間 ユーロ ドル 円 天 日 年 月 周 点 時 分 秒 元 岁 歳 "
    "次 回 人 米 度 克 个 個 本 台 匹 羽 只 席 脚 枚 冊 頭 把 张 辆 条 ％ %"
)

APPROXIMATIONS: Final = (
    "about around roughly nearly almost circa approximately some etwa ungefähr rund fast knapp environ presque "
    "aproximadamente casi unos unas quasi cerca ongeveer bijna около примерно почти "
    "大约 约 左右 約 ほぼ くらい ぐらい ほど"
)
BOUNDS: Final = (
    "least most minimum maximum over under above below until than between mindestens höchstens maximal minimal bis "
    "über unter zwischen weniger mehr moins plus jusqu entre más menos hasta máximo mínimo almeno massimo minimo fino "
    "più meno tra fra minstens hoogstens meer minder tot tussen менее более до максимум минимум между "
    "至少 最多 以上 以下 超过 不到"
)
"""A number beside one of these is a bound, which another number may meet."""

SHARES: Final = (
    "both half twice double several beide beiden halb halbe doppelt zweimal mehrere moitié plusieurs ambos "
    "ambas mitad doble varios entrambi metà doppio diversi metade dobro vários helft dubbel оба обе половина вдвое"
)
"""How much of something is meant, without a number."""
