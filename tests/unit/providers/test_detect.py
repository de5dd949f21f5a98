import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.provider_contexts import provider_context
from zkchat.models.registry import Choice, OfferedModel, first_choice, reachable

OLLAMA = "http://127.0.0.1:11434"
SERVER = "http://127.0.0.1:8080/v1"
KEY = {"OPENAI_API_KEY": "sk-canary"}


SMALL = "small:"
"""Begins the ids of models that the tests take for small ones."""


def chosen(base_url: str = "", variables: Mapping[str, str] | None = None, **offered: Sequence[str]) -> Choice:
    """What is chosen where these providers offer these models, and the servers of others do not answer."""
    settings = {"ollama": {"host": OLLAMA}, "openai": {"base_url": base_url}}
    return first_choice(
        provider_context(Path("nowhere"), settings=settings, variables=variables),
        lambda descriptor: (
            [OfferedModel(id_, id_.startswith(SMALL)) for id_ in offered[descriptor.name]]
            if descriptor.name in offered
            else None
        ),
    )


def test_ollama_comes_first_if_it_answers_and_has_a_model() -> None:
    choice = chosen(variables=KEY, local=["tiny"], ollama=["qwen3:8b", "gemma3:4b"])
    assert choice.model == "ollama:qwen3:8b"
    assert choice.why == f"Ollama answers at {OLLAMA} and has gemma3:4b too"
    assert "`zkchat config set model ollama:qwen3:8b` keeps it" in choice.sentence


def test_openai_comes_next_if_there_is_a_key_and_the_user_learns_where_the_notes_go() -> None:
    choice = chosen(variables=KEY, local=["tiny"])
    assert choice.model.startswith("openai:gpt")
    assert "your notes go there" in choice.why


def test_a_server_that_the_user_named_is_asked_for_its_models_and_its_key_not_taken_to_openai() -> None:
    assert chosen(SERVER, openai=["llama"]).model == "openai:llama"
    assert chosen(SERVER, KEY, openai=["llama"]).model == "openai:llama"
    assert chosen(SERVER, KEY).model == "quote"


def test_a_small_model_is_never_chosen_but_named_with_the_command_that_uses_it() -> None:
    choice = chosen(ollama=["small:a", "small:b"], local=["small:c"])
    assert choice.model == "quote"
    assert "ollama:small:a (and 2 more) is there, but too small" in choice.sentence
    assert "`zkchat config set model ollama:small:a` uses it" in choice.sentence


def test_a_small_model_gives_way_to_the_next_one_of_its_provider_and_to_other_providers() -> None:
    assert chosen(ollama=["small:a", "large"], local=["other"]).model == "ollama:large"
    assert chosen(ollama=["small:a"], local=["other"]).model == "local:other"
    assert "small:a" not in chosen(ollama=["small:a"], local=["other"]).sentence


def test_a_key_for_another_service_is_named_and_not_used() -> None:
    choice = chosen(variables={"OPENROUTER_API_KEY": "sk-canary", "GROQ_API_KEY": " "})
    assert choice.model == "quote"
    assert "There is a key for OpenRouter in OPENROUTER_API_KEY: `zkchat setup`" in choice.sentence
    assert "sk-canary" not in choice.sentence
    assert "Groq" not in choice.sentence
    assert "OpenRouter" not in chosen(SERVER, {"OPENROUTER_API_KEY": "sk-canary"}).sentence


def test_a_server_whose_name_takes_long_to_look_up_is_not_waited_for() -> None:
    asked, found = [], threading.Event()

    def look_up(address: str) -> bool:
        asked.append(address)
        return found.wait(60)

    assert reachable([OLLAMA, SERVER], look_up) == set()
    found.set()
    assert sorted(asked) == sorted([OLLAMA, SERVER])
