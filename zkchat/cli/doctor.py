"""`zkchat config doctor`: what is installed, reachable and wrong, and what to do about it."""

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from zkchat.app import (
    Workspace,
    check_embedder,
    check_model,
    create_provider,
    defined_servers,
    find_paths,
    find_vault,
    is_client_installed,
    load_workspace,
    local_folders_of,
    open_library,
    provider_statuses,
    stores,
    trust_states,
    unread_reason,
)
from zkchat.chat import DIGESTS, check_encodings
from zkchat.cli.common import CommandIO, JsonOption, ModelOption, SettingsVaultOption, current_io
from zkchat.cli.note_lookup import progress
from zkchat.core import (
    HOW_TO_APPROVE,
    Environment,
    ExitCode,
    UnconfirmedVault,
    ZkchatError,
    counted,
    install_command,
    is_pdf,
    is_writable,
)
from zkchat.index import Library
from zkchat.notes import summarize_warnings, unmatched

PACKAGES = (
    "typer", "rich", "prompt_toolkit", "pydantic", "msgspec", "tiktoken", "httpx", "pyyaml",
    "numpy", "pyromark", "markdown-it-py", "pystemmer", "tomlkit",
    "wordllama",
)  # fmt: skip
MARKS = {"ok": "✓", "absent": "·", "warning": "!", "problem": "✗"}


class Finding(Struct, frozen=True):
    subject: str
    state: Literal["ok", "absent", "warning", "problem"]
    text: str
    hint: str = ""
    exit_code: int = ExitCode.OK


def doctor(vault: SettingsVaultOption = None, model: ModelOption = None, json_output: JsonOption = False) -> int:
    """Check installation, vault, settings and models. Each problem is shown with what to do about it."""
    io = current_io(vault)
    with progress(io.environment, "Checking"):
        findings = list(_examine(io, model))
    if json_output:
        io.json([asdict(finding) for finding in findings])
    problems: set[str] = set()
    for finding in () if json_output else findings:
        if finding.text in problems:
            io.out(f"{MARKS['absent']} {finding.subject:<10} not checked, for the same reason", indent=13)
            continue
        io.out(f"{MARKS[finding.state]} {finding.subject:<10} {finding.text}", indent=13)
        if finding.hint:
            io.out(f"  {'':<10} → {finding.hint}", indent=15)
        if finding.state == "problem":
            problems.add(finding.text)
    if not json_output:
        io.out(f"\n{counted(len(problems), 'problem')} found." if problems else "\nEverything zkchat needs is there.")
    return next((finding.exit_code for finding in findings if finding.state == "problem"), ExitCode.OK)


def _examine(io: CommandIO, model: str | None) -> Iterator[Finding]:
    yield from _installation(io.environment)
    yield from _guarded("settings", _settings(io))
    yield from _guarded("vault", _all_of_vault(io))
    yield from _guarded("servers", _servers(io))
    yield from _guarded("model", _models(io, model))
    yield from _guarded("embeddings", _embeddings(io))


def _guarded(subject: str, found: Iterator[Finding]) -> Iterator[Finding]:
    """What is found; an error is a problem with the subject."""
    try:
        yield from found
    except ZkchatError as error:
        yield Finding(subject, "problem", error.message, error.hint, error.exit_code)


def _installation(environment: Environment) -> Iterator[Finding]:
    """What is wrong without any vault; of the user's own folders those that cannot be written."""
    yield Finding("Python", "ok", f"{sys.version.split()[0]} at {sys.executable}")
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Finding("packages", "problem", f"missing: {', '.join(missing)}", "Reinstall zkchat.", ExitCode.BUG)
    else:
        yield Finding("packages", "ok", ", ".join(found))
    try:
        check_encodings()
        yield Finding("tokens", "ok", f"counted with {', '.join(DIGESTS)}")
    except ZkchatError as error:
        yield Finding("tokens", "warning", f"{error.message} Tokens are estimated.", error.hint)
    if sqlite3.sqlite_version_info < (3, 35):
        text = f"SQLite {sqlite3.sqlite_version} is too old"
        yield Finding("SQLite", "problem", text, "Use a Python built with SQLite 3.35 or newer.", ExitCode.STORAGE)
    else:
        yield Finding("SQLite", "ok", sqlite3.sqlite_version)
    encoding = environment.stdout.encoding or "unknown"
    kind = "a terminal" if environment.stdout_is_tty else "no terminal (answers are printed plain)"
    columns = shutil.get_terminal_size().columns
    text = f"{kind}, {columns} columns, {encoding}, TERM={environment.variables.get('TERM', 'unset')}"
    if "utf" in encoding.lower():
        yield Finding("terminal", "ok", text)
    else:
        yield Finding("terminal", "warning", text, "Some letters cannot be shown: set LANG to a UTF-8 locale.")
    if not is_writable(environment.data_dir):
        text = f"{environment.data_dir} cannot be written, so conversations are not saved"
        yield Finding("folders", "problem", text, "Check its permissions.", ExitCode.STORAGE)
    if not is_writable(environment.cache_dir):
        text = f"{environment.cache_dir} cannot be written, so every command indexes your notes again"
        yield Finding("folders", "warning", text, "Check its permissions.")


