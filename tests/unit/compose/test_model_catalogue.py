"""The names that a chat completes, taken from servers without being waited for."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.providers.contract import PLAYS
from tests.providers.loopback import Connection, Loopback, Request
from tests.support.model_lists import Listing, tags
from tests.support.waiting import eventually
from tests.support.world import World
from zkchat.app.conversation_core import ModelCatalogue
from zkchat.app.workspace import Workspace, load_workspace
from zkchat.models import transport as listing

pytestmark = pytest.mark.outside


class Silent(Loopback):
    """Takes every question and answers none."""

    async def serve(self, request: Request, connection: Connection) -> None:
        await connection.hang()


@pytest.fixture
def server() -> Iterator[Listing]:
    with Listing(PLAYS) as server:
        server.lists["/api/tags"] = tags("tells", "thinks")
        yield server


def workspace_of(world: World, address: str) -> Workspace:
    world.variables["ZKCHAT_OLLAMA__HOST"] = address
    return load_workspace(world.environment(), None)


def test_names_are_known_once_somebody_asked_for_them(world: World, server: Listing) -> None:
    catalogue = ModelCatalogue(lambda: workspace_of(world, server.address))
    assert catalogue.names == ("quote",)
    eventually(lambda: {*catalogue.names} == {"quote", "ollama:tells", "ollama:thinks"})
    asked = len(server.requests)
    assert catalogue.names
    assert len(server.requests) == asked


def test_a_server_that_says_nothing_is_given_up_and_the_rest_is_listed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "LIST_SECONDS", 0.2)
    with Silent() as silent:
        overview = asyncio.run(ModelCatalogue(lambda: workspace_of(world, silent.address)).survey(None))
    assert [row.name for row in overview.rows] == ["quote"]
    ollama = overview.listings[0]
    assert "did not answer within 0.2 seconds" in ollama.problem
    assert "ollama serve" in ollama.hint
