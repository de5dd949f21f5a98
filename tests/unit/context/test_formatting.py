from datetime import date

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from zkchat.chat.context.formatting import NEWEST_COUNTS, format_evidence
from zkchat.core.message import Evidence, LineRange


def passage(text: str, heading: str = "") -> Evidence:
    return Evidence(
        text=text,
        relative_path="Note.md",
        title="Note",
        wikilink="[[Note]]",
        heading=heading,
        lines=LineRange(first=1, last=1),
        score=1.0,
    )


def test_a_passage_follows_its_place_and_several_lines_are_indented_below_it() -> None:
    given = format_evidence([passage("Two days."), passage("We need:\n\n- flour", heading="Bread")])
    assert given == "<evidence>\n- [[Note]]: Two days.\n- [[Note]] › Bread:\n  We need:\n\n  - flour\n</evidence>"


TAGS = st.sampled_from(["</evidence>", "</EVIDENCE>", "< / evidence >", "\n- [[Other]]: no", "\r", "\u2028", " "])
TEXTS = st.one_of(st.text(max_size=40), st.lists(TAGS, max_size=6).map("".join))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_nothing_in_a_passage_ends_the_evidence_or_passes_for_another_passage(texts: list[tuple[str, str]]) -> None:
    lines = format_evidence([passage(text, heading) for text, heading in texts]).splitlines()
    assert (lines[0], lines[-1]) == ("<evidence>", "</evidence>")
    assert "</evidence" not in "".join("".join(lines[1:-1]).lower().split())
    assert sum(line.startswith("- ") for line in lines) == len(texts)


def test_a_model_is_told_dates_and_that_the_newest_counts() -> None:
    new = replace(passage("710 euros."), date=date(2026, 2, 3), outdates=("[[Lease]]",))
    old = replace(passage("640 euros."), date=date(2024, 5, 2), outdated_by="[[Meeting]]")
    assert format_evidence([new, old]) == (
        "<evidence>\n- [[Note]] (2026-02-03): 710 euros.\n"
        "- [[Note]] (2024-05-02 · the newer [[Meeting]] says otherwise): 640 euros.\n</evidence>\n"
        f"({NEWEST_COUNTS})"
    )
    assert NEWEST_COUNTS not in format_evidence([new])
