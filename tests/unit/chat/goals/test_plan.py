import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.goal_plan import parse_plan, plan_text, step_brief
from zkchat.core.events import Goal

THREE = ("Find the notes.", "Read them.", "Write the summary.")


@pytest.mark.parametrize(
    "text",
    [
        "1. Find the notes.\n2. Read them.\n3. Write the summary.",
        "Here is my plan:\n\n1. Find the notes.\n\n2. Read them.\n\n3. Write the summary.\n\nShall I begin?",
        "**Step 1:** Find the notes.\n**Step 2:** Read them.\n**Step 3:** Write the summary.",
        "## Step 1: Find the notes.\n## Step 2 - Read them.\n## Step 3. Write the summary.",
        "Schritt 1: Find the notes.\nSchritt 2: Read them.\nSchritt 3: Write the summary.",
        "- [ ] 1. Find the notes.\n- [ ] 2. Read them.\n- [ ] 3. Write the summary.",
        "☐ skip\n* Find the notes.\n* Read them.\n* Write the summary.",
        "1. Find the notes.\n1. Read them.\n1. Write the summary.",
        "```\n1. Find the notes.\n2. Read them.\n3. Write the summary.\n```",
        "1. **Find the notes.**\n2. *Read them.*\n3. __Write the summary.__",
        "  1. Find the\n     notes.\n  2. Read them.\n  3. Write the summary.",
        "1. Find the notes.\n2. Read them.\n3. Write the summary.\n\nNotes:\n1. This is no step.\n2. Nor this.",
        "1. Find the notes.\n2. Find the notes.\n3. Read them.\n4. Write the summary.",
    ],
)
def test_the_steps_are_read_however_the_list_is_written(text: str) -> None:
    assert parse_plan(text, 10).steps == THREE


def test_details_below_a_step_belong_to_it() -> None:
    text = "1. Search:\n   - sleep\n   - rest\n2. Read\n    1. the first\n    2. the second\n"
    assert parse_plan(text, 10).steps == ("Search: sleep; rest", "Read; the first; the second")


@pytest.mark.parametrize(
    "text", ["", "I will look into it.", "12:30 is lunch\n2.5 hours of sleep", "***\n---\n- \n1.", "[1, 2]"]
)
def test_a_text_without_a_list_is_no_plan(text: str) -> None:
    assert parse_plan(text, 10).steps == ()


def test_a_long_plan_is_cut_and_the_rest_counted_and_so_is_a_long_step() -> None:
    plan = parse_plan(plan_text(f"Do thing {number}." for number in range(60)), 12)
    assert (len(plan.steps), plan.left_out) == (12, 48)
    assert plan.steps[-1] == "Do thing 11."
    (step,) = parse_plan(f"1. {'word ' * 500}", 10).steps
    assert len(step) == 400
    assert [len(parse_plan("\n" * lines + "1. Read.", 10).steps) for lines in (1_999, 2_000)] == [1, 0]


def test_a_step_is_told_the_goal_and_what_came_of_others_in_part() -> None:
    goal = Goal(id="g", text="g" * 2_001).with_plan(("s" * 121, "Read."), "m").with_step(1, "done", message_id="m")
    told = [step_brief(goal, 2, ("r" * 700, ""), room=room, writes=False).text for room in (5_000, 300, 5)]
    assert f"Goal: {'g' * 1_999}…\n" in told[0]
    assert f"[x] 1. {'s' * 119}…\n" in told[0]
    assert "[ ] 2. Read. (now)\n" in told[0]
    results = [text.partition("    result: ")[2].partition("\n")[0] for text in told]
    assert [len(result) for result in results] == [600, 300, 60]


PIECES = [
    "1. ",
    "2) ",
    "Step 3: ",
    "- ",
    "* ",
    "- [ ] ",
    "   ",
    "\n",
    "**",
    "`",
    "a",
    "B c",
    "[[N]]",
    "[",
    '"',
    "#",
    "9",
]
lists = st.lists(st.sampled_from(PIECES)).map("".join)


@settings(max_examples=50)
@given(st.text() | lists, st.integers(1, 5))
def test_reading_any_text_gives_bounded_lines_which_read_the_same_again(text: str, most: int) -> None:
    steps = parse_plan(text, most).steps
    assert len(steps) <= most
    assert all(step.strip() and "\n" not in step and len(step) <= 400 for step in steps)
    assert parse_plan(plan_text(steps), most).steps == steps
