"""Models of other assistants' settings: what is taken, what is left, and that no key ever is."""

import json
import tomllib
from typing import Any, Final

import pytest

from tests.providers.loopback import KEY, Loopback
from tests.support.world import World
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish, TextChunk

OPENCODE: Final = """{"$schema": "https://opencode.ai/config.json", "provider": {
    "mine": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:8080/v1/",
        "apiKey": "{env:MINE_API_KEY}", "headers": {"Authorization": "Bearer {env:MINE_TOKEN}"}},
        "models": {"qwen3-coder": {"name": "Qwen 3 Coder", "limit": {"context": 32768, "output": 8192}}}},
    "anthropic": {"options": {"baseURL": "https://api.anthropic.com/v1"}, "models": {"claude-x": {}}}}}"""
CRUSH: Final = """{"providers": {
    "deepseek": {"type": "openai-compat", "base_url": "https://api.deepseek.com/v1", "api_key": "$DEEPSEEK_API_KEY",
        "models": [{"id": "deepseek-chat", "name": "Deepseek V3", "cost_per_1m_in": 0.27, "cost_per_1m_out": 1.1,
            "cost_per_1m_in_cached": 0.07, "context_window": 64000, "default_max_tokens": 5000,
            "supports_attachments": true}]},
    "vertexai": {"models": [{"id": "claude@1", "name": "V"}]}}}"""
ZED: Final = """{"language_models": {
    "openai_compatible": {"Together": {"api_url": "https://api.together.xyz/v1", "available_models": [
        {"name": "mistralai/Mixtral", "display_name": "Together Mixtral", "max_tokens": 32768,
            "capabilities": {"tools": false, "images": true}}]}},
    "ollama": {"api_url": "http://localhost:11434", "available_models": [
        {"name": "qwen3:8b", "max_tokens": 8192, "supports_tools": true}]}}, "theme": "One Dark"}"""
CONTINUE: Final = f"""{{"models": [
    {{"title": "Local", "provider": "lmstudio", "model": "llama", "contextLength": 4096,
        "completionOptions": {{"temperature": 0.5}}}},
    {{"title": "All", "provider": "ollama", "model": "AUTODETECT"}},
    {{"title": "GPT", "provider": "openai", "model": "gpt-5-mini", "apiKey": "{KEY}"}},
    {{"title": "Claude", "provider": "anthropic", "model": "claude-y", "apiKey": "$ANTHROPIC_API_KEY"}}]}}"""
COPILOT: Final = f"""{{"openAIApiKey": "{KEY}", "activeModels": [
    {{"name": "gpt-x", "provider": "3rd party (openai-format)", "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "{KEY}"}},
    {{"name": "off", "provider": "openai", "enabled": false}},
    {{"name": "vectors", "provider": "openai", "isEmbeddingModel": true}}]}}"""
OPENCLAW: Final = """{"models": {"providers": {"box": {
    "baseUrl": "http://10.0.0.2:8000/v1", "apiKey": "${BOX_KEY}", "api": "openai-completions", "models": [
        {"id": "m", "name": "m", "contextWindow": 262144, "cost": {"input": 0, "output": 2}}]}}}}"""
LLM: Final = """
- model_id: hal
  model_name: hal-9000
  api_base: "http://127.0.0.1:8080/v1"
  api_key_name: hal
  headers:
    HTTP-Referer: "https://example.org/"
    X-Opaque: "Zm9vYmFyYmF6"
"""


def table(provider: str, id_: str, **more: object) -> dict[str, object]:
    return {"provider": provider, "id": id_, **more}


FORMS: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "opencode": (
        OPENCODE,
        {
            "Qwen 3 Coder": table(
                "openai",
                "qwen3-coder",
                base_url="http://127.0.0.1:8080/v1",
                api_key_env="MINE_API_KEY",
                headers={"Authorization": "Bearer ${MINE_TOKEN}"},
                context_limit=32768,
            ),
            "claude-x": table("anthropic", "claude-x", base_url="https://api.anthropic.com/v1"),
        },
    ),
    "crush": (
        CRUSH,
        {
            "Deepseek V3": table(
                "openai",
                "deepseek-chat",
                base_url="https://api.deepseek.com/v1",
                api_key_env="DEEPSEEK_API_KEY",
                context_limit=64000,
                price_input=0.27,
                price_output=1.1,
                price_cached=0.07,
                sees_images=True,
            )
        },
    ),
    "zed": (
        ZED,
        {
            "Together Mixtral": table(
                "openai",
                "mistralai/Mixtral",
                base_url="https://api.together.xyz/v1",
                context_limit=32768,
                calls_tools=False,
                sees_images=True,
            ),
            "qwen3:8b": table(
                "ollama", "qwen3:8b", base_url="http://localhost:11434", context_limit=8192, calls_tools=True
            ),
        },
    ),
    "continue": (
        CONTINUE,
        {
            "Local": table("openai", "llama", base_url="http://127.0.0.1:1234/v1", context_limit=4096, temperature=0.5),
            "GPT": table("openai", "gpt-5-mini"),
            "Claude": table("anthropic", "claude-y", api_key_env="ANTHROPIC_API_KEY"),
        },
    ),
    "copilot": (COPILOT, {"gpt-x": table("openai", "gpt-x", base_url="http://127.0.0.1:9/v1")}),
    "openclaw": (
        OPENCLAW,
        {
            "m": table(
                "openai",
                "m",
                base_url="http://10.0.0.2:8000/v1",
                api_key_env="BOX_KEY",
                context_limit=262144,
                price_output=2,
            )
        },
    ),
    "llm": (
        LLM,
        {
            "hal": table(
                "openai",
                "hal-9000",
                base_url="http://127.0.0.1:8080/v1",
                headers={"HTTP-Referer": "https://example.org/"},
            )
        },
    ),
}


