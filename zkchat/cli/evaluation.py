"""`zkchat eval`: how well the notes answer a file of questions."""

from collections.abc import Sequence
from typing import Annotated

from msgspec.structs import replace

from zkchat.actions import Evaluation, ask_all, evaluated, read_questions
from zkchat.app import check_setting, extract_for_search
from zkchat.chat import Judged, KnownQuestion
from zkchat.cli.actions import print_result
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, argument, current_io, option
from zkchat.cli.lookups import own_paths, read_text
from zkchat.cli.note_lookup import embed_by_server, open_refreshed_workspace, print_warnings, progress
from zkchat.core import UsageError
from zkchat.index import Library


def evaluate(
    file: Annotated[str, argument("FILE", "Questions with their answers, in UTF-8; - for standard input.")],
    compare: Annotated[
        str, option("--compare", "SETTING=VALUE", "Run everything again with another setting, and compare.")
    ] = "",
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Measure how well your notes answer your questions. No model is asked.

    A line of the file is a question, => and what should answer it: a [[Note]], "words" of the passage, or both; several
    with | between them if each would do; nothing if your notes do not answer it. An indented line is asked after the
    one above it, in the same conversation. Lines that begin with # are left out.

    \b
    How long does a heap take? => [[Compost]] "a year" | [[Garden plan]]
      And a hot one? => [[Compost]]
    Who won in 1950? =>

    Each question is right (the first passage shown answers it), later (a later one does), wrong, silent, or answered
    although your notes do not answer it. zkchat why tells where the search lost a note.

    zkchat eval questions.txt

    zkchat eval questions.txt --compare 'vault.exclude=Daily/**'
    """
    io = current_io(vault)
    text = read_text(io, file)
    other, setting = _with_setting(io, compare) if compare else (io, "")
    with open_refreshed_workspace(io) as (workspace, library):
        if any(map(library.is_indexed, own_paths(io, workspace.paths, library, file))):
            raise UsageError(
                f"{file} is a note of this vault, so the search would find the answers in it.",
                hint="Rename it to .txt.",
            )
        questions = read_questions(library, text)
        of = Evaluation(judged=_judged(io, library, questions))
        if not compare:
            return print_result(io, workspace, library, evaluated(of), json_output=json_output)
    with open_refreshed_workspace(other, warn=False) as (_, changed):
        beside = Evaluation(judged=_judged(other, changed, questions), settings=setting)
    with open_refreshed_workspace(io, warn=False) as (workspace, library):  # the index is as it was before
        return print_result(io, workspace, library, evaluated(of, beside), json_output=json_output)


def _judged(io: CommandIO, library: Library, questions: Sequence[KnownQuestion]) -> list[Judged]:
    print_warnings(io, extract_for_search(library))
    library.embed()
    embed_by_server(io, library)
    with progress(io.environment, "Asking") as step:
        return ask_all(library, questions, step)


def _with_setting(io: CommandIO, compare: str) -> tuple[CommandIO, str]:
    """The same vault with another setting."""
    key, sign, value = (part.strip() for part in compare.partition("="))
    if not sign:
        raise UsageError(f"{compare!r} is not a setting with a value.", hint="For example: --compare vault.pdf=false")
    check_setting(key, value)
    variable = f"ZKCHAT_{key.replace('.', '__').upper()}"
    variables = {**io.environment.variables, variable: value}
    return replace(io, environment=replace(io.environment, variables=variables)), f"{key}={value}"
