"""The public conformance suite of MCP: runs of it, what came out, and the table of the page.

    python -m tests.protocols.conformance tests/protocols/conformance.md

runs it in both revisions over a copy of `vault-fixtures/garden`, and renews the tables.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from tests.protocols.node_programs import environment, install, run
from tests.protocols.scenarios import AUTHORIZATION, CLIENT, REVISIONS, SERVER, Exempt
from tests.protocols.token_proxy import TokenProxy

ROOT: Final = Path(__file__).parents[2]
ZKCHAT: Final = str(Path(sys.executable).with_name("zkchat"))
TOKEN: Final = "token-of-the-conformance-run"
Side = Literal["server", "client"]
SIDES: Final[Mapping[Side, Mapping[str, Exempt]]] = {"server": SERVER, "client": CLIENT}
_FORM: Final = "wire-schema-valid"
_FOLDER: Final = re.compile(r"(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")


@dataclass(frozen=True)
class Outcome:
    """What a scenario found in one revision: the ids of its checks, of failed ones with the reason."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]
    warnings: Mapping[str, str]

    def is_as_expected(self, exempt: Exempt | None) -> bool:
        return self.failed.keys() == (exempt.checks if exempt else set())

    @property
    def applies(self) -> bool:
        """Whether anything passed but the form of the messages, which every scenario checks."""
        return bool({*self.passed} - {_FORM})


Outcomes = Mapping[str, Outcome]
"""By the name of the scenario."""


@dataclass(frozen=True)
class HttpServer:
    url: str
    token: str


def garden(folder: Path) -> Path:
    """A copy of the garden in a folder."""
    return Path(shutil.copytree(ROOT / "vault-fixtures" / "garden", folder / "garden"))


