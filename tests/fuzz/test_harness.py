"""The fuzzer itself: it sees what it is there to see, goes on after it, and says how to see it again."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import mutation
from tests.fuzz.case import Case, signature
from tests.fuzz.runner import ROOT, Campaign, Tally, table
from tests.fuzz.targets.planted import DEFECTS
from tests.fuzz.targets.tools import tools_over
from tests.providers.loopback import Loopback
from tests.support.libraries import library_of
from tests.support.world import World
from zkchat.core.prompt import Finish, TextChunk


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def tally(folder: Path, told: list[str]) -> Tally:
    campaign = Campaign("planted", 7, folder, told.append, cpu_seconds=1.0)
    return campaign.run(iter(range(len(DEFECTS))), seconds=300)


def test_every_planted_defect_is_seen_and_the_run_goes_on(tally: Tally) -> None:
    seen = {DEFECTS[failure.number].__name__: failure.kind for failure in tally.failures}
    assert seen == {
        "exception": "exception",
        "promise": "promise",
        "stray": "stray exception",
        "memory": "exception",
        "hang_in_c": "hang",
        "hang_asleep": "hang",
        "crash": "crash",
        "leave": "crash",
    }
    assert tally.cases == len(DEFECTS)


def test_a_failure_is_told_with_the_command_that_shows_it_again(tally: Tally, told: list[str]) -> None:
    assert tally.failures
    assert any("make fuzz ONLY=planted NUMBER=1 SEED=7" in line for line in told)


def test_a_failed_case_is_kept_with_its_input_and_its_trace(tally: Tally, folder: Path) -> None:
    assert tally.failures
    assert (folder / "planted-1" / "input.txt").read_text() == "the input"
    assert "ValueError: planted" in (folder / "planted-1" / "failure.txt").read_text()


def test_the_stack_of_a_hang_is_kept(tally: Tally, folder: Path) -> None:
    (hang,) = (failure for failure in tally.failures if DEFECTS[failure.number].__name__ == "hang_in_c")
    assert "hang_in_c" in (folder / f"planted-{hang.number}" / "failure.txt").read_text()


def test_the_table_has_a_row_for_each_target(tally: Tally) -> None:
    assert table([tally]).splitlines()[1].split()[:4] == ["planted", "11", "8", "6"]


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


@pytest.mark.parametrize("arguments", [["--only", "nonsense"], ["--folder", str(ROOT / "tests")]])
def test_what_makes_no_sense_is_refused(arguments: list[str]) -> None:
    run = subprocess.run([sys.executable, "-m", "tests.fuzz", *arguments], cwd=ROOT, capture_output=True, check=False)
    assert run.returncode == 1
    assert b"Traceback" not in run.stderr


def test_a_clone_of_any_name_gives_the_same_causes() -> None:
    trace = 'File "/home/me/zkchat/tests/fuzz/planted.py", line 7\nValueError: planted\n'
    assert signature(trace) == signature(trace.replace("/me/zkchat/", "/me/clone/")) == "ValueError: planted"
    inside = 'File "/home/me/zkchat/zkchat/cli/ask.py", line 7\nValueError: planted\n'
    assert signature(inside) == "ValueError: planted @ zkchat/cli/ask.py:7"
