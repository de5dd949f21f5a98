"""The first items of a list that may be named to whoever asks."""

from collections.abc import Sequence

from zkchat.model.daily_brief import FirstOf, Item
from zkchat.vault.library import Library


def first_confirmed(library: Library, items: Sequence[Item], most: int) -> FirstOf[Item]:
    """The first items whose notes may be named, at most so many, and how many there are of all of them."""
    shown: list[Item] = []
    kept_back = 0
    for start in range(0, len(items), max(1, most)):
        some = items[start : start + most - len(shown)]
        named = {*library.confirmed(dict.fromkeys(item.path for item in some))}
        shown += [item for item in some if item.path in named]
        kept_back += sum(item.path not in named for item in some)
        if len(shown) >= most:
            break
    return FirstOf(shown, len(items) - kept_back)
