import io
import json
import stat
from typing import cast

import pytest
from msgspec.structs import replace

from tests.support.screens import underlined, without_sequences
from tests.support.waiting import eventually
from tests.support.world import World
from zkchat.cli import ask
from zkchat.cli.main import run
from zkchat.core.errors import ExitCode

SLEEP = "# Sleep\n\nAdults need seven to nine hours of sleep. Dreams come late.\n"


@pytest.fixture
def slept(world: World) -> World:
    world.note("Sleep.md", SLEEP)
    world.note("Coffee.md", "# Coffee\n\nGrind the beans right before brewing.\n")
    return world


def test_on_a_terminal_the_answer_comes_with_its_documents_and_the_context(slept: World) -> None:
    result = slept.run("ask", "How many hours of sleep do adults need?", terminal=True)
    assert result.code == 0
    quoted = without_sequences(result.out)
    assert "Adults need seven to nine hours of sleep." in quoted
    assert quoted.endswith("\n\n1 Sleep.md:3\n")
    assert "8,192" not in quoted
    model = slept.script([{"text": "Seven, says [[Sleep]]."}])
    assert "1 [[Sleep]]  Sleep.md:3  cited, linked by you  Adults need seven to nine hours" in without_sequences(
        slept.run("ask", "How many hours, says [[Sleep]]?", "--model", model, terminal=True).out
    )
    whole = slept.run("ask", "How many hours, says [[Sleep]]?", "--model", model, "--panels", terminal=True)
    assert "Referenced Documents" in whole.out
    assert "8,192" in whole.out


def test_in_a_pipe_there_is_the_answer_alone(slept: World) -> None:
    result = slept.run("ask", "How many hours of sleep do adults need?")
    assert result.code == 0
    assert result.out == "> Adults need seven to nine hours of sleep. Dreams come late.\n\n— [[Sleep]]\n"
    assert result.err == ""


def test_that_notes_are_quoted_is_said_once_and_on_a_terminal_only(slept: World) -> None:
    question = ("ask", "How many hours of sleep do adults need?")
    notice = "No model is set up, so zkchat quotes your notes."
    for quiet in ([], ["--json"], ["--model", "quote"]):
        result = slept.run(*question, *quiet, terminal=quiet != [])
        assert notice not in result.out + result.err
    assert notice in slept.run(*question, terminal=True).err
    assert notice not in slept.run(*question, terminal=True).err
    slept.variables["OPENROUTER_API_KEY"] = "key"  # something else could be set up now
    assert "There is a key for OpenRouter" in " ".join(slept.run(*question, terminal=True).err.split())
    assert notice not in slept.run(*question, terminal=True).err
    slept.block(".local/share")  # where that is remembered
    assert notice in slept.run(*question, terminal=True).err


def test_more_passages_are_offered_on_a_terminal_and_quoted_on_request(world: World) -> None:
    for number in range(1, 8):
        world.note(f"Walk {number}.md", f"# Walk {number}\n\nThe harbour walk takes {number} hours.\n")
    question = ("ask", "How long does the harbour walk take?")
    few = world.run(*question, terminal=True)
    further = len(world.run(*question, "--more", "--json").json["passages"]) - len(
        world.run(*question, "--json").json["passages"]
    )
    assert further > 0
    assert f"--more shows {further} further passage" in few.err
    assert "further" not in few.out
    assert world.run(*question).err == ""
    many = world.run(*question, "--more", terminal=True)
    assert many.out.count("— [[Walk") <= 10
    assert "--more" not in many.err


def test_words_of_the_question_are_marked_on_a_terminal_and_nowhere_else(slept: World) -> None:
    question = ("ask", "How many hours of sleep do adults need?")
    assert underlined(slept.run(*question, terminal=True).out)[:3] == ["Adults", "need", "hours"]
    piped = slept.run(*question)
    assert "\x1b" not in piped.out
    assert "**" not in piped.out


