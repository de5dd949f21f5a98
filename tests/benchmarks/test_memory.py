"""The conversations of the memory benchmarks, and what a small one shows."""

from pathlib import Path

from benchmarks.memory.needles import KEPT, by_newest, by_recall, conversation, stored

NEEDLES = 250


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
