"""What others wrote never acts on the terminal, is never markup, and looks the same however it arrives."""

import io
import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.screens import (
    Clock,
    a_usage,
    an_answer,
    drawn,
    on_screen,
    streamed,
    terminal,
    what_acts_on_a_terminal,
    without_sequences,
    written,
)
from tests.support.terminal_payloads import PAYLOADS
from tests.unit.render.markdown.test_wikilinks import Vault
from zkchat.core.choices import ToolName
from zkchat.core.events import (
    Compacted,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    Warned,
)
from zkchat.core.message import CompactionPart, DocumentReference
from zkchat.render.presenters.plain import PlainPresenter
from zkchat.render.presenters.screen import ScreenPresenter
from zkchat.render.presenters.text import JsonPresenter, Presenter
from zkchat.render.references import references_panel
from zkchat.render.sanitize import error_lines, sanitize_text


def finished(text: str) -> list[Event]:
    """With references whose every field is this text."""
    reference = DocumentReference(
        wikilink=text,
        relative_path=text,
        title=text,
        anchor=text,
        snippet=text,
        summary=text,
        reference_type="search",
        status="ambiguous",
        via=ToolName(text),
        anchor_found=False,
        candidates=(text, text),
    )
    broken = DocumentReference(wikilink=text, status="missing", candidates=(text,))
    message = replace(an_answer("", reference, broken), model=text, provider=text, id=text, session_id=text)
    return [TurnFinished(message=message, usage=a_usage())]


def compacted(text: str) -> list[Event]:
    part = CompactionPart(number=1, summary=text, strategy=text, archived=(text,))
    return [Compacted(message=replace(an_answer(), parts=(part,)))]


Sink = Callable[[str], list[Event]]
SINKS: dict[str, Sink] = {
    "answer": lambda text: [TextDelta(text=text), TextDelta(text=text)],
    "thinking": lambda text: [ThinkingDelta(text=text)],
    "references and model": finished,
    "tool name": lambda text: [
        ToolStarted(call_id=text, name=text, arguments="{}"),
        ToolFinished(call_id="other", name=text, summary=""),
    ],
    "tool arguments": lambda text: [ToolStarted(call_id="1", name="find", arguments=text)],
    "tool result": lambda text: [ToolFinished(call_id="1", name="find", summary=text, failed=True)],
    "warning": lambda text: [Warned(text=text, hint=text)],
    "error": lambda text: [TurnFailed(text=text, hint=text)],
    "compaction": compacted,
}


def on_terminals(events: list[Event]) -> str:
    """What the presenters for people write of these events, one after the other."""
    out, console, clock = io.StringIO(), terminal(), Clock()
    presenters: list[Presenter] = [
        ScreenPresenter(console, console, clock=clock),
        ScreenPresenter(console, console, clock=clock, thinking=lambda: "shown"),
        PlainPresenter(out, out, details=True),
    ]
    for presenter in presenters:
        for event in events:
            clock.now += 1
            presenter.show(event)
        presenter.close()
    return written(console) + out.getvalue()


def as_json(events: list[Event]) -> str:
    out = io.StringIO()
    presenter = JsonPresenter(out)
    for event in events:
        presenter.show(event)
    presenter.close()
    return out.getvalue()


def any_chunks(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 10_000), max_size=30)
ANY_TEXT = st.text(st.characters(), max_size=60)
HOSTILE_TEXT = st.lists(st.sampled_from([*PAYLOADS, "word ", "\n", "\n\n", "- ", "**", "|", "[["]), max_size=8).map(
    "".join
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY_TEXT, min_size=10, max_size=10), CUTS)
def test_the_door_lets_nothing_through_that_acts_and_knows_no_chunks(texts: list[str], cuts: list[int]) -> None:
    for text in texts:
        assert what_acts_on_a_terminal(sanitize_text(text)) == set()
        assert "".join(map(sanitize_text, any_chunks(text, cuts))) == sanitize_text(text)
        assert sanitize_text(sanitize_text(text)) == sanitize_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("sink", SINKS.values(), ids=SINKS.keys())
def test_a_payload_writes_what_its_picture_would_write_and_nothing_else(sink: Sink) -> None:
    """So every sequence that is written with it is one of ours, which needs no payload to be written."""
    for payload in PAYLOADS:
        text = on_terminals(sink(payload))
        assert text == on_terminals(sink(sanitize_text(payload))), payload
        assert what_acts_on_a_terminal(text) == set(), payload


