"""Telling languages apart by their script and their small words."""

import pytest

from zkchat.notes.runs import detect_language

TEXTS = {
    "en": "The summary should be in the same language as the conversation.",
    "de": "Die Zusammenfassung soll in derselben Sprache sein wie das Gespräch.",
    "fr": "Le résumé doit être dans la même langue que la conversation.",
    "es": "El resumen debe estar en el mismo idioma que la conversación, y no muy lejos de lo que se ha dicho.",
    "pt": "O resumo deve estar na mesma língua que a conversa, mas não muito longe do que foi dito.",
    "nl": "De samenvatting moet in dezelfde taal zijn als het gesprek.",
    "ru": "Краткое изложение должно быть на том же языке, что и разговор.",
    "pl": "Podsumowanie powinno być w tym samym języku co rozmowa.",
    "tr": "Özet, konuşma ile aynı dilde olmalı ve çok uzun olmamalı.",
    "zh": "摘要应该与对话使用相同的语言。",
    "ja": "要約は会話と同じ言語で書かれるべきです。",
    "ko": "요약은 대화와 같은 언어여야 합니다.",
    "ar": "يجب أن يكون الملخص بنفس لغة المحادثة.",
    "fa": "خلاصه باید به همان زبان گفتگو باشد.",
    "hi": "सारांश बातचीत की ही भाषा में होना चाहिए।",
    "th": "บทสรุปควรเป็นภาษาเดียวกับการสนทนา",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items(), ids=TEXTS)
def test_a_sentence_is_known_by_its_language(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "", "42", "ok", "git push origin", "Kubernetes Terraform AWS", "Резюме", "Han er her, og hun er der.",
        "한글 漢字 かな ไทย λό",
    ],
)  # fmt: skip
def test_what_could_be_any_language_is_none(text: str) -> None:
    assert detect_language(text) is None


def test_code_links_and_addresses_do_not_count() -> None:
    text = "Wir haben das mit `for the in of and to` und [[The Art of the Deal with the Devil]] gelöst."
    assert detect_language(f"{text}\n```\nif this is not the end then do it\n```\nhttps://the.of/and/to") == "de"


def test_a_japanese_name_does_not_make_a_chinese_text_japanese() -> None:
    assert detect_language("我们在东京的商店见到了さくら，然后一起去吃饭，聊了很久关于工作和生活的事情。") == "zh"
