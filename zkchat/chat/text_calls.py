"""Calls of tools that a model wrote as text: JSON of many shapes, Python, and tags."""

import ast
import json
import re
import warnings
from collections.abc import Collection, Iterator
from typing import Final, Literal

from zkchat.core import lazy_pattern

MAX_CALL: Final = 8_000
"""Characters that are held back of what may be a call."""
Call = tuple[str, str]
"""Name, and arguments as JSON."""
Verdict = Literal["more", "whole", "whole before", "prose", "words"]
"""Of a letter: whether more is needed, or what there is, with it or before it, is to be read as a call, or is none; and
whether what stands in a tag are words."""
_ENDS: Final = ("</tool_call>", "</tool_calls>", "</tools>", "</function>", "</function_call>", "</invoke>")
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_WORD = lazy_pattern(r"[\w.:-]{1,64}\s*")
_DATA = lazy_pattern(r"\s*\[?\s*\{")
_NAME_KEYS: Final = ("name", "function", "tool", "tool_name", "function_name", "action")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params", "kwargs", "action_input", "tool_input")
_OTHER_KEYS: Final = frozenset(("type", "id", "index"))
_NAMED = lazy_pattern(r"[\"'](?:name|function|tool|tool_name|function_name|action)[\"']\s*:\s*[\"']([\w.-]+)")
_NAME_AND_JSON = lazy_pattern(
    r"\s*([\w.-]+?)(?::\d+)?\s*(?:\[ARGS\]|Action Input:|<\|[a-z_]+\|>)?\s*(\{.*)", re.DOTALL | re.IGNORECASE
)
_PARAMETER = lazy_pattern(r"<parameter(?:=|\s+name=[\"'])([\w-]+)[\"']?>\s*(.*?)\s*</parameter>", re.DOTALL)
_STRING_OR_COMMA = lazy_pattern(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|,(?=\s*[}\]])|\b(?:True|False|None)\b', re.DOTALL
)
_CONSTANTS: Final = {"True": "true", "False": "false", "None": "null", ",": ""}
_GIVES_STRING = lazy_pattern(r"[(=,]\s*[\"']")
_FAILURES = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


class CallText:
    """What may be a call, letter by letter, up to the bracket or the tag that ends it."""

    def __init__(self, opener: str, of: str = "") -> None:
        self.opener = opener
        """The tag or the fence before it."""
        self.of = of
        """The tool that the tag names."""
        self.is_wrapper = opener.endswith((">", "]"))
        self.ticks = opener[: len(opener) - len(opener.lstrip(opener[:1]))]
        self._may_be_words = opener.endswith(">") and "|" not in opener and not of
        self._letters: list[str] = []
        self._word = ""
        """How it begins."""
        self._stack: list[str] = []
        self._quote, self._last, self._is_escaped = "", "", False
        self._is_open = False
        self._end = ""

    @property
    def body(self) -> str:
        return "".join(self._letters)

    @property
    def text(self) -> str:
        """What is read: without the tag that ends it, and with missing brackets, unless words are missing too."""
        is_cut = self._quote or len(self._letters) >= MAX_CALL
        return self.body.removesuffix(self._end) + ("" if is_cut else "".join(reversed(self._stack)))

    def add(self, letter: str) -> Verdict:
        if self._is_closed():
            return self._follow(letter)
        self._letters.append(letter)
        if self._stack:
            self._track(letter)
        elif not self._begin(letter):
            return "words"
        ends = letter in ">`~" and not self._quote and self._find_end()
        is_complete = self._is_closed() and (self.is_wrapper or self._word[0] in "{[")
        return "whole" if ends or is_complete or len(self._letters) >= MAX_CALL else "more"

    def _is_closed(self) -> bool:
        return self._is_open and not self._stack

    def _begin(self, letter: str) -> bool:
        """Whether, before any bracket, it can be a call."""
        if letter.isspace() and not self._word:
            return True
        self._word += letter if len(self._word) < 100 else ""
        if letter in "({" or self._word == "[":
            if not self.of or self._word == "{":
                self._track(letter)
            return True
        return not self._may_be_words or _WORD.fullmatch(self._word) is not None or self._find_end()

    def _follow(self, letter: str) -> Verdict:
        """What stands behind code: it is a call if that is nothing."""
        if self.is_wrapper or letter in "\n<`;":
            return "whole before"
        if not letter.isspace() or len(self._letters) >= MAX_CALL:
            return "prose"
        self._letters.append(letter)
        return "more"

    def _track(self, letter: str) -> None:
        if self._quote:
            if letter == "\\" or self._is_escaped:
                self._is_escaped = not self._is_escaped
            elif letter == self._quote:
                self._quote = ""
        elif letter in "\"'" and self._last in "{[(,:=":
            self._quote = letter
        elif letter in _CLOSING:
            self._stack.append(_CLOSING[letter])
            self._is_open = True
        elif letter in ")]}":
            self._stack.pop()
        if not letter.isspace():
            self._last = letter

    def _find_end(self) -> bool:
        tail = "".join(self._letters[-20:])
        ends = (*_ENDS, self.ticks) if self.opener and not self.is_wrapper else _ENDS
        self._end = next((end for end in ends if tail.lower().endswith(end)), "")
        return bool(self._end)


