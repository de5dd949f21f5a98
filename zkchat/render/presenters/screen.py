"""A turn drawn on a terminal: the answer as it streams, tool calls, sources and context."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from zkchat.core import DEFAULT_AGENT, ThinkingView, counted, events, shorten
from zkchat.render import phrases
from zkchat.render.console import LiveRegion, Matches, Row, Throttle, render_rows, terminal_width
from zkchat.render.context import AnswerFooter
from zkchat.render.markdown import MarkdownStream
from zkchat.render.presenters.text import Presenter
from zkchat.render.sanitize import error_lines, sanitize_line, sanitize_text

ANSWER_MARK: Final = "●"
"""Stands above an answer in a chat, before the name of who answers, so that it is found in the scrollback."""
_ARGUMENT_LENGTHS: Final = (60, 24, 12, 0)
"""Characters of a call's arguments that are tried one after the other, until all calls fit into one line."""
_BETWEEN: Final = " · "
_STREAMED: Final = (events.TextDelta, events.Remarked, events.ThinkingDelta, events.ToolStarted, events.ToolFinished)
_FROM_THE_MODEL: Final = (events.PromptReady, events.Notice, *_STREAMED)
_GOAL: Final = (events.GoalPlanned, events.StepStarted, events.StepFinished, events.GoalEnded)
_AFTER_THE_MODEL: Final = (events.ChangesReviewed, events.TurnFinished, events.TurnFailed, *_GOAL)


class ThinkingSection:
    """Thinking, dimmed, all of it as it streams."""

    def __init__(self, console: Console, *, clock: Callable[[], float], since: float) -> None:
        self._console = console
        self._throttle = Throttle(clock)
        self._tail = LiveRegion(console)
        self._text = ""
        self.since = since
        """When the model began to think."""

    def feed(self, text: str) -> None:
        self._text += sanitize_text(text)
        self._throttle.draw(self.draw)

    def finish(self) -> None:
        self._tail.show(_dimmed_rows(self._console, self._text.rstrip("\n")))

    def draw(self, below: Sequence[Row] = ()) -> None:
        """Draw all that came, and these rows below it."""
        complete, _, arriving = self._text.rpartition("\n")
        self._tail.show(_dimmed_rows(self._console, complete), [*_dimmed_rows(self._console, arriving), *below])
        self._text = arriving


def _dimmed_rows(console: Console, text: str) -> list[Row]:
    return render_rows(console, Text(text, style="dim", overflow="fold")) if text else []


class _Call(Struct, frozen=True):
    """A tool call, and its result as soon as there is one."""

    name: str
    arguments: str
    result: str | None = None
    """None while it runs, empty where it was stopped."""
    failed: bool = False
    server: str = ""

    def draw(self, length: int = _ARGUMENT_LENGTHS[0]) -> Text:
        """`search "sleep" → 4 passages`, with so many characters of arguments at most."""
        call = phrases.tool_call(self.name, self.arguments, length, self.server)
        if not self.result:
            return Text.assemble((call, "dim"), " …" if self.result is None else "")
        result = shorten(self.result, max(2 * length, 20))
        return Text.assemble((call, "dim"), " → ", (result, "doubt" if self.failed else "none"))


