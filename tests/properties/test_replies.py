"""What holds for every answer, however it is cut into pieces."""

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.replies import ReplyReader
from zkchat.chat.text_calls import MAX_CALL

SETTINGS = settings(max_examples=300, deadline=None)
TOOLS = ("find_excerpts", "read_note")
QUESTION = "What is sleep?"

CALL = '{"name": "find_excerpts", "arguments": {"query": "a"}}'
odd = st.sampled_from(
    [
        *("`", "``", "```", "~~~", "```json\n", "```python\n", "````", "\n", "\n\n", " ", "    ", "\t", "^", " ^id"),
        *("^a-1",),
        *("<", ">", "</", "<|", "|>", "<tool_call>", "</tool_call>", "<tools>", "<document path='x'>", "</document>"),
        *("<function=find_excerpts>", "</function>", "<parameter=query>x</parameter>", "<|python_tag|>"),
        *("[TOOL_CALLS]",),
        *("<|im_end|>", "<|im_start|>", "user", "assistant", "<s>", "</s>", "[/INST]", "[INST", "[[Note#^id]]", "<b>"),
        *("{", "}", "[", "]", "(", ")", '"', "'", ",", ":", "\\", '{"', "[{", '{"name": "find_excerpts"', CALL),
        *(f"[{CALL}]",),
        *("find_excerpts", "find_excerpts(", 'find_excerpts(query="x")', "print(", "functions.", "find", "read_note {"),
        *("Action: ", "read_note\nAction Input: "),
        *(
            "Answer:",
            "A:",
            "**",
            "Question: ",
            QUESTION,
            "what is",
            "sleep",
            "word",
            "茶",
            "é",
            "1.",
            "- ",
            "| a | b |",
        ),
    ]
)
mixtures = st.lists(odd | st.text(max_size=4), max_size=14).map("".join)
words = st.text(st.sampled_from("abcdeé茶 ,.!-*_#|()&%"), min_size=1, max_size=30).filter(
    lambda text: text.strip(" *_#|-.,!()&%") not in ("", "a")
)
blocks = st.one_of(
    words.map("The {}".format),
    st.lists(words, min_size=1, max_size=3).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    st.lists(words, min_size=1, max_size=3).map(lambda lines: "| a | b |\n|---|---|\n" + "\n".join(lines)),
    words.map("<b>{}</b><br/>".format),
    st.dictionaries(words, st.integers() | words, min_size=1).map(lambda value: f"```json\n{value!r}\n```"),
    words.map("```python\ndef f(x):\n    return ['{}', x]\n```".format),
    words.map("`{}` [[Note#^id]] and x ^2".format),
)
plain_texts = st.lists(blocks, min_size=1, max_size=6).map(lambda parts: "Here.\n\n" + "\n\n".join(parts) + "\n")


def read(pieces: list[str]) -> tuple[str, list[tuple[str, str]], str]:
    reader = ReplyReader(TOOLS, QUESTION)
    shown = "".join([reader.feed(piece) for piece in pieces])
    shown += reader.end()
    return shown, [(call.name, call.arguments) for call in reader.calls], reader.removed


@SETTINGS
@given(mixtures, st.data())
def test_the_result_does_not_depend_on_how_the_stream_is_cut(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    assert read(pieces) == read([text]) == read(list(text))


@SETTINGS
@given(mixtures)
def test_every_letter_is_shown_or_removed(text: str) -> None:
    shown, _, removed = read([text])
    kept = shown + removed
    assert all(kept.count(letter) >= text.count(letter) for letter in set(text) if not letter.isspace())


@SETTINGS
@given(plain_texts)
def test_ordinary_text_passes_unchanged(text: str) -> None:
    assert read([text]) == (text, [], "")


@SETTINGS
@given(mixtures, mixtures)
def test_no_more_is_held_back_than_the_bound(before: str, after: str) -> None:
    reader = ReplyReader(TOOLS, QUESTION)
    text = before + after
    shown = sum(len(reader.feed(letter)) for letter in text * 3)
    held = 3 * len(text) - shown - len(reader.removed)
    assert held <= MAX_CALL + 1_000
