"""`zkchat serve acp` behind `acpx`, a client from npm: `python -m tests.protocols.acpx_round_trip PATH-OF-ACPX`.

Node has to be on the path. Each line says what was tried; the exit code is 1 if anything was not as expected.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.support.world import World

SECONDS = 120
NOTE = "# Sleep\n\nAdults need seven hours.\n"
CHANGED = NOTE.replace("seven", "eight")


class Client:
    """`acpx` in the vault of a user with an empty home."""

    def __init__(self, program: str, world: World) -> None:
        self._program = program
        self.world = world

    def run(self, *arguments: str, model: str = "quote", agent_options: str = "") -> str:
        agent = f"{sys.executable} -m zkchat serve acp --model {model} {agent_options}".strip()
        done = subprocess.run(
            [self._program, "--agent", agent, *arguments],
            cwd=self.world.vault,
            env={**os.environ, **self.world.environment().variables, "HOME": str(self.world.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return f"{done.stdout}\n{done.stderr}\nexit code {done.returncode}"

    def script(self) -> str:
        """A model that looks something up and proposes a change."""
        edit = {"path": "Sleep.md", "old_text": "seven", "new_text": "eight"}
        return self.world.script(
            [{"thinking": "Look."}, {"tool": "find_excerpts", "arguments": {"query": "adults hours"}}],
            [{"tool": "edit_document", "arguments": edit}],
            [{"text": "Eight hours, says [[Sleep]]."}],
        )


def answers(client: Client) -> bool:
    printed = client.run("exec", "How many hours do adults need?")
    return "Adults need seven hours." in printed and "end_turn" in printed and "exit code 0" in printed


def shows_tools_and_applies(client: Client) -> bool:
    printed = client.run("--approve-all", "exec", "Make it eight.", model=client.script(), agent_options="--write")
    shown = (
        "[thinking] ",
        "Look.",
        "kind: search",
        "Sleep.md:",
        "session/request_permission",
        "Eight hours",
        "Applied:",
    )
    return all(each in printed for each in shown) and client.world.vault.joinpath("Sleep.md").read_text() == CHANGED


def declines(client: Client) -> bool:
    client.world.note("Sleep.md", NOTE)
    printed = client.run("--deny-all", "exec", "Make it eight.", model=client.script(), agent_options="--write")
    return "Not applied" in printed and client.world.vault.joinpath("Sleep.md").read_text() == NOTE


def prints_resource_links_as_json(client: Client) -> bool:
    printed = client.run("--format", "json", "exec", "How many hours do adults need?")
    messages = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return f"{client.world.vault.as_uri()}/Sleep.md#L3" in json.dumps(messages)


def runs_commands(client: Client) -> bool:
    return "Sleep.md:" in client.run("exec", "/search adults")


def refuses_a_folder_that_is_no_vault(client: Client) -> bool:
    client.world.root.joinpath("elsewhere").mkdir()
    printed = client.run("--cwd", str(client.world.root / "elsewhere"), "exec", "Hello?")
    return "is not a vault yet" in printed and "Traceback" not in printed


def lists_sessions_of_the_terminal(client: Client) -> bool:
    client.world.run("chat", "--model", "quote", "Is this here?", stdin="")
    return "Is this here?" in client.run("sessions", "list")


CHECKS: tuple[Callable[[Client], bool], ...] = (
    answers,
    shows_tools_and_applies,
    declines,
    prints_resource_links_as_json,
    runs_commands,
    refuses_a_folder_that_is_no_vault,
    lists_sessions_of_the_terminal,
)


def main(program: str) -> int:
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.note("Sleep.md", NOTE)
        client = Client(program, world)
        for check in CHECKS:
            passes = check(client)
            failures += not passes
            print(f"{'ok    ' if passes else 'FAILED'} {check.__name__.replace('_', ' ')}")  # noqa: T201
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
