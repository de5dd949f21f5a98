"""Words that deny a statement, by language, and words that make it unclear what is denied."""

from typing import Final

NEGATORS: Final = {
    "en": "not no never cannot",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals",
    "fr": "pas",
    "es": "no",
    "it": "non",
    "pt": "não",
    "nl": "niet geen nooit",
    "ru": "не нет нельзя",
}
"""Each denies what it stands with."""

SECOND_NEGATORS: Final = {
    "fr": "jamais aucun aucune",
    "es": "nunca jamás ningún ninguna tampoco",
    "it": "mai nessun nessuna nessuno",
    "pt": "nunca jamais nenhum nenhuma",
    "ru": "никогда никто ничего",
}
"""Each denies by itself, and says the same once more beside a negator."""

AVOIDING: Final = "avoid avoids avoiding vermeiden vermeide éviter évite evitar evita evitare vermijden избегать"
"""Words for what is better not done."""

UNCLEAR: Final = {
    "en": "without unless except until only just nor neither hardly barely rarely seldom nothing nobody none if when "
    "all every always necessarily yet longer more less fewer later than maybe perhaps might could too enough instead "
    "rather impossible",
    "de": "ohne außer sofern falls bis nur weder kaum selten nichts niemand wenn alle jeder jede jedes immer unbedingt "
    "mehr weniger später sondern vielleicht zu statt erst unmöglich",
    "fr": "sans sauf sinon seulement que ni guère rarement rien personne si quand tous toutes toujours forcément plus "
    "moins encore peut-être jusqu trop impossible",
    "es": "sin salvo excepto hasta solo sólo solamente ni apenas nada nadie si cuando todos todas siempre más menos "
    "todavía aún quizás sino imposible",
    "it": "senza tranne salvo finché solo soltanto né appena niente nulla se quando tutti tutte sempre più meno ancora "
    "forse impossibile",
    "pt": "sem salvo exceto até só somente nem nada ninguém se quando todos todas sempre mais menos ainda talvez "
    "impossível",
    "nl": "zonder behalve tenzij tot alleen slechts noch nauwelijks niets niemand als alle elke altijd meer minder "
    "misschien onmogelijk",
    "ru": "без кроме если пока только лишь ни едва ничто когда все всегда обязательно более менее больше меньше ещё "
    "уже может невозможно",
    "zh": "除 仅 只 如果 除非 都 总 必 更 还 再 可能 才 无论 不但 否则",
    "ja": "以外 だけ しか もし なら たら ば すべて 全 必ずしも まだ もう かも ずに なし とは限",
}
"""With one of these in a sentence, it may deny only part of what it says, or under a condition."""

UNSPACED_NEGATORS: Final = {
    "zh": r"没有|没|不是|不能|不会|不要|不用|不可以|不可|不|未|勿|禁止",
    "ja": r"ではありません|ありません|ません|ではない|じゃない|なかった|ない",
}
"""As regular expressions."""

UNSPACED_WITHOUT_NEGATION: Final = {
    "zh": r"不同|不过|不管|不论|不断|不久|不少|不错|差不多|是不是|能不能|有没有|未来|不得不",
    "ja": r"少ない|危ない|つまらない|もったいない|なければならない|でなく|ないで|ないと",
}
"""Where their letters deny nothing, or not the statement."""

NEGATIVE_PREFIXES: Final = {"en": ("un", "non"), "de": ("un", "nicht"), "nl": ("on",), "ru": ("не",)}

ANSWER_PARTICLE: Final = (
    r"^(?:yes|no|nope|ja|nein|doch|oui|non|si|sí|sì|sim|não|nee|да|нет|是的|是|对|不是|不|没有|はい|いいえ)"
    r"\s*[,，、.!。:]\s*"
)
"""How an answer to a yes-or-no question begins."""

RELATIONS: Final = {
    "en": "before after since above below over under between against first last",
    "de": "vor nach seit über unter zwischen gegen bevor nachdem zuerst zuletzt",
    "fr": "avant après depuis dessus dessous entre contre premier dernier",
    "es": "antes después desde sobre bajo entre contra primero último",
    "it": "prima dopo sopra sotto tra fra contro primo ultimo",
    "pt": "antes depois desde sobre sob entre contra primeiro último",
    "nl": "voor na sinds boven onder tussen tegen eerst laatst",
    "ru": "до после перед над под между против",
}
"""Stop words for a search, but two statements that differ in one of them do not deny each other."""