def _settings(io: CommandIO) -> Iterator[Finding]:
    loaded = io.workspace(needs_vault=False).loaded
    changed = sum(origin.layer != "default" for origin in loaded.origins.values())
    yield Finding("settings", "ok", f"{changed} set, the rest are defaults")
    for warning in loaded.warnings:
        yield Finding("settings", "warning", warning)


def _all_of_vault(io: CommandIO) -> Iterator[Finding]:
    """What comes with the vault, its notes and its sessions, if there is a vault."""
    try:
        find_vault(io.environment, io.vault)
    except UnconfirmedVault as error:
        yield Finding("vault", "absent", error.message, error.hint)
        return
    yield from _guarded("trust", _trust(io))
    yield from _guarded("vault", _vault(io))
    yield from _guarded("sessions", _sessions(io))


def _trust(io: CommandIO) -> Iterator[Finding]:
    """What comes with the vault and is not used."""
    states = trust_states(io.environment, find_paths(io.environment, io.vault))
    left_out = [f"{item.kind} {item.name}" for item, state in states if state != "approved"]
    if left_out:
        more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        yield Finding("trust", "warning", f"not approved: {', '.join(left_out[:5])}{more}", HOW_TO_APPROVE)


def _vault(io: CommandIO) -> Iterator[Finding]:
    with open_library(io.environment, io.vault) as (paths, library):
        library.refresh()
        count, odd = library.note_count(), library.warnings()
        folders = local_folders_of(io.workspace())
        if library.is_empty():
            yield Finding("vault", "warning", f"{paths.vault} has no Markdown notes", "Choose another with --vault.")
        else:
            yield Finding("vault", "ok", f"{paths.vault}, {counted(count, 'note')}")
            for warning in unmatched(folders, [row.path for row in library.indexed()]):
                yield Finding("privacy", "warning", f"{warning.path}: {warning.text}")
        yield from _history(library)
        yield from _pdfs(io, library)
        for sentence in summarize_warnings(odd):
            yield Finding("vault", "warning", sentence)


def _history(library: Library) -> Iterator[Finding]:
    """Whether git tells when notes changed, where there is a repository."""
    status = library.history_status()
    if not status.is_repository:
        return
    if status.reason:
        text = f"the history of the vault cannot be read ({status.reason}), so notes have the dates of their files"
        yield Finding("git", "absent", text, "More on dates: zkchat help time")
    else:
        yield Finding(
            "git", "ok", "the dates of your notes come from git, or from the file if it changed since the last commit"
        )


def _pdfs(io: CommandIO, library: Library) -> Iterator[Finding]:
    count = sum(is_pdf(row.path) for row in library.files())
    if not count:
        return
    found = counted(count, "PDF")
    if reason := unread_reason(io.workspace()):
        yield Finding("PDFs", "absent", f"{found}. {reason[0]}", reason[1])
    elif waiting := library.unextracted():
        yield Finding("PDFs", "ok", f"{found}, {waiting:,} left to read", "zkchat config index reads them.")
    else:
        yield Finding("PDFs", "ok", f"{found}, none left to read")


def _sessions(io: CommandIO) -> Iterator[Finding]:
    with stores.open_sessions(io.environment, io.vault) as store:
        yield Finding("sessions", "ok", f"{len(store.sessions()):,} kept")


def _servers(io: CommandIO) -> Iterator[Finding]:
    """The MCP servers, where any are defined; none is started."""
    found = defined_servers(io.workspace(needs_vault=False))
    if found.servers:
        enabled = sum(server.state == "enabled" for server in found.servers)
        text = (
            f"{enabled} of {counted(len(found.servers), 'MCP server')} enabled; zkchat config servers list shows them"
        )
        yield Finding("servers", "ok", text)
        if not is_client_installed():
            yield Finding(
                "servers", "warning", "the package mcp is not installed, so no server is used", install_command("mcp")
            )
    for sentence in (*found.warnings, *(server.problem for server in found.servers if server.is_faulty)):
        yield Finding("servers", "warning", sentence)


def _model(workspace: Workspace) -> Iterator[Finding]:
    model = create_provider(workspace)
    yield from (Finding("model", "warning", warning) for warning in model.warnings)
    yield Finding("model", "ok", check_model(workspace, model), model.offer)


def _embeddings(io: CommandIO) -> Iterator[Finding]:
    """The embedding model, where one is set; its server is asked for one vector."""
    workspace = io.workspace(needs_vault=False)
    if workspace.settings.embeddings.model:
        yield Finding("embeddings", "ok", check_embedder(workspace))


def _models(io: CommandIO, model: str | None) -> Iterator[Finding]:
    workspace = load_workspace(io.environment, io.vault, model=model, needs_vault=False)
    yield from _guarded("model", _model(workspace))
    for status in provider_statuses(workspace):
        yield Finding(status.subject, "ok" if status.is_available else "absent", status.text)
