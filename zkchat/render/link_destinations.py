"""A link in words: where it leads, and what is doubtful about it."""

from typing import assert_never

from zkchat.model.note import Ambiguous, External, Link, Missing, Resolution, Resolved


def describe_link(link: Link, found: Resolution) -> str:
    """A link and where it leads, in one line."""
    return f"{' '.join(link.text.split())} → {describe_destination(found)}"


def is_doubtful(found: Resolution) -> bool:
    """Whether a link leads nowhere, to one of several notes, or to a place that the note does not have."""
    return isinstance(found, Missing | Ambiguous) or (isinstance(found, Resolved) and not found.anchor_found)


def describe_destination(found: Resolution) -> str:
    match found:
        case Resolved() | Ambiguous():
            remarks = [f"by its {found.via}"] if found.via in {"alias", "id", "title"} else []
            if isinstance(found, Ambiguous):
                remarks.append(f"could also be {', '.join(found.others)}")
            if not found.anchor_found:
                remarks.append("no such place in it")
            return found.path + (f" ({'; '.join(remarks)})" if remarks else "")
        case Missing():
            closest = ", ".join(f"[[{name}]]" for name in found.suggestions)
            return f"nothing (closest: {closest})" if closest else "nothing"
        case External():
            return "outside the vault"
    assert_never(found)
