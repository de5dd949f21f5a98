import json
from pathlib import Path

import pytest

from tests.providers.contract import answer
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ConfigError, ProviderError
from zkchat.core.prompt import Finish, ModelChunk, ModelRequest, PromptMessage, TextChunk, ToolRequested
from zkchat.core.values import from_plain
from zkchat.models.scripted import Script, Scripted, read_script


def play(provider: Scripted, request: ModelRequest | None = None) -> list[ModelChunk]:
    return answer(provider, request or ModelRequest(messages=(), window=100))


def scripted(*answers: list[dict[str, object]], **more: object) -> Scripted:
    return Scripted(from_plain(Script, {"answers": answers, **more}))


def test_answers_follow_each_other_and_end_with_a_sentence() -> None:
    provider = scripted([{"text": "one"}], [{"text": "two"}])
    assert play(provider)[0] == TextChunk(text="one")
    assert play(provider)[0] == TextChunk(text="two")
    with pytest.raises(ProviderError, match="has 2 answers, and all were given"):
        play(provider)
    history = (PromptMessage(role="user", text="hi"), PromptMessage(role="assistant", text="one"))
    resumed = scripted([{"text": "one"}], [{"text": "two"}])
    assert play(resumed, ModelRequest(messages=history, window=100))[0] == TextChunk(text="two")


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


def test_the_script_of_the_documentation_plays(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripted.md").read_text()
    provider = Scripted(from_plain(Script, json.loads(page.split("```json")[1].split("```")[0])))
    assert isinstance(play(provider)[1], ToolRequested)
    assert play(provider)[-1] == Finish(usage=TokenUsage(prompt_tokens=812, completion_tokens=12))
    assert provider.info.context_limit == 4096
