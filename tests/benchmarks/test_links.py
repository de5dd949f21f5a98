"""The generated vaults of the link benchmarks, and what a small one shows."""

from collections import Counter

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


def test_no_certain_repair_is_wrong_and_nine_of_ten_others_are_right(vault: MadeVault) -> None:
    with opened(vault.notes) as library:
        broken = [each for each in broken_links(library) if each.repairs]
    right = {True: Counter[bool](), False: Counter[bool]()}
    for each in broken:
        meant = vault.truth[each.source][each.link.text].partition("#")[0]
        right[each.is_sure][each.repairs[0].path == meant] += 1
    assert right[True][True] > 30
    assert right[True][False] == 0
    assert right[False].total() > 30
    assert right[False][True] >= 0.9 * right[False].total()
