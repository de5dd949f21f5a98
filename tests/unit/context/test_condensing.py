"""Long texts made short with a question in mind, and what of a message answers its own question."""

import json

import pytest

from zkchat.chat.context.condensing import condense_message, condense_text, find_excerpts, split_question
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.context.unit_ranking import (
    content_terms,
    coverage_item,
    find_in_text,
    idf_weights,
    select_greedily,
    sentence_weight,
    split_units,
)

count = Estimate().count


def log(lines: int, **other: str) -> str:
    """A log of lines that look alike; `at_N` says what stands in line N instead."""
    written = [
        f"2026-03-01 12:{n % 60:02} INFO worker {n % 7} finished step {n} of the nightly run" for n in range(lines)
    ]
    for place, line in other.items():
        written[int(place.removeprefix("at_"))] = line
    return "\n".join(written)


def test_head_tail_and_the_line_that_bears_on_the_question_are_kept_with_its_neighbours() -> None:
    text = log(1_000, at_900="2026-03-01 12:00 INFO the certificate of the mail gateway expires in May")
    short = condense_text(text, 400, count, question="When does the certificate expire?")
    lines = short.splitlines()
    place = next(number for number, line in enumerate(lines) if "expires in May" in line)
    assert lines[0] == text.splitlines()[0]
    assert lines[-1] == text.splitlines()[-1]
    assert lines[place + 1] == text.splitlines()[901]
    assert count(short) <= 400


def test_marks_say_how_many_lines_are_left_out() -> None:
    lines = condense_text(log(1_000), 300, count, question="").splitlines()
    kept = [line for line in lines if not line.startswith("[…")]
    marks = [line for line in lines if line.startswith("[…")]
    left_out = sum(int(mark.split()[1].replace(",", "")) for mark in marks)
    assert all(mark.endswith((" lines left out …]", " line left out …]")) for mark in marks)
    assert len(kept) + left_out == pytest.approx(1_000, abs=1)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Which job failed?", "2026-03-01 12:00 ERROR deploy-docs stopped"),
        ("What went wrong?", "deploy-docs: process completed with exit code 1"),
        ("Was ist der Fehler?", "Traceback (most recent call last):"),
        ("哪个任务失败了？", "connection to the registry was refused"),
        ("Anything unusual?", "kernel: oom-killer invoked, sacrificing postgres"),
    ],
)
def test_who_asks_what_failed_sees_the_signs_of_failure_and_what_is_unlike_the_rest(question: str, line: str) -> None:
    assert line in condense_text(log(1_000, at_600=line), 300, count, question=question)


def test_words_of_the_question_are_found_in_identifiers_and_in_other_forms() -> None:
    code = [f"    value_{n} = compute(value_{n - 1}, {n})" for n in range(1_000)]
    code[700] = "    readTimeout = 45"
    code[900] = "    self.retried_connections += 1"
    text = "\n".join(code)
    assert "readTimeout = 45" in condense_text(text, 200, count, question="What is the timeout?")
    assert "retried_connections" in condense_text(text, 200, count, question="Where is a connection counted?")


def test_of_a_table_the_header_and_the_row_are_kept() -> None:
    rows = ["id,name,city,balance", *(f"{n},Person {n},Bergen,{n * 7}" for n in range(600))]
    rows[500] = "1499,Ada Lind,Tromsø,12"
    short = condense_text("\n".join(rows), 200, count, question="Who lives in Tromso?")
    assert short.startswith("id,name,city,balance\n")
    assert "1499,Ada Lind,Tromsø,12" in short
    assert "rows left out …]" in short


@pytest.mark.parametrize("indent", [None, 2])
def test_of_json_whole_records_are_kept(indent: int | None) -> None:
    people = [{"id": n, "name": f"Person {n}", "city": "Bergen"} for n in range(600)]
    people[400]["city"] = "Tromsø"
    text = json.dumps({"total": 600, "people": people}, ensure_ascii=False, indent=indent)
    short = condense_text(text, 300, count, question="Who lives in Tromsø?")
    assert json.dumps(people[400], ensure_ascii=False) in " ".join(short.split()).replace("{ ", "{").replace(" }", "}")
    assert short.startswith(text[:11])
    assert " records left out …]" in short


@pytest.mark.parametrize("separator", ["。", ""])
def test_of_chinese_with_and_without_full_stops_the_clause_is_kept(separator: str) -> None:
    clauses = [f"第{n}项由小组在周三检查" for n in range(600)]
    clauses[400] = "发布工作由李雷负责"
    assert "李雷" in condense_text(separator.join(clauses), 300, count, question="谁负责发布？")


def test_pieces_of_text_without_an_end_are_shorter_where_letters_say_more() -> None:
    pieces = [max(end - start for start, end in split_units(letter * 1_000).spans) for letter in "x汉"]
    assert pieces == [240, 80]


def test_a_line_that_asks_brings_the_next_one_with_it() -> None:
    text = "Notes of March.\n\nHow warm is the greenhouse at night?\nSeventeen degrees.\nThe roof leaks.\n"
    found = find_in_text(text, "How warm is the greenhouse?")
    assert [(each.text, each.first_line) for each in found][1] == ("Seventeen degrees.", 4)


def test_of_prose_without_a_question_what_covers_most_is_kept() -> None:
    prose = " ".join(f"It was a quiet day again, number {n}, and nothing happened." for n in range(600))
    text = prose + " The council of Oslo bought the old harbour crane. " + prose
    assert "harbour crane" in condense_text(text, 200, count)


