"""What is shown of answers that models really write, and which calls they hold."""

import json
from collections.abc import Sequence

import pytest

from zkchat.chat.replies import ReplyReader, repeats

TOOLS = ("find_excerpts", "read_note", "list_tags")
SLEEP = ("find_excerpts", {"query": "sleep"})
REST = ("read_note", {"title": "Rest"})
CALL = '{"name": "find_excerpts", "arguments": {"query": "sleep"}}'
OTHER = '{"name": "read_note", "arguments": {"title": "Rest"}}'


def read(text: str, question: str = "", tools: Sequence[str] = TOOLS) -> tuple[str, ReplyReader]:
    reader = ReplyReader(tools, question)
    whole = reader.feed(text) + reader.end()
    letters = ReplyReader(tools, question)
    assert "".join(map(letters.feed, text)) + letters.end() == whole
    assert letters.removed == reader.removed
    assert [(each.name, each.arguments) for each in letters.calls] == [
        (each.name, each.arguments) for each in reader.calls
    ]
    return whole, reader


def called(reader: ReplyReader) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in reader.calls]


def shown(text: str, question: str = "") -> str:
    return read(text, question)[0]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        f"```json\n{CALL}",
        f"~~~json\n{CALL}\n~~~",
        f"`{CALL}`",
        f"[{CALL}]",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
        f"<tools>\n{CALL}\n</tools>",
        f"[TOOL_CALLS][{CALL}]",
        '[TOOL_CALLS]find_excerpts[ARGS]{"query": "sleep"}',
        f"<|python_tag|>{CALL}<|eom_id|>",
        '<|python_tag|>find_excerpts(query="sleep")',
        f"<|tool_call|>[{CALL}]",
        '<|tool_call_start|>[find_excerpts(query="sleep")]<|tool_call_end|>',
        '<|tool_call_begin|>functions.find_excerpts:0<|tool_call_argument_begin|>{"query": "sleep"}<|tool_call_end|>',
        '<function=find_excerpts>{"query": "sleep"}</function>',
        "<tool_call>\n<function=find_excerpts>\n<parameter=query>\nsleep\n</parameter>\n</function>\n</tool_call>",
        '<invoke name="find_excerpts"><parameter name="query">sleep</parameter></invoke>',
        'find_excerpts(query="sleep")',
        'functions.find_excerpts(query="sleep")',
        '```python\nfind_excerpts(query="sleep")\n```',
        '```tool_code\nprint(find_excerpts(query="sleep"))\n```',
        '```find_excerpts(query="sleep")```',
        '<tool_call>find_excerpts(query="sleep")</tool_call>',
        'find_excerpts {"query": "sleep"}',
        '{"name": "find_excerpts", "parameters": {"query": "sleep"}}',
        '{"name": "find_excerpts", "args": {"query": "sleep"}}',
        '{"name": "find_excerpts", "arguments": "{\\"query\\": \\"sleep\\"}"}',
        '{"name": "functions.find_excerpts", "arguments": {"query": "sleep"}}',
        '{"function": "find_excerpts", "arguments": {"query": "sleep"}}',
        '{"function": {"name": "find_excerpts", "arguments": {"query": "sleep"}}}',
        '{"type": "function", "function": {"name": "find_excerpts", "arguments": "{\\"query\\": \\"sleep\\"}"}}',
        f'{{"tool_calls": [{CALL}]}}',
        '{"tool": "find_excerpts", "arguments": {"query": "sleep"}}',
        '{"tool": "find_excerpts", "query": "sleep"}',
        '{"action": "find_excerpts", "action_input": {"query": "sleep"}}',
        '{"find_excerpts": {"query": "sleep"}}',
        '{\n  "name": "find_excerpts",\n  "arguments": {\n    "query": "sleep",\n  },\n}',
        "{'name': 'find_excerpts', 'arguments': {'query': 'sleep'}}",
        '{"name": "find_excerpts", "arguments": {"query": "sleep"}',
        '<tool_call>{"name": "find_excerpts", "arguments": {"query": "sleep"}</tool_call>',
        f"{CALL}}}",
        f"{CALL}\n\nThe result of the call is: nothing.",
        f"```json\n{CALL}\n```\n\n<tool_response>invented {OTHER}</tool_response>",
        f"```xml\n<tool_call>\n{CALL}\n</tool_call>\n```",
    ],
)
def test_a_call_is_read_from_every_form_and_not_shown(text: str) -> None:
    answer, reader = read(text)
    assert called(reader) == [SLEEP]
    assert answer.strip() == ""
    assert reader.removed


