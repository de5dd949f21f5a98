"""What a setting takes, told in words."""

from typing import Final, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from zkchat.config.schema import Expects, field_of


def expected(key: str) -> str:
    """What the setting takes, to be read after "must be": `a whole number of at least 256`."""
    field = field_of(key)
    assert field is not None
    for mark in field.metadata:
        if isinstance(mark, Expects):
            return mark.words
    return _type_in_words(field.annotation) + _bounds_in_words(field)


_KINDS: Final = {bool: "true or false", float: "a number", int: "a whole number"}
_SHAPES: Final = {tuple: "a list of texts", dict: "a table"}


def _type_in_words(annotation: object) -> str:
    if get_origin(annotation) is Literal:
        *most, last = (f'"{choice}"' for choice in get_args(annotation))
        return f"{', '.join(most)} or {last}"
    for shape, words in _SHAPES.items():
        if get_origin(annotation) is shape:
            return words
    possible = (annotation, *get_args(annotation))
    return next((words for kind, words in _KINDS.items() if kind in possible), "a text")


def _bounds_in_words(field: FieldInfo) -> str:
    bounds = {"ge": "of at least", "gt": "above", "le": "up to", "lt": "below"}
    words = [
        f"{word} {bound}"
        for mark in field.metadata
        for name, word in bounds.items()
        if (bound := getattr(mark, name, None)) is not None
    ]
    return f" {' and '.join(words)}" if words else ""
