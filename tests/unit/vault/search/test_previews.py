"""What a list of hits shows: text without Markdown's marks, and equal passages once."""

from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace

from zkchat.actions.notes import find_passages
from zkchat.core.note import Passage
from zkchat.index.library import Library
from zkchat.index.search.passages import hits_of, preview_of, readable


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("> [!abstract] Summary\n> A swarm has **one** queen.", "Summary: A swarm has one queen."),
        ("> [!note]-\n> Folded.", "Note: Folded."),
        ("- [ ] How many?\n- [x] Pick one\n* [/] Half", "☐ How many? ☑ Pick one [/] Half"),
        ("Buy:\n- bread\n  - rye\n+ salt - fine", "Buy: · bread · rye · salt - fine"),
        ("```python\ndef f():\n    # no heading\n```\nEnd.", "def f(): # no heading End."),
        ("| a | b |\n|---|:-:|\n| 1 | [[x\\|y]] |", "a · b · 1 · [[x|y]]"),
        ("One.\n\n---\n\nTwo. ^id", "One. Two."),
        ("==marked== and 2 ** 3 ** 4 == 5 == x", "marked and 2 ** 3 ** 4 == 5 == x"),
        ("See [[Note#Heading|it]] and [there](https://x.org).", "See [[Note#Heading|it]] and [there](https://x.org)."),
        ("![[Picture.png]] Wow![[Note]]", "[[Picture.png]] Wow[[Note]]"),
        ("[!note] is no callout here\n-no item", "[!note] is no callout here -no item"),
    ],
)
def test_markdown_is_shown_as_readable_text(written: str, shown: str) -> None:
    assert readable(written) == shown


def passage(path: str, text: str, why: str = "text") -> Passage:
    return Passage(
        path=path, title=path, heading_path=(), text=text, first_line=1, last_line=1, score=1.0, snippet="", why=why
    )


def test_passages_with_the_same_text_are_one_hit_unless_their_names_were_asked_for() -> None:
    found = [
        passage("a.md", "- Tea with honey."),
        passage("b.md", "Tea with  honey."),
        passage("c.md", "Honey cake."),
        passage("d.md", "Tea with honey.", "title, text"),
        passage("e.md", "Tea with honey."),
        passage("f.md", "Draft.", "filter"),
        passage("g.md", "Draft.", "filter"),
    ]
    assert [(hit.passage.path, preview_of(hit.passage, "honey"), hit.repetitions) for hit in hits_of(found)] == [
        ("a.md", "Tea with honey.", 2),
        ("c.md", "Honey cake.", 0),
        ("d.md", "Tea with honey.", 0),
        ("f.md", "Draft.", 0),
        ("g.md", "Draft.", 0),
    ]


def test_few_and_near_passages_by_meaning_follow_those_with_the_words() -> None:
    def shown(*found: tuple[str, float]) -> list[float]:
        passages = [replace(passage("a.md", "", why), score=score) for why, score in found]
        there = SimpleNamespace(search=lambda *_, **__: passages)
        return [each.score for each in find_passages(cast(Library, there), "deposit", 10, notes=False)]

    near = [("meaning", 0.29), ("meaning", 0.27), ("meaning", 0.25), ("meaning", 0.1)]
    assert shown(("text", 1.3), *near) == [1.3, 0.29, 0.27]
    assert shown(("text", 1.3), ("meaning", 0.2), ("meaning", 0.19)) == [1.3, 0.2]
    assert shown(*near[:3], ("text", 0.2), near[3]) == [0.29, 0.27, 0.25, 0.2], "what is ranked higher stays"
    assert shown(*near) == [0.29, 0.27, 0.25, 0.1]
