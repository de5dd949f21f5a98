"""The conversations of the memory benchmarks, and what a small one shows."""

import json
from pathlib import Path

from benchmarks.memory.conversations import measure, talks
from benchmarks.memory.needles import KEPT, by_newest, by_recall, conversation, stored

NEEDLES = 250
TALK = {
    "conversation": {
        "session_2_date_time": "9:05 am on 14 June, 2023",
        "session_2": [{"dia_id": "D2:1", "speaker": "Mel", "text": "The pottery class begins on Monday."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"dia_id": "D1:1", "speaker": "Caro", "text": "Look!", "blip_caption": "a rope bridge over a canyon"},
            {"dia_id": "D1:2", "speaker": "Mel", "text": "How is your aunt?"},
        ],
    },
    "qa": [
        {"question": "When does the pottery class begin?", "category": 2, "evidence": ["D2:1"]},
        {"question": "What did Caro photograph: a bridge?", "category": 4, "evidence": ["D1:1; D9:9"]},
        {"question": "What was never said?", "category": 5, "evidence": []},
    ],
}


def test_the_same_seed_gives_the_same_conversation_with_each_fact_where_it_is_said_to_be() -> None:
    messages, planted = conversation(NEEDLES, seed=7)
    assert (messages, planted) == conversation(NEEDLES, seed=7)
    assert messages != conversation(NEEDLES, seed=8)[0]
    said = {message.id: message.text for message in messages}
    assert all(each.fact.said in said[each.message] for each in planted)


def test_recall_brings_nine_of_ten_answers_back_and_the_newest_messages_hardly_any(tmp_path: Path) -> None:
    messages, planted = conversation(NEEDLES, seed=7)
    archived = {message.id: message for message in messages[:-KEPT]}
    with stored(tmp_path, messages) as (_, search, session):
        recalled, newest = (
            sum(each.fact.answer in remember(each.fact.asked).get(each.message, "") for each in planted)
            for remember in (by_recall(search, session, archived), by_newest(archived))
        )
    assert recalled >= 0.9 * len(planted)
    assert newest <= 0.2 * len(planted)


def test_a_public_conversation_is_read_in_order_and_asked_only_what_its_messages_answer(tmp_path: Path) -> None:
    (tmp_path / "talks.json").write_text(json.dumps([TALK]), "utf-8")
    [talk] = talks(tmp_path)
    assert [message.id for message in talk.messages] == ["D1:1", "D1:2", "D2:1"]
    assert talk.messages[0].text == "[a rope bridge over a canyon] Look!"
    assert talk.messages[0].created_at < talk.messages[1].created_at < talk.messages[2].created_at
    assert [each.evidence for each in talk.questions] == [{"D2:1"}, {"D1:1"}]
    assert [*measure(talk, None)] == [("2", [1, 1, 1, 1]), ("4", [1, 1, 1, 1])]
