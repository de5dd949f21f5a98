"""What of a message answers its own question."""

from zkchat.chat.context.condensing import find_excerpts
from zkchat.chat.context.unit_ranking import MAX_EXCERPTS

LINES = [f"12:{n % 60:02} [build-{n % 9}] step {n} finished, 0 errors" for n in range(1_000)]


def found(message: str) -> list[str]:
    return [each.text for each in find_excerpts(message)]


def test_the_lines_that_answer_are_found_with_their_numbers() -> None:
    lines = [*LINES]
    lines[900] = "12:00 [deploy-docs] Process completed with exit code 1"
    (only,) = find_excerpts("Which job failed?\n\n" + "\n".join(lines))
    assert only.text == lines[900]
    assert (only.first_line, only.last_line) == (901, 901)


def test_a_question_that_the_material_does_not_answer_finds_nothing() -> None:
    material = "\n".join(LINES)
    assert found(f"Which job failed?\n\n{material}") == []
    assert found(f"What do penguins eat?\n\n{material}") == []
    assert found(material) == found("Which job failed?") == []


def test_a_row_of_a_table_comes_with_the_header() -> None:
    rows = ["name,city", *(f"Person {n},Bergen" for n in range(400)), "Ada Lind,Tromsø"]
    assert found("Who lives in Tromsø?\n\n" + "\n".join(rows)) == ["name,city", "Ada Lind,Tromsø"]


def test_of_many_lines_that_answer_alike_some_are_shown() -> None:
    lines = [f"ERROR job {n} failed" if n % 3 == 0 else line for n, line in enumerate(LINES)]
    assert len(found("Which job failed?\n\n" + "\n".join(lines))) == MAX_EXCERPTS
