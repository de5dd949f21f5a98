"""Actions as tools for hosts: arguments from the signature, and the rows as structured content."""

from functools import partial
from typing import Annotated, Any, Final, cast

from msgspec import NODEFAULT, Meta, defstruct, field
from msgspec.structs import asdict

from zkchat.actions import Action, Parameter, Vault, every_action, named_place
from zkchat.chat import Arguments, Number, Text
from zkchat.mcp.service import OpenVault
from zkchat.mcp.vault_tools import Answer, run_validated
from zkchat.render import plain_sections

MAX_ROWS: Final = 200


class Found(Answer):
    """The rows that an action found."""

    text: str
    rows: list[Any]


def action_tools() -> list[Action]:
    """The actions that hosts are offered."""
    return [action for action in every_action().values() if action.for_hosts]


def arguments_of(action: Action) -> type[Arguments]:
    fields = [(each.name, *_field(each)) for each in action.parameters]
    return cast("type[Arguments]", defstruct(action.name, fields, bases=(Arguments,), frozen=True, kw_only=True))


def _field(parameter: Parameter) -> tuple[Any, Any]:
    about, default = parameter.about, NODEFAULT if parameter.is_required else parameter.default
    if parameter.kind == "number":
        most = min(about.most or MAX_ROWS, MAX_ROWS)
        kind = Number(description=about.help, at_least=about.least, at_most=most)
        return Annotated[int, kind], field(default=min(default, most) if default is not NODEFAULT else default)
    if parameter.kind == "switch":
        return Annotated[bool, Meta(description=about.help)], field(default=default)
    return Annotated[str, Text(description=about.help)], field(default=default)


def run_action(action: Action, arguments: type[Arguments], vault: OpenVault, given: str) -> Found:
    """Run an action over what the host's model may see. Raises `CallFailed`."""
    over = Vault(library=vault.library, now=vault.workspace.environment.now, command="{}".format)

    def act(wanted: Arguments) -> Found:
        result = action.run(over, **action.values(asdict(wanted), partial(named_place, vault.library)))
        text = plain_sections(result.sections, is_numbered=False) if result.rows else result.empty
        return Found(text=text, rows=[row.data for row in result.rows])

    return run_validated(action.name, arguments, given, act)
