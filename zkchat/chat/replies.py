"""A streamed answer: what may be shown of it, and the calls that it holds as text.

It is read letter by letter, so that no result depends on the pieces in which it came. A letter goes to the state of
the reader (text, code, what may be a tag or a call); what is text goes on to the rules for openings and lines.
"""

import re
from collections.abc import Callable, Collection
from typing import Final
from uuid import uuid4

from zkchat.chat.text_calls import Call, CallText, UnreadableCall, calls_in
from zkchat.core import ToolCallPart, lazy_pattern

MAX_TOKEN: Final = 200
"""Characters that are held back of what may be a tag or the id of a block."""
_MAX_QUESTION: Final = 500
"""Letters of a question that is looked for at the start of its answer."""
_MAX_OPENING: Final = _MAX_QUESTION + MAX_TOKEN
_MIN_LOOP, _MAX_LOOP = 20, 600
_MARKUP: Final = frozenset(
    (
        *("document", "evidence", "message", "memory", "resource", "tools", "tool_call", "tool_response", "notes"),
        *("conversation", "answer", "response", "question", "context", "tool_calls", "function_call", "function_calls"),
        *("function", "invoke", "start_of_turn", "end_of_turn"),
    )
)
_WRAPPING: Final = _MARKUP - {name for name in _MARKUP if "_" in name} - {"tools", "function", "invoke"}
"""Of it what wraps no call and no turn: a strong model may speak of it."""
_TAG_STARTS: Final = frozenset(name[:size] for name in {*_MARKUP, "s"} for size in range(len(name) + 1))
_TAG = lazy_pattern(r"</?([a-z_]*)([\s/=][^<>]*)?>?", re.IGNORECASE)
_TOKEN = lazy_pattern(r"<[|｜][\w▁]{1,40}[|｜]>")
_TOKEN_START = lazy_pattern(r"<[|｜][\w▁]{0,40}[|｜]?")
_WRAPPER = lazy_pattern(
    r"<(?:tools|tool_calls?|function_calls?)>|<(?:function=|invoke\s+name=[\"'])([\w.-]+)[\"']?>|\[TOOL_CALLS\]"
    r"|<\|(?:python_tag|tool_calls?|tool_call_start|tool_call_begin|tool_calls_section_begin)\|?>",
    re.IGNORECASE,
)
_SQUARE: Final = ("[TOOL_CALLS]", "[INST]", "[/INST]")
_SQUARE_STARTS: Final = frozenset(token[:size] for token in _SQUARE for size in range(len(token)))
_WRAPPED: Final = "<tool_call>"
_INPUT: Final = "\nAction Input: "
_TURN: Final = frozenset(("<|im_start|>", "<|start_header_id|>", "<start_of_turn>"))
_HEAD = lazy_pattern(r"((`+|~+)([\w+.-]*)[ \t]*(\n?)\s*)(.*)", re.DOTALL)
_MAY_BE_ID = lazy_pattern(r"[ \t]*(?:\^(?:[A-Za-z0-9][A-Za-z0-9-]*[ \t]*)?)?")
_BLOCK_ID = lazy_pattern(r"[ \t]*\^(?:[A-Za-z][A-Za-z0-9-]+|(?=\d*[a-z])[0-9a-z]{6})[ \t]*")
_LABELS: Final = ("answer", "antwort", "回答", "a")
_LABEL: Final = r"\s*(\*\*|__|)(?:answer|antwort|回答|a)(?:\s?[:：]\1|\1\s?[:：])\s*"
_ASKED: Final = ("", "question", "frage", "问题", "q")
_ASKED_LABEL: Final = r"[\W_]*(?:(?:question|frage|问题|q)[\W_]+)?"
_ASKED_END: Final = r"[^\w\n?？]*[?？][*_\"'”’»]*\s*"
_TOLD_END: Final = r"[^\w\n]*\n\s*"
"""What follows a question that is repeated, and a wish: more is taken from no answer."""
_BETWEEN: Final = r"[\W_]*"


