import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat.notes.note_blocks import sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Ask e.g. Dr. Who vs. Prof. Xu. Then go.", ["Ask e.g. Dr. Who vs. Prof. Xu.", "Then go."]),
        ("It cost 3.50 euros. and more", ["It cost 3.50 euros. and more"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Er kam am 12. Mai um 20:15. Dann ging er.", ["Er kam am 12. Mai um 20:15.", "Dann ging er."]),
        ("هل هو مفتوح؟ نعم. یہ ہے۔ اچھا۔", ["هل هو مفتوح؟", "نعم.", "یہ ہے۔", "اچھا۔"]),
        ("# Heading\nText.\n\n## Sub\nMore.", ["Text.", "More."]),
        ("- one\n- [x] two\n  goes on\n1. three", ["one", "two\n  goes on", "three"]),
        ("> [!note] Mind this.\n", ["Mind this."]),
        ("Claim. ^block-id\n", ["Claim."]),
        ("| a | b |\n|---|---|\n| c. D | e |", ["| a | b |", "| c. D | e |"]),
        ("Before.\n```sh\nrsync -a x. Y\n```\nAfter.", ["Before.", "```sh\nrsync -a x. Y\n```", "After."]),
        ("```\n" + "line\n" * 20 + "```\nAfter.", ["After."]),
        ("", []),
    ],
)
def test_a_passage_is_cut_into_what_can_be_quoted(text: str, found: list[str]) -> None:
    assert sentences(text) == found


THAI = (
    "ล้างโซ่ด้วยแปรงสีฟันเก่าทุกสองร้อยกิโลเมตร",
    "เช็ดให้แห้งแล้วหยอดน้ำมันทีละข้อ ถ้าหยอดมากเกินไปฝุ่นจะเกาะ",
    "ขี่ไปตลาดทุกเช้าวันเสาร์ กระดิ่งเสียแล้วแต่เบรก (ที่เปลี่ยนเมื่อปีที่แล้ว ในร้านของลุงที่อยู่ตรงข้ามตลาดใหญ่) ยังดีอยู่",
)


def test_a_long_thai_text_is_cut_at_spaces_outside_brackets() -> None:
    assert sentences(" ".join(THAI)) == [*THAI]
    assert sentences(THAI[1]) == [THAI[1]]


@given(st.text(alphabet="ab .!?。\n#-*>|`~^[]1", max_size=200))
def test_every_sentence_stands_in_the_text_word_for_word_and_in_order(text: str) -> None:
    place = 0
    for sentence in sentences("\n".join(text.splitlines())):
        place = text.find(sentence, place)
        assert place >= 0
        place += len(sentence)