class ActivitySection:
    """Folded thinking and tool calls in one line: `⌕ thought for 3 s · search "sleep" → 4 passages`.

    While the model thinks, the last rows of its thoughts are shown below. Where nothing can be redrawn, each call is a
    line of its own, printed with its result.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._throttle = Throttle(clock)
        self._tail = LiveRegion(console)
        self._finished: list[_Call] = []
        self.running: dict[str, _Call] = {}
        self._thought: str = ""
        self.thinking_since: float | None = None
        self._seconds: float | None = None
        """How long the model thought before; None where it did not."""

    def think(self, text: str, *, since: float | None = None) -> None:
        """Add to what the model thinks; `since` says when it began, where that was before."""
        if self.thinking_since is None:
            self.thinking_since = self._clock() if since is None else since
        self._thought += text
        self._throttle.draw(self.draw)

    def take_thought(self) -> tuple[str, float]:
        """What the model is thinking, and since when; it is to be shown elsewhere."""
        since = self._clock() if self.thinking_since is None else self.thinking_since
        thought, self._thought, self.thinking_since = self._thought, "", None
        return thought, since

    def started(self, call_id: str, name: str, arguments: str, server: str = "") -> None:
        self._stop_thinking()
        self.running[call_id] = _Call(name, arguments, server=server)
        self.draw()

    def finished(self, call_id: str, name: str, summary: str, *, failed: bool) -> None:
        self._stop_thinking()
        call = self.running.pop(call_id, _Call(name, ""))
        result = phrases.tool_result(summary, failed=failed)
        self._finished.append(replace(call, result=result, failed=failed))
        self.draw()

    def finish(self) -> None:
        """Leave one line. Calls that were stopped have no result."""
        self._stop_thinking()
        self._finished += [replace(call, result="") for call in self.running.values()]
        self.running.clear()
        self._print_unless_redrawn()
        self._tail.show(self._line())

    def _stop_thinking(self) -> None:
        if self.thinking_since is not None:
            self._seconds = (self._seconds or 0) + self._clock() - self.thinking_since
            self.thinking_since, self._thought = None, ""

    def draw(self, below: Sequence[Row] = ()) -> None:
        """Draw all that came, and these rows below it."""
        self._print_unless_redrawn()
        end = sanitize_text(self._thought[-2_000:]).strip("\n")  # they fill these rows on any screen
        thought = _dimmed_rows(self._console, end)[-3:]
        self._tail.show([], [*self._line(), *thought, *below])

    def _print_unless_redrawn(self) -> None:
        """Print what is finished where it could not be redrawn, each on a line of its own."""
        if self._console.is_interactive:
            return
        for mark, entries in (("… ", self._thoughts()), ("⌕ ", [call.draw() for call in self._finished])):
            for entry in entries:
                self._tail.show(render_rows(self._console, Text.assemble((mark, "dim"), entry)))
        self._finished.clear()
        self._seconds = None

    def _line(self) -> list[Row]:
        """All entries in one row, as much of each as there is room for."""
        calls = [*self._finished, *self.running.values()]
        thoughts = self._thoughts()
        if not calls and not thoughts:
            return []
        mark = "⌕ " if calls else "… "
        forms = [[*thoughts, *(call.draw(length) for call in calls)] for length in _ARGUMENT_LENGTHS]
        if calls:
            number = Text.assemble((counted(len(calls), "call"), "dim"), _failed(calls))
            forms += [[*thoughts, _counted(calls)], [_counted(calls)], [number]]
        between = Text(_BETWEEN, style="dim")
        lines = [Text().join([each for entry in form for each in (between, entry)][1:]) for form in forms]
        room = (width := terminal_width(self._console)) - len(mark)
        line = next((line for line in lines if line.cell_len <= room), lines[-1])
        line.truncate(room, overflow="ellipsis")
        return render_rows(self._console, Text.assemble((mark, "dim"), line), width=width)

    def _thoughts(self) -> list[Text]:
        return [] if self._seconds is None else [Text(f"thought for {self._seconds:.0f} s", style="dim")]


def _counted(calls: Sequence[_Call]) -> Text:
    """`search ×3, read (1 failed)`."""
    text = Text()
    for name, count in Counter(call.name for call in calls).items():
        times = f" ×{count}" if count > 1 else ""
        text.append(f"{', ' if text else ''}{phrases.called(name)}{times}", style="dim")
        text.append_text(_failed([call for call in calls if call.name == name]))
    return text


def _failed(calls: Sequence[_Call]) -> Text:
    failed = sum(call.failed for call in calls)
    return Text(f" ({failed} failed)" if failed else "", style="doubt")


class ScreenPresenter(Presenter):
    """Draws one section at a time: answer, thinking or tool calls. Warnings wait until a section ends."""

    def __init__(
        self,
        out: Console,
        err: Console,
        *,
        thinking: Callable[[], ThinkingView] = lambda: "folded",
        footer: AnswerFooter | None = None,
        is_marked: bool = False,
        matches: Matches | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`is_marked`: a line above an answer says where it begins; `matches` finds the words marked in quotations."""
        self._out = out
        self._err = err
        self._thinking_view = thinking
        self._footer = footer or AnswerFooter()
        self._is_marked = is_marked
        self.stops_by = "Ctrl-C"
        """The key that stops an answer."""
        self._matches = matches
        self._is_asked = False
        """Whether the model was asked."""
        self._clock = clock
        self._answers_as = "zkchat"
        self._section: MarkdownStream | ThinkingSection | ActivitySection | None = None
        self._deferred: list[Text] = []
        self._wait_tail = LiveRegion(out)
        self._waiting_since: float | None = clock()
        self._is_below_mark = False
        """Whether the next answer takes the place of the one above, which has a mark."""
        self._is_set_apart = False
        """Whether a blank line stands above the next line of a checklist."""

    def show(self, event: events.Event) -> None:
        self._wait_tail.show([])
        # What is waited for begins anew whenever something comes and more is to come from the model or a tool.
        if isinstance(event, _AFTER_THE_MODEL):
            self._waiting_since = None
        elif isinstance(event, _FROM_THE_MODEL):
            self._is_asked, self._waiting_since = True, self._clock()
        self._show(event)

    def _show(self, event: events.Event) -> None:
        match event:
            case events.TextDelta():
                self._answer(event.text)
            case events.Remarked():
                self._answer(phrases.remark(event.text))
            case events.ThinkingDelta():
                self._thought(event.text)
            case events.ToolStarted():
                self._activity().started(event.call_id, event.name, event.arguments, event.server)
            case events.ToolFinished():
                self._activity().finished(event.call_id, event.name, event.summary, failed=event.failed)
            case events.Notice():
                self._print(self._notice(event))
            case events.Warned():
                self._print(Text(phrases.warning(event.text, event.hint), style="doubt"))
            case events.PromptReady() | events.AnswerReplaced():
                # Text so far was an answer of its own; what takes its place goes on below its mark.
                self._is_below_mark = isinstance(self._section, MarkdownStream) and not isinstance(
                    event, events.PromptReady
                )
                self._begin_section(None)
                if isinstance(event, events.PromptReady) and event.context and event.context.agent != DEFAULT_AGENT:
                    self._answers_as = sanitize_line(event.context.agent)
            case events.TurnFinished():
                self._finish_turn(event)
            case events.TurnFailed():
                self._begin_section(None)
                self._print(Text(error_lines(event.text, event.hint).rstrip("\n"), style="error"))
            case events.GoalPlanned() | events.StepStarted() | events.StepFinished() | events.GoalEnded():
                self._show_goal(event)
            case events.LinksResolved() | events.EvidenceFound() | events.ReferenceFound() | events.UsageReported():
                pass
            case _:
                assert_never(event)

    def tick(self, activity: str = "") -> None:
        """A row says what is waited for and for how long, from the first second on, until something arrives."""
        section = self._section
        doing = "waiting for the model" if self._is_asked else activity or "getting ready"
        if isinstance(section, ActivitySection) and section.running:
            doing = "working"
        seconds = 0 if self._waiting_since is None else int(self._clock() - self._waiting_since)
        rows = _dimmed_rows(self._out, f"… {doing}, {seconds:,} s; {self.stops_by} stops it" if seconds else "")
        if section is None:
            self._wait_tail.show([], rows)
        elif rows:
            section.draw(rows)

    def close(self) -> None:
        self._wait_tail.show([])
        self._begin_section(None)

    def _answer(self, text: str) -> None:
        if isinstance(self._section, MarkdownStream):
            self._section.feed(text)
        elif text.strip("\n"):
            answer = MarkdownStream(self._out, clock=self._clock, matches=self._matches, links=self._footer.links)
            self._begin_section(answer)
            answer.feed(text)

    def _thought(self, text: str) -> None:
        """Show thinking as the user wants it now; what was folded is drawn whole once it is not any more."""
        section, view = self._section, self._thinking_view()
        is_begun = isinstance(section, ThinkingSection) or (
            isinstance(section, ActivitySection) and section.thinking_since is not None
        )
        if not is_begun and (view == "hidden" or not text.strip()):
            return
        if view != "shown":
            since = section.since if isinstance(section, ThinkingSection) else None
            self._activity().think(text, since=since)
        elif isinstance(section, ThinkingSection):
            section.feed(text)
        else:
            before, since = section.take_thought() if isinstance(section, ActivitySection) else ("", self._clock())
            thought = ThinkingSection(self._out, clock=self._clock, since=since)
            self._begin_section(thought)
            thought.feed(before + text)

    def _activity(self) -> ActivitySection:
        if isinstance(self._section, ActivitySection):
            return self._section
        activity = ActivitySection(self._out, clock=self._clock)
        self._begin_section(activity)
        return activity

    def _begin_section(self, section: MarkdownStream | ThinkingSection | ActivitySection | None) -> None:
        """End the current section and begin another: an answer below its mark, or set apart by a blank line."""
        self._is_set_apart = self._is_set_apart and section is None
        ended, self._section = self._section, section
        if ended is not None:
            ended.finish()
            for text in self._deferred:
                self._err.print(text)
            self._deferred.clear()
        is_answer = isinstance(section, MarkdownStream)
        if is_answer and self._is_below_mark:
            self._is_below_mark = False
            self._out.print()
        elif is_answer and self._is_marked:
            self._out.print(Text(f"{ANSWER_MARK} {self._answers_as}", style="bold accent"))
        elif section is not None and ended is not None and isinstance(ended, MarkdownStream) != is_answer:
            self._out.print()

    def _notice(self, event: phrases.Noticed) -> Text:
        """One line; of changes that were not applied it stands out."""
        if not isinstance(event, events.ChangesReviewed):
            return Text(phrases.notice(event), style="dim")
        said = phrases.reviewed(event, undo="/undo" if self._is_marked else "zkchat undo")
        if self._is_marked and event.decision in {"kept", "dropped"}:
            said += " /write diff shows it."
        return Text(said, style="" if event.decision == "applied" else "doubt")

    def _print(self, text: Text) -> None:
        if self._section is None:
            self._err.print(text)
        else:
            self._deferred.append(text)

    def _show_goal(self, event: events.GoalEvent) -> None:
        """Lines of the checklist, set apart from the answers; those that go on below another are indented."""
        self._begin_section(None)
        if not self._is_set_apart:
            self._out.print()
        for line in phrases.lines_of(event):
            text = line.lstrip(" ")
            style = "dim" if len(line) > len(text) else "bold"
            self._out.print(Padding(Text(text, style=style), (0, 0, 0, len(line) - len(text))))
        if not isinstance(event, events.GoalEnded):
            self._out.print()
        self._is_set_apart = isinstance(event, events.StepFinished)

    def _finish_turn(self, event: events.TurnFinished) -> None:
        self._begin_section(None)
        below = [*self._footer.draw(event, width=self._out.width)]
        for each in [Text(), *below] if below else ():
            LiveRegion(self._out).show(render_rows(self._out, each))