def repeats(text: str) -> bool:
    """Whether it ends with the same words three times in a row, as small models do that do not know how to end."""
    tail = text[-3 * _MAX_LOOP :]
    end, position = tail[-_MIN_LOOP:], len(tail) - _MIN_LOOP
    while len(end) == _MIN_LOOP and (position := tail.rfind(end, 0, position + _MIN_LOOP - 1)) >= 0:
        size = len(tail) - _MIN_LOOP - position
        if 3 * size > len(tail):
            return False
        if size >= _MIN_LOOP and tail.endswith(tail[-size:] * 3):
            return any(letter.isalpha() for letter in tail[-size:])
    return False


class ReplyReader:
    """Reads a streamed answer: what may be shown of it, the calls that it holds as text, and what was taken out."""

    def __init__(self, tools: Collection[str] = (), question: str = "", *, is_strong: bool = False) -> None:
        """Of a strong model only calls, template tokens and tags around what it says are taken out: all else it means,
        as "A: larch" to "A or B?"."""
        self.calls: list[ToolCallPart] = []
        self._tools = frozenset(tools)
        spelled = [lead + name for name in self._tools for lead in ("", "functions.", "print(")]
        self._name_starts = {name[:size] for name in spelled for size in range(1, len(name) + 1)}
        self._fenced_starts = self._name_starts | {_WRAPPED[:size] for size in range(len(_WRAPPED))}
        self._state: Callable[[str], None] = self._text
        self._held = ""
        """What may become something else than text."""
        self._starts_line, self._follows_colon = True, False
        self._is_muted = False
        """Whether there was a call: what follows it is no answer."""
        self._strikes = 0
        """Tags `<s>` that are open: their ends are no tokens."""
        self._shown: list[str] = []
        self._removed: list[str] = []
        self.recent = ""
        """Its end, as it came."""
        self._lines = _Lines(question, is_strong=is_strong)
        self._is_strong, self._wraps = is_strong, False
        self._fence, self._line, self._ticks = "", "", 0
        """What encloses code, and of its last line what tells whether it ends it."""
        self._candidate = CallText("")

    def feed(self, text: str) -> str:
        """What may be shown now."""
        self.recent = (self.recent + text)[-3 * _MAX_LOOP :]
        for letter in text:
            self._state(letter)
        return self._take()

    def end(self) -> str:
        """What was held back and is text after all."""
        if self._state == self._call:
            self._end_call()
        held, self._held = self._held, ""
        if self._state in (self._run_of_ticks, self._fence_head):
            self._end_head(held)
        elif self._state == self._role:
            self._remove(held)
        else:
            self._pass(held)
        is_open = self._state == self._in_fence or (self._state == self._in_code and len(self._fence) > 2)
        if is_open and not self._is_muted and not self._closes_fence() and self._ticks != len(self._fence):
            self._pass(("\n" if self._line else "") + self._fence, is_code=True)
        self._state = self._after
        self._show(self._lines.end())
        return self._take()

    @property
    def removed(self) -> str:
        return "".join(self._removed).strip()

    def _take(self) -> str:
        shown = "".join(self._shown)
        self._shown.clear()
        return shown

    def _show(self, shown: str) -> None:
        self._shown.append(shown)
        for each in self._lines.removed:
            self._remove(each)
        self._lines.removed.clear()

    def _pass(self, text: str, *, is_code: bool = False) -> None:
        """Text that is no markup: to be shown, unless it follows a call."""
        _, newline, line = text.rpartition("\n")
        self._starts_line = not line.strip(" \t\r->") and bool(newline or self._starts_line)
        if word := text.rstrip(" \t*_"):
            self._follows_colon = word[-1] in ":："
        if not self._is_muted:
            self._show(self._lines.code(text) if is_code else self._lines.text(text))
            return
        self._removed.append(text)
        if any(letter.isalnum() for letter in text):
            self._state = self._after

    def _remove(self, text: str) -> None:
        self._removed.append(f"\n{text}")

    def _mute(self) -> None:
        if not self._is_muted:
            self._show(self._lines.end())
            self._is_muted = True

    def _hold(self, state: Callable[[str], None], letter: str) -> None:
        self._state, self._held = state, letter

    def _release(self) -> None:
        """What was held is text; its last letter may begin something else."""
        held, self._held, self._state = self._held, "", self._text
        self._pass(held[:-1])
        self._state(held[-1])

    def _replay(self, text: str) -> None:
        self._held = ""
        for letter in text:
            self._state(letter)

    @property
    def _may_call(self) -> bool:
        """Whether a call may begin here: on a line of its own, after «I call:», or after another."""
        return self._starts_line or self._follows_colon or self._is_muted

    # States: each takes a letter.

    def _text(self, letter: str) -> None:
        if letter == "`" or (letter == "~" and self._starts_line):
            self._hold(self._run_of_ticks, letter)
        elif letter == "<":
            self._hold(self._tag, letter)
        elif letter == "[" or (letter == "{" and self._may_call):
            self._hold(self._bracket, letter)
        elif letter in self._name_starts and self._may_call:
            self._hold(self._name, letter)
        else:
            self._pass(letter)

    def _after(self, letter: str) -> None:
        """After a call and what follows it, nothing is of interest."""
        self._removed.append(letter)

    def _tag(self, letter: str) -> None:
        self._held += letter
        if letter == ">":
            self._end_tag(self._held)
        elif len(self._held) > MAX_TOKEN or not _may_be_tag(self._held):
            self._release()

    def _end_tag(self, held: str) -> None:
        found = _TAG.fullmatch(held)
        name = found[1].lower() if found else ""
        if wrapper := _WRAPPER.fullmatch(held):
            self._candidate = CallText(held, wrapper[1] or "")
            self._held, self._state = "", self._call
        elif name == "s" and (held == "<s>" or self._strikes):
            self._strikes += 1 if held == "<s>" else -1
            self._release()
        elif self._is_strong and name in _WRAPPING and not (self._wraps if held[1] == "/" else self._starts_line):
            self._release()
        elif name in _MARKUP or name == "s" or _TOKEN.fullmatch(held) or held in _SQUARE:
            self._remove(held)
            self._wraps |= name in _WRAPPING
            self._held, self._state = "", self._role if held.lower() in _TURN else self._text
        else:
            self._release()

    def _role(self, letter: str) -> None:
        """The word after the start of a turn: a turn of somebody else is not of this answer."""
        if letter.isalpha() and len(self._held) < 10:
            self._held += letter
            return
        word, self._held, self._state = self._held, "", self._text
        if word in ("assistant", "model"):
            self._remove(word)
        elif word in ("user", "system", "tool", "human"):
            self._mute()
            self._remove(word)
            self._state = self._after
        else:
            self._pass(word)
        self._state(letter)

    def _bracket(self, letter: str) -> None:
        """`{` or `[`, with which a call may begin, or a token."""
        self._held += letter
        held, inner = self._held, self._held[1:].lstrip()
        if held[0] == "[":
            begins, may_begin = inner == "{" or self._calls_tool(inner), not inner or inner in self._name_starts
        else:
            begins, may_begin = inner in ('"', "'"), not inner
        if held in _SQUARE:
            self._end_tag(held)
        elif self._may_call and begins:
            self._collect("", held)
        elif not (held in _SQUARE_STARTS or (self._may_call and may_begin and len(held) < MAX_TOKEN)):
            self._release()

    def _name(self, letter: str) -> None:
        """The name of a tool at the start of a line, and what follows it."""
        self._held += letter
        if self._calls_tool(self._held):
            self._collect("", self._held)
        elif self._held not in self._name_starts:
            name, newline, rest = self._held.partition("\n")
            awaits_input = name in self._tools and _INPUT.startswith(newline + rest)
            if len(self._held) > MAX_TOKEN or not (self._held.rstrip() in self._tools or awaits_input):
                self._release()

    def _calls_tool(self, text: str) -> bool:
        """Whether it is the name of a tool and what begins its arguments."""
        name = text[:-1].rstrip().removesuffix(_INPUT.rstrip()).removeprefix("print(").removeprefix("functions.")
        return text[-1:] in ("(", "{") and name in self._tools

    # Code.

    def _run_of_ticks(self, letter: str) -> None:
        if letter == self._held[0] and len(self._held) < MAX_TOKEN:
            self._held += letter
        elif self._held in ("~", "~~"):
            self._held += letter
            self._release()
        else:
            self._state = self._fence_head
            self._state(letter)

    def _fence_head(self, letter: str) -> None:
        """From the ticks to the first letter of what they enclose, or to the name of a tool and its bracket."""
        self._held += letter
        head = _HEAD.fullmatch(self._held)
        assert head is not None
        lead, ticks, info, newline, rest = head.groups()
        is_fence = len(ticks) > 2
        may_call = is_fence or (self._may_call and not newline)
        if may_call and self._calls_tool(info + rest):
            self._collect(ticks, info + rest)
        elif may_call and (rest in ("{", "[", _WRAPPED) or self._calls_tool(rest)):
            self._collect(lead, rest)
        elif not (may_call and rest in self._fenced_starts and len(self._held) < MAX_TOKEN):
            self._end_head(self._held)

    def _end_head(self, held: str) -> None:
        """Ticks that begin no call: code, or nothing."""
        head = _HEAD.fullmatch(held)
        assert head is not None
        lead, ticks, info, _, rest = head.groups()
        if (len(ticks) > 2 and not rest) or (self._is_muted and not info):
            self._remove(lead)
            self._state = self._text
            self._replay(rest)
        else:
            self._begin_code(ticks)
            self._replay(held[len(ticks) :])

    def _begin_code(self, ticks: str) -> None:
        self._fence, self._line, self._ticks = ticks, ticks, 0
        self._state = self._in_code
        self._pass(ticks, is_code=True)

    def _in_code(self, letter: str) -> None:
        """Code in a line, or the first line of a fence."""
        is_closed = self._ticks == len(self._fence) and letter != self._fence[0]
        if is_closed or (letter == "\n" and len(self._fence) < 3):
            self._state = self._text
            self._state(letter)
        elif letter == "\n":
            self._state, self._line = self._in_fence, ""
            self._pass(letter, is_code=True)
        else:
            self._ticks = self._ticks + 1 if letter == self._fence[0] else 0
            self._pass(letter, is_code=True)

    def _in_fence(self, letter: str) -> None:
        if letter != "\n":
            self._line += letter if len(self._line) < MAX_TOKEN else ""
        else:
            self._state = self._text if self._closes_fence() else self._in_fence
            self._line = ""
        self._pass(letter, is_code=True)

    def _closes_fence(self) -> bool:
        line = self._line.strip()
        return self._state == self._in_fence and line.startswith(self._fence) and not line.strip(self._fence[0])

    # What may be a call.

    def _collect(self, opener: str, text: str) -> None:
        self._candidate, self._state = CallText(opener), self._call
        self._replay(text)

    def _call(self, letter: str) -> None:
        candidate = self._candidate
        match candidate.add(letter):
            case "whole":
                self._end_call()
            case "whole before":
                self._end_call()
                self._state(letter)
            case "prose":
                self._give_back()
                self._state(letter)
            case "words":
                self._remove(candidate.opener)
                self._state = self._text
                self._replay(candidate.body)

    def _end_call(self) -> None:
        candidate, found = self._candidate, list[Call]()
        self._state = self._text
        try:
            found = calls_in(candidate.text, self._tools, candidate.of)
        except UnreadableCall as error:  # its tool will say what is wrong with it
            found = [(str(error), candidate.body)]
        if found:
            self._mute()
        for name, arguments in found:
            self.calls.append(ToolCallPart(call_id=f"text-{uuid4().hex[:12]}", name=name, arguments=arguments))
        if not (self._is_muted or candidate.is_wrapper):
            self._give_back()
            return
        self._remove(candidate.opener + candidate.body)
        if self._is_muted and not found:
            self._state = self._after

    def _give_back(self) -> None:
        """It is no call: code if it was in ticks, or data, of which nothing is taken out."""
        opener, body, self._state = self._candidate.opener, self._candidate.body, self._text
        if opener and not self._candidate.is_wrapper:
            ticks = self._candidate.ticks
            self._begin_code(ticks)
            self._replay(opener[len(ticks) :] + body)
        else:
            self._pass(opener + body, is_code=True)


