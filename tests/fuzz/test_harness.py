"""The fuzzer itself: it sees what it is there to see, goes on after it, and says how to see it again."""

from pathlib import Path

from tests.fuzz import mutation
from tests.fuzz.case import Case, signature
from tests.fuzz.runner import Campaign
from tests.fuzz.targets.planted import DEFECTS
from tests.fuzz.targets.tools import tools_over
from tests.providers.loopback import Loopback
from tests.support.libraries import library_of
from tests.support.world import World
from zkchat.core.prompt import Finish, TextChunk


def test_every_planted_defect_is_seen_told_and_kept_and_the_run_goes_on(tmp_path: Path) -> None:
    told: list[str] = []
    campaign = Campaign("planted", 7, tmp_path, told.append, cpu_seconds=1.0, wall_seconds=5.0)
    campaign.run(range(len(DEFECTS)), seconds=300)
    assert {DEFECTS[failure.number].__name__: failure.kind for failure in campaign.failures} == {
        "exception": "exception",
        "promise": "promise",
        "hang_in_c": "hang",
        "leave": "crash",
    }
    assert campaign.cases == len(DEFECTS)
    assert any("make fuzz ONLY=planted NUMBER=1 SEED=7" in line for line in told)
    assert (tmp_path / "planted-1" / "input.txt").read_text() == "the input"
    assert "ValueError: planted" in (tmp_path / "planted-1" / "failure.txt").read_text()
    (hang,) = (failure for failure in campaign.failures if DEFECTS[failure.number].__name__ == "hang_in_c")
    assert "hang_in_c" in (tmp_path / f"planted-{hang.number}" / "failure.txt").read_text()


def test_a_case_is_the_same_each_time_and_not_another(tmp_path: Path) -> None:
    def text(seed: int, target: str, number: int) -> str:
        rng = Case(seed, target, number, tmp_path).rng
        return mutation.text(rng) + mutation.json_text(rng, mutation.json_value(rng))

    assert text(1, "parsers", 2) == text(1, "parsers", 2)
    assert len({text(1, "parsers", 2), text(1, "parsers", 3), text(1, "tools", 2), text(2, "parsers", 2)}) == 4


def test_every_tool_that_a_conversation_offers_is_fuzzed(world: World, tmp_path: Path) -> None:
    world.note("Sleep.md", "Adults need seven hours.\n")
    with Loopback(plays={"x": [TextChunk(text="Seven."), Finish()]}) as server:
        world.variables["ZKCHAT_OLLAMA__HOST"] = server.address
        assert world.run("ask", "How long?", "--model", "ollama:x").code == 0
    offered = {
        tool["function"]["name"] for request in server.requests for tool in (request.body or {}).get("tools", ())
    }
    with library_of(tmp_path, {}) as library:
        fuzzed = {tool.spec.name for tool in tools_over(library)}
    assert offered
    assert offered <= fuzzed


def test_a_clone_of_any_name_gives_the_same_causes() -> None:
    trace = 'File "/home/me/zkchat/tests/fuzz/planted.py", line 7\nValueError: planted\n'
    assert signature(trace) == signature(trace.replace("/me/zkchat/", "/me/clone/")) == "ValueError: planted"
    inside = 'File "/home/me/zkchat/zkchat/cli/ask.py", line 7\nValueError: planted\n'
    assert signature(inside) == "ValueError: planted @ zkchat/cli/ask.py:7"
