"""The user at the terminal, asked about changes of notes: a diff, and one key."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zkchat.cli.common import CommandIO
from zkchat.cli.editors import edit_text
from zkchat.cli.key_reader import KeyReader
from zkchat.cli.output import consoles
from zkchat.model.change import ChangeSet, FileWrite
from zkchat.model.file_diffs import joined, units_of
from zkchat.render.sanitize import sanitize_line
from zkchat.repl.single_key import CTRL_C, CTRL_D, ESCAPE
from zkchat.writing.review import Verdict, folders_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_NO: Final = frozenset({"n", "N", CTRL_C, CTRL_D, ESCAPE})
_MORE: Final = frozenset({"d", "D", " "})
_MAX_DIGITS: Final = 9
"""Of a number that is typed; Python refuses to convert numbers of any length."""
_MAX_NAMED_FOLDERS: Final = 2
_ROWS_OF_PROMPT: Final = 3
_MIN_PAGE: Final = 5
_WIDE: Final = 60


class TerminalChangeReviewer:
    """Implements `writing.review.ChangeReviewer`."""

    def __init__(self, io: CommandIO, *, color: Callable[[], str] = lambda: "auto", plain: bool = False) -> None:
        """`plain`: lines are read instead of keys, and nothing is drawn in colour."""
        self._io = io
        self._color = color
        self._plain = plain

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        question = _Question(self._io, self._console(), changes, may_always=may_always, plain=self._plain)
        question.show(remarks)
        return question.ask() if is_asked else Verdict(answer="no", changes=changes)

    def _console(self) -> "Console":
        return consoles(self._io.environment, "never" if self._plain else self._color())[1]


class _Question:
    """One change set, and what the user has done with it so far."""

    def __init__(self, io: CommandIO, console: "Console", changes: ChangeSet, *, may_always: bool, plain: bool) -> None:
        self._io = io
        self._console = console
        self._changes = changes
        self._units = units_of(changes)
        self._left_out: set[int] = set()
        self._may_always = may_always
        self._edited = False
        self._unseen: Iterator[Text] | None = None
        """Rows of the whole diff that were not shown yet; None before any were asked for."""
        self._is_plain = plain
        self._reader = KeyReader(io, plain=plain)

    def show(self, remarks: Sequence[str] = ()) -> None:
        """The diff, long files folded."""
        from rich.text import Text

        title = Text(f"▌ {sanitize_line(self._changes.title)}", style="bold cyan")
        self._print(iter([Text(), title, *(Text(sanitize_line(remark), style="yellow") for remark in remarks)]))
        self._print(self._rows(whole=False))

    def ask(self) -> Verdict:
        """Ask until the user says yes or no."""
        with self._reader.listening():
            while True:
                key = self._reader.read(self._prompt())
                if key in {"y", "Y"}:
                    return self._verdict()
                if key in _NO:
                    return Verdict(answer="no", changes=self._changes)
                if key in {"q", "Q"}:
                    return Verdict(answer="stop", changes=self._changes)
                if key in {"a", "A"} and self._may_always:
                    return replace(self._verdict(), always=True)
                self._act(key)

    def _verdict(self) -> Verdict:
        kept = [unit for number, unit in enumerate(self._units, 1) if number not in self._left_out]
        changes = joined(self._changes, kept)
        if self._left_out and kept:
            more = f", and {len(kept) - 1} more" if len(kept) > 1 else ""
            changes = replace(changes, title=f"{kept[0].title}{more}")
        return Verdict(answer="yes", changes=changes, edited=self._edited)

    def _act(self, key: str) -> None:
        """What does not end the question."""
        if key in _MORE:
            self._show_more()
        elif key in {"e", "E"}:
            self._edit()
        elif key.isdecimal():
            self._toggle(key)
        else:
            self._help()

    def _rows(self, *, whole: bool) -> "Iterator[Text]":
        from rich.text import Text

        from zkchat.render.diffs import diff_rows, style_for

        style = style_for(self._console, whole=whole)
        for number, unit in enumerate(self._units, 1):
            if number > 1:
                yield Text()
            mark = Text(f"{number}  " if len(self._units) > 1 else "", style="bold cyan")
            if number in self._left_out:
                yield Text.assemble(mark, (f"left out: {sanitize_line(unit.title)}", "dim"))
                continue
            rows = diff_rows(unit, replace(style, width=style.width - len(mark)))
            yield Text.assemble(mark, next(rows, Text()))
            yield from rows

    def _print(self, rows: "Iterator[Text]") -> None:
        for row in rows:
            if self._is_plain:
                self._io.note(row.plain.rstrip())
            else:
                self._console.print(row)

    def _show_more(self) -> None:
        """The next page of the whole diff."""
        if self._unseen is None:
            self._unseen = self._rows(whole=True)
        size = None if self._reader.reads_lines else max(_MIN_PAGE, self._console.height - _ROWS_OF_PROMPT)
        self._print(islice(self._unseen, size))
        following = next(self._unseen, None)
        self._unseen = None if following is None else chain([following], self._unseen)
        if self._unseen:
            self._io.note("… d goes on")

    def _toggle(self, key: str) -> None:
        """Leave one of several changes out, or take it in again."""
        typed = key if len(self._units) < 10 else self._reader.read_rest_of_number(key)
        number = int(typed[:_MAX_DIGITS])
        if len(self._units) < 2 or not 1 <= number <= len(self._units):
            self._io.note(f"There is no change {number}." if len(self._units) > 1 else "There is only one change.")
            return
        self._left_out ^= {number}
        self._unseen = None
        state = "is left out" if number in self._left_out else "is in again"
        self._io.note(f"{number} {state}: {self._units[number - 1].title}")

    def _edit(self) -> None:
        """Have the new text of one file edited, and show what comes of it."""
        number, write = self._to_edit()
        if write is None:
            return
        after = edit_text(self._io, write.after, write.path.rpartition("/")[2] or "note.md")
        if after is None:
            return
        if after == write.after:
            self._io.note("It was not edited.")
            return
        self._edited, self._unseen = True, None
        unit = self._units[number]
        writes = tuple(replace(each, after=after) if each is write else each for each in unit.writes)
        self._units[number] = replace(unit, writes=tuple(each for each in writes if each.after != each.before))
        self._changes = _replaced(self._changes, write, after)
        self._print(self._rows(whole=False))

    def _to_edit(self) -> tuple[int, FileWrite | None]:
        """The file to be edited: the only one, or the one that the user picks."""
        found = [(number, write) for number, unit in enumerate(self._units) for write in unit.writes]
        if not found:
            self._io.note("Nothing is written that could be edited.")
            return 0, None
        if len(found) == 1:
            return found[0]
        for place, (_, write) in enumerate(found, 1):
            self._io.note(f"  {place} {write.path}")
        picked = self._reader.read_line(f"Edit which of them (1-{len(found)})? ")
        numbered = {str(place): each for place, each in enumerate(found, 1)}
        return numbered.get(picked, (0, None))

    def _help(self) -> None:
        lines = [
            "y  apply" + (" all that is not left out" if len(self._units) > 1 else ""),
            "n  do not (also Ctrl-C and Esc)",
            "e  edit the new text in your editor; you see the diff again",
        ]
        if self._may_always:
            lines.append(f"a  apply, and do not ask again in this session in {self._folders()}")
        lines += ["q  do not, and stop what made the proposal", "d  all of the diff, page by page (also Space)"]
        if len(self._units) > 1:
            lines.append(f"1-{len(self._units)}  leave a change out, or take it in again")
        for line in lines:
            self._io.note(line)

    def _folders(self) -> str:
        names = [f"{folder}/" if folder else "the top folder" for folder in folders_of(self._changes)]
        shown = ", ".join(names[:_MAX_NAMED_FOLDERS])
        return f"{shown} and {len(names) - _MAX_NAMED_FOLDERS} more" if len(names) > _MAX_NAMED_FOLDERS else shown

    def _prompt(self) -> str:
        several = len(self._units) > 1
        kept = len(self._units) - len(self._left_out)
        question = f"Apply {kept} of {len(self._units)}?" if self._left_out else "Apply?"
        if self._console.width < _WIDE:
            keys = ["y", "n", "e", *("a" * self._may_always), "q", "d", *([f"1-{len(self._units)}"] * several), "?"]
            return f"{question} [{' '.join(keys)}] "
        words = ["y yes", "n no", "e edit", *(["a always here"] * self._may_always), "q stop", "d more"]
        words += [f"1-{len(self._units)} leave out"] * several
        return f"{question} {' · '.join([*words, '? help'])} "


def _replaced(changes: ChangeSet, write: FileWrite, after: bytes) -> ChangeSet:
    writes = (replace(each, after=after) if each.path == write.path else each for each in changes.writes)
    return replace(changes, writes=tuple(each for each in writes if each.after != each.before))
