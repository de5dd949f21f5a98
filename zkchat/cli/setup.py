"""`zkchat setup`: three questions, and the settings that the answers make."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct

from zkchat.app import (
    LOCAL_ONLY,
    MODEL,
    SETUP_HELPS,
    WITHOUT_KEY,
    FoundFolder,
    SetupPlan,
    SetupResult,
    count_notes,
    default_vault,
    default_vault_setting,
    find_folder,
    find_settings_folder,
    load_workspace,
    local_folders_set,
    missing_folders,
    services_with_key,
    survey_models,
    top_folders,
    verify_model,
    with_settings,
    write_setup,
)
from zkchat.cli.common import CommandIO, JsonOption, current_io, flag, option
from zkchat.core import (
    Environment,
    HostedService,
    LostDefaultVault,
    ModelOverview,
    ModelRow,
    UsageError,
    VaultError,
    ZkchatError,
    counted,
    without_password,
)
from zkchat.render import embedding_line, fold, model_facts, sanitize_text

_NONE: Final = "-"
_INDENT: Final = 3
_COMMANDS: Final = (
    "To answer all at once: zkchat setup --yes --vault FOLDER --model NAME --local-only FOLDERS. One by one: "
    "zkchat config set model NAME, zkchat config set privacy.local_only FOLDERS."
)


def setup(
    vault: Annotated[Path | None, option("--vault", "FOLDER", "The folder of your notes.")] = None,
    model: Annotated[str | None, option("--model", "NAME", "The model that answers; `quote` for none.")] = None,
    local_only: Annotated[
        str | None,
        option(
            "--local-only",
            "FOLDERS",
            "Folders of notes that never leave this machine, separated by commas; - for none.",
        ),
    ] = None,
    yes: Annotated[bool, flag("--yes -y", "Do not ask: keep what is set, and let zkchat choose the rest.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Set up zkchat with three questions.

    They are: which folder has your notes, which model answers, and what must never leave this machine. The answers go
    into your settings file, after the last one; nothing is written to the folder of your notes. Run it again to change
    them: Enter keeps what is set.

    zkchat setup --yes --vault ~/notes --model quote --local-only "Journal, Work"
    """
    io = current_io()
    asks = not yes
    if asks and not (io.environment.stdin_is_tty and io.environment.stderr_is_tty):
        raise UsageError("zkchat setup asks questions, and needs a terminal.", hint=_COMMANDS)
    try:
        plan = _Questions(io, asks=asks).plan(vault, model, local_only)
    except (KeyboardInterrupt, EOFError):
        io.note("\nNothing was written.")
        raise typer.Abort from None
    _report(io, plan, write_setup(io.environment, plan), json_output=json_output)