@pytest.mark.parametrize(
    ("opening", "is_question"),
    [("word\n" * 7 + "word", True), ("word\n" * 8 + "word", False), ("w" * 1_198, True), ("w" * 1_199, False)],
)
def test_a_short_first_paragraph_is_the_question(opening: str, is_question: bool) -> None:
    assert (split_question(f"{opening}\n\n{log(100)}").before.strip() == opening) is is_question


@pytest.mark.parametrize(("length", "is_material"), [(2_000, True), (1_999, False)])
def test_so_much_text_is_material(length: int, is_material: bool) -> None:
    assert bool(split_question(f"What is it?\n\n{log(100)[:length]}").material) is is_material


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"Which job failed?\n\n{log(100)}", "Which job failed?"),
        (f"Which job failed?\n{log(100)}", "Which job failed?"),
        (f"{log(100)}\n\nWhich job failed?", "Which job failed?"),
        (f"Here is my log.\n\n{log(100)}\n\nWhich job failed?", "Here is my log.\n\nWhich job failed?"),
        (f"Look for the slowest.\n\n{log(100)}\n\nAnswer in one line.", "Look for the slowest.\n\nAnswer in one line."),
        (f"哪个任务失败了？\n\n{log(100)}", "哪个任务失败了？"),
        ("Which city? " + json.dumps([{"city": "Oslo"}] * 200), "Which city?"),
        (log(100), ""),
        ("Why? " + "I went on and on. " * 300, "Why? " + "I went on and on. " * 300),
    ],
)
def test_the_question_of_a_long_message_is_what_was_typed(text: str, question: str) -> None:
    split = split_question(text)
    assert split.question == question.strip()
    assert split.before + split.material + split.after == text


@pytest.mark.parametrize(
    "message", ["Which job failed?\n\n{}", "{}\n\nWhich job failed?", "Context:\n\n{}\n\nWhich job failed?"]
)
def test_of_a_condensed_message_the_question_stays_whole(message: str) -> None:
    short = condense_message(message.format(log(1_000, at_700="deploy-docs: FAILED")), 300, count)
    assert "Which job failed?" in short
    assert "deploy-docs: FAILED" in short
    assert 260 <= count(short) <= 300


def test_a_remark_follows_what_is_left_of_the_material() -> None:
    text = f"Context:\n\n{log(1_000)}\n\nWhich job failed?"
    short = condense_message(text, 300, count, remark="[read_attachment reads on.]")
    assert short.endswith(f"{log(1_000).splitlines()[-1]}\n[read_attachment reads on.]\n\nWhich job failed?")
    assert 260 <= count(short) <= 300
    assert condense_message("It fits.", 300, count, remark="[read_attachment reads on.]") == "It fits."


@pytest.mark.parametrize(
    ("lesser", "better"),
    [
        ("The bridge behind the city is closed.", "The bridge behind Lisbon is closed."),
        ("The bridge is in the notes.", "The bridge is in [[notes]]."),
        ("The bridge closes late.", "The bridge closes at 14."),
        ("The bridge fell.", "My bridge fell."),
    ],
)
def test_facts_and_what_is_ones_own_come_before_the_rest(lesser: str, better: str) -> None:
    assert sentence_weight(lesser) < sentence_weight(better)


def test_what_stands_there_already_is_not_new() -> None:
    items = [coverage_item("nine red fish", 3), coverage_item("pale oaks", 3)]
    telling, fish = idf_weights(items), content_terms("nine red fish")
    assert select_greedily(items, telling, lambda _: True) == [0, 1]
    assert select_greedily(items, telling, lambda _: True, covered=[fish]) == [1, 0]
    assert select_greedily(items, telling, lambda _: True, covered=[fish, fish]) == [1]


LINES = [f"12:{n % 60:02} [build-{n % 9}] step {n} finished, 0 errors" for n in range(1_000)]


def excerpts(message: str) -> list[str]:
    return [each.text for each in find_excerpts(message)]


def test_the_lines_that_answer_are_found_with_their_numbers() -> None:
    lines = [*LINES]
    lines[900] = "12:00 [deploy-docs] Process completed with exit code 1"
    (only,) = find_excerpts("Which job failed?\n\n" + "\n".join(lines))
    assert only.text == lines[900]
    assert (only.first_line, only.last_line) == (901, 901)


def test_a_question_that_the_material_does_not_answer_finds_nothing() -> None:
    material = "\n".join(LINES)
    assert excerpts(f"Which job failed?\n\n{material}") == []
    assert excerpts(f"What do penguins eat?\n\n{material}") == []
    assert excerpts(material) == excerpts("Which job failed?") == []


def test_a_row_of_a_table_comes_with_the_header() -> None:
    rows = ["name,city", *(f"Person {n},Bergen" for n in range(400)), "Ada Lind,Tromsø"]
    assert excerpts("Who lives in Tromsø?\n\n" + "\n".join(rows)) == ["name,city", "Ada Lind,Tromsø"]


def test_of_many_lines_that_answer_alike_some_are_shown() -> None:
    lines = [f"ERROR job {n} failed" if n % 3 == 0 else line for n, line in enumerate(LINES)]
    assert len(excerpts("Which job failed?\n\n" + "\n".join(lines))) == 5
