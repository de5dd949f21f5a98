"""What a user chooses for a session in the client: the model, who answers, and whether notes may be changed."""

from collections.abc import Sequence
from typing import Final

from acp import schema

from zkchat.chat import Conversation
from zkchat.render import sanitize_line

MODE: Final = "mode"
MODEL: Final = "model"
AGENT: Final = "agent"
ASK: Final = "ask"
WRITE: Final = "write"
_MODES: Final = {
    ASK: ("Ask", "The model reads your notes and cannot change them."),
    WRITE: ("Write", "The model may propose changes to your notes; you are asked about each."),
}


def mode_of(conversation: Conversation) -> str:
    return WRITE if conversation.writing.is_on else ASK


def modes_of(conversation: Conversation) -> schema.SessionModeState:
    """The same choice as the option `mode`, for clients that know no options."""
    return schema.SessionModeState(
        current_mode_id=mode_of(conversation),
        available_modes=[
            schema.SessionMode(id=id_, name=name, description=about) for id_, (name, about) in _MODES.items()
        ],
    )


def options_of(
    conversation: Conversation, present: str, models: Sequence[str]
) -> list[schema.SessionConfigOptionSelect]:
    """The choices with what is chosen now; `present` is the model that answers, `models` are those that are known."""
    agents = conversation.profiles.agents.values()
    options = [
        _select(MODE, "Mode", mode_of(conversation), [_option(id_, *words) for id_, words in _MODES.items()], MODE),
        _select(MODEL, "Model", present, [_option(name, name) for name in dict.fromkeys([present, *models])], MODEL),
    ]
    if len(agents) > 1:
        named = [_option(agent.name, agent.name, agent.description) for agent in agents]
        options.append(_select(AGENT, "Agent", conversation.agent.name, named))
    return options


def updates_of(
    conversation: Conversation, present: str, models: Sequence[str]
) -> tuple[schema.ConfigOptionUpdate, schema.CurrentModeUpdate]:
    """What tells the client that a choice was made otherwise, by a command."""
    return (
        schema.ConfigOptionUpdate(
            session_update="config_option_update", config_options=[*options_of(conversation, present, models)]
        ),
        schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode_of(conversation)),
    )


def _option(value: str, name: str, description: str = "") -> schema.SessionConfigSelectOption:
    return schema.SessionConfigSelectOption(
        value=value, name=sanitize_line(name), description=sanitize_line(description) or None
    )


def _select(
    id_: str, name: str, value: str, options: list[schema.SessionConfigSelectOption], category: str | None = None
) -> schema.SessionConfigOptionSelect:
    return schema.SessionConfigOptionSelect.model_validate(
        {"type": "select", "id": id_, "name": name, "category": category, "current_value": value, "options": options}
    )
