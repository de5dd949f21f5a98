"""How the statements and answers of the benchmarks are judged: whoever changes a threshold sees which of them turn.

To write the verdicts anew, and then to look at what differs:
    python -m tests.unit.vault.verification.test_benchmark_verdicts
"""

import json
from pathlib import Path
from textwrap import fill

from benchmarks.retrieval.verification import opened, read_statements
from zkchat.answers import find_contradiction, verify
from zkchat.core.message import Evidence, LineRange

EXPECTED = Path(__file__).parent / "benchmark_verdicts.txt"
ANSWERS = Path(__file__).parents[4] / "benchmarks/retrieval/contradictions.json"


def verdicts() -> dict[str, str]:
    """The first letter of each verdict; of an answer, of that in which it contradicts its passage."""
    with opened("garden") as library:
        said = [each.statement for each in read_statements()[::3]]
        judged = {each: "".join(found.verdict[0] for found in verify(library, each).statements) for each in said}
    for each in json.loads(ANSWERS.read_text("utf-8")):
        passage = Evidence(
            text=each["passage"],
            relative_path="N.md",
            title="N",
            wikilink="[[N]]",
            lines=LineRange(first=1, last=1),
            score=1.0,
        )
        found = find_contradiction(each["answer"], [passage], each["question"])
        judged[each["answer"]] = found.kind[0] if found else "-"
    return judged


def test_statements_and_answers_are_judged_as_before() -> None:
    expected = EXPECTED.read_text("utf-8").split()
    assert {each: new for (each, new), was in zip(verdicts().items(), expected, strict=True) if new != was} == {}


if __name__ == "__main__":
    EXPECTED.write_text(fill(" ".join(verdicts().values()), 119) + "\n", "utf-8")
