import socket
import sys
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from tests.support.gguf_files import write_gguf
from tests.support.provider_contexts import provider_context
from zkchat.app.models import preload_client
from zkchat.models.registry import (
    ModelSettings,
    NamedModel,
    ProviderContext,
    choose,
    create,
    is_reachable,
    resolve_name,
)


@pytest.fixture
def context(tmp_path: Path) -> ProviderContext:
    return provider_context(tmp_path, variables={"OPENAI_API_KEY": "sk-canary"})


@pytest.mark.outside
def test_what_listens_and_is_no_server_of_models_is_passed_over(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        host = f"http://127.0.0.1:{server.getsockname()[1]}"
        deaf = provider_context(tmp_path, settings={"ollama": {"host": host}})

        def hang_up_twice() -> None:
            for _ in range(2):
                server.accept()[0].close()

        thread = Thread(target=hang_up_twice, daemon=True)
        thread.start()
        assert choose(deaf).model == "quote"
        thread.join(5)


@pytest.mark.outside
def test_a_server_is_there_or_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert is_reachable(f"http://{address}/v1")
        assert is_reachable(address)
    assert not is_reachable(f"http://{address}")
    assert not is_reachable("http://127.0.0.1:not-a-port")


def test_a_name_of_the_users_own_stands_for_a_model_and_what_is_said_of_it(context: ProviderContext) -> None:
    said = ModelSettings(context_limit=4096, calls_tools=True)
    own = replace(context, models={"fast": NamedModel(provider="ollama", id="qwen3:4b", settings=said)})
    info = create("fast", own).info
    assert (info.name, info.context_limit, info.calls_tools) == ("ollama:qwen3:4b", 4096, True)
    assert resolve_name("fast", own).model == "ollama:qwen3:4b"
    assert "sk-canary" not in repr(own)
    assert resolve_name("ollama:qwen3:4b", own).model == "ollama:qwen3:4b"


@pytest.mark.parametrize(("allowed", "said", "window"), [(1024, 512, 512), (1024, None, 1024), (None, 512, 512)])
def test_a_local_model_gets_the_smaller_of_what_is_said_and_what_is_allowed(
    context: ProviderContext, allowed: int | None, said: int | None, window: int
) -> None:
    write_gguf(context.cache / "models" / "small.gguf")
    own = NamedModel(provider="local", id="small", settings=ModelSettings(context_limit=said))
    assert create("own", replace(context, window=allowed, models={"own": own})).info.context_limit == window


def test_a_client_library_can_be_imported_ahead_of_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "httpx", raising=False)
    preload_client("ollama")
    assert "httpx" in sys.modules
