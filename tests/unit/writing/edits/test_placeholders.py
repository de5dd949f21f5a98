"""A placeholder stands for text that a model left out; the same words in a sentence are text."""

import pytest

from zkchat.errors import EditRefused
from zkchat.writing.edits.placeholders import refuse_placeholders


@pytest.mark.parametrize(
    "line",
    [
        "… rest unchanged",
        "... (rest of the note)",
        "...existing content...",
        "[existing content]",
        "[Rest of the section remains unchanged]",
        "<!-- rest of the note remains the same -->",
        "<!-- your content here -->",
        "(unchanged)",
        "[...original text...]",
        "{existing text}",
        "Your content here",
        "- add your text here",
        "The rest of the document stays as is.",
        "*The rest remains unchanged.*",
        "Remaining sections unchanged",
        "// ... existing code ...",
        "Rest bleibt unverändert",
        "(le reste est inchangé)",
        "[其余内容保持不变]",
    ],
)
def test_a_placeholder_is_refused_unless_the_note_holds_it(line: str) -> None:
    text = f"New text.\n\n{line}\n\nMore."
    with pytest.raises(EditRefused, match="holds a placeholder"):
        refuse_placeholders(text, "Old text.")
    refuse_placeholders(text, f"Old text.\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "We moved the sofa; the rest stays the same.",
        "I put the rest of the cake here",
        "Wait... the rest is silence",
        "Click it and add text here to see more.",
        "He left the previous notes on the table (existing ones too).",
        "[[Rest of the note]] is a title",
        "Take a rest here and there.",
        "[x] done",
    ],
)
def test_the_same_words_in_a_sentence_are_text(line: str) -> None:
    refuse_placeholders(f"New text.\n\n{line}\n", "Old text.")
