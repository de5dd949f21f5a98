"""What people say to a model without asking for anything that stands in notes: greetings, thanks, "shorter, please"."""

from typing import Final

GREETINGS: Final = """
    hi hey hello thanks thank welcome bye goodbye cheers great sure okay ok wow cool nice awesome congrats sorry haha
    hallo hi danke bitte tschüss gerne super klar genau
    bonjour salut merci bienvenue hola gracias adiós ciao grazie prego olá obrigado obrigada
    hoi dank bedankt привет здравствуйте спасибо пожалуйста пока
"""

UNSPACED_GREETINGS: Final = """
    你好 您好 谢谢 多谢 感谢 早上好 晚上好 再见 こんにちは こんばんは おはよう ありがとう どうも さようなら
    안녕하세요 감사합니다 고마워 สวัสดี ขอบคุณ
"""
"""What begins with one of these, is short and asks nothing is a greeting as a whole."""

ABOUT_THE_ANSWER: Final = """
    lot much help helps helped helpful perfect good fine well done right wrong true understood got see interesting yes
    again continue go going more less short shorter longer brief briefer simpler explain translate rewrite rephrase
    repeat summarise summarize please answer try sentence sentences word words bullet bullets list table english german
    french spanish morning evening afternoon night day days today tomorrow name write think sense understand example
    examples point points first second third last elaborate idea opinion mean means detail details sound sounds
    mehr weniger kurz kürzer länger weiter nochmal noch verstanden perfekt gut prima toll hilft geholfen
    viel vielen hilfreich kannst könntest erklär erkläre erklären übersetz übersetze übersetzen wiederhole
    mach fass zusammen richtig falsch stimmt ja nein deutsch englisch satz
    sätze wort worte guten morgen abend tag
    plus moins court long encore continue parfait compris bien aide beaucoup explique traduis répète résume phrase oui
    non jour soir
    más menos corto largo vez continúa perfecto entendido bien ayuda mucho muchas explica traduce repite resume frase
    buenos buenas días tardes noches sí
    più meno breve lungo ancora continua perfetto capito bene aiuta molto spiega traduci ripeti riassumi frase
    buongiorno
"""
"""Remarks on an answer, and requests to write it in another way."""

PHRASES: Final = """
    good morning|good night|thank you very much|thank you|thanks a lot|how are you|how is it going|what's up|see you
    see you later|well done|great job|good job|nice one|nice work|nice to meet you|have a nice day|no problem
    you're welcome|who are you|what are you|what can you do
    danke schön|danke sehr|vielen dank|herzlichen dank|guten tag|guten morgen|guten abend|gute nacht|wie geht's
    wie geht es dir|wie geht es ihnen|auf wiedersehen|bis später|schönen tag noch|grüß gott|moin|servus|wer bist du
    was kannst du
    merci beaucoup|ça va|comment ça va|comment vas-tu|comment allez-vous|bonne journée|bonsoir|bonne nuit|au revoir
    à bientôt|s'il te plaît|s'il vous plaît|de rien|qui es-tu
    muchas gracias|qué tal|cómo estás|buenos días|buenas tardes|buenas noches|hasta luego|de nada|por favor|quién eres
    bom dia|boa tarde|boa noite|tudo bem|muito obrigado|muito obrigada|até logo|oi|quem é você
    come stai|come va|grazie mille|buonasera|buona sera|buonanotte|arrivederci|salve|di niente|chi sei
    goedemorgen|goedemiddag|goedenavond|dank je|dank je wel|dankjewel|hoe gaat het|tot ziens|wie ben je
    tack|tack så mycket|hej|hej hej|hei|god morgon|god morgen|god dag|mange tak|tusen takk|takk|tak|hur mår du
    dzień dobry|cześć|dziękuję|dzięki|jak się masz|do widzenia|ahoj|dobrý den|děkuji|díky|na shledanou
    как дела|добрый день|доброе утро|добрый вечер|спасибо большое|большое спасибо|до свидания|здравствуй|кто ты
    привіт|дякую|добрий день|до побачення
    merhaba|teşekkürler|teşekkür ederim|nasılsın|günaydın|iyi akşamlar|selam
    xin chào|chào bạn|cảm ơn|cám ơn|cảm ơn bạn|tạm biệt|terima kasih|apa kabar|selamat pagi|halo
    bună|bună ziua|mulțumesc|ce mai faci|la revedere|szia|köszönöm|jó napot|kiitos|moi|huomenta|hyvää päivää
    γεια|γεια σου|ευχαριστώ|καλημέρα|καλησπέρα|مرحبا|شكرا|شكرا لك|السلام عليكم|كيف حالك|صباح الخير|שלום|תודה
    नमस्ते|धन्यवाद|शुक्रिया|कैसे हो|आप कैसे हैं|สวัสดี|สวัสดีครับ|สวัสดีค่ะ|ขอบคุณ|ขอบคุณครับ|ขอบคุณค่ะ
    你好|您好|你好吗|大家好|谢谢|谢谢你|多谢|謝謝|早上好|晚上好|晚安|再见|你是谁
    こんにちは|こんばんは|おはよう|おはようございます|ありがとう|ありがとうございます|どうも|さようなら|お元気ですか
    안녕|안녕하세요|감사합니다|고마워|고마워요|고맙습니다|안녕히 계세요
"""
"""Greetings, thanks and questions about oneself, each as a whole: their words may mean something among others."""
