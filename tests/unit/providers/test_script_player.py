import asyncio
import json
from pathlib import Path

import pytest

from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ConfigError, ProviderError
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest, PromptMessage, TextChunk, ThinkingChunk, ToolRequested
from zkchat.core.values import from_plain
from zkchat.models.scripted import Script, Scripted, read_script


def play(provider: Scripted, request: ModelRequest | None = None) -> list[ModelChunk]:
    async def collect() -> list[ModelChunk]:
        return [chunk async for chunk in provider.stream(request or ModelRequest(messages=(), window=100))]

    return asyncio.run(collect())


def scripted(*answers: list[dict[str, object]], **more: object) -> Scripted:
    return Scripted(from_plain(Script, {"answers": answers, **more}))


def test_it_plays_text_thinking_delays_and_usage() -> None:
    steps: list[dict[str, object]] = [
        {"thinking": "hm"},
        {"delay": 0},
        {"text": "yes"},
        {"finish": "length", "usage": {"prompt_tokens": 5}},
    ]
    assert play(scripted(steps)) == [
        ThinkingChunk(text="hm"),
        TextChunk(text="yes"),
        Finish(reason="length", usage=TokenUsage(prompt_tokens=5)),
    ]


def test_a_tool_call_ends_the_answer_with_tool_calls() -> None:
    chunks = play(scripted([{"tool": "find", "arguments": {"query": "x"}}, {"tool": "find", "arguments": "{bro"}]))
    calls = [chunk.call for chunk in chunks if isinstance(chunk, ToolRequested)]
    assert [call.arguments for call in calls] == ['{"query": "x"}', "{bro"]
    assert calls[0].call_id != calls[1].call_id
    assert chunks[-1] == Finish(reason="tool_calls")


def test_an_error_is_raised_as_a_server_would() -> None:
    with pytest.raises(ProviderError, match="Too busy"):
        play(scripted([{"text": "a"}, {"error": "Too busy.", "hint": "Wait."}]))


def test_answers_follow_each_other_and_end_with_a_sentence() -> None:
    provider = scripted([{"text": "one"}], [{"text": "two"}])
    assert play(provider)[0] == TextChunk(text="one")
    assert play(provider)[0] == TextChunk(text="two")
    with pytest.raises(ProviderError, match="has 2 answers, and all were given"):
        play(provider)


def test_a_resumed_conversation_goes_on_where_its_history_ends() -> None:
    history = (PromptMessage(role="user", text="hi"), PromptMessage(role="assistant", text="one"))
    provider = scripted([{"text": "one"}], [{"text": "two"}])
    assert play(provider, ModelRequest(messages=history, window=100))[0] == TextChunk(text="two")


def test_a_cut_script_ends_without_a_finish() -> None:
    assert play(scripted([{"text": "half"}], cut=True)) == [TextChunk(text="half")]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "Invalid JSON"),
        ('{"answers": [[{"txt": "x"}]]}', r"at answers\[0\]\[0\]: Object contains unknown field `txt`"),
        ('{"answers": [[{"delay": -1}]]}', r"at answers\[0\]\[0\].delay: Expected `float` >= 0.0"),
    ],
)
def test_a_broken_script_is_named_with_the_place(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "play.json"
    file.write_text(content)
    with pytest.raises(ConfigError, match=complaint) as caught:
        read_script(file)
    assert "play.json" in caught.value.message


def test_a_missing_script_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_script(tmp_path / "none.json")


def test_the_script_of_the_documentation_plays(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripted.md").read_text()
    script = from_plain(Script, json.loads(page.split("```json")[1].split("```")[0]))
    provider = Scripted(script)
    assert isinstance(play(provider)[1], ToolRequested)
    assert play(provider)[-1] == Finish(usage=TokenUsage(prompt_tokens=812, completion_tokens=12))
    assert provider.info.context_limit == 4096
