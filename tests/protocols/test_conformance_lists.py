"""When a run of the conformance suite counts as passed."""

from tests.protocols.conformance import ROOT, differences, outcome
from tests.protocols.scenarios import CLIENT, SERVER

LISTED = "tools-call-image"


def check(name: str, status: str) -> dict[str, str]:
    return {"id": name, "status": status, "description": "what is checked"}


def test_a_scenario_may_fail_only_in_checks_that_are_listed() -> None:
    as_listed = {
        "ping": outcome([check("ping", "SUCCESS")]),
        LISTED: outcome([check("wire-schema-valid", "SUCCESS"), check(LISTED, "FAILURE")]),
    }
    assert differences("server", [*as_listed], as_listed) == []
    other = {
        "ping": outcome([check("ping", "FAILURE")]),
        LISTED: outcome([check("wire-schema-valid", "FAILURE"), check(LISTED, "SUCCESS")]),
    }
    assert differences("server", [*other, "caching"], other) == [
        "ping: ping fails: what is checked",
        f"{LISTED}: wire-schema-valid fails: what is checked",
        f"{LISTED}: {LISTED} passes; take it off the list.",
        "caching was not run.",
    ]


def test_a_scenario_without_checks_has_not_passed() -> None:
    assert differences("server", ["ping"], {"ping": outcome([])}) == ["ping: nothing was checked."]


def test_the_page_names_every_scenario_that_does_not_apply() -> None:
    page = (ROOT / "tests" / "protocols" / "conformance.md").read_text("utf-8")
    assert [name for name in (*SERVER, *CLIENT) if f"`{name}`" not in page] == []
