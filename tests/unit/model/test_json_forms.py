"""The JSON of every value: stored sessions, exports and scripts rely on it."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import zkchat.core
from zkchat.core.events import Notice
from zkchat.core.session import read_body, read_entry, read_message
from zkchat.core.values import Tagged, Unknown, Value, from_json, from_plain, to_json, to_plain

# In each line a class, what is read, and what is printed where that is not the same.
FORMS = [line.split("\t") for line in Path(__file__).with_name("json_forms.tsv").read_text("utf-8").splitlines()]


BASES = (Value, Tagged, Unknown, Notice)


@cache
def value_types() -> dict[str, type[Value]]:
    names = (f"zkchat.core.{each.name}" for each in pkgutil.iter_modules(zkchat.core.__path__))
    classes = {
        found for name in names for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass)
    }
    return {each.__name__: each for each in classes if issubclass(each, Value) and each not in BASES}


def read(name: str, written: Any) -> Value:
    """Parts and entries of a kind that is not known are read with what they are part of."""
    if name == "UnknownPart":
        return read_message({"id": "", "role": "user", "created_at": "2026-03-01T12:00:00Z", "parts": [written]}).parts[
            0
        ]
    reads: dict[str, Callable[[Any], Value]] = {
        "UnknownEntry": read_body,
        "ChatMessage": read_message,
        "Entry": read_entry,
    }
    reads["MessageEntry"] = read_body
    return reads[name](written) if name in reads else from_plain(value_types()[name], written)


def test_every_value_is_there_and_printed_as_ever() -> None:
    assert {form[0] for form in FORMS} == value_types().keys()
    for form in FORMS:
        name, written = form[:2]
        assert to_json(to_plain(read(name, from_json(written)))) == form[-1], name
