"""The commands of `zkchat`, of which each is loaded when it is run or asked about, and no other."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import typer.main
from typer._click import Command, Context
from typer._click.shell_completion import CompletionItem
from typer.core import TyperGroup

from zkchat.cli.command_table import PLACES, SECTIONS
from zkchat.cli.help_layout import DescribedGroup, use_layout


class LazyCommands(MutableMapping[str, Command]):
    """All commands by name; whoever takes one loads it."""

    def __init__(self) -> None:
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._loaded:
            self._loaded[name] = load_command(name, PLACES[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)

    def __setitem__(self, name: str, command: Command) -> None:
        raise TypeError("Commands stand in the table.")

    def __delitem__(self, name: str) -> None:
        raise TypeError("Commands stand in the table.")


def load_command(name: str, place: str) -> Command:
    """The command at `module.attribute` of this package, or the one made of an action."""
    *package, module, attribute = place.split(".")
    if package:
        target = import_module("zkchat.cli.actions").command_of(module, attribute)
    else:
        target = getattr(import_module(f"zkchat.cli.{module}"), attribute)
    alone = typer.Typer(rich_markup_mode=None)
    if isinstance(target, typer.Typer):
        alone.add_typer(target, name=name)
    else:
        alone.command(name=name)(target)
    use_layout(alone)
    return typer.main.get_group(alone).commands[name]


class RootGroup(DescribedGroup):
    """`zkchat` itself. What is shown of its commands is in the table."""

    sections = SECTIONS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands()

    def list_commands(self, _context: Context) -> list[str]:
        return [*self.commands]

    def shell_complete(self, ctx: Context, incomplete: str) -> list[CompletionItem]:
        rows = [row for rows in self.sections.values() for row in rows if row[0].startswith(incomplete)]
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        return [*(CompletionItem(name, help=line) for name, line in rows), *options]
