"""The arguments of a call: bounded, and validated with a sentence for whoever wrote them."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from zkchat.ports.tools import ToolOutcome
from zkchat.tools.arguments import Arguments
from zkchat.tools.registry import FunctionTool

Wanted = TypeVar("Wanted", bound=Arguments)
Answered = TypeVar("Answered")


class CallFailed(Exception):
    """Why a call has no answer, as a sentence for the model."""


def dump_arguments(given: Mapping[str, Any] | None) -> str:
    """The arguments as tools take them."""
    return json.dumps(given or {}, ensure_ascii=False)


def run_validated(name: str, arguments: type[Wanted], given: str, act: Callable[[Wanted], Answered]) -> Answered:
    """What a function answers to arguments that are valid. Raises `CallFailed`."""
    answers: list[Answered] = []

    def run(wanted: Wanted) -> ToolOutcome:
        answers.append(act(wanted))
        return ToolOutcome(text="")

    outcome = asyncio.run(FunctionTool(name, "", arguments, run).call(given))
    if outcome.failed:
        raise CallFailed(outcome.text)
    return answers[0]
