import threading
from collections.abc import Sequence

import pytest

from zkchat.providers.detect import Choice, Server, Surroundings, detect

OLLAMA = "http://127.0.0.1:11434"
SERVER = "http://127.0.0.1:8080/v1"


def around(*, base_url: str = "", key: bool = False, local: Sequence[str] = ()) -> Surroundings:
    return Surroundings(ollama_host=OLLAMA, openai_base_url=base_url, openai_key=key, local=local)


def chosen(surroundings: Surroundings, **servers: list[str]) -> Choice:
    """What is chosen where these servers answer and have these models."""
    addresses: dict[str, Server] = {surroundings.ollama_host: "ollama", surroundings.openai_base_url: "openai"}
    return detect(
        surroundings,
        reach=lambda address: addresses[address] in servers,
        offered=lambda server: servers[server],
    )


def test_ollama_comes_first_if_it_answers_and_has_a_model() -> None:
    choice = chosen(around(key=True, local=["tiny"]), ollama=["qwen3:8b", "gemma3:4b"])
    assert choice.model == "ollama:qwen3:8b"
    assert OLLAMA in choice.why


def test_an_ollama_without_models_does_not_count() -> None:
    assert chosen(around(key=True), ollama=[]).model.startswith("openai:gpt")


def test_openai_comes_next_if_there_is_a_key_and_the_user_learns_where_the_notes_go() -> None:
    choice = chosen(around(key=True, local=["tiny"]))
    assert choice.model.startswith("openai:gpt")
    assert "sent" in choice.why


def test_a_server_that_the_user_named_is_asked_for_its_models() -> None:
    assert chosen(around(base_url=SERVER), openai=["llama"]).model == "openai:llama"
    assert chosen(around(base_url=SERVER, key=True), openai=["llama"]).model == "openai:llama"


def test_a_key_for_a_server_that_does_not_answer_is_not_taken_to_openai() -> None:
    assert chosen(around(base_url=SERVER, key=True)).model == "quote"


def test_a_model_in_a_file_comes_next() -> None:
    assert chosen(around(local=["tiny", "small"])).model == "local:tiny"


def test_without_anything_notes_are_quoted() -> None:
    assert chosen(around()).model == "quote"


@pytest.mark.parametrize("surroundings", [around(), around(key=True), around(local=["tiny"])])
def test_one_sentence_says_what_was_chosen_and_how_to_change_it(surroundings: Surroundings) -> None:
    choice = chosen(surroundings)
    assert choice.model in choice.sentence
    assert "zkchat config set model" in choice.sentence


def test_a_server_whose_name_takes_long_to_look_up_is_not_waited_for() -> None:
    asked, found = [], threading.Event()

    def look_up(address: str) -> bool:
        asked.append(address)
        return found.wait(60)

    assert detect(around(base_url=SERVER), reach=look_up, offered=lambda _server: ["late"]).model == "quote"
    found.set()
    assert sorted(asked) == sorted([OLLAMA, SERVER])
