"""How languages are recognized: by their stop words, or by a script that only they use. ISO 639-1 codes."""

from typing import Final

from zkchat.lexicon.stop_words import STOP_WORDS

CODES: Final = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "russian": "ru",
    "hindi": "hi",
}

_MORE_STOP_WORDS: Final = {
    "sv": "att av de den det du efter en ett från för har hur här i inte jag kan med men mig min när och om på sig "
    "ska som så till under var vi vid är även över",
    "da": "af at blev de den der det du efter en er et for fra han har her hun hvad hvor hvordan ikke i jeg kan med "
    "men mig min når og også om på sig skal som så til var ved vi være",
    "no": "av at ble de den der det du en er et etter for fra han har her hun hva hvor hvordan ikke i jeg kan med "
    "men meg min når og også om på seg skal som så til var ved vi være",
    "fi": "ei eivät että hän ja joka jos kanssa koska kuin kun mikä minä minun miten mitä mutta myös niin ne nyt oli "
    "olen olla on ovat sekä se siitä sitä tai tämä vain voi",
    "pl": "ale bo być czy co dla do gdzie go i ich ja jak jako jest już który która które lub ma mam mi mnie może "
    "na nie o od po przez się są ta tak te tego tej ten to tym w więc z za ze że",
    "cs": "aby ale ani asi až bude by byl být co do i já jak jako je jeho jen jsem jsou k kde kdy když který která "
    "má mi na nebo není o od po pro protože s se si ta tak také ten to u v ve z za ze že",
    "hu": "a az azt csak de egy el és ez ezt hogy ha hogyan is kell ki lehet már meg mert mi mint milyen nagyon nem "
    "nincs szerint van vagy volt",
    "ro": "a al ale am ar au ca care ce cu cum când de despre din după este eu fi fost la mai mea meu nu o pe pentru "
    "prin sau se sunt să și un unde în",
    "tr": "ama ben bir bu için da daha de değil en gibi hangi her için ile kadar ki mi mı nasıl ne neden olarak olan "
    "oldu sonra şey ve veya var ya yok çok o",
    "vi": "anh bạn bị các cho chúng có của cũng không là làm lại mà một này nên nhưng những như rất sẽ thì tôi từ và "
    "về với vì đã đang để được ở",
    "id": "ada adalah akan aku anda apa atau bahwa bagaimana bisa dalam dan dari dengan di dia dua harus ini itu jika "
    "juga kami karena ke kita lebih mengapa oleh pada saya sebagai seperti sudah tidak untuk yang",
    "ca": "a al amb aquest aquesta com de del dels el els en és ha hem i jo la les li més meu no o per perquè però "
    "què que quan s'ha ser si són també un una va vaig",
    "uk": "а або але бо був була було бути в вже ви від він вона вони все для до є з за зі і із їх його й коли ми "
    "мене мені на не немає ні про що щоб та так також те ти то у це цей чи як який яка я",
    "bg": "а аз ако без беше би в вече ви го да до е за и или им как като когато който която кой ли ме мен ми много "
    "на не ни но от по при с са само се си след съм те тези това този ще че",
    "fa": "آن است از او این با باید بر برای به تا تو چه چرا خود را شد شما که کرد ما من می نه نیست و هم هر یا یک",
    "ur": "آپ اس اور ان ایک بھی پر تھا تھی جو سے کا کر کو کی کے کیا کیوں میں نہیں نے وہ ہم ہو ہوں ہے ہیں یہ",
    "ar": "أن أنا أو إلى إن التي الذي على عن في قد كان كانت كل كيف لا لم ما من مع نحن هذا هذه هل هو هي و يا ذلك "
    "لكن ليس أنت ثم",
}
"""Of languages whose stop words are not left out of a search."""

STOP_WORDS_BY_CODE: Final = {CODES[name]: frozenset(listed.split()) for name, listed in STOP_WORDS.items()} | {
    code: frozenset(listed.split()) for code, listed in _MORE_STOP_WORDS.items()
}

LANGUAGE_OF_SCRIPT: Final = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "CJK": "zh",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "DEVANAGARI": "hi",
    "BENGALI": "bn",
    "GURMUKHI": "pa",
    "GUJARATI": "gu",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "GREEK": "el",
    "HEBREW": "he",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "ETHIOPIC": "am",
}
"""By the first word of the Unicode names of its letters: scripts that are written in one language, or nearly so."""

_MORE_NAMES: Final = (
    "sv:Swedish da:Danish no:Norwegian fi:Finnish pl:Polish cs:Czech hu:Hungarian ro:Romanian tr:Turkish "
    "vi:Vietnamese id:Indonesian ca:Catalan uk:Ukrainian bg:Bulgarian fa:Persian ur:Urdu ar:Arabic ja:Japanese "
    "ko:Korean zh:Chinese th:Thai lo:Lao km:Khmer my:Burmese bn:Bengali pa:Punjabi gu:Gujarati ta:Tamil te:Telugu "
    "kn:Kannada ml:Malayalam si:Sinhala el:Greek he:Hebrew hy:Armenian ka:Georgian am:Amharic"
)
LANGUAGE_NAMES: Final = {code: name.capitalize() for name, code in CODES.items()} | dict(
    pair.split(":") for pair in _MORE_NAMES.split()
)
"""By code, as English calls them."""