@pytest.mark.parametrize(
    "text",
    [
        f"[{CALL}, {OTHER}]",
        f"{CALL}\n{OTHER}",
        f"{CALL}; {OTHER}",
        f"```json\n{CALL}\n```\n\n```json\n{OTHER}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>",
        'find_excerpts(query="sleep")\nread_note(title="Rest")',
        '[find_excerpts(query="sleep"), read_note(title="Rest")]',
        f'{{"tool_calls": [{CALL}, {{"function": {OTHER}}}]}}',
    ],
)
def test_several_calls_are_read_in_order(text: str) -> None:
    answer, reader = read(text)
    assert called(reader) == [SLEEP, REST]
    assert answer.strip() == ""


def test_text_before_a_call_is_shown_and_text_after_it_is_not() -> None:
    answer, reader = read(f"I will look.\n\n{CALL}\n\nIt says that {OTHER} sleep is good.")
    assert answer == "I will look.\n\n"
    assert called(reader) == [SLEEP]
    assert reader.removed == f"{CALL}\n\nIt says that {OTHER} sleep is good."
    _, reader = read(f'{CALL}\n{{"result": "invented"}}\n{OTHER}')
    assert called(reader) == [SLEEP], "a call after an invented result is none"


def test_a_call_may_follow_a_colon_or_a_bullet() -> None:
    for text in (
        'Action: find_excerpts\nAction Input: {"query": "sleep"}\nObservation: invented',
        f"- {CALL}",
        f"I call **now:** {CALL}",
        f"Action: {CALL}\nObservation: x",
        'Tool: find_excerpts(query="sleep")\n',
    ):
        answer, reader = read(text)
        assert called(reader) == [SLEEP]
        assert "{" not in answer


def test_tools_that_are_described_are_not_called() -> None:
    described = '{"name": "read_note", "description": "Reads.", "parameters": {"title": {"type": "string"}}}'
    assert shown(described) == described
    answer, reader = read(f'<tools>\n[{{"type": "function", "function": {described}}}]\n</tools>\nSleep is rest.')
    assert answer.strip() == "Sleep is rest."
    assert reader.calls == []


def test_arguments_keep_their_types_and_calls_have_ids_of_their_own() -> None:
    _, reader = read('find_excerpts(query="it\'s (deep) sleep", limit=3, exact=true, tags=["a"])\nlist_tags()')
    arguments = {"query": "it's (deep) sleep", "limit": 3, "exact": True, "tags": ["a"]}
    assert called(reader) == [("find_excerpts", arguments), ("list_tags", {})]
    _, quoted = read("{'name': 'read_note', 'arguments': {'title': 'Ann\\'s \"dark\" tea'}}")
    assert called(quoted) == [("read_note", {"title": 'Ann\'s "dark" tea'})]
    text = '```json\n{"name": "read_note", "arguments": {"title": "```py\\nx = {\\"a\\": 1}]\\n```"}}\n```'
    assert called(read(text)[1]) == [("read_note", {"title": '```py\nx = {"a": 1}]\n```'})]
    first, second = (call.call_id for call in reader.calls)
    assert first.startswith("text-")
    assert first != second


def test_a_call_without_arguments_is_one() -> None:
    for text in (
        '{"name": "list_tags"}',
        '{"name": "list_tags", "arguments": null}',
        "<function=list_tags></function>",
    ):
        assert called(read(text)[1]) == [("list_tags", {})]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "find_excerpts", "arguments": "sleep"}',
        '{"name": "find_excerpts", "arguments": {"query": "he said "sleep" to me"}}',
        '{"name": "find_excerpts", "arguments": {"query": "sleep',
        '{"name": "find_excerpts", "arguments": ["sleep"]}',
        'find_excerpts("sleep")',
        "<function=find_excerpts>sleep</function>",
        '<tool_call>{"name": "find_excerpts", "arguments": {query: sleep}}</tool_call>',
        '{"name": "find_excerpts", "arguments": {"query": "' + "sleep " * 2_000,
    ],
)
def test_what_looks_like_a_call_and_cannot_be_read_is_left_to_its_tool_to_refuse(text: str) -> None:
    answer, reader = read(f"Well.\n{text}")
    assert answer == "Well.\n"
    assert [call.name for call in reader.calls] == ["find_excerpts"]
    assert reader.removed


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Mara", "arguments": {"query": "sleep"}}',
        '```json\n{"name": "Mara", "age": 30}\n```\n\nThat is <b>all</b>, `<document>`.',
        '{"name": "find_excerpts", "since": 3}',
        '{"type": "function", "name": "read_note", "parameters": {"type": "object", "properties": {}}}',
        "```python\ndef f(x):\n    return {'a': [x]}\n\nprint(f(1))\n```\n",
        "```python\nfor each in find_excerpts(query='x'):\n    pass\n```",
        "find_excerpts(query, limit)\nread_note(title)\n",
        'Call find_excerpts(query="sleep") for that.',
        "find_excerpts is a tool.\nfind",
        "Action: find_excerpts\nAction Inputs: {}\n",
        "```xml\n<tool_call>\nx = 1\n</tool_call>\n```\n<b>",
        '```xml\n<tool_call>{"name": "Mara"}</tool_call>\n```\n\nText.',
        "- [ ] one\n- [x] two [[Note#^id]] and [[Note]]\n\n1. x ^2\n2. y ^n\n",
        "[link](a.md) [^1]\n[[Mara Okafor]]: a friend\n[1, 2]\n{x}\n{ }\n[ find ]",
        "a < b, b > c, x <= y, <s>old</s>, <a href='x'>y</a>, <documents>, <|> and <dd>",
        "Inline `<document>` and ``a ` <tool_call>`` stay; so does `x ^id`\n",
        "~~struck~~ ~ about\n~~~\n<document>\n~~~\n",
        "````md\n```json\n{}\n```\n````\n<b>",
        "{",
        "<",
    ],
)
def test_other_text_is_shown_as_it_is(text: str) -> None:
    answer, reader = read(text, "What is sleep?")
    assert answer == text
    assert reader.calls == []
    assert reader.removed == ""