MODALS: Final = {
    "en": "may must shall should will would be been being has have had does do did is are was were",
    "de": "darf dürfen muss müssen soll sollte sollen kann können wird werden wurde wurden worden ist sind war waren",
    "fr": "peut peuvent doit doivent faut est sont était été a ont",
    "es": "puede pueden debe deben es son fue era está están ha han",
    "it": "può possono deve devono viene vengono va vanno è sono stato stata",
    "pt": "pode podem deve devem é são foi está estão",
    "nl": "mag mogen moet moeten kan kunnen wordt worden is zijn was",
    "ru": "можно надо нужно должен должны есть был была было были",
    "hi": "है हैं था थे थी हो होता होती होते जाता जाती जाते जाए जाएँ जाना गया गई गए चाहिए सकता सकती सकते",
}
"""Forms of verbs that leave it to another word what is done."""

UNSPACED_FUNCTION_LETTERS: Final = {
    "zh": "的了是在有和也就要会可以能这那个我你他她它们吗呢吧于从到起被把给与用里着过",
    "ja": "是有可能物事時",
}

MORE_NEGATORS: Final = {
    "en": "none nobody nothing neither nor without cant dont doesnt isnt wont",
    "de": "nichts niemand weder ohne",
    "fr": "rien personne sans ni",
    "es": "nada nadie sin ni",
    "it": "niente nulla senza né",
    "pt": "nada ninguém sem nem",
    "nl": "niets niemand zonder noch",
    "ru": "без ни ничто",
    "hi": "नहीं न मत ना बिना",
    "sv": "inte aldrig ingen inget inga utan",
    "da": "ikke aldrig ingen intet uden",
    "no": "ikke aldri ingen intet uten",
    "fi": "ei eivät en et emme ette älä koskaan ilman",
    "pl": "nie nigdy brak bez żaden żadna",
    "cs": "ne není nejsou nikdy žádný žádná bez",
    "hu": "nem ne soha nincs nélkül",
    "ro": "nu niciodată nici fără",
    "tr": "değil yok hiç asla olmadan",
    "vi": "không chưa chẳng đừng",
    "id": "tidak bukan jangan tanpa belum",
    "ca": "no mai cap sense",
    "uk": "не ні немає без ніколи",
    "bg": "не няма без никога",
    "fa": "نه نیست بدون هرگز",
    "ur": "نہیں نہ مت بغیر",
    "ar": "لا ليس ليست لم لن بدون غير",
    "el": "δεν δε μη μην όχι ποτέ χωρίς",
    "he": "לא אין אל בלי",
}
"""Those of other languages, and those that are unclear for a claim but never to be overlooked in a quotation."""

MORE_UNSPACED_NEGATORS: Final = {
    "th": r"ไม่|อย่า|ห้าม|มิได้|ยังไม่|ไร้",
    "lo": r"ບໍ່|ຢ່າ|ຫ້າມ",
    "km": r"មិន|ពុំ|កុំ|គ្មាន",
    "my": r"မ",
    "ko": r"않|못|없|아니|지 ?마|(?<![가-힣])안 ",
}

CONDITIONS: Final = {
    "en": "if unless provided",
    "de": "wenn falls sofern",
    "fr": "si",
    "es": "si",
    "it": "se",
    "pt": "se",
    "nl": "als indien tenzij",
    "ru": "если",
    "hi": "अगर यदि",
}
"""What stands with one of these is not said of all cases."""

NO_CONDITIONS: Final = "even selbst auch même incluso aun anche mesmo ook zelfs даже as"
"""Before one of them: "even if" sets no condition."""

UNSPACED_CONDITIONS: Final = {
    "zh": r"如果|要是|除非|假如|的话",
    "ja": r"もし|なら|たら|れば",
    "th": r"ถ้า|หาก",
    "ko": r"만약|(?:으)?면 ",
}
