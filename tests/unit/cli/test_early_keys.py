import pytest

from zkchat.cli.terminal import starts_prompt

DRAWN = {"TERM": "xterm"}


@pytest.mark.parametrize("arguments", [[], ["chat"], ["chat", "--model", "quote"], ["chat", "What is sleep?"]])
def test_keys_are_kept_for_a_chat_that_draws_its_prompt(arguments: list[str]) -> None:
    assert starts_prompt(arguments, DRAWN)
    assert not starts_prompt(arguments, {"TERM": "dumb"})
    assert not starts_prompt(arguments, DRAWN | {"CI": "1"})


@pytest.mark.parametrize(
    "arguments", [["chat", "--plain"], ["chat", "--help"], ["chat", "-h"], ["ask", "chat"], ["--help"]]
)
def test_other_commands_leave_the_terminal_alone(arguments: list[str]) -> None:
    assert not starts_prompt(arguments, DRAWN)
