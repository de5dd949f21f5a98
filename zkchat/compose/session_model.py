"""Which model goes on with a session: the one that it has, unless the user says otherwise now."""

from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from zkchat.compose.providers import ModelInUse, create_provider, provider_context
from zkchat.compose.workspace import Workspace
from zkchat.errors import ConfigError
from zkchat.model.entries import ModelEntry
from zkchat.model.events import Warned
from zkchat.model.profile import Agent
from zkchat.model.providers import PROVIDERS
from zkchat.model.session_history import History
from zkchat.ports.models import ModelProvider
from zkchat.providers.registry import create, descriptor_of
from zkchat.providers.resumed import ResumedProvider

_NO_CHOICE: Final = frozenset({"quote", "scripted:scripted"})
"""That there was no model, or a script whose file nobody kept, binds no session."""


class SessionModel(Struct, frozen=True, kw_only=True):
    """What a session says of the model that answers in it from now on."""

    kept: ModelEntry | None = None
    """None where the user says it, by a flag, a variable, an agent or the settings."""
    must_run_here: bool = False
    """Whether nothing is sent to it unless it runs on this machine."""
    told: bool = False
    """Whether the user chose the model for this session now."""
    warnings: tuple[Warned, ...] = ()

    @property
    def name(self) -> str | None:
        return self.kept.name if self.kept else None

    @property
    def is_chosen(self) -> bool:
        """Whether the user chose the model for this session, now or before."""
        return self.told or bool(self.kept and self.kept.chosen)


class SessionModelInUse(ModelInUse, frozen=True, kw_only=True):
    entry: ModelEntry
    """What the session is to keep of it, but for the facts that are known once it has answered."""


def find_session_model(workspace: Workspace, history: History, agent: Agent | None, *, is_told: bool) -> SessionModel:
    """The model of the session, unless the user names one now. Raises `ConfigError` where there is none such any more.

    `is_told` says that a flag names the model. A variable does too, and an agent that was chosen since with its model.
    """
    if is_told or workspace.loaded.origins["model"].layer == "variable":
        return SessionModel(told=True)
    if history.is_agent_newer and agent and agent.model:
        return SessionModel(told=True)
    kept = history.model
    if kept is None or (kept.name in _NO_CHOICE and not kept.chosen):
        return SessionModel()
    settings = workspace.settings
    is_own = kept.name == settings.model or kept.name in settings.models
    if not is_own and kept.name.partition(":")[0] not in PROVIDERS:
        meant = f" ({kept.model})" if kept.model != kept.name else ""
        way_out = f"--model {kept.model} goes on with what it was" if meant else "--model NAME goes on with another"
        raise ConfigError(
            f"The model of this session, {kept.name}{meant}, is not in your settings any more.",
            hint=f"{way_out}; `zkchat models` shows what there is.",
        )
    if settings.storage.location == "vault" and not is_own:
        return _untrusted(workspace, kept)
    return SessionModel(kept=kept, must_run_here=_ran_here(kept, history))


def _ran_here(kept: ModelEntry, history: History) -> bool:
    """Whether the model ran on this machine; sessions of older versions say so by what was local in them."""
    if kept.on_this_machine is not None:
        return kept.on_this_machine
    return any(message.local for message in history.messages.values())


def _untrusted(workspace: Workspace, kept: ModelEntry) -> SessionModel:
    """A session in the vault may have been written by anybody: it leads to no server elsewhere and to no file."""
    context = provider_context(workspace)
    descriptor = descriptor_of(kept.name.partition(":")[0])
    if descriptor.in_process:
        is_allowed = not descriptor.takes_id or kept.name.partition(":")[2] in (
            offered.id for offered in descriptor.offered_models(context)
        )
    else:
        info = create(kept.name, context).info
        is_allowed = info.on_this_machine or not info.is_located
    if is_allowed:
        return SessionModel(kept=kept, must_run_here=True)
    text = f"This session is stored in the vault and names the model {kept.name}, which you have not set yourself."
    return SessionModel(warnings=(Warned(text=text, hint=f"It is not used; --model {kept.name} goes on with it."),))


def open_model(workspace: Workspace, session: SessionModel, set_before: str) -> SessionModelInUse:
    """The model that answers; `set_before` is the one that the settings name. Raises `ConfigError`."""
    kept = session.kept
    model = _resumed_model(workspace, session, kept, set_before) if kept else create_provider(workspace)
    entry = ModelEntry(name=model.name, chosen=session.is_chosen)
    return SessionModelInUse(**asdict(model), entry=entry)


def _resumed_model(workspace: Workspace, session: SessionModel, kept: ModelEntry, set_before: str) -> ModelInUse:
    try:
        model = create_provider(workspace)
    except ConfigError as error:
        message = f"The model of this session, {kept.name}, cannot be used. {error.message}"
        hint = f"{error.hint} To go on with another: --model NAME, in a chat /model NAME."
        raise ConfigError(message, hint=hint.strip()) from error
    provider = _resumed(model.provider, session, kept)
    return replace(model, provider=provider, chosen=_sentence(kept, provider, set_before))


def _resumed(provider: ModelProvider, session: SessionModel, kept: ModelEntry) -> ModelProvider:
    if descriptor_of(provider.info.provider).in_process:
        return provider
    return ResumedProvider(provider, window=kept.window, must_run_here=session.must_run_here)


def _sentence(kept: ModelEntry, provider: ModelProvider, set_before: str) -> str:
    if provider.info.needs_notes:
        return ""
    window = f" (window {kept.window:,} tokens)" if kept.window else ""
    name = kept.name
    if provider.info.name != kept.model:
        name = f"{name}, which is {provider.info.name} now and was {kept.model}"
    elif kept.name != kept.model:
        name = f"{name} = {kept.model}"
    others = f" Your settings name {set_before}: --model {set_before} takes that." if set_before else ""
    return f"This session goes on with its model, {name}{window}.{others if set_before != kept.name else ''}"
