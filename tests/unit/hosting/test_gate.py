"""Who is let in over HTTP, by the headers of a request, and what one thread does for many requests."""

import asyncio
from collections.abc import Sequence
from threading import Event
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.responses import PlainTextResponse

from zkchat.actions import every_action
from zkchat.chat import read_arguments
from zkchat.hosting import AccessToken, Gate, MarkdownSurface, arguments_of, cleaned, offered_commands
from zkchat.hosting.vault import VaultThread

TOKEN = "0123456789abcdef"
HOST, BEARER = ("Host", "127.0.0.1:7717"), ("Authorization", f"Bearer {TOKEN}")


def answer(headers: Sequence[tuple[str, str]]) -> tuple[int, int, dict[str, str]]:
    """The status, how often the connection was admitted, and the headers of the answer."""
    sent: list[Any] = []
    admitted: list[bool] = []

    async def ask() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        raw = [(name.lower().encode(), value.encode()) for name, value in headers]
        scope = {"type": "http", "method": "GET", "headers": raw, "state": {"admit": lambda: admitted.append(True)}}
        await Gate(PlainTextResponse("in"), AccessToken(text=TOKEN), 7717)(scope, None, send)  # type: ignore[arg-type]

    asyncio.run(ask())
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], len(admitted), found


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([HOST, BEARER], 200),
        ([("Host", "LocalHost:7717"), ("Authorization", f"bearer  {TOKEN} ")], 200),
        ([HOST, BEARER, ("Origin", "http://localhost:3000")], 200),
        ([HOST, BEARER, ("Origin", "https://127.0.0.1")], 200),
        ([BEARER], 421),
        ([HOST, HOST, BEARER], 421),
        ([("Host", "127.0.0.1:7718"), BEARER], 421),
        ([HOST, BEARER, ("Origin", "null")], 403),
        ([HOST, BEARER, ("Origin", "ftp://localhost")], 403),
        ([HOST, BEARER, ("Origin", "http://localhost:x")], 403),
        ([HOST, BEARER, ("Origin", "http://localhost"), ("Origin", "http://evil.example")], 403),
        ([HOST], 401),
        ([HOST, BEARER, BEARER], 401),
        ([HOST, ("Authorization", f"Basic {TOKEN}")], 401),
        ([HOST, ("Authorization", f"Bearer {TOKEN[:-1]}")], 401),
    ],
)
def test_only_who_names_this_machine_and_has_the_token_is_let_in(headers: list[tuple[str, str]], status: int) -> None:
    found, admitted, answered = answer(headers)
    assert (found, admitted) == (status, int(status == 200))
    assert ("www-authenticate" in answered) == (status == 401)


def test_what_is_cancelled_before_its_turn_is_not_done_and_errors_are_raised_where_they_are_awaited() -> None:
    thread, begun, may_go_on, done = VaultThread(), Event(), Event(), list[str]()

    def wait() -> bool:
        begun.set()
        return may_go_on.wait(60)

    first = thread.submit(wait)
    cancelled = thread.submit(lambda: done.append("cancelled"))
    failing = thread.submit(lambda: 1 // 0)
    assert begun.wait(60)
    assert cancelled.cancel()
    may_go_on.set()
    assert first.result(60)
    with pytest.raises(ZeroDivisionError):
        failing.result(60)
    thread.close(lambda: done.append("last"))
    assert done == ["last"]


@pytest.mark.parametrize(
    ("action", "given", "name", "value"),
    [
        ("search", {"query": "x"}, "limit", 10),
        ("search", {"query": "x", "limit": 201}, "limit", 200),
        ("tags", {}, "limit", 200),
        ("neighbours", {"note": "x", "steps": 9}, "steps", 3),
    ],
)
def test_no_more_rows_than_fit_an_answer_are_given(action: str, given: dict[str, Any], name: str, value: int) -> None:
    assert getattr(read_arguments(arguments_of(every_action()[action]), given), name) == value


def test_commands_of_little_use_are_offered_only_where_every_one_is() -> None:
    few, every = ({each.name for each in offered_commands(every=every)} for every in (False, True))
    assert few < every
    assert "quit" not in every
    assert {"search", "goal"} <= few


class Surface(MarkdownSurface):
    async def confirm(self, question: str) -> bool:
        return bool(question)


def test_what_acts_on_a_terminal_is_taken_out_of_json_and_markdown() -> None:
    assert cleaned({"a\x1b": ["b\x1b", 1, None]}) == {"a␛": ["b␛", 1, None]}
    surface = Surface()
    assert not surface.copy("c\x1b")
    surface.print("one")
    surface.print("````")
    assert surface.take() == "c␛\n\n`````text\none\n````\n`````"
    assert surface.take() == ""
