"""The JSON of every value: stored sessions, exports and scripts rely on it."""

import importlib
import inspect
import pkgutil
from functools import cache
from pathlib import Path

import pytest

import zkchat.model
from zkchat.model.images import ImageRule
from zkchat.model.message import Value

# In each line a class, what is read, and what is printed where that is not the same.
FORMS = [line.split("\t") for line in Path(__file__).with_name("json_forms.tsv").read_text("utf-8").splitlines()]


@cache
def value_types() -> dict[str, type[Value] | type[ImageRule]]:
    names = (f"zkchat.model.{each.name}" for each in pkgutil.iter_modules(zkchat.model.__path__))
    classes = {
        found for name in names for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass)
    }
    return {each.__name__: each for each in classes if issubclass(each, Value | ImageRule)}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_a_value_is_printed_as_ever(form: list[str]) -> None:
    name, written = form[:2]
    assert value_types()[name].model_validate_json(written).model_dump_json() == form[-1]


def test_every_value_is_among_them() -> None:
    assert {form[0] for form in FORMS} | {"Value", "Notice"} == value_types().keys()