@pytest.mark.parametrize("sink", SINKS.values(), ids=SINKS.keys())
def test_json_is_printable_and_holds_the_payload_as_it_was(sink: Sink) -> None:
    for payload in PAYLOADS:
        text = as_json(sink(payload))
        assert set(text) <= {chr(code) for code in range(0x20, 0x7F)} | {"\n"}
        assert json.loads(text)


def test_entities_make_no_sequences() -> None:
    assert "\x1b[31m" not in streamed(["&#27;[31m &#x1b;[31m &#155;31m &#x9b;31m"], color="never")


def test_no_error_of_the_command_line_acts_on_the_terminal() -> None:
    assert [payload for payload in PAYLOADS if what_acts_on_a_terminal(error_lines(payload, payload))] == []


@settings(max_examples=60, deadline=None)
@given(HOSTILE_TEXT | ANY_TEXT, CUTS, st.sampled_from([SINKS["answer"], SINKS["thinking"]]))
def test_no_random_text_acts_on_the_terminal_in_any_chunks(text: str, cuts: list[int], sink: Sink) -> None:
    events = [event for chunk in any_chunks(text, cuts) for event in sink(chunk)]
    assert what_acts_on_a_terminal(on_terminals(events)) == set()


MARKUP = st.lists(
    st.sampled_from(
        ["[/x]", "[link=file:///x]", "[bold]", "[/]", "[[", "]]", "\\[", "[@click=a]", ":smile:", "a", "é", "{", "%s"]
    ),
    min_size=1,
    max_size=8,
).map("".join)


@settings(max_examples=200, deadline=None)
@given(MARKUP)
def test_titles_are_shown_as_they_are_and_never_read_as_markup(title: str) -> None:
    reference = DocumentReference(wikilink=title, relative_path=f"{title}.md", summary=title)
    assert drawn(references_panel([reference]), 400).count(title) >= 3


@settings(max_examples=100, deadline=None)
@given(MARKUP)
def test_no_sentence_is_read_as_markup(text: str) -> None:
    console = terminal(400)
    presenter = ScreenPresenter(console, console)
    for event in (
        Warned(text=text, hint=text),
        ToolFinished(call_id="", name="find", summary=text),
        TurnFailed(text=text),
    ):
        presenter.show(event)
    presenter.close()
    assert without_sequences(written(console)).count(text) >= 4


LINES = """\
# A heading
Setext
===
A paragraph with **bold**, `code` and [[A link|to a note]]
more of it
a line that is long enough to be folded on a screen of forty columns, and on one of eighty columns as well
- item
- item
* star
  continued
    indented
  - inner
1. one
1. two
7) seven
```python
```
~~~
x = \'\'\'
| a | b |
|---|--:|
| 1 | [[X|y]] |
---
> quoted
日本語のテキスト日本語のテキスト日本語のテキスト日本語のテキスト日本語のテキスト日本語のテキスト
👍 👨‍👩‍👧 ok
<div>
[^1]: [[Title]]
`open
**open
  ```
-
#
|
&copy; &#27;
\\
%%
%% hidden %%
text %% of
$$
a $x_1 * y$ b ==marked *words*== #tag x[^1] %%hidden%% ^id
> [!note]- Title [[X]]
> > [!own]
> %%
- [x] done [[No note|label]]
- [ ]
  %%
""".splitlines(keepends=True)
DOCUMENTS = st.lists(st.sampled_from([*LINES, "\n", "\n", "\n", "\n"]), min_size=4, max_size=40).map("".join)


@settings(max_examples=50, deadline=None)
@given(DOCUMENTS, CUTS, st.sampled_from([40, 80]))
def test_an_answer_looks_the_same_in_whatever_chunks_it_arrives(text: str, cuts: list[int], width: int) -> None:
    whole = on_screen(streamed([text], width, links=Vault()), width)
    assert on_screen(streamed(any_chunks(text, cuts), width, links=Vault()), width) == whole


LINK_PARTS = st.lists(st.sampled_from([*PAYLOADS, "Note", "No", "/", "#", "|", "]", "\\\\", " ", "!"]), max_size=6).map(
    "".join
)


@settings(max_examples=50, deadline=None)
@given(LINK_PARTS, LINK_PARTS, CUTS)
def test_neither_labels_nor_targets_of_links_act_on_the_terminal(target: str, label: str, cuts: list[int]) -> None:
    text = f"a [[{target}]] ![[{target}|{label}]]\n\n> [!{target}] [[{label}#{target}]]\n\n- [{label}] =={target}==\n"
    assert what_acts_on_a_terminal(streamed(any_chunks(text, cuts), links=Vault())) == set()
