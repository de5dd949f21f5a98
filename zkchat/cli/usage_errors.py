"""What is said of a command line that cannot be read, without the words of what reads it."""

import re
from typing import Final

from typer import TyperException

_NO_NUMBER: Final = re.compile(r".+ is not a valid (int|float)(?: range)?\.?", re.DOTALL)
_NUMBERS: Final = {"int": ("integer", "an integer"), "float": ("number", "a number")}
_OUT_OF_RANGE: Final = re.compile(r"(\S+) is not in the range (?:(\S+)<=)?x(?:<=(\S+)|>=(\S+))\.")
_SHORT_OPTION: Final = re.compile(r"-[^-]")


def usage_message(error: TyperException) -> str:
    error.message = _plain(error.message)
    sentence = " ".join(error.format_message().split()).rstrip(".")
    return sentence if sentence.endswith("?") else f"{sentence}."


def way_out(error: TyperException) -> str:
    """The help of the command; where a search is to leave a word out, how that is typed."""
    context = getattr(error, "ctx", None)
    words = context.command_path.split()[1:] if context else []
    if words == ["search"] and _SHORT_OPTION.fullmatch(getattr(error, "option_name", "")):
        return "To leave out what holds a word, put quotes around all words: zkchat search 'tea -milk'"
    return f"See: {' '.join(['zkchat', *words, '--help'])}"


def _plain(message: str) -> str:
    if kind := _NO_NUMBER.fullmatch(message):
        name, article_and_name = _NUMBERS[kind[1]]
        return f"it must be a valid {name}, unable to parse string as {article_and_name}"
    if not (out := _OUT_OF_RANGE.fullmatch(message)):
        return message
    least, most = out[2] or out[4], out[3]
    if least and float(out[1]) < float(least):
        return f"it must be greater than or equal to {least}"
    return f"it must be less than or equal to {most}"