def test_a_call_of_a_tool_that_is_not_known_is_not_shown_in_its_tags() -> None:
    answer, reader = read('<tool_call>\n{"name": "weather", "arguments": {}}\n</tool_call>\nIt rains.')
    assert answer.strip() == "It rains."
    assert reader.calls == []
    assert "weather" in reader.removed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<document>[[Mara Okafor]]: Friend</document>", "[[Mara Okafor]]: Friend"),
        ('<document path="a b.md" part="2">\nText\n</document>\n', "\nText\n\n"),
        ("<evidence>one</evidence> <Message from='you'>two</MESSAGE>", "one two"),
        ("<tools>The notes say so.</tools>", "The notes say so."),
        ("<<document>x", "<x"),
        ("Done.</s>[/INST]<end_of_turn><|endoftext|><|eot_id|>", "Done."),
        ("<start_of_turn>model\nYes.", "\nYes."),
        ("<|im_start|>Yes. <|im_start|>assist", "Yes. "),
        ("Yes.<|im_end|>\n<|im_start|>user\nAnd now?", "Yes.\n"),
        ("Glass. ^glazing\nMore ^a-1 \n^alone\nx ^37066d", "Glass.\nMore\n\nx"),
        ("Answer: Yes.", "Yes."),
        ("**Antwort:** **Ja**", "**Ja**"),
        ("回答：是", "是"),
        ("<answer>\nAnswer: Yes</answer>", "Yes"),
        ("What is sleep? Sleep is rest.", "Sleep is rest."),
        ("**what is  SLEEP?**\n\nRest.", "Rest."),
        ("What is sleep\nRest.", "What is sleep\nRest."),
        ("Question: What is sleep?\nAnswer: Rest.", "Rest."),
        ("What is sleep? ", ""),
        ("What is sleeping?", "What is sleeping?"),
        ("What is", "What is"),
        ("```python\nx = 1", "```python\nx = 1\n```"),
        ("Text\n```", "Text\n"),
        ("Text\n```json\n", "Text\n"),
    ],
)
def test_what_is_not_of_an_answer_is_taken_out(text: str, expected: str) -> None:
    assert shown(text, "What is sleep?") == expected


def test_text_is_shown_as_it_comes() -> None:
    reader = ReplyReader(TOOLS, "What is sleep?")
    assert reader.feed("Sleep is a kind of rest, and the") == "Sleep is a kind of rest, and the"
    assert reader.feed(" more ") == " more"
    assert reader.feed("<b>x") == " <b>x"
    text = '{"a": "' + "x" * 9_000  # more than may be a call
    assert ReplyReader(TOOLS).feed(text) == text
    assert shown("Hi!\nHow are you?", "hi") == "Hi!\nHow are you?", "a greeting is no repeated question"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A: larch, since it is cheaper.", None),
        ("Put it into <document> and </document>.", None),
        ("# A or B?\n\n- [ ] order the door ^glass2\n", None),
        ("<document>Larch.</document>", "Larch."),
        ("Larch.<|im_end|>", "Larch."),
    ],
)
def test_what_a_strong_model_means_is_left(text: str, expected: str | None) -> None:
    reader = ReplyReader(TOOLS, "A or B?", is_strong=True)
    assert reader.feed(text) + reader.end() == (expected or text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said it again and again. " * 3, True),
        ("He said it again and again. " * 2, False),
        ("I do not know. " * 6, True),
        ("I do not know. " * 3, False),
        ("=" * 2_000, False),
        ("All of it is a rest of it, and then there is all of it is a rest of it. " * 3, True),
        ("A paragraph, which is long. " + "And so on, with other words in each of them, " * 9, True),
        ("".join(f"{number}. A line that differs in its number\n" for number in range(9)), False),
    ],
)
def test_the_same_words_three_times_in_a_row_are_a_loop(text: str, expected: bool) -> None:
    assert repeats(text) is expected
    reader = ReplyReader()
    reader.feed(text)
    assert repeats(reader.recent) is expected
