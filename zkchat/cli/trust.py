"""`zkchat config trust`, and the question that a conversation begins with in a vault that brings something new."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from zkchat.app import VaultTrust, describe_item, find_paths, left_out_sentence, own_server_names, trust_states
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, YesOption, current_io, flag
from zkchat.core import StorageError, TrustState, UsageError, VaultItem, plain_without

States = Sequence[tuple[VaultItem, TrustState]]

MAX_ITEMS_ASKED = 30
"""In one question; more would scroll away before they are read."""
_STATE_WORDS = {"approved": "approved", "declined": "declined", "changed": "changed since you decided", "new": "new"}


def trust(
    vault: VaultOption = None,
    yes: YesOption = False,
    revoke: Annotated[bool, flag("--revoke", "Revoke every approval for this vault.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Show what comes with the vault, and approve it.

    Settings that are not harmless, agents, rules, ZKCHAT.md or AGENTS.md, MCP servers (.mcp.json) and databases of a
    vault are used only after your approval. You approve what they contain now: if one changes, you are asked again.
    """
    io = current_io(vault)
    if yes and revoke:
        raise UsageError("Approve it, or revoke approval?", hint="Choose: --yes or --revoke.")
    vault_trust = VaultTrust(find_paths(io.environment, io.vault))
    if revoke:
        vault_trust.revoke()
    states = trust_states(io.environment, vault_trust.paths)
    if yes:
        vault_trust.approve(item for item, _ in states)
        states = trust_states(io.environment, vault_trust.paths)
    if not json_output:
        _show(io, vault_trust, states, may_ask=not revoke)
        return
    items = [
        {**plain_without(item, "content"), "about": list(about), "state": state}
        for item, state, about in _described(io, vault_trust, states)
    ]
    io.json({"vault": str(vault_trust.paths.vault), "items": items})


def ask_to_approve(io: CommandIO, *, may_ask: bool) -> None:
    """Ask about what is new in the vault, where somebody is there to be asked; else say that it is left out."""
    vault_trust = VaultTrust(find_paths(io.environment, io.vault))
    states = trust_states(io.environment, vault_trust.paths)
    pending = [(item, state) for item, state in states if state in {"new", "changed"}]
    left_out = [(item, state) for item, state in states if state != "approved"]
    can_ask = may_ask and io.environment.stdin_is_tty and io.environment.stderr_is_tty
    if pending and can_ask and len(pending) <= MAX_ITEMS_ASKED:
        io.note("This vault contains the following, which you have not approved; somebody else may have written it:")
        for line in _item_lines(io, vault_trust, pending):
            io.note(line)
        _decide(io, vault_trust, pending)
    elif left_out:
        io.note(left_out_sentence(left_out))


def _show(io: CommandIO, vault_trust: VaultTrust, states: States, *, may_ask: bool) -> None:
    if not states:
        io.out(f"Nothing in {vault_trust.paths.vault} needs your approval.")
        return
    io.out(f"What comes with {vault_trust.paths.vault}:")
    for line in _item_lines(io, vault_trust, states):
        io.out(line)
    left_out = [(item, state) for item, state in states if state != "approved"]
    if not left_out:
        io.out(
            "Everything is approved. If any of it changes, you are asked again. To revoke: zkchat config trust --revoke"
        )
    elif may_ask and io.environment.stdin_is_tty:
        _decide(io, vault_trust, left_out)
    elif may_ask:
        io.out("What is not approved is not used. To approve all of it: zkchat config trust --yes")


def _decide(io: CommandIO, vault_trust: VaultTrust, states: States) -> None:
    items = [item for item, _ in states]
    try:
        if io.confirm("Without your approval none of this is used. Approve it?"):
            vault_trust.approve(items)
            io.note("Approved. If any of it changes, you are asked again.")
        else:
            vault_trust.decline(items)
            io.note("It is not used. To approve it later: zkchat config trust")
    except StorageError as error:
        io.note(f"Your decision could not be saved, so none of it is used. {error.message}")


def _item_lines(io: CommandIO, vault_trust: VaultTrust, states: States) -> Iterator[str]:
    for item, state, about in _described(io, vault_trust, states):
        yield f"  {item.kind} {item.name}  ({_STATE_WORDS[state]})"
        yield from (f"      {line}" for line in about)


def _described(
    io: CommandIO, vault_trust: VaultTrust, states: States
) -> Iterator[tuple[VaultItem, TrustState, Sequence[str]]]:
    """Each item with lines on what it is, and on a server of the user that counts before it."""
    own = own_server_names(io.environment, vault_trust.paths)
    for item, state in states:
        is_overridden = item.kind == "server" and item.name in own
        more = ("is not used while your settings have a server of this name",) if is_overridden else ()
        yield item, state, (*describe_item(item), *more)