def imported(world: World, content: object, *options: str, name: str = "file.json") -> Any:
    file = world.root / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    result = world.run("models", "--import", str(file), "--json", *options)
    assert result.code == ExitCode.OK, result.err
    return result.json


def written(world: World) -> dict[str, object]:
    return dict(tomllib.loads(world.settings_file.read_text()).get("models", {}))


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_and_no_key_is_ever_taken(world: World, form: str) -> None:
    content, expected = FORMS[form]
    told = imported(world, content, name="x.yaml" if form == "llm" else "x.json")
    assert written(world) == expected == {each["name"]: each["settings"] for each in told["taken"]}
    assert KEY not in world.settings_file.read_text() + json.dumps(told)
    assert world.run("config", "show").code == ExitCode.OK


def test_the_table_says_what_was_taken_and_what_was_left(world: World) -> None:
    file = world.root / "x.json"
    file.write_text(f"// of mine\n{CRUSH[:-1]},}}")
    said = world.run("models", "--import", str(file))
    assert "taken    Deepseek V3  openai:deepseek-chat  base_url https://api.deepseek.com/v1" in said.out
    assert "without default_max_tokens" in said.out
    assert "skipped  V            zkchat does not speak the protocol of its server" in said.out
    assert f"Written to {world.settings_file}." in said.err
    left = imported(world, COPILOT)["left"]
    assert {each["name"]: each["why"].partition(":")[0] for each in left} == {
        "off": "it is switched off in that file",
        "vectors": "it is for the search, not for answers",
    }
    told = imported(world, CONTINUE)["taken"][1]
    assert told["left"] == ["its key (put it into an environment variable, and that variable's name into api_key_env)"]


def test_a_model_that_is_there_stays_and_a_trial_writes_nothing(world: World) -> None:
    world.configure('# mine\n[models."Deepseek V3"]\nprovider = "ollama"\nid = "x"\n')
    before = world.settings_file.read_text()
    kept = {"name": "Deepseek V3", "why": "your settings have a model of this name"}
    assert imported(world, CRUSH)["left"][0] == kept
    assert [each["name"] for each in imported(world, OPENCODE, "--dry-run")["taken"]] == ["Qwen 3 Coder", "claude-x"]
    assert world.settings_file.read_text() == before


@pytest.mark.parametrize(
    ("server", "is_taken"),
    [
        ({"base_url": "http://me:secret@127.0.0.1:9/v1"}, False),
        ({"base_url": "file:///etc/passwd"}, False),
        ({"base_url": "http://127.0.0.1:9/v1?key=secret"}, False),
        ({"base_url": "https://evil.example/v1", "api_key": "$OPENAI_API_KEY"}, True),
        ({"base_url": "https://evil.example/v1", "extra_headers": {"X-A": "$ANTHROPIC_API_KEY"}}, True),
        ({"base_url": "https://a.example/v1", "extra_headers": {"X-Api-Key": "secret"}}, True),
        ({"base_url": "https://a.example/v1", "api_key": "secret"}, True),
    ],
)
def test_a_file_leads_no_key_elsewhere_and_brings_none(world: World, server: dict[str, object], is_taken: bool) -> None:
    told = imported(world, {"providers": {"x": {"type": "openai", "models": [{"id": "m"}], **server}}})
    assert bool(told["taken"]) is is_taken
    text = world.settings_file.read_text() if is_taken else ""
    assert "secret" not in text + json.dumps(told)
    assert "_API_KEY" not in text


def test_a_file_without_models_is_a_sentence(world: World) -> None:
    for content in ("{}", "[]", "{", '{"models": 3}', '{"providers": {"x": {"models": [1]}}}'):
        for name in ("x.json", "x.yaml"):
            file = world.root / name
            file.write_text(content)
            result = world.run("models", "--import", str(file))
            assert result.code in {ExitCode.USAGE, ExitCode.CONFIG}
            assert str(file) in result.err
    assert world.run("models", "--import", "gone.json").code == ExitCode.USAGE


def test_a_model_that_was_taken_over_answers(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    with Loopback({"m": [TextChunk(text="Seven."), Finish()]}) as server:
        provider = {"type": "openai", "base_url": f"{server.address}/v1", "api_key": "$MY_KEY"}
        imported(world, {"providers": {"x": {**provider, "models": [{"id": "m", "name": "Mine 1.5"}]}}})
        world.variables["MY_KEY"] = KEY
        assert world.run("ask", "How many hours?", "--model", "Mine 1.5").out.strip() == "Seven."
