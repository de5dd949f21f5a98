"""A small shell for the commands of the documentation: zkchat runs in this process, other programs are played."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.support.doc_examples import PROMPT, ROOT
from tests.support.world import Result, World

_ASSIGNMENT = re.compile(r"([A-Z_]+)=(.*)", re.DOTALL)


class UnknownProgram(Exception):
    """A page shows a program that this shell does not play."""


class Shell:
    """Runs lines of a page one after the other, in the folder of a vault."""

    def __init__(self, world: World, replacements: Mapping[str, str]) -> None:
        self._world = world
        self._replacements = replacements
        """Addresses and folders that pages name, with those to use instead."""

    def run(self, line: str, typed: Sequence[str] = ()) -> Result:
        """Run a pipeline. Raises `UnknownProgram`."""
        for shown, real in self._replacements.items():
            line = line.replace(shown, real)
        stages, target = _split(line)
        result = Result(0, "", "")
        stdin = "".join(f"{each}\n" for each in typed) or None
        for stage in stages:
            result = self._run_stage(stage, stdin)
            stdin = result.out
        if target:
            (self._world.vault / target).write_text(result.out)
            result = replace(result, out="")
        return replace(result, out=self._with_names(result.out), err=self._with_names(result.err))

    def _run_stage(self, stage: list[str], stdin: str | None) -> Result:
        variables: dict[str, str] = {}
        while stage and (assigned := _ASSIGNMENT.fullmatch(stage[0])):
            variables[assigned[1]] = assigned[2]
            stage = stage[1:]
        program, *arguments = stage
        match program:
            case "zkchat":
                world = replace(self._world, variables={**self._world.variables, **variables})
                return world.run(*arguments, stdin=stdin)
            case "export":
                given = (argument.replace("…", "0123456789").split("=", 1) for argument in arguments)
                self._world.variables |= dict(given)
                return Result(0, "", "")
            case "make":
                return self.run(_recipe_of(*arguments))
            case "cd":
                return Result(0, "", "")  # to the vault, where everything runs
            case _ if program in PROGRAMS:
                return Result(0, PROGRAMS[program](arguments, stdin or ""), "")
            case _:
                raise UnknownProgram(program)

    def _with_names(self, text: str) -> str:
        return text.replace(str(self._world.vault), "~/notes").replace(str(self._world.home), "~")


def _recipe_of(target: str) -> str:
    """What `make demo` runs, without what it sets up before."""
    if target != "demo":
        raise UnknownProgram(f"make {target}")
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\ndemo:")[2].splitlines()[1]
    return recipe.strip().removeprefix("@$(BIN)/").replace("--vault vault-fixtures/garden", "")


def typed_and_printed(shown: str) -> tuple[list[str], str]:
    """What is typed in a chat that a page shows, and the rest."""
    lines = shown.splitlines(keepends=True)
    typed = [line.removeprefix(PROMPT).rstrip("\n") for line in lines if line.startswith(PROMPT)]
    return typed, "".join(line for line in lines if not line.startswith(PROMPT))


def _split(line: str) -> tuple[list[list[str]], str]:
    """The programs of a pipeline with their arguments, and the file that the last one writes to."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
    lexer.whitespace_split = True
    stages: list[list[str]] = [[]]
    target = ""
    tokens = iter(lexer)
    for token in tokens:
        if token == "|":
            stages.append([])
        elif token == ">":
            target = next(tokens)
        else:
            stages[-1].append(token)
    return stages, target


def _jq(arguments: Sequence[str], stdin: str) -> str:
    """`jq` as far as the pages use it: paths, `select(.a == "b")` and texts with `\\(.a)` in them."""
    *_, program = arguments
    values = _json_values(stdin)
    for stage in re.split(r" \| ", program):
        if selected := re.fullmatch(r"select\(\.(\w+) == (\".*\")\)", stage):
            values = [value for value in values if value[selected[1]] == json.loads(selected[2])]
        elif stage.startswith('"'):
            values = [
                re.sub(r"\\\(\.(\w+)\)", lambda name, of=value: str(of[name[1]]), stage[1:-1]) for value in values
            ]
        else:
            values = _at_path(stage, values)
    is_raw = "-r" in arguments
    return "".join(f"{value if is_raw and isinstance(value, str) else json.dumps(value)}\n" for value in values)


def _json_values(text: str) -> list[Any]:
    try:
        return [json.loads(text)]
    except ValueError:
        return [*map(json.loads, text.splitlines())]


def _at_path(path: str, values: list[Any]) -> list[Any]:
    for name, each in re.findall(r"\.(\w*)(\[\])?", path):
        values = [value[name] if name else value for value in values]
        if each:
            values = [item for value in values for item in value]
    return values


PROGRAMS: Mapping[str, Callable[[Sequence[str], str], str]] = {
    "date": lambda _arguments, _stdin: "Mon 16 Nov 09:12:00 UTC 2026\n",
    "echo": lambda arguments, _: f"{' '.join(arguments)}\n",
    "other-program": lambda _arguments, _stdin: '[{"role": "user", "content": "Hello"}]',
    "git": lambda _arguments, _stdin: "commit 3f1c\n\n    Fold the dough once more for the country loaf\n",
    "jq": _jq,
    "pbcopy": lambda _arguments, _stdin: "",
    "less": lambda _arguments, stdin: stdin,
}
