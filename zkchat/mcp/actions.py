"""Actions as tools for hosts: arguments from the signature, and the rows as structured content."""

from typing import Annotated, Any, Final, cast

from msgspec import NODEFAULT, defstruct, field

from zkchat.actions import Action, Parameter, Vault, every_action
from zkchat.chat import Arguments, Number, Text
from zkchat.index import find_named_note
from zkchat.mcp.service import OpenVault
from zkchat.mcp.vault_tools import Answer, run_validated
from zkchat.render import Place, plain_sections

MAX_ROWS: Final = 200


class Found(Answer):
    """The rows that an action found."""

    text: str
    rows: list[Any]


def action_tools() -> list[Action]:
    """The actions that hosts are offered."""
    return [action for action in every_action().values() if "mcp" in action.surfaces]


def arguments_of(action: Action) -> type[Arguments]:
    fields = [(each.name, *_field(each)) for each in action.parameters]
    return cast("type[Arguments]", defstruct(action.name, fields, bases=(Arguments,), frozen=True, kw_only=True))


def _field(parameter: Parameter) -> tuple[Any, Any]:
    about, default = parameter.about, NODEFAULT if parameter.is_required else parameter.default
    if parameter.kind == "number":
        most = min(about.most or MAX_ROWS, MAX_ROWS)
        kind = Number(description=about.help, at_least=about.least, at_most=most)
        return Annotated[int, kind], field(default=min(default, most) if default is not NODEFAULT else default)
    return Annotated[str, Text(description=about.help)], field(default=default)


def run_action(action: Action, arguments: type[Arguments], vault: OpenVault, given: str) -> Found:
    """Run an action over what the host's model may see. Raises `CallFailed`."""
    library = vault.library

    def find(name: str) -> Place:
        found = find_named_note(library, name, search="search")
        return Place(path=found.path, line=found.line, anchor=found.anchor, name=name)

    def act(wanted: Arguments) -> Found:
        over = Vault(library=library, now=vault.workspace.environment.now, find=find, command="{}".format)
        values = {each.name: _value(over, each, getattr(wanted, each.name)) for each in action.parameters}
        result = action.run(over, **values)
        text = plain_sections(result.sections, is_numbered=False) if result.rows else result.empty
        return Found(text=text, rows=result.plain if isinstance(result.plain, list) else [result.plain])

    return run_validated(action.name, arguments, given, act)


def _value(vault: Vault, parameter: Parameter, given: Any) -> Any:
    if parameter.kind == "note":
        return vault.find(given) if given else None
    return given.split() if parameter.kind == "words" else given
