"""Precision and recall of the repairs that are proposed for broken links, beside the closest name alone.

The likeness from which a name is proposed is chosen on one half of a generated vault, the figures are those of the
other half. Run it with: python -m benchmarks.links.repairs
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from benchmarks.links.made_vaults import MadeVault, halves, vault_with_broken_links
from benchmarks.links.mentions import opened
from zkchat.core import Link, Missing, Resolved
from zkchat.index import MIN_LIKENESS, BrokenLink, Library, Repair, broken_links

LIKENESSES = (0.7, 0.8, 0.9)


def main() -> None:
    vault = vault_with_broken_links()
    chosen_on, other = ({*half} for half in halves(vault))
    with opened(vault.notes) as library:
        found = {
            likeness: [each for each in broken_links(library, min_likeness=likeness) if _is_known(vault, each)]
            for likeness in LIKENESSES
        }
        print(f"{'least likeness':24}{HEADER}   (half that it is chosen on)")
        for likeness in LIKENESSES:
            mark = " ←" if likeness == MIN_LIKENESS else ""
            print(f"{likeness:<24}{row(vault, _of(found[likeness], chosen_on))}{mark}")
        unseen = _of(found[MIN_LIKENESS], other)
        print(f"\n{'unseen half':24}{row(vault, unseen)}")
        print(f"{'  those not certain':24}{row(vault, [each for each in unseen if not each.is_sure])}")
        print(f"{'closest name alone':24}{row(vault, [_closest(library, each) for each in unseen])}")
        by_kind = sorted(unseen, key=lambda each: vault.kinds[each.source, each.link.text])
        for kind, links in groupby(by_kind, key=lambda each: vault.kinds[each.source, each.link.text]):
            print(f"  {kind:22}{row(vault, [*links])}")


HEADER = f"{'links':>7}{'precision':>11}{'recall':>8}{'in three':>10}{'certain':>9}{'right':>7}"


def _is_known(vault: MadeVault, broken: BrokenLink) -> bool:
    return broken.link.text in vault.truth.get(broken.source, {})


def _of(found: Iterable[BrokenLink], notes: set[str]) -> list[BrokenLink]:
    return [each for each in found if each.source in notes]


def _closest(library: Library, broken: BrokenLink) -> BrokenLink:
    """What the list of broken links has suggested so far."""
    name = broken.link.target.rpartition("/")[2]
    found = library.resolve(Link(text="", target=name), None) if broken.is_missing else None
    repairs = []
    for suggestion in found.suggestions if isinstance(found, Missing) else ():
        meant = library.resolve(Link(text="", target=suggestion), None, suggestions=0)
        if isinstance(meant, Resolved):
            repairs.append(Repair(path=meant.path, reason="", confidence=1))
    return BrokenLink(
        source=broken.source,
        link=broken.link,
        is_missing=broken.is_missing,
        lines=broken.lines,
        repairs=tuple(repairs),
    )


def row(vault: MadeVault, links: Sequence[BrokenLink]) -> str:
    """Of the first proposals: how many are right, how many of what can be repaired they are; and of certain ones."""

    def is_right(broken: BrokenLink, repair: Repair) -> bool:
        meant = vault.truth[broken.source][broken.link.text]
        path, _, heading = meant.partition("#")
        return bool(meant) and repair.path == path and (not heading or repair.anchor == heading)

    def share(some: Callable[[BrokenLink], bool], among: Iterable[BrokenLink]) -> str:
        counted = [some(each) for each in among]
        return f"{sum(counted) / len(counted):.3f}" if counted else "–"

    proposed = [each for each in links if each.repairs]
    repairable = [each for each in links if vault.truth[each.source][each.link.text]]
    certain = [each for each in links if each.is_sure]

    def first(each: BrokenLink) -> bool:
        return bool(each.repairs) and is_right(each, each.repairs[0])

    def any_of_three(each: BrokenLink) -> bool:
        return any(is_right(each, repair) for repair in each.repairs)

    precision, recall, in_three = share(first, proposed), share(first, repairable), share(any_of_three, repairable)
    return f"{len(links):>7}{precision:>11}{recall:>8}{in_three:>10}{len(certain):>9}{share(first, certain):>7}"


if __name__ == "__main__":
    main()
