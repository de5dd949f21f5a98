"""Fetches the list of models of a server, of OpenAI's protocol or Ollama's."""

from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from pydantic import BaseModel, ConfigDict

from zkchat.errors import ProviderError
from zkchat.providers.errors import Endpoint, Reply, map_error
from zkchat.providers.locality import is_forwarded, is_loopback, is_reachable
from zkchat.providers.transport import TransportPolicy

LIST_TIMEOUT = 3.0
"""Seconds that a server which accepts connections may take to list its models."""
QUICK = TransportPolicy(
    connect_timeout=0.3, first_chunk_timeout=LIST_TIMEOUT, chunk_timeout=LIST_TIMEOUT, max_retries=0
)
"""For questions about each model of a list."""


class ListedModel(BaseModel):
    """A model in the list of a server, of either kind."""

    model_config = ConfigDict(extra="allow")
    id: str = ""
    name: str = ""
    details: dict[str, object] = {}
    size: object = 0
    """Bytes, in the lists of Ollama."""

    @property
    def is_forwarded(self) -> bool:
        return is_forwarded(self.model_extra)


class ModelList(BaseModel):
    data: tuple[ListedModel, ...] = ()
    """Of OpenAI's protocol."""
    models: tuple[ListedModel, ...] = ()
    """Of Ollama's."""


class _NoRedirects(HTTPRedirectHandler):
    """The key goes to the address that the user chose, and nowhere else."""

    def redirect_request(self, *_request: object) -> None:
        """None: a redirect becomes an error."""


def fetch_list(address: str, endpoint: Endpoint, *, probe: bool = True) -> ModelList:
    """Fetch the list at that address; `probe` first whether it accepts a connection. Raises `ProviderError`."""
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    no_proxy = [ProxyHandler({})] if is_loopback(address) else []
    try:
        if probe and not is_reachable(address):
            raise ConnectionError
        request = Request(address, headers=headers)  # noqa: S310
        with build_opener(_NoRedirects, *no_proxy).open(request, timeout=LIST_TIMEOUT) as reply:
            return ModelList.model_validate_json(reply.read())
    except HTTPError as error:
        with error:
            said = Reply(status=error.code, text=error.read(1000).decode(errors="replace"))
        if error.code == 404:
            raise ProviderError(f"{endpoint.name} has no list of models.", hint=endpoint.if_model_missing) from None
        failure = map_error(error, said, endpoint)
    except (OSError, HTTPException, ValueError) as error:
        failure = map_error(error, None, endpoint)
    raise ProviderError(failure.text, hint=failure.hint)