def test_json_is_one_object_with_everything(slept: World) -> None:
    result = slept.run("ask", "How many hours of sleep, says [[Sleep]]?", "--json")
    assert result.code == 0
    value = result.json
    assert {"answer", "references", "usage", "context", "session", "message", "model"} <= value.keys()
    assert "seven to nine" in value["answer"]
    (reference,) = value["references"]
    assert (reference["relative_path"], reference["reference_type"], reference["cited"]) == ("Sleep.md", "direct", True)
    assert value["model"] == "quote"
    assert [(each["path"], each["lines"], each["text"]) for each in value["passages"]] == [
        ("Sleep.md", {"first": 3, "last": 3}, "Adults need seven to nine hours of sleep. Dreams come late.")
    ]
    assert [item["type"] for item in value["context"]["items"]][:2] == ["system", "message"]


def test_piped_text_is_added_to_the_question(slept: World) -> None:
    model = slept.script([{"text": "ok"}])
    result = slept.run("ask", "Summarise:", "--model", model, "--json", stdin="line one\n")
    shown = slept.run("sessions", "show", result.json["session"], "--json").json
    assert "Summarise:\n\nline one" in json.dumps(shown, ensure_ascii=False).replace("\\n", "\n")


def test_who_waits_for_a_silent_pipe_is_told(slept: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "STDIN_NOTICE_SECONDS", 0.05)
    environment = slept.environment(stdin="")
    stderr = cast(io.StringIO, environment.stderr)

    class Silent(io.StringIO):
        """Sends nothing until the user was told."""

        def read(self, size: int | None = -1) -> str:
            eventually(lambda: "Waiting for piped input" in stderr.getvalue())
            return "How many hours of sleep do adults need?"

    assert run(["ask"], replace(environment, stdin=Silent())) == 0


def test_the_last_session_is_continued(slept: World) -> None:
    model = slept.script([{"text": "one"}], [{"text": "two"}])
    first = slept.run("ask", "First?", "--model", model, "--json").json
    second = slept.run("ask", "Second?", "--model", model, "--continue", "--json").json
    assert (first["answer"], second["answer"]) == ("one", "two")
    assert first["session"] == second["session"]
    named = slept.run("ask", "Third?", "--model", model, "--session", first["session"][:6], "--json")
    assert named.code == ExitCode.MODEL  # the script has no third answer
    assert named.json["session"] == first["session"]


def test_a_folder_that_no_system_can_have_is_told(world: World) -> None:
    (world.root / "loop").symlink_to("loop")
    for named in ("x" * 5000, str(world.root / "loop")):
        result = world.run("ask", "x", "--vault", named)
        assert (result.code, "cannot be used" in result.err) == (ExitCode.VAULT, True), result.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ask",), ExitCode.USAGE, "zkchat ask"),
        (("ask", "x", "--session", "nosuch"), ExitCode.SESSION, "zkchat sessions list"),
        (("ask", "How much sleep?"), ExitCode.VAULT, "There are no Markdown notes in"),
    ],
)
def test_what_cannot_be_asked_is_told_with_a_way_out(
    world: World, arguments: tuple[str, ...], code: ExitCode, said: str
) -> None:
    result = world.run(*arguments)
    assert (result.code, said in result.err) == (code, True)


def test_a_model_can_be_talked_to_in_an_empty_vault_with_a_warning(world: World) -> None:
    result = world.run("ask", "Hello?", "--model", world.script([{"text": "hi"}]))
    assert (result.code, result.out) == (0, "hi\n")
    assert "There are no Markdown notes" in result.err


def test_a_model_elsewhere_that_nobody_set_is_told_before_notes_leave(slept: World) -> None:
    slept.variables |= {"OPENAI_API_KEY": "sk-canary", "ZKCHAT_OPENAI__BASE_URL": "http://127.0.0.1:9/v1"}
    assert "uses" not in slept.run("ask", "How many hours of sleep?").err  # nothing answers there: quote
    del slept.variables["ZKCHAT_OPENAI__BASE_URL"]
    slept.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "600"  # too small for a request: nothing is sent
    result = slept.run("ask", "How many hours of sleep?")
    assert "there is a key for OpenAI, and your notes go there" in result.err
    assert result.code == ExitCode.CONFIG