@contextmanager
def served(vault: Path, home: Path) -> Iterator[HttpServer]:
    """`zkchat serve mcp --http` over a vault."""
    command = [ZKCHAT, "mcp", "--http", "--port", "0", "--vault", str(vault)]
    process = subprocess.Popen(
        command,
        cwd=home,
        env={**environment(home), "ZKCHAT_MCP_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield HttpServer(_address(process), TOKEN)
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextmanager
def with_token(server: HttpServer) -> Iterator[str]:
    """An address that leads to a server, for a program that cannot send the token."""
    port = urlsplit(server.url).port or 0
    with TokenProxy(0, port, server.token) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.url.replace(f":{port}/", f":{proxy.server_address[1]}/")
        finally:
            proxy.shutdown()
            thread.join()


def run_server_side(revision: str, server: HttpServer, home: Path) -> Outcomes:
    """All scenarios that a revision requires of servers."""
    results = home / f"server-{revision}"
    with with_token(server) as url:
        run("conformance", "server", "--url", url, "--requirements", revision, "-o", str(results),
            home=home, cwd=home, seconds=600)  # fmt: skip
    return outcomes(results)


def run_client_side(revision: str, home: Path) -> Outcomes:
    """All scenarios that a revision requires of clients, but those on authorization."""
    results = home / f"client-{revision}"
    command = f"{sys.executable} -m tests.protocols.conformance_client"
    for scenario in required("client", revision, home):
        run("conformance", "client", "--command", command, "--scenario", scenario, "--spec-version", revision,
            "-o", str(results), home=home, cwd=ROOT)  # fmt: skip
    return outcomes(results)


def required(side: Side, revision: str, home: Path) -> Sequence[str]:
    """The scenarios that the suite itself says a revision requires, without those on authorization."""
    listed = run("conformance", "list", "--requirements", revision, home=home, cwd=home).stdout
    part = listed.partition(f"{side.capitalize()} scenarios")[2].partition("\n\n")[0]
    return [name for name in re.findall(r"(?m)^  - (\S+)", part) if not name.startswith(AUTHORIZATION)]


def outcomes(results: Path) -> Outcomes:
    """What the suite wrote to a folder."""
    found: dict[str, Outcome] = {}
    for file in sorted(results.glob("**/checks.json")):
        name = _FOLDER.match(file.parent.relative_to(results).as_posix())
        assert name, file
        found[name[1]] = outcome(json.loads(file.read_text("utf-8")))
    return found


def outcome(checks: Sequence[Mapping[str, Any]]) -> Outcome:
    def those(status: str) -> dict[str, str]:
        found = (each for each in checks if each["status"] == status)
        return {each["id"]: each.get("errorMessage") or each["description"] for each in found}

    passed = tuple(each["id"] for each in checks if each["status"] == "SUCCESS")
    return Outcome(passed=passed, failed=those("FAILURE"), warnings=those("WARNING"))


def differences(side: Side, needed: Sequence[str], got: Outcomes) -> list[str]:
    """Where the run is not what the list of checks that cannot apply says, a sentence each."""
    expected, found = SIDES[side], []
    for scenario in needed:
        if scenario not in got:
            found.append(f"{scenario} was not run.")
        elif not got[scenario].passed and not got[scenario].failed:
            found.append(f"{scenario}: nothing was checked.")
        elif not got[scenario].is_as_expected(expected.get(scenario)):
            listed = expected[scenario].checks if scenario in expected else frozenset()
            failed = got[scenario].failed
            found += [f"{scenario}: {check} fails: {why}" for check, why in failed.items() if check not in listed]
            found += [f"{scenario}: {check} passes; take it off the list." for check in sorted(listed - failed.keys())]
    return found


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stderr
    said = ""
    for line in process.stderr:
        said += line
        if match := re.search(r"http://127\.0\.0\.1:\d+/mcp", line):
            return match[0]
    raise AssertionError(f"zkchat serve mcp --http did not start: {said}")


@dataclass(frozen=True)
class Run:
    """All scenarios of one side in one revision."""

    needed: Sequence[str]
    got: Outcomes

    def cell(self, scenario: str, exempt: Exempt | None) -> str:
        if scenario not in self.needed:
            return "–"
        one = self.got[scenario]
        cell = f"{len(one.passed)} passed"
        if one.warnings:
            cell += f", {len(one.warnings)} warned"
        if exempt and one.failed:
            cell += f"; {len(one.failed)} need {exempt.reason}"
        elif one.failed:
            cell += f", **{len(one.failed)} failed**"
        return cell


Runs = Mapping[tuple[Side, str], Run]


def tables(runs: Runs) -> str:
    """The tables of the page."""
    return "\n\n".join(_table(side, [runs[side, revision] for revision in REVISIONS]) for side in SIDES) + "\n"


def _table(side: Side, runs: Sequence[Run]) -> str:
    exempt = SIDES[side]
    names = dict.fromkeys(name for run in runs for name in run.needed)
    rows = [
        name for name in names if name not in exempt or any(run.got[name].applies for run in runs if name in run.got)
    ]
    lines = [f"| for {side}s | " + " | ".join(REVISIONS) + " |", "|---|" + "---|" * len(REVISIONS)]
    lines += [f"| `{name}` | {' | '.join(run.cell(name, exempt.get(name)) for run in runs)} |" for name in rows]
    others = [name for name in names if name not in rows]
    lines += ["", f"| does not apply to our {side} | it needs |", "|---|---|"]
    for reason in dict.fromkeys(exempt[name].reason for name in others):
        those = ", ".join(f"`{name}`" for name in others if exempt[name].reason == reason)
        lines.append(f"| {those} | {reason} |")
    return "\n".join(lines)


BEGIN, END = "<!-- conformance -->\n", "<!-- /conformance -->"


def renewed(page: str, table: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}"


def run_all(home: Path) -> Runs:
    """The suite in both revisions, against our server and our client."""
    runs: dict[tuple[Side, str], Run] = {}
    with served(garden(home), home) as server:
        for revision in REVISIONS:
            got = run_server_side(revision, server, home)
            runs["server", revision] = Run(required("server", revision, home), got)
    for revision in REVISIONS:
        runs["client", revision] = Run(required("client", revision, home), run_client_side(revision, home))
    return runs


if __name__ == "__main__":
    install()
    with tempfile.TemporaryDirectory() as scratch:
        table = tables(run_all(Path(scratch)))
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text("utf-8"), table), "utf-8")
