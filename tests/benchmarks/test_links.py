"""The generated vaults of the link benchmarks, and what a small one shows."""

import pytest

from benchmarks.links.made_vaults import MadeVault, halves, vault_with_broken_links
from benchmarks.links.mentions import opened
from zkchat.index.link_guesses import broken_links


@pytest.fixture(scope="module")
def vault() -> MadeVault:
    return vault_with_broken_links(notes=60)


def test_the_same_seed_gives_the_same_vault_and_halves_share_no_note(vault: MadeVault) -> None:
    assert vault == vault_with_broken_links(notes=60)
    first, second = halves(vault)
    assert {*first}.isdisjoint(second)
    assert {*first, *second} == vault.notes.keys()


def test_no_certain_repair_is_wrong(vault: MadeVault) -> None:
    with opened(vault.notes) as library:
        certain = [each for each in broken_links(library) if each.is_sure]
    meant = [vault.truth[each.source][each.link.text].partition("#")[0] for each in certain]
    assert len(certain) > 30
    assert [each.repairs[0].path for each in certain] == meant


def test_nine_of_ten_proposals_that_are_not_certain_are_right(vault: MadeVault) -> None:
    with opened(vault.notes) as library:
        proposed = [each for each in broken_links(library) if each.repairs and not each.is_sure]
    right = [vault.truth[each.source][each.link.text].partition("#")[0] == each.repairs[0].path for each in proposed]
    assert len(right) > 30
    assert sum(right) >= 0.9 * len(right)
