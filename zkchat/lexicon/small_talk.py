"""What people say to a model without asking for anything that stands in notes: greetings, thanks, "shorter, please"."""

from typing import Final

GREETINGS: Final = """
    hi hey hello thanks thank welcome bye goodbye cheers great sure okay ok wow cool nice awesome congrats sorry haha
    hallo hi danke bitte tschüss gerne super klar genau
    bonjour salut merci bienvenue hola gracias adiós ciao grazie prego olá obrigado obrigada
    hoi dank bedankt привет здравствуйте спасибо пожалуйста пока
    bom boa dia tarde noite buenos buenas días tardes noches guten morgen good morning evening
    ça va geht gehts
    как дела добрый утро вечер
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
