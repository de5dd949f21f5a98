"""Which models see, and how they count, by what is known of them."""

from typing import Any

import pytest

from zkchat.core.prompt import ModelInfo
from zkchat.models.openai import OpenAI, estimated_rule, openai_vision, with_listed_facts, with_shown_vision
from zkchat.models.registry import ModelSettings

SEEING = ("gpt-4o", "gpt-4o-mini-2024-07-18", "gpt-4.1", "gpt-5", "gpt-5.6-sol", "gpt-6-astra", "o3", "ft:gpt-4o:x::1")
BLIND = ("gpt-4", "gpt-4-0613", "gpt-3.5-turbo", "o1-mini", "o3-mini", "o1-preview", "davinci-002", "llama3")


def test_models_of_openai_see_by_their_names_unless_the_user_says_otherwise() -> None:
    assert [model for model in (*SEEING, *BLIND) if OpenAI(model, api_key="k").info.sees_images] == [*SEEING]
    assert not any(map(openai_vision, BLIND))
    assert OpenAI("llama3", settings=ModelSettings(sees_images=True)).info.sees_images
    assert not OpenAI("gpt-4o", settings=ModelSettings(sees_images=False)).info.sees_images
    assert not OpenAI("gpt-4o", base_url="http://127.0.0.1:9/v1").info.sees_images, "of another server"


@pytest.mark.parametrize(
    "facts",
    [
        {"architecture": {"input_modalities": ["text", "image"]}},
        {"input_modalities": ["image"]},
        {"capabilities": ["completion", "multimodal"]},
        {"capabilities": {"vision": True}},
    ],
    ids=["openrouter", "plain", "llama.cpp", "mistral"],
)
def test_lists_of_servers_tell_that_a_model_sees(facts: dict[str, Any]) -> None:
    info = ModelInfo(provider="openai", id="m")
    assert with_listed_facts(info, facts).sees_images
    assert not with_listed_facts(info, facts, ModelSettings(sees_images=False)).sees_images


def test_what_an_ollama_shows_counts_by_openai_s_protocol_too() -> None:
    info = ModelInfo(provider="openai", id="m")
    shown = {"capabilities": ["vision"], "model_info": {"gemma3.mm.tokens_per_image": 256}}
    seeing = with_shown_vision(info, shown, declared=None)
    assert (seeing.sees_images, seeing.image_rule.tokens(3000, 2000)) == (True, 258)
    assert with_shown_vision(info, {"capabilities": 7}, declared=None) == info
    assert with_shown_vision(info, "no", declared=None) == info


@pytest.mark.parametrize(
    ("model", "facts", "tokens"),
    [
        ("x", {"qwen25vl.vision.patch_size": 14, "qwen25vl.vision.spatial_merge_size": 2}, 24 * 18),
        ("x", {"mistral3.vision.patch_size": 14, "mistral3.spatial_merge_size": 2}, 24 * 18),
        ("moondream:1.8b", {}, 729),
        ("library/llava:7b", {}, 2880),
        ("x", {"general.architecture": "gemma3"}, 258),
        ("unknown", {}, 24 * 18),
    ],
)
def test_estimates_for_an_image_of_672_by_504(model: str, facts: dict[str, Any], tokens: int) -> None:
    assert estimated_rule(model, facts).tokens(672, 504) == tokens