class _Lines:
    """The rules for text: what an answer does not open with, and ids of blocks at the ends of lines."""

    def __init__(self, question: str, *, is_strong: bool) -> None:
        self.removed: list[str] = []
        self._is_strong = is_strong
        self._echo = _letters(question)
        self._opening: str | None = ""
        """The start of an answer while it may be a label, or the question; None after that."""
        is_long = len(question.split()) > 2 or question.rstrip().endswith(("?", "？"))
        asked = _letters(question) if is_long and len(question) <= _MAX_QUESTION else ""
        self._openings = [*_LABELS, *(label + asked for label in _ASKED if asked)]
        end = _ASKED_END if question.rstrip().endswith(("?", "？")) else _TOLD_END
        repeated = f"|{_ASKED_LABEL}{_BETWEEN.join(map(re.escape, asked))}{end}" if asked else ""
        self._pattern = lazy_pattern(_LABEL + repeated, re.IGNORECASE)
        self._starts_line = True
        self._tail = ""
        """White space, and what may be an id."""

    def text(self, text: str) -> str:
        return text if self._is_strong else "".join(map(self._add, text))

    def code(self, text: str) -> str:
        shown = self._end_opening() + self._tail + text
        self._tail, self._starts_line = "", False
        return shown

    def end(self) -> str:
        shown, tail = self._end_opening(), self._tail
        self._tail = ""
        return shown + self._without_id(tail)

    def _add(self, letter: str) -> str:
        if self._opening is None:
            return self._add_to_line(letter)
        self._opening += letter
        letters = _letters(self._opening)
        if len(self._opening) <= _MAX_OPENING and any(each.startswith(letters) for each in self._openings):
            return ""
        return self._settle_opening()

    def _settle_opening(self) -> str:
        """Take one label, or the question, away; without one, the answer begins."""
        opening = self._opening or ""
        found = self._pattern.match(opening)
        if found and found.end():
            self.removed.append(found[0].strip())
            self._opening = ""
            return self.text(opening[found.end() :])
        self._opening = None
        return self.text(opening)

    def _end_opening(self) -> str:
        shown = ""
        if self._opening and self._echo and self._echo == _letters(self._opening):
            self.removed.append(self._opening.strip())
            self._opening = ""
        while self._opening:
            shown += self._settle_opening()
        self._opening = None
        return shown

    def _add_to_line(self, letter: str) -> str:
        started, self._starts_line = self._starts_line, letter == "\n"
        if not self._tail and letter not in " \t" and not (letter == "^" and started):
            return letter
        tail, self._tail = self._tail, ""
        if letter == "\n":
            return self._without_id(tail) + letter
        if len(tail) < MAX_TOKEN and _MAY_BE_ID.fullmatch(tail + letter):
            self._tail = tail + letter
            return ""
        return tail + self._add_to_line(letter)

    def _without_id(self, tail: str) -> str:
        if _BLOCK_ID.fullmatch(tail):
            self.removed.append(tail.strip())
            return ""
        return tail


def _letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _may_be_tag(held: str) -> bool:
    if held[1] in "|｜":
        return _TOKEN_START.fullmatch(held) is not None
    found = _TAG.fullmatch(held)
    return found is not None and found[1].lower() in (_MARKUP if found[2] else _TAG_STARTS)