class _Questions(Struct, frozen=True):
    """Asks what was not given on the command line; without `asks`, takes the defaults."""

    io: CommandIO
    asks: bool

    def plan(self, vault: Path | None, model: str | None, local_only: str | None) -> SetupPlan:
        if self.asks:
            self._say("Three questions. Enter keeps what is in brackets; Ctrl-C quits and changes nothing.")
        folder = self._folder(vault)
        default = default_vault_setting(folder) if folder and (vault or self.asks) else {}
        chosen = self._model(model, folder)
        folders = self._local_folders(local_only, folder)
        return SetupPlan(folder=folder, settings={**chosen, **default, LOCAL_ONLY: folders})

    def _folder(self, named: Path | None) -> FoundFolder | None:
        environment = self.io.environment
        found = find_folder(environment, named) if named else self._folder_offered()
        is_offered = found.is_vault or (not found.is_home and count_notes(found.path).notes > 0)
        if named or not self.asks:
            return found if found.is_vault else None
        self.io.note("")
        self._say("1. Which folder has your notes?")
        while True:
            default = f"{found.path}, {_notes_in(found)}" if is_offered else "none yet"
            typed = self._ask(f"   Folder [{default}]:")
            if not typed:
                return found if is_offered else None
            try:
                other = find_folder(environment, Path(typed))
            except VaultError as error:
                self._say(f"   {error.message}")
                continue
            if not other.is_home or self.io.confirm(f"   Chat with your whole home folder ({_notes_in(other)})?"):
                self._say(f"   {other.path}: {_notes_in(other)}.")
                return other

    def _folder_offered(self) -> FoundFolder:
        """The default vault that is set, else the vault around, else the current folder."""
        environment = self.io.environment
        try:
            return default_vault(environment) or find_settings_folder(environment, None)
        except LostDefaultVault as error:
            self._say(error.message)
            return find_settings_folder(environment, None)

    def _model(self, named: str | None, folder: FoundFolder | None) -> dict[str, str]:
        """The settings of the chosen model, which has to answer."""
        vault = folder.path if folder else None
        if named and "://" in named:
            return self._model_of(HostedService(without_password(named), "", named), vault)
        if named:
            _verify(self.io.environment, vault, named)
            return {MODEL: named}
        overview = _survey(self.io.environment, vault)
        if not self.asks:
            return {MODEL: overview.in_use}
        self.io.note("")
        self._say("2. Which model should answer?")
        services = [] if overview.in_use.startswith("openai:") else services_with_key(self.io.environment.variables)
        numbered = {str(number): each for number, each in enumerate(self._list_models(overview, services), 1)}
        while True:
            typed = self._ask(f"   Number, name, or the address of a server [{overview.in_use}]:") or overview.in_use
            name = numbered.get(typed, typed)
            service = next((each for each in services if each.name == name), None)
            if "://" in name:
                service = HostedService(without_password(name), "", name)
            try:
                if service:
                    return self._model_of(service, vault)
                _verify(self.io.environment, vault, name)
            except ZkchatError as error:
                self._say(f"   {error.message} {error.hint}".rstrip())
                continue
            return {MODEL: name}

    def _list_models(self, overview: ModelOverview, services: Sequence[HostedService] = ()) -> list[str]:
        """Print the models with their numbers, and return their names in this order."""
        rows, left_out = fold(overview.rows)
        names = [row.name for row in rows] + [service.name for service in services]
        facts = [", ".join(model_facts(row)) + _warning(row) for row in rows]
        facts += [f"uses the key in {service.key_variable}; your notes are sent there" for service in services]
        width = max(map(len, names))
        for number, (name, about) in enumerate(zip(names, facts, strict=True), start=1):
            self.io.note(f"   {number:>2}. {name:<{width}}  {about}", indent=7)
        if left_out:
            self._say(f"   … and {left_out:,} more: zkchat models --json")
        if overview.offer:
            self._say(f"   {overview.offer.replace(SETUP_HELPS, '')}")  # which is what the user does
        pull = "Optional, for a better search in English notes (23 MB): zkchat models pull all-minilm-l6-v2"
        self._say(f"   {embedding_line(overview) or pull}")
        return names

    def _model_of(self, service: HostedService, vault: Path | None) -> dict[str, str]:
        """A model of a hosted service or a server of the user's, with the settings that lead there."""
        settings = {"openai.base_url": service.base_url}
        if service.key_variable:
            settings["openai.api_key_env"] = service.key_variable
        environment = with_settings(self.io.environment, {**WITHOUT_KEY, **settings})
        overview = _survey(environment, vault)
        rows = [row for row in overview.rows if row.name.startswith("openai:")]
        if not rows:
            problem = next(
                (each.problem for each in overview.listings if each.host in service.base_url and each.host), ""
            )
            raise UsageError(f"{service.name} lists no models. {problem}".rstrip())
        self._say(f"   Models of {service.name}: {', '.join(row.name.partition(':')[2] for row in rows[:20])}")
        if warning := _warning(rows[0]):
            self._say(f"   {service.name} is not on this machine{warning}, except private ones.")
        typed = self._ask(f"   Which one? [{rows[0].name.partition(':')[2]}]:") if self.asks else ""
        name = f"openai:{typed.removeprefix('openai:')}" if typed else rows[0].name
        _verify(environment, vault, name)
        return {**settings, MODEL: name}

    def _local_folders(self, named: str | None, folder: FoundFolder | None) -> str:
        """The folders that stay on this machine, separated by commas; empty for none."""
        before = ", ".join(local_folders_set(self.io.environment))
        if named is not None:
            return "" if named.strip() == _NONE else named.strip()
        if not self.asks:
            return before
        self.io.note("")
        self._say("3. Which folders of notes must never leave this machine, whichever model answers?")
        if folder and (names := top_folders(folder.path)):
            self._say(f"   Your folders: {', '.join(names)}")
        question = f"   Folders, separated by commas; . for all notes, {_NONE} for none [{before or 'none'}]:"
        typed, refused = self._ask(question), None
        while folder and typed not in {_NONE, before, refused} and (absent := missing_folders(folder.path, typed)):
            self._say(f"   {folder.path} has no {', '.join(absent)}. Type it again to keep it anyway.")
            typed, refused = self._ask(question), typed
        return before if not typed else "" if typed == _NONE else typed

    def _say(self, text: str) -> None:
        self.io.note(text, indent=_INDENT)

    def _ask(self, question: str) -> str:
        """A line that the user types. Raises EOFError at the end of the input."""
        environment = self.io.environment
        environment.stderr.write(sanitize_text(f"{self.io.wrap(question, environment.stderr, indent=_INDENT)} "))
        environment.stderr.flush()
        line = environment.stdin.readline()
        if not line:
            raise EOFError
        return line.strip()


def _notes_in(found: FoundFolder) -> str:
    count = count_notes(found.path)
    return f"{'' if count.is_complete else 'at least '}{counted(count.notes, 'note')}"


def _warning(row: ModelRow) -> str:
    return "; your notes are sent there" if row.on_this_machine is False and not row.problem else ""


def _survey(environment: Environment, vault: Path | None) -> ModelOverview:
    return asyncio.run(survey_models(load_workspace(environment, vault, needs_vault=False)))


def _verify(environment: Environment, vault: Path | None, name: str) -> None:
    asyncio.run(verify_model(load_workspace(environment, vault, needs_vault=False), name))


def _report(io: CommandIO, plan: SetupPlan, result: SetupResult, *, json_output: bool) -> None:
    folder = plan.folder
    if json_output:
        io.json({"file": result.file, "settings": result.written, "vault": folder.path if folder else None})
        return
    io.out(f"\nWritten to {result.file}:" if result.written else "\nYour settings stay as they were.")
    for key, value in result.written.items():
        io.out(f"  {key} = {without_password(value)}" if value else f"  {key} removed")
    if folder is None:
        io.out("To start with the folder of your notes: zkchat --vault FOLDER")
        return
    if result.is_new_vault:
        io.out(f"Added {folder.path} to your vaults.")
    is_found = find_settings_folder(io.environment, None).path == folder.path
    io.out(f"To start: {'zkchat' if is_found else f'zkchat --vault {folder.path}'}")
