"""After a rename every link means what it meant, nothing else has changed, and renaming back gives the identical tree.

`python -m tests.faults.rename_vaults 2000 500 SEED` tries more, and `python -m scripts.check_renames VAULT` any vault.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.check_renames import State, check, load, violations
from tests.support.linked_vaults import make_vault
from zkchat.writing.targets import LinkFormat, LinkStyle

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"


@pytest.mark.parametrize("name", ["garden", "links", "library"])
def test_renames_keep_every_link_of_the_fixtures(name: str, scaled: Callable[[int], int]) -> None:
    result = check(load(FIXTURES / name), scaled(15), seed=20_260_301, style=LinkStyle())
    assert result.violations == []
    assert result.counts["taken back"]


@pytest.mark.parametrize("link_format", ["shortest", "relative", "absolute"])
def test_renames_keep_every_link_of_generated_vaults(link_format: LinkFormat, scaled: Callable[[int], int]) -> None:
    result = check(make_vault(40, seed=len(link_format)), scaled(20), seed=7, style=LinkStyle(format=link_format))
    assert result.violations == []
    assert result.counts["links"]


def test_the_check_notices_links_that_did_not_follow_and_other_changes() -> None:
    before = State({"N.md": b"", "Other.md": b"[[N|n]] text"})
    for text in (b"[[N|n]] text", b"[[M|m]] text", b"[[M|n]] Text", b"[[M|n]] text [[M]]"):
        assert [*violations(before, State({"M.md": b"", "Other.md": text}), "N.md", "M.md")]
    assert not [*violations(before, State({"M.md": b"", "Other.md": b"[[M|n]] text"}), "N.md", "M.md")]
