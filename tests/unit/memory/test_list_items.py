from zkchat.chat.memory import list_items


def test_each_item_of_a_list_is_a_fact() -> None:
    text = "---\na:\n- no item\n---\n# Me\n\n- I like tea\n* I live   in Ghent\n  1. Mia is six\n- [x] done\nno item\n"
    assert list_items(text) == ["I like tea", "I live in Ghent", "Mia is six", "done"]


def test_code_is_no_list() -> None:
    assert list_items("```\n- a\n```\n- b\n") == ["b"]