def test_nothing_is_written_into_the_notes_and_what_is_written_is_private(slept: World) -> None:
    before = {path: path.read_bytes() for path in slept.vault.rglob("*.md")}
    slept.run("ask", "How many hours of sleep?")
    assert {path: path.read_bytes() for path in slept.vault.rglob("*.md")} == before
    databases = list(slept.home.rglob("*.db"))
    assert {"sessions.db", "index.db"} <= {path.name for path in databases}
    for path in databases:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_odd_questions_never_end_in_a_traceback(slept: World) -> None:
    for question in ("[/INST] [bold]x", "\x1b]0;evil\x07sleep hours", "[[" * 500, "", "   "):
        result = slept.run("ask", question, terminal=True)
        assert result.code in set(ExitCode) - {ExitCode.BUG}
        assert "\x1b]0" not in result.out + result.err


@pytest.mark.parametrize("model", ["nonsense", "openai:gpt-5"])
def test_a_question_stays_when_there_is_no_model_to_answer_it(slept: World, model: str) -> None:
    slept.variables["OPENAI_API_KEY"] = ""
    assert slept.run("ask", "How long?", "--model", model, "--private", stdin="And why?").code != 0
    (session,) = slept.run("sessions", "list", "--all", "--json").json
    assert session["title"] == "How long? And why?"
    assert "How long?\n\nAnd why?" in slept.run("sessions", "show", session["id"]).out


def test_a_single_question_that_failed_is_not_what_one_goes_on_with(slept: World) -> None:
    model = slept.script([{"text": "one"}], [{"text": "two"}])
    first = slept.run("ask", "First?", "--model", model, "--json").json
    assert slept.run("ask", "Lost?", "--model", "scripted:nowhere.json").code != 0
    second = slept.run("ask", "Second?", "--model", model, "--continue", "--json")
    assert (second.json["session"], "has no answer" in second.err) == (first["session"], False)


def test_more_than_is_read_of_standard_input_is_refused_with_a_way_out(slept: World) -> None:
    slept.variables["ZKCHAT_LIMITS__MAX_INPUT_BYTES"] = "1000"
    assert slept.run("ask", "How long?", stdin="a" * 1000).code != ExitCode.USAGE
    for piped in ("a" * 1001, "ä" * 501):
        result = slept.run("ask", "How long?", stdin=piped)
        assert (result.code, result.out) == (ExitCode.USAGE, "")
        assert "Standard input is larger than the limit of 1,000 bytes" in result.err
        assert "limits.max_input_bytes" in result.err


def test_standard_input_without_end_is_not_read_to_its_end(slept: World) -> None:
    class Endless(io.StringIO):
        taken = 0

        def read(self, size: int | None = -1) -> str:
            assert size is not None
            assert size > 0, "read without a bound"
            self.taken += size
            return "x" * size

    stdin = Endless()
    assert run(["ask", "How long?"], replace(slept.environment(stdin=""), stdin=stdin)) == ExitCode.USAGE
    assert stdin.taken == 8_000_001


def test_without_a_model_the_lines_of_a_piped_log_that_answer_are_quoted(slept: World) -> None:
    log = [f"2026-03-04 12:{n % 60:02} [build-{n % 7}] step {n} finished with 0 errors" for n in range(600)]
    log[317] = "2026-03-04 12:20 [deploy-docs] process completed with exit code 1"
    result = slept.run("ask", "Which job failed?", "--model", "quote", stdin="\n".join(log))
    assert result.code == 0
    assert result.out.startswith(f"```\n{log[317]}\n```\n\n— your text, line 318\n")
    assert result.err == ""
