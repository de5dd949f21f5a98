"""Arguments of a tool call as a model wrote them, read within bounds."""

import json
from typing import Any, Final

LONGEST: Final = 64_000
"""Characters. What is longer is no call but text that a model could not stop writing."""
MOST_DIGITS: Final = 20


class Unreadable(ValueError):
    """Why arguments are not read, as a sentence for the model."""


def read(written: str) -> Any:
    """The JSON value that was written. Raises `Unreadable` for anything else."""
    if len(written) > LONGEST:
        raise Unreadable(f"The arguments are longer than {LONGEST:,} characters and were not read.")
    try:
        return json.loads(
            written or "{}", parse_int=_integer, parse_constant=_no_number, object_pairs_hook=_without_duplicates
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"The arguments are not valid JSON ({error}).") from None
    except RecursionError:
        raise Unreadable("The arguments are nested too deep.") from None


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise Unreadable(f"The arguments hold a number of more than {MOST_DIGITS} digits.")
    return int(digits)


def _no_number(written: str) -> float:
    raise Unreadable(f"The arguments are not valid JSON ({written} is no number).")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    given = dict(pairs)
    if len(given) < len(pairs):
        raise Unreadable("The arguments are not valid JSON (a name is given twice).")
    return given
