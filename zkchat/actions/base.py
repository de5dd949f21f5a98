"""What an action is: a function from an open vault and typed arguments to a `Result`.

The command line, slash commands, MCP tools and the Python API are made from the functions marked with `@action`: the
signature says what can be given, the docstring is the help. A surface knows no action by name; it decides only how
arguments arrive and how results look.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_type_hints

from msgspec import UNSET, Struct, UnsetType

from zkchat.core import ChangeRecord, ExitCode
from zkchat.index import DailyNoteSettings, Library, ReadableNote, find_named_note
from zkchat.render import NumberedRow, Place, RowSection

MAX_RECORDS: Final = 5_000


class Vault(Struct, frozen=True, kw_only=True):
    """The open vault that an action works on. For a model elsewhere its library is guarded, so nothing leaks."""

    library: Library
    now: Callable[[], datetime]
    records: Callable[[], Sequence[ChangeRecord]] = tuple
    """The last `MAX_RECORDS` changes that zkchat made, newest first."""
    daily_notes: Callable[[], DailyNoteSettings] = DailyNoteSettings
    command: Callable[[str], str] = "zkchat {}".format
    """How another action is called on this surface, for hints."""


class ShownNote(Struct, frozen=True, kw_only=True):
    """A note, or a section of it, to read."""

    place: Place
    path: str
    note: ReadableNote


class Result(Struct, frozen=True, kw_only=True):
    heading: str = ""
    sections: Sequence[RowSection] = ()
    document: ShownNote | None = None
    empty: str = ""
    """What is said where there is nothing to show."""
    summary: str = ""
    """A sentence below the rows."""
    next_step: str = ""
    """What else could be asked now."""
    remarks: Sequence[str] = ()
    """Said beside the result, such as which other note could be meant."""
    data: Any | UnsetType = UNSET
    """For scripts; else the data of the rows."""
    matches: Callable[[str], Sequence[tuple[int, int]]] | None = None
    """Finds words to be marked in the texts of rows."""
    exit_code: ExitCode = ExitCode.OK

    @property
    def rows(self) -> list[NumberedRow]:
        return [row for section in self.sections for row in section.rows]

    @property
    def plain(self) -> Any:
        return [row.data for row in self.rows] if self.data is UNSET else self.data


Kind = Literal["note", "words", "text", "number", "switch"]


class Argument(Struct, frozen=True, kw_only=True):
    """What a surface must know of a parameter beside its type and default."""

    help: str
    name: str = ""
    """As users see it: `NOTE`, `TIME`."""
    option: str = ""
    """Its name on the command line, such as `--since`; without one it has no name there but a place."""
    least: int | None = None
    most: int | None = None
    complete: Literal["", "tag", "query"] = ""


NoteArgument = Annotated[Place, Argument(name="NOTE", help="Its path, its title, or a [[wikilink]].")]
Limit = Annotated[int, Argument(option="--limit", name="N", least=1, help="Maximum number to show.")]


class Parameter(Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    default: Any
    about: Argument

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty


_KINDS: Final[Mapping[Any, Kind]] = {
    Place: "note",
    Place | None: "note",
    str: "text",
    int: "number",
    bool: "switch",
    list[str]: "words",
}


class Action(Struct, frozen=True, kw_only=True, dict=True):
    run: Callable[..., Result]
    in_chat: str = ""
    """A few words for the list of slash commands; without any it is none."""
    for_hosts: bool = False
    """Whether MCP hosts get it as a tool. For most there are tools already, with texts made for models."""
    details: str = ""
    """Whole sentences for `/help NAME`; else those of the docstring."""
    chat_limit: int | None = None
    """How many rows fill a screen of a chat; else `limit` of the function."""
    is_minor: bool = False
    """Whether it is a slash command that only `/help all` lists."""
    by_meaning: bool = False
    """Whether the vectors of the notes are needed."""

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def help(self) -> str:
        return inspect.getdoc(self.run) or ""

    @property
    def sentence(self) -> str:
        return self.help.partition("\n")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        hints = get_type_hints(self.run, include_extras=True)
        given = list(inspect.signature(self.run).parameters.values())[1:]
        described = [(each, *get_args(hints[each.name])) for each in given]
        return tuple(
            Parameter(name=each.name, kind=_KINDS[type_], default=each.default, about=about)
            for each, type_, about in described
        )

    def values(self, given: Mapping[str, Any], find: Callable[[str], Place]) -> dict[str, Any]:
        """The arguments that a surface was given as the function takes them; `find` is the note that a name means."""
        values = dict(given)
        for each in self.parameters:
            value = given.get(each.name)
            if each.kind == "note" and each.name in given:
                values[each.name] = find(value) if value else None
            elif each.kind == "words" and each.name in given:
                values[each.name] = value.split() if isinstance(value, str) else value or []
        return values

    def on(self, vault: Vault, given: Mapping[str, Any]) -> Result:
        """Run it with what a program gives. Raises `ZkchatError`."""
        return self.run(vault, **self.values(given, partial(named_place, vault.library)))

    def takes(self, kind: Kind) -> Parameter | None:
        return next((each for each in self.parameters if each.kind == kind), None)


def named_place(library: Library, name: str) -> Place:
    """The note that a program names. Raises `NoteNotFound`."""
    found = find_named_note(library, name, search="search")
    return Place(path=found.path, line=found.line, anchor=found.anchor, name=name)


ACTIONS: Final[dict[str, Action]] = {}
"""Those whose modules are loaded, by name; `every_action` loads all."""


def every_action() -> Mapping[str, Action]:
    """The actions of all modules of this package, by name."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"zkchat.actions.{module.name}")
    return dict(sorted(ACTIONS.items()))


F = TypeVar("F", bound=Callable[..., Result])


def action(in_chat: str = "", **about: Any) -> Callable[[F], F]:
    """Offer a function on the surfaces; `about` are further fields of `Action`."""

    def declare(run: F) -> F:
        ACTIONS[run.__name__] = Action(run=run, in_chat=in_chat, **about)
        return run

    return declare
