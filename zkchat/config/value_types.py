"""The types of settings that several sections share, with their bounds and what is wrong without them."""

import re
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from zkchat.config.marks import Expects, Redacted, Validated
from zkchat.config.urls import validate_http_url
from zkchat.model import globs


def _validate_whole_path(path: str) -> None:
    """Raises ValueError for a path that means another folder in each current one."""
    if path and Path(path).parts[:1] != ("~",) and not Path(path).is_absolute():
        raise ValueError("The path is not whole.")


def _validate_time_zone(name: str) -> None:
    """Raises ValueError for a name that this system knows no time zone by."""
    if name:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError("There is no such time zone.") from error


def matching(pattern: str) -> Validated:
    """A text that matches the pattern as a whole. It is compiled when it is needed, which one of `Meta` is not."""

    def validate(text: str) -> None:
        if not re.fullmatch(pattern, text):
            raise ValueError("The text is of another form.")

    return Validated(validate)


HttpAddress = Annotated[
    str,
    Validated(validate_http_url),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:11434"),
]
OptionalHttpAddress = Annotated[
    str,
    Validated(lambda address: address and validate_http_url(address)),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:8080/v1, or empty"),
]
VariableName = Annotated[
    str,
    matching(r"[A-Z_][A-Z0-9_]*"),
    Expects("the name of an environment variable in capitals, and never the key itself"),
    Redacted(),
]
OptionalVariableName = Annotated[
    str,
    matching(r"([A-Z_][A-Z0-9_]*)?"),
    Expects("the name of an environment variable in capitals, and never the key itself, or empty"),
    Redacted(),
]
Globs = Annotated[
    tuple[Annotated[str, Meta(max_length=globs.MAX_CHARS)], ...],
    Meta(max_length=globs.MAX_GLOBS),
    Expects(f"a list of texts (at most {globs.MAX_GLOBS}, of up to {globs.MAX_CHARS} characters each)"),
]
TimeZoneName = Annotated[
    str,
    Validated(_validate_time_zone),
    Expects("the name of a time zone, such as Europe/Berlin, or empty"),
]
WholePath = Annotated[
    str,
    Validated(_validate_whole_path),
    Expects("the whole path of a folder, such as ~/notes, or empty"),
]
Share = Annotated[float, Meta(gt=0, lt=1)]
ContextWindow = Annotated[int, Meta(ge=256)]
"""In tokens."""