class UnreadableCall(Exception):
    """What is a call of a tool by its looks, and cannot be read. Holds the tool's name."""


def calls_in(text: str, tools: Collection[str], of: str = "") -> list[Call]:
    """The calls of tools that are all of a text, which are the arguments of one where its name is known before.

    Raises `UnreadableCall`.
    """
    text = text.removeprefix("<tool_call>")
    try:
        if of:
            return [(of, _json(_arguments_in(text)))] if of in tools else []
        if _DATA.match(text):
            return list(_calls_of(_value(text), tools))
        if (found := _NAME_AND_JSON.fullmatch(text)) and (name := _bare(found[1])) in tools:
            return [(name, _json(_value(found[2])))]
        return list(_calls_of_code(text, tools))
    except _FAILURES:
        if name := _looks_like(text, tools, of):
            raise UnreadableCall(name) from None
        return []


def _looks_like(text: str, tools: Collection[str], of: str) -> str:
    """The tool that a text seems to call: JSON that names it, or its name before a string or an object."""
    if of:
        return of
    if named := next((name for each in _NAMED.finditer(text) if (name := _bare(each[1])) in tools), ""):
        return named
    name = re.split(r"[({\[]", text.strip().removeprefix("print(").lstrip("["), maxsplit=1)[0]
    gives = "{" in text or _GIVES_STRING.search(text) is not None
    return bare if gives and (bare := _bare(name.strip())) in tools else ""


def _bare(name: str) -> str:
    for prefix in ("functions.", "tools.", "call:"):
        name = name.removeprefix(prefix)
    return name


def _value(text: str) -> object:
    """A JSON value, with what models get wrong: single quotes, words of Python, commas before the end."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return json.loads(_STRING_OR_COMMA.sub(_repaired, text), strict=False)


def _repaired(found: re.Match[str]) -> str:
    token = found[0]
    if token[0] == "'":
        inner = token[1:-1].replace("\\'", "'")
        return '"' + re.sub(r'(\\.)|"', lambda each: each[1] or '\\"', inner, flags=re.DOTALL) + '"'
    return _CONSTANTS.get(token, token)


def _json(value: object) -> str:
    text = json.dumps(_object(value), ensure_ascii=False, allow_nan=False)
    text.encode()
    return text


def _object(value: object) -> dict[str, object]:
    """Arguments, which some models write as JSON in a string."""
    if isinstance(value, str) and value.strip():
        value = _value(value)
    if not isinstance(value, dict):
        if value:
            raise ValueError
        return {}
    return value


def _calls_of(value: object, tools: Collection[str]) -> Iterator[Call]:
    if isinstance(value, list):
        for each in value:
            yield from _calls_of(each, tools)
    elif isinstance(value, dict):
        inner = next(
            (value[key] for key in ("tool_calls", "function_call", "tool_call", "function") if key in value), None
        )
        if isinstance(inner, list | dict) and not isinstance(value.get("name"), str):
            yield from _calls_of(inner, tools)
        else:
            yield from _call_of(value, tools)


def _call_of(value: dict[str, object], tools: Collection[str]) -> Iterator[Call]:
    """`{"name": …, "arguments": …}` in its many spellings; the description of a tool is no call of it."""
    key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str) and _bare(str(value[key])) in tools), "")
    rest = {name: each for name, each in value.items() if name != key and name not in _OTHER_KEYS}
    given = next((name for name in _ARGUMENT_KEYS if name in rest), "")
    if not key:
        if len(rest) == 1 and (name := _bare(next(iter(rest)))) in tools:
            yield name, _json(next(iter(rest.values())))
    elif given:
        arguments = _object(rest[given])
        if "description" not in rest and not ("properties" in arguments and arguments.get("type") == "object"):
            yield _bare(str(value[key])), _json(arguments)
    elif key != "name" or not rest:
        yield _bare(str(value[key])), _json(rest)


def _arguments_in(text: str) -> dict[str, object]:
    """What stands between `<function=name>` and its end: JSON, or a tag for each parameter."""
    text = text.partition("</function>")[0].partition("</invoke>")[0].strip()
    if not text or text[0] == "{":
        return _object(_value(text)) if text else {}
    found = _PARAMETER.findall(text)
    if not found:
        raise ValueError
    return {name: _parameter(written) for name, written in found}


def _parameter(written: str) -> object:
    """A number, a list or an object where it is JSON; else words."""
    try:
        return json.loads(written)
    except ValueError:
        return written


def _calls_of_code(text: str, tools: Collection[str]) -> Iterator[Call]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text.strip(" \t\r\n;"), mode="eval").body
    for node in tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]:
        call = node
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print" and call.args:
            call = call.args[0]
        if isinstance(call, ast.Call) and (name := _bare(ast.unparse(call.func)).removesuffix(".call")) in tools:
            if call.args and not isinstance(call.args[0], ast.Constant):
                return  # a signature, as in an explanation
            if call.args:
                raise ValueError
            yield name, _json({each.arg or "": _literal(each.value) for each in call.keywords})


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Name) and node.id in ("true", "false", "null"):
        return json.loads(node.id)
    return ast.literal_eval(node)
