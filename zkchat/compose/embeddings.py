"""The embedding model that the settings name, with the address and key of its server."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from zkchat.compose.workspace import Workspace
from zkchat.config.schema import Settings
from zkchat.errors import ProviderError
from zkchat.model.embeddings import OpenText
from zkchat.providers.embedding_wires import EmbeddingSettings
from zkchat.providers.locality import is_loopback

if TYPE_CHECKING:
    from zkchat.providers.embeddings import ServerEmbedder

_PROVIDERS: Final = ("ollama", "openai")
_OPENAI_HOST: Final = "api.openai.com"
_OPENAI_KEY: Final = "OPENAI_API_KEY"
_OLLAMA_KEY: Final = "OLLAMA_API_KEY"


def server_embedder(workspace: Workspace) -> "ServerEmbedder | None":
    """The model of `embeddings.model`, to which nothing is sent yet; None where none is set.

    Where the vault's settings could not be read, it is unknown which notes stay on this machine, and one elsewhere is
    not used.
    """
    return _embedder(workspace, workspace.settings.embeddings.model)


class ServerEmbedders:
    """The embedding models of servers that one process uses, until it closes them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.wanted = server_embedder(workspace)
        self._in_use = [self.wanted] if self.wanted else []
        self._is_closed = False

    def former(self, method: str) -> "ServerEmbedder | None":
        """The model whose vectors have this name, by the settings in force; None where they do not lead to it."""
        embedder = None if self._is_closed else _embedder(self._workspace, method.partition("#")[0])
        if embedder is None or embedder.name != method:
            return None
        self._in_use.append(embedder)
        return embedder

    def close(self) -> None:
        """End what is waited for; nothing is asked any more."""
        self._is_closed = True
        for embedder in self._in_use:
            embedder.close()


def end_changed_embedding(before: Workspace, end: Callable[[], None], now: Workspace) -> str:
    """`end` the requests to a server of which the settings say something else now; says so."""
    if not before.settings.embeddings.model or _server_settings(before) == _server_settings(now):
        return ""
    end()
    return "The settings of embeddings changed: until zkchat is started again, nothing is sent to their server."


def _server_settings(workspace: Workspace) -> tuple[object, ...]:
    """All that says what is sent where for vectors."""
    settings = workspace.settings
    return settings.embeddings, settings.ollama, settings.openai, workspace.loaded.privacy_unknown


def check_embedder(workspace: Workspace) -> str:
    """Have the model of `embeddings.model` embed a word, and describe it. Raises `ZkchatError`."""
    embedder = server_embedder(workspace)
    if embedder is None:
        raise ProviderError(
            f"{workspace.loaded.privacy_unknown} So no notes are sent to {workspace.settings.embeddings.model}.",
            hint="Mend the file or move it away.",
        )
    embedder.embed_query(OpenText("hello"))
    place = "on this machine" if embedder.is_on_this_machine else "elsewhere, so local notes are withheld"
    return f"{workspace.settings.embeddings.model} (ready; vectors of {embedder.dimensions:,} numbers, {place})"


def _embedder(workspace: Workspace, name: str) -> "ServerEmbedder | None":
    provider, _, model = name.partition(":")
    if not model or provider not in _PROVIDERS:
        return None
    from zkchat.providers.embeddings import ollama_embedder, openai_embedder

    wanted = workspace.settings.embeddings
    address = _address(workspace, provider)
    is_local = wanted.local and bool(wanted.base_url or getattr(workspace.settings, provider).local)
    if workspace.loaded.privacy_unknown and not (is_local and is_loopback(address)):
        return None
    variable, key = _key(workspace, provider, address)
    settings = EmbeddingSettings(
        batch_size=wanted.batch_size,
        timeout=wanted.timeout,
        dimensions=wanted.dimensions,
        query_prefix=wanted.query_prefix,
        document_prefix=wanted.document_prefix,
        options=wanted.options,
        local=is_local,
    )
    if provider == "ollama":
        return ollama_embedder(model, host=address, api_key=key, settings=settings)
    return openai_embedder(model, base_url=address, api_key=key, key_variable=variable, settings=settings)


def _address(workspace: Workspace, provider: str) -> str:
    from zkchat.providers.openai_client import OPENAI

    settings = workspace.settings
    own = settings.embeddings.base_url
    return own or (settings.ollama.host if provider == "ollama" else settings.openai.base_url or OPENAI)


def _key(workspace: Workspace, provider: str, address: str) -> tuple[str, str]:
    """The variable of the key that goes along, and the key: one is for the server that it was set up for."""
    from zkchat.providers import ollama, openai

    variables, origins = workspace.environment.variables, workspace.loaded.origins
    variable = _key_variable(workspace.settings, provider)
    if provider == "ollama":
        setting = "embeddings.base_url" if workspace.settings.embeddings.base_url else "ollama.host"
        is_users_choice = origins[setting].layer in {"user", "variable", "flag"}
        found = ollama.server_key(variables.get(variable, ""), address, is_users_choice=is_users_choice)
    else:
        found = openai.server_key(variables.get(variable, ""), address, variable)
    return variable, found.value


def _key_variable(settings: Settings, provider: str) -> str:
    own = settings.embeddings
    if own.api_key_env:
        return own.api_key_env
    if provider == "ollama":
        return _OLLAMA_KEY
    if not own.base_url or own.base_url.rstrip("/") == settings.openai.base_url.rstrip("/"):
        return settings.openai.api_key_env
    return _OPENAI_KEY if urlsplit(own.base_url).hostname == _OPENAI_HOST else ""
