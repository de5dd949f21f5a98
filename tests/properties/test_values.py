"""Every value that is stored or printed comes back from its JSON as it was."""

import inspect
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import NODEFAULT
from msgspec.structs import fields

from zkchat.core import choices as usage
from zkchat.core import events, message, prompt, session
from zkchat.core import message as evidence
from zkchat.core import message as parts
from zkchat.core import message as references
from zkchat.core import message as request_context
from zkchat.core import session_history as branches
from zkchat.core.events import Event, Notice
from zkchat.core.message import ChatMessage, Part
from zkchat.core.session import Entry, EntryBody, read_body, read_entry, read_message
from zkchat.core.values import Tagged, Unknown, Value, from_json, from_plain, to_json, to_plain

# What a file can hold: no half surrogates, and no number that JSON does not have.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
times = st.datetimes(
    min_value=datetime(1970, 1, 2),
    max_value=datetime(2200, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-3, minutes=-30))]),
)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(1, 10),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: texts,
    datetime: times,
    date: st.dates(),
    Any: jsons,
}


def of_type(annotation: Any) -> st.SearchStrategy[Any]:
    """Anything that a field of this type may hold."""
    annotation = getattr(annotation, "__supertype__", annotation)  # of a NewType
    arguments = get_args(annotation)
    builders: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
        Literal: lambda: st.sampled_from(arguments),
        Annotated: lambda: of_type(arguments[0]),
        Union: lambda: st.one_of([of_type(argument) for argument in arguments]),
        UnionType: lambda: st.one_of([of_type(argument) for argument in arguments]),
        tuple: lambda: st.lists(of_type(arguments[0]), max_size=2).map(tuple),
        dict: lambda: st.dictionaries(of_type(arguments[0]), of_type(arguments[1]), max_size=2),
    }
    plain = PLAIN.get(annotation)
    return plain if plain is not None else builders.get(get_origin(annotation), lambda: of_value(annotation))()


@cache
def of_value(value_type: type[Value]) -> st.SearchStrategy[Any]:
    if issubclass(value_type, Unknown):
        return of_the_future(value_type)
    hints = get_type_hints(value_type, include_extras=True)
    return st.builds(value_type, **{name: of_type(hints[name]) for name in value_type.__struct_fields__})


def of_the_future(value_type: type[Unknown]) -> st.SearchStrategy[Any]:
    """A kind that nobody knows, with fields of its own."""
    names = texts.map(lambda name: f"future {name}")
    return st.builds(
        lambda kind, fields: value_type(fields={"kind": kind, **fields}),
        names,
        st.dictionaries(names, jsons, max_size=2),
    )


def read(value_type: Any, plain: Any) -> Value:
    """Any value; those that hold parts of messages are read as stores do it."""
    if value_type is Part or value_type in get_args(Part):
        return read_message({"id": "", "role": "user", "created_at": "2026-03-01T12:00:00Z", "parts": [plain]}).parts[0]
    if value_type is ChatMessage:
        return read_message(plain)
    if value_type is Entry:
        return read_entry(plain)
    if value_type is EntryBody or value_type in get_args(EntryBody):
        return read_body(plain)
    if isinstance(inner := plain.get("message"), dict):  # of an event
        plain = {**plain, "message": read_message(inner)}
    value: Value = from_plain(value_type, plain)
    return value


VALUES = sorted(
    {
        value
        for module in (branches, events, evidence, message, parts, prompt, references, request_context, session, usage)
        for _, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, Value) and value not in (Value, Tagged, Unknown, Notice)
    },
    key=lambda value: value.__name__,
)

some = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
more = settings(some, max_examples=50)


@pytest.mark.parametrize("value_type", VALUES, ids=lambda value: value.__name__)
@given(data=st.data())
@some
def test_a_value_comes_back_from_its_json(value_type: type[Value], data: st.DataObject) -> None:
    value = data.draw(of_value(value_type))
    assert read(value_type, from_json(to_json(to_plain(value)))) == value
    assert read(value_type, json.loads(json.dumps(to_plain(value)))) == value


@pytest.mark.parametrize("union", [Part, EntryBody, Event], ids=["Part", "EntryBody", "Event"])
@given(data=st.data())
@more
def test_one_of_several_comes_back_as_the_same_one(union: Any, data: st.DataObject) -> None:
    value = data.draw(of_type(union))
    back = read(union, to_plain(value))
    assert (type(back), back) == (type(value), value)


@pytest.mark.parametrize("value_type", [ChatMessage, Entry], ids=["ChatMessage", "Entry"])
@given(data=st.data(), unknown=st.dictionaries(texts.map(lambda name: f"future {name}"), jsons, max_size=3))
@some
def test_unknown_fields_are_passed_over(value_type: type[Value], data: st.DataObject, unknown: dict[str, Any]) -> None:
    value = data.draw(of_value(value_type))
    assert read(value_type, {**to_plain(value), **unknown}) == value


@pytest.mark.parametrize("value_type", VALUES, ids=lambda value: value.__name__)
@given(data=st.data())
@settings(some, max_examples=3)
def test_missing_fields_take_their_defaults(value_type: type[Value], data: st.DataObject) -> None:
    drawn = data.draw(of_value(value_type))
    left_out = {each.encode_name: each for each in fields(value_type) if not each.required}
    value = read(value_type, {name: each for name, each in to_plain(drawn).items() if name not in left_out})
    for each in left_out.values():
        default = each.default if each.default is not NODEFAULT else each.default_factory()
        assert getattr(value, each.name) == default
