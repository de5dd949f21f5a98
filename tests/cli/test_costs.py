"""What answers cost: shown where a price is set or the server says it, and nowhere else."""

import pytest

from tests.providers.loopback import Loopback, Request, serving
from tests.support.world import World
from zkchat.core.choices import TokenUsage
from zkchat.core.prompt import Finish, TextChunk
from zkchat.models.registry import ModelSettings

PRICES = "price_input = 2.0\nprice_output = 100.0\n"
COST = (1_500 * 2 + 7 * 100) / 1_000_000
"""The server counts 1,500 tokens of a request and 7 of each answer."""


class Server(Loopback):
    def prompt_tokens(self, request: Request) -> int:
        return 1_500


server = serving(lambda: Server({"m": [TextChunk(text="Seven."), Finish()]}, key=""), scope="function")


def configure(world: World, server: Loopback, prices: str) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    table = f'[models.mine]\nprovider = "openai"\nid = "m"\nbase_url = "{server.address}/v1"\n'
    world.configure(f'model = "mine"\n{table}{prices}')


def test_an_answer_shows_what_it_cost_where_a_price_is_set(world: World, server: Loopback) -> None:
    configure(world, server, PRICES)
    asked = world.run("ask", "hello there", "--json").json
    assert asked["usage"]["cost"] == pytest.approx(COST)
    assert "$0.0037" in world.run("ask", "-c", "and now?", terminal=True).out
    shown = world.run("context", "show", "--message", "4")
    assert "Cost" in shown.out
    assert "$0.0037 for this request" in shown.out
    total = "The answers of this conversation cost $0.0074."
    assert total in world.run("context", "stats").out
    assert world.run("context", "stats", "--json").json["cost"] == pytest.approx(2 * COST)
    assert total in world.run("sessions", "show", asked["session"]).out
    assert world.run("sessions", "show", asked["session"], "--json").json["cost"] == pytest.approx(2 * COST)
    assert total in world.run("chat", "-c", typed="/stats\n").out
    assert "Cost: $0.0037" in world.run("chat", "-c", "--plain", typed="hello\n").err


def test_nothing_is_shown_where_no_price_is_known(world: World, server: Loopback) -> None:
    configure(world, server, "")
    assert world.run("ask", "hello there", "--json").json["usage"]["cost"] is None
    for said in (
        world.run("ask", "-c", "and now?", terminal=True),
        world.run("context", "show", "--message", "4"),
        world.run("context", "stats"),
    ):
        assert "$" not in said.out
        assert "cost" not in said.out.casefold()


def test_all_requests_of_an_answer_count_and_the_server_may_say_their_price(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script(
        [{"tool": "find_excerpts", "arguments": {"query": "sleep"}}, {"finish": "tool_calls", "usage": {"cost": 0.25}}],
        [{"text": "Seven."}, {"finish": "stop", "usage": {"cost": 1.0}}],
    )
    assert world.run("ask", "how long?", "--model", model, "--json").json["usage"]["cost"] == 1.25
    assert "$1.25" in world.run("ask", "how long?", "--model", model, "--panels").out


def test_what_the_server_had_read_before_has_its_own_price() -> None:
    settings = ModelSettings(price_input=10.0, price_cached=1.0)
    priced = settings.priced(TokenUsage(prompt_tokens=1_000, completion_tokens=9, cached_tokens=600))
    assert priced is not None
    assert priced.cost == pytest.approx((400 * 10 + 600 * 1) / 1_000_000)
