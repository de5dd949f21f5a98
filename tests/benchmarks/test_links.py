"""The generated vaults of the link benchmarks, and what a small one shows."""

from benchmarks.links.made_vaults import halves, vault_with_broken_links
from benchmarks.links.mentions import opened
from zkchat.vault.broken_links import broken_links


def test_the_same_seed_gives_the_same_vault_and_halves_share_no_note() -> None:
    vault = vault_with_broken_links(notes=60)
    assert vault == vault_with_broken_links(notes=60)
    assert vault != vault_with_broken_links(seed=1, notes=60)
    first, second = halves(vault)
    assert {*first}.isdisjoint(second)
    assert {*first, *second} == vault.notes.keys()


def test_no_certain_repair_is_wrong() -> None:
    vault = vault_with_broken_links(notes=60)
    with opened(vault.notes) as library:
        certain = [each for each in broken_links(library) if each.is_sure]
    meant = [vault.truth[each.source][each.link.text].partition("#")[0] for each in certain]
    assert len(certain) > 30
    assert [each.repairs[0].path for each in certain] == meant
