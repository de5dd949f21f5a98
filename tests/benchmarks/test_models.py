"""The tasks of the benchmark with real models, and how its answers are scored."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.models.conversations import HALVES, World, all_tasks, kept_in, models_stay_loaded, notes_of, table
from benchmarks.models.scoring import (
    as_wanted,
    first_source_is,
    holds,
    names_note,
    patched,
    refuses,
    right,
    score,
    trouble,
)
from tests.support.gguf_files import write_gguf
from zkchat.models.local import LocalDescriptor
from zkchat.models.registry import NamedModel, ProviderContext

LEAST = {
    "fact": 20,
    "two notes": 8,
    "follow-up": 10,
    "list": 6,
    "summary": 6,
    "unanswerable": 12,
    "german": 4,
    "chinese": 4,
    "tool": 8,
    "proposal": 8,
    "goal": 1,
    "long": 1,
}


def test_there_are_enough_tasks_of_each_kind_and_halves_alternate() -> None:
    tasks = all_tasks()
    assert Counter(task["kind"] for task in tasks) >= Counter(LEAST)
    assert len({task["id"] for task in tasks}) == len(tasks)
    assert len({(task["vault"], *task["turns"]) for task in tasks}) == len(tasks)
    halves = defaultdict(list)
    for task in tasks:
        halves[task["kind"]].append(task["half"])
    for kind in ("tool", "long"):  # those that were looked at are no longer unseen
        assert {*halves.pop(kind)} == {*HALVES}
    assert {*halves["unanswerable"][36:]} == {HALVES[1]}  # what came later is all unseen
    del halves["unanswerable"][36:]
    assert all(found == [HALVES[number % 2] for number in range(len(found))] for found in halves.values())


@pytest.mark.parametrize("vault", ["garden", "handbook", "text"])
def test_every_gold_stands_in_the_notes_that_are_named(vault: str) -> None:
    notes = {path.removesuffix(".md"): text for path, text in notes_of(vault)}
    for task in all_tasks():
        if task["vault"] != vault:
            continue
        assert notes.keys() >= {*task["notes"]}, task["id"]
        text = "\n".join(f"{name}\n{notes[name]}" for name in task["notes"])
        golds = (*task.get("all", ()), *task.get("any", ())) if task["notes"] else ()  # a count or a date
        for gold in golds:
            assert holds(text, gold), (task["id"], gold)


@pytest.mark.parametrize("vault", ["garden", "handbook", "text"])
def test_what_is_made_up_and_what_is_told_stand_in_no_note(vault: str) -> None:
    whole = "\n".join(text for _, text in notes_of(vault))
    for task in all_tasks():
        if task["vault"] != vault:
            continue
        for wrong in task.get("wrong", ()):
            assert wrong.startswith("re:") or not holds(whole, wrong), (task["id"], wrong)
        told = task["turns"][: len(task["turns"]) - len(task.get("facts", ()))]
        for fact in task.get("facts", ()):
            assert any(holds("\n".join(told), each) for each in fact["any"]), fact
            assert not any(holds(whole, each) for each in fact["any"]), fact


def test_no_question_gives_its_answer_away() -> None:
    for task in all_tasks():
        if "any" in task or "all" in task:
            assert not right(task, " ".join(task["turns"])), task["id"]


def test_a_long_conversation_has_at_least_thirty_turns_and_eight_facts() -> None:
    for task in all_tasks():
        if task["kind"] == "long":
            assert (len(task["turns"]) >= 30, len(task["facts"])) == (True, 8)
            assert task["turns"][-8:] == [fact["ask"] for fact in task["facts"]]


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("It cost 1 200 euros.", "1,200"),
        ("**486** euros", "486"),
        ("She is allergic to Hazelnuts.", "hazelnut"),
        ("Tomas builds it.", "Tomás|Tomas"),
        ("at 96°C", "96"),
        ("Mara’s van", "Mara"),
        ("水温以八十度左右为宜", "八十度|80"),
        ("status: done", "re:^status: done$"),
    ],
)
def test_a_gold_string_is_found(text: str, gold: str) -> None:
    assert holds(text, gold)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("It was cast in 1743.", "17"),
        ("It cost 4,860 euros.", "486"),
        ("It weighs 18.5 kg.", "18"),
        ("They advanced.", "van"),
        ("", "van"),
    ],
)
def test_a_part_of_another_word_or_number_is_not(text: str, gold: str) -> None:
    assert not holds(text, gold)


def test_an_answer_is_right_with_all_and_enough_of_its_gold() -> None:
    task = {"all": ["Grell", "1743"], "any": ["Lübeck", "ling", "310"], "least": 2}
    assert right(task, "Matthias Grell of Lübeck cast it in 1743; it weighs 310 kg.")
    assert not right(task, "Matthias Grell of Lübeck cast it in 1843; it weighs 310 kg.")
    assert not right(task, "Matthias Grell of Lübeck cast it in 1743.")
    assert not right(task, "")


def test_copying_out_the_notes_is_no_answer() -> None:
    assert not right({"all": ["van"]}, "van " + "and so on " * 200)
    assert not right({"all": ["二十三"]}, "二十三" + "渡船是木头做的" * 150)


GOOD = [
    "The heap reaches 55 to 65 °C, says [[Reference/Compost]].",
    "> The glazing will be twin-wall polycarbonate.\n\n— [[Greenhouse decisions]]",
    "```sh\nwg-quick up office\n```\nThis command starts the tunnel.",
    "- Heron\n- Plover\n- Dipper\n- Wren",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "> Q: How loud is it?\n> A: 46 dB",
    "The answer is 2^10 in `x ^ y`.",
    "There is no information about that in your notes.",
]
BAD = [
    (" \n—", "empty"),
    ("<document path='a.md'>It is 5.</document>", "markup"),
    ("It is 5.\n</evidence>", "markup"),
    ("<think>Hm.</think> It is 5.", "markup"),
    ('{"name": "find_excerpts", "arguments": {"query": "sleep"}}', "raw tool call"),
    ("read_document(relative_path='Sleep')", "raw tool call"),
    ("I would call find_backlinks to see.", "raw tool call"),
    ("It is 5.<|im_end|>", "special token"),
    ("[INST] It is 5. [/INST]", "special token"),
    ("Based on the provided evidence, it is 5.", "words of the prompt"),
    ("The context you provided says 5.", "words of the prompt"),
    ("It is 5, as [[wikilink]] says.", "words of the prompt"),
    ("Question: How much?\nAnswer: 5", "words of the prompt"),
    ("**Answer:** 5", "words of the prompt"),
    ("> What we lose is the clear view. ^glazing\n>\n> More.", "block id"),
    ("```sh\nwg-quick up office", "open code fence"),
    ("Yes, and then " * 6, "loop"),
    ("渡口渡口渡口渡口渡口渡口渡口渡口渡口渡口", "loop"),
]


@pytest.mark.parametrize("answer", GOOD)
def test_an_answer_that_is_fit_to_be_read(answer: str) -> None:
    assert [*trouble(answer)] == []


@pytest.mark.parametrize(("answer", "why"), BAD)
def test_an_answer_that_is_not(answer: str, why: str) -> None:
    assert why in [*trouble(answer)]


def test_an_echo_of_the_question_is_no_answer() -> None:
    assert "echo of the question" in [*trouble("Who is Mara?", "who is Mara?")]


@pytest.mark.parametrize(
    ("notes", "answer", "is_named"),
    [
        (["Reference/Sleep"], "See [[Sleep]].", True),
        (["Reference/Sleep"], "See [[Reference/Sleep#Stages|the stages]].", True),
        (["Reference/Sleep"], 'Your note "Sleep" says 18.', True),
        (["Reference/Sleep"], "It stands in Reference/Sleep.md.", True),
        (["Reference/Sleep"], "Sleep needs a cool room.", False),
        (["Log/2025-10-08"], "It stands in 2025-10-08.", True),
        (["Projects/Greenhouse budget"], "The Greenhouse budget note says 486.", True),
        (["Projects/Greenhouse budget"], "You spent 486 euros, says [[Walden]].", False),
    ],
)
def test_whether_a_note_is_named(notes: Sequence[str], answer: str, is_named: bool) -> None:
    assert names_note(notes, answer) is is_named


def test_the_first_source_counts_and_no_other() -> None:
    references = [{"relative_path": "Reference/Sleep.md"}, {"relative_path": "Walden.md"}]
    assert first_source_is(["Reference/Sleep"], references)
    assert not first_source_is(["Walden"], references)
    assert not first_source_is(["Walden"], [{"relative_path": None}])
    assert not first_source_is(["Walden"], [])


MONGOLIA = {"wrong": ["Ulaanbaatar", "Ulan Bator"]}


@pytest.mark.parametrize(
    "answer",
    [
        "Your notes do not say what the capital of Mongolia is.",
        "I couldn't find anything about that in your notes.",
        "None of this is mentioned: the capital of Mongolia is not in your notes.",
        "I don't know.",
        "The capital of Mongolia is not specified in the notes.",
        "No passage answers this.",
        "In den Notizen steht nichts über die Mongolei.",
        "笔记里没有提到蒙古。",
    ],
)
def test_a_refusal(answer: str) -> None:
    assert refuses(MONGOLIA, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Your notes do not say it, but the capital of Mongolia is Ulaanbaatar.",
        "The capital of Mongolia is Astana.",
        "> Digital boxes do not mention the time.\n\n— [[Zettelkasten]]",
        "",
    ],
)
def test_no_refusal(answer: str) -> None:
    assert not refuses(MONGOLIA, answer)


def test_who_abstains_refuses_unless_something_is_made_up() -> None:
    assert refuses(MONGOLIA, "Nearest: [[Walden]].", abstained=True)
    assert not refuses(MONGOLIA, "Ulan Bator", abstained=True)


def diff_of(path: str, *lines: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\t\n+++ b/{path}\t\n@@ -1,3 +1,3 @@\n" + "\n".join(lines) + "\n"


STATUS = {"path": "A plan.md", "contains": ["re:^status: done$"], "removes": 1}
SET = diff_of("A plan.md", " title: x", "-status: open", "+status: done")


def test_a_proposal_as_wanted() -> None:
    assert as_wanted(STATUS, SET)
    added = diff_of("A plan.md", " - a", "-- b", "\\ No newline at end of file", "+- b", "+- [ ] buy plates")
    assert as_wanted({"path": "A plan.md", "contains": ["buy plates"]}, added)
    new = "diff --git a/In/Kefir.md b/In/Kefir.md\n--- /dev/null\n+++ b/In/Kefir.md\n@@ -0,0 +1,1 @@\n+It doubles.\n"
    assert as_wanted({"path": "*Kefir.md", "contains": ["doubles"]}, new)


@pytest.mark.parametrize(
    "diff",
    [
        "",
        SET.replace("A plan", "B plan"),
        SET.replace("+status: done", "+status: dome"),
        SET.replace("+status", " status"),
        SET + diff_of("Another.md", "+status: done"),
        diff_of("A plan.md", "-title: x", "-status: open", "+status: done"),
    ],
    ids=["none", "other note", "other text", "nothing added", "two notes", "too much taken away"],
)
def test_a_proposal_not_as_wanted(diff: str) -> None:
    assert not as_wanted(STATUS, diff)


def test_a_line_of_dashes_in_a_patch_is_a_line() -> None:
    assert patched(diff_of("A.md", "---- rule", "+++ plus")) == {"A.md": (["++ plus"], ["--- rule"])}


def test_facts_are_counted_one_by_one_and_every_turn_is_read() -> None:
    facts = [{"ask": "Code?", "any": ["4711"]}, {"ask": "Town?", "any": ["Bremerhaven"]}]
    turns = [{"question": "Hi", "answer": "4711"}, {"question": "Code?", "answer": "It is 4711."}]
    turns.append({"question": "Town?", "answer": "You did not say."})
    record: dict[str, Any] = {"turns": turns}
    task = {"kind": "long", "facts": facts, "notes": []}
    assert score(task, record) == {"trouble": [], "fit": True, "facts": 1}
    turns[0]["answer"] = "<memory>4711"
    assert score(task, record)["trouble"] == ["markup"]


def test_a_task_is_asked_in_a_home_of_its_own_and_its_record_is_kept(tmp_path: Path) -> None:
    task = {each["id"]: each for each in all_tasks()}["follow-up-08"]
    record = World(tmp_path, "quote").answer(task)
    assert [turn["question"] for turn in record["turns"]] == task["turns"]
    assert score(task, record)["first"]
    assert json.loads(json.dumps(record)) == record
    file = tmp_path / "kept.jsonl"
    file.write_text(json.dumps({"id": task["id"], **record}) + '\n{"id": "broken')
    assert kept_in(file, "quote")[task["id"]]["turns"] == record["turns"]
    assert kept_in(file, "another") == {}
    assert "follow-up" in "\n".join(table([(task, record)]))


def test_a_model_is_loaded_once_for_all_questions(tmp_path: Path) -> None:
    write_gguf(tmp_path / "small.gguf")
    model = NamedModel(provider="local", id=str(tmp_path / "small.gguf"))
    context = ProviderContext(settings={}, folder=tmp_path, home=tmp_path, cache=tmp_path)
    descriptor = LocalDescriptor(name="local", usage="", in_process=True)
    with models_stay_loaded():
        first = descriptor.create(model, context)
        assert descriptor.create(model, context) is first
    assert descriptor.create(model, context) is not first
