import pytest

from zkchat.notes.parse import parse_note


def tasks(text: str) -> list[tuple[int, str, str]]:
    return [(task.line, task.state, task.text) for task in parse_note("Note.md", text).tasks]


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] water", "1. [ ] water", "2) [ ] water", "  - [ ] water", "\t- [ ]  water", "> - [ ] water",
        "> > * [ ] water", "- - [ ] water",
    ],
)  # fmt: skip
def test_every_marker_of_a_list_makes_a_task(line: str) -> None:
    assert tasks(f"> [!todo] This week\n- a list\n{line}\n") == [(3, " ", "water")]


@pytest.mark.parametrize(
    "line",
    [
        "- [x] water", "- [X] water", "- [-] water", "- [>] water", "- [?] water",
        "- [ ]", "- [ ] ", "- [ ](water.md)", "- [ ]water", "[ ] water", "-[ ] water", "text - [ ] water",
    ],
)  # fmt: skip
def test_what_is_done_cancelled_empty_or_no_item_is_no_open_task(line: str) -> None:
    assert tasks(f"# Title\n\n{line}\n") == []


def test_nested_tasks_stand_for_themselves_and_one_that_is_begun_is_open() -> None:
    text = "- [x] garden\n    - [/] water\n        1. [ ] find the can\n- [ ] [[Beds|dig]] `over`\n"
    assert tasks(text) == [(2, "/", "water"), (3, " ", "find the can"), (4, " ", "[[Beds|dig]] `over`")]


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [ ] water\n```\n", "~~~md\n- [ ] water\n~~~\n", "> ```\n> - [ ] water\n> ```\n",
        "text\n\n    - [ ] water\n", "%%\n- [ ] water\n%%\n", "%% - [ ] water %%\n", "<!--\n- [ ] water\n-->\n",
        "---\nlist: |\n  - [ ] water\n---\n",
    ],
)  # fmt: skip
def test_nothing_in_code_comments_or_frontmatter_is_a_task(text: str) -> None:
    assert tasks(f"{text}\n- [ ] the next\n") == [(text.count("\n") + 2, " ", "the next")]


def test_tasks_are_bounded_in_number_and_length() -> None:
    assert len(tasks("- [ ] x\n" * 2_005)) == 2_000
    assert len(tasks(f"- [ ] {'long' * 1000}\n")[0][2]) == 500
