"""The settings in force for a vault: loaded, checked, and changed in the user's file or the vault's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from zkchat.app.paths import Paths
from zkchat.app.trust import VaultTrust
from zkchat.config import (
    Loaded,
    Settings,
    accepted_values,
    field_of,
    is_user_only,
    load,
    needs_trust,
    read_vault_file,
    settings_item,
    unknown_setting,
    value_of,
)
from zkchat.core import (
    Agent,
    ConfigError,
    Environment,
    Scope,
    TrustState,
    VaultItem,
    locked,
    open_debug_log,
    resolve_link,
)

BASE_URL = "openai.base_url"
LOCK_SECONDS = 30.0


def load_settings(
    environment: Environment, paths: Paths, *, model: str | None = None, agent: Agent | None = None
) -> Loaded:
    """The settings in force, with the model that the user named and what an agent changes."""
    flags = {f"context.{name}": value for name, value in agent.context.items()} if agent else {}
    chosen = model or (agent.model if agent else "") or None
    return load(
        paths.user_config,
        paths.vault_config,
        environment.variables,
        {"model": chosen, **flags},
        VaultTrust(paths).is_approved,
    )


def trust_states(environment: Environment, paths: Paths) -> list[tuple[VaultItem, TrustState]]:
    """All that comes with the vault, with the user's decisions; databases too, where they are to be used."""
    try:
        in_vault = load_settings(environment, paths).settings.storage.location == "vault"
    except ConfigError:
        in_vault = False  # approved settings may be wrong: then this is how to take the approval back
    return VaultTrust(paths).states(in_vault=in_vault)


def own_server_names(environment: Environment, paths: Paths) -> frozenset[str]:
    """The names of MCP servers in the user's settings, which count before a vault's; none where those are wrong."""
    try:
        return frozenset(load_settings(environment, paths).settings.mcpServers)
    except ConfigError:
        return frozenset()


def setting_value(loaded: Loaded, key: str) -> object:
    """Raises `ConfigError` for a setting that there is not."""
    if key not in loaded.origins:
        raise unknown_setting(key, among=loaded.origins)
    return value_of(loaded.settings, key)


def known_keys(environment: Environment, settings: Settings) -> tuple[str, ...]:
    """The values of variables named like keys, and of those that the settings name; no export, history or log may
    hold them."""
    from zkchat.core import REFERENCE  # which brings modules that few commands need

    models = settings.models.values()
    headers = [text for model in models for text in model.headers.values()]
    sections = [*models, *(getattr(settings, name) for name in settings.__struct_fields__)]
    named = {each.api_key_env for each in sections if hasattr(each, "api_key_env")}
    named |= {found["name"] for text in headers for found in REFERENCE.finditer(text)}
    endings, variables = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD"), environment.variables.items()
    return tuple(value for name, value in variables if value and (name.upper().endswith(endings) or name in named))


def keep_debug_log(environment: Environment, loaded: Loaded) -> Loaded:
    """Log what follows, where the settings say so; with a warning where the log cannot be written."""
    wanted: object = loaded.settings.debug.log
    if wanted is True:  # by `--debug`, say: then a place that the user has named before counts
        wanted = loaded.of_user.get("debug.log") or True
    file = environment.state_dir / "debug.log" if wanted is True else None
    if isinstance(wanted, str) and wanted:
        file = environment.home / wanted[2:] if wanted.startswith("~/") else Path(wanted)
    try:
        open_debug_log(file, known_keys(environment, loaded.settings) if file else ())
    except OSError as error:
        text = f"The debug log {file} cannot be written: {error.strerror}."
        return replace(loaded, warnings=(*loaded.warnings, text))
    return loaded


def setting_help(loaded: Loaded, key: str) -> list[str]:
    """What a setting is for, what it takes, its default, and where its value is from."""
    field, origin = field_of(key), loaded.origins[key]
    assert field is not None
    default = "none" if field.is_required else "unset" if field.default is None else json.dumps(field.default)
    of_value = "" if origin.layer == "default" else f" This value is set {origin.phrase}."
    return [field.description, f"It takes {accepted_values(key)}. Default: {default}.{of_value}"]


def check_setting(key: str, value: str) -> None:
    """Raises `ConfigError` for a setting that there is not, and for a value that it cannot have."""
    if not field_of(key):
        raise unknown_setting(key)
    load(None, None, {}, {key: value}, lambda _: False)


class SettingChange(Struct, frozen=True, kw_only=True):
    """What came of changing a settings file."""

    file: Path
    was_set: bool = True
    is_approved: bool = True
    """False where the vault's file asks for more than the user has approved, so that the change waits for that."""


class SettingsEditor(Struct, frozen=True):
    """Changes one of the two settings files. While it does, nobody else changes one.

    What the vault's file then asks for is approved by the user's own command, unless it asked for something unapproved
    before.
    """

    paths: Paths
    scope: Scope

    def set(self, key: str, value: str) -> SettingChange:
        """Write a setting. Raises `ConfigError` where there is no such setting, or it cannot have that value."""
        from zkchat.config import edit

        if self.scope == "vault" and is_user_only(key):
            raise ConfigError(
                f"'{key}' can only be set in your own settings, not in a vault's.",
                hint=f"Set it there: zkchat config set {key} VALUE",
            )
        file, beneath = self._file
        with self._locked() as requests:
            before = dict(requests)
            requests[key] = edit.set_value(file, key, value, beneath=beneath)
            return SettingChange(file=file, is_approved=self._approve(before, requests))

    def unset(self, key: str) -> SettingChange:
        from zkchat.config import edit

        file, beneath = self._file
        with self._locked() as requests:
            was_set = edit.unset(file, key, beneath=beneath)
            left = {each: value for each, value in requests.items() if each != key and not each.startswith(f"{key}.")}
            return SettingChange(file=file, was_set=was_set, is_approved=self._approve(requests, left))

    @property
    def _file(self) -> tuple[Path, Path | None]:
        """The settings file, and the folder below which no link is followed."""
        if self.scope == "user":
            # Many people keep their dot files elsewhere and link to them: the link stays.
            return resolve_link(self.paths.user_config), None
        return self.paths.vault_config, self.paths.vault

    @contextmanager
    def _locked(self) -> Iterator[dict[str, object]]:
        """With the lock held, what the vault's file asks for; nothing where the user's file is changed."""
        with locked(self.paths.settings_lock, seconds=LOCK_SECONDS):
            yield dict(read_vault_file(self.paths.vault_config).requests) if self.scope == "vault" else {}

    def _approve(self, before: dict[str, object], after: dict[str, object]) -> bool:
        requests = {key: value for key, value in after.items() if self.scope == "vault" and needs_trust(key)}
        if not requests or requests == before:
            return True
        previous = settings_item(before) if before else None
        return VaultTrust(self.paths).approve_own(previous, settings_item(requests))
