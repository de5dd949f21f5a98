"""What a user can do with a vault, one function each: typed arguments in, a result out."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.actions.base import (
        ACTIONS,
        MAX_RECORDS,
        Action,
        Parameter,
        Result,
        ShownNote,
        Vault,
        every_action,
        named_place,
    )
    from zkchat.actions.brief import today_of
    from zkchat.actions.evaluation import Evaluation, ask_all, evaluated, explained, read_questions
    from zkchat.actions.links import link_record
    from zkchat.actions.notes import find_passages, passage_record, show, verified
else:
    __getattr__ = lazy_names(__name__, __file__)
