"""What an argument of a tool may be, beside its type: `Annotated[str, Text(min_length=1)]`."""

from msgspec import Meta


def Text(
    *, description: str = "", min_length: int = 0, max_length: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """`also` are other names that models have for the argument."""
    about = description or None
    return Meta(description=about, min_length=min_length or None, max_length=max_length, extra={"also": also})


def Number(
    *, description: str = "", at_least: int | None = None, at_most: int | None = None, also: tuple[str, ...] = ()
) -> Meta:
    """A whole number. Whoever wants more than `at_most` gets as many."""
    return Meta(description=description or None, ge=at_least, extra={"also": also, "at_most": at_most})
