"""What a user can do with a vault, one function each: typed arguments in, a result out."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.actions.base import ACTIONS, Action, Parameter, Result, ShownNote, Vault, every_action
    from zkchat.actions.brief import brief_of
    from zkchat.actions.checks import verified
    from zkchat.actions.links import link_record
    from zkchat.actions.notes import find_passages, passage_record, show
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "base": "ACTIONS Action Parameter Result ShownNote Vault every_action",
            "brief": "brief_of",
            "checks": "verified",
            "links": "link_record",
            "notes": "find_passages passage_record show",
        },
    )
