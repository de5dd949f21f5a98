"""Which model to use where none is set: that of the first provider that offers one."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from typing import Final

from msgspec.structs import replace

from zkchat.errors import ProviderError
from zkchat.providers.descriptor import Choice, OfferedModel, ProviderContext, ProviderDescriptor
from zkchat.providers.locality import is_reachable
from zkchat.providers.registry import descriptors
from zkchat.subprocesses import DaemonThreads

PROBE_TIMEOUT = 0.3
"""Seconds that a server may take to accept a connection."""
SETUP_HELPS: Final = "; `zkchat setup` helps"
"""The end of the sentence, left out by the setup itself."""
HOW_TO_GET_ONE: Final = (
    "For answers in words, start Ollama (https://ollama.com) and `ollama pull qwen3:4b`, or put a key into the "
    f"variable OPENAI_API_KEY{SETUP_HELPS}."
)


def choose(context: ProviderContext) -> Choice:
    """The model to use. Servers are probed at once, and only one that answers is asked for its models."""
    addresses = {descriptor.name: descriptor.address(context) for descriptor in descriptors()}
    reached = reachable(filter(None, addresses.values()), is_reachable)

    def offered_by(descriptor: ProviderDescriptor) -> Sequence[OfferedModel] | None:
        address = addresses[descriptor.name]
        if address and address not in reached:
            return None
        try:
            return descriptor.offered_models(context)
        except ProviderError:
            return None  # whatever listens there, it is no server that we can talk to

    return first_choice(context, offered_by)


def first_choice(
    context: ProviderContext, offered_by: Callable[[ProviderDescriptor], Sequence[OfferedModel] | None]
) -> Choice:
    """The choice of the first provider that has one; small models are only offered.

    `offered_by` gives the models of a provider, or None where its server does not answer.
    """
    suggestions, small = [], []
    for descriptor in descriptors():
        offered = offered_by(descriptor)
        small += [f"{descriptor.name}:{model.id}" for model in offered or () if model.is_small]
        choice = descriptor.choose([model.id for model in offered or () if not model.is_small], context)
        if choice and choice.model == "quote":
            suggestions += [_about_small(small)] if small else []
            return replace(choice, offer=" ".join(filter(None, suggestions)) or HOW_TO_GET_ONE)
        if choice:
            return choice
        answers = offered is not None
        suggestions.append(descriptor.suggestion(context, answers=answers, has_models=bool(offered)))
    raise AssertionError("the provider `quote` can always be chosen")


def _about_small(names: Sequence[str]) -> str:
    """One sentence about models that are there and not used by themselves."""
    first, *others = names
    more = f" (and {len(others)} more)" if others else ""
    return f"{first}{more} is there, but too small to be relied on: `zkchat config set model {first}` uses it."


def reachable(addresses: Iterable[str], probe: Callable[[str], bool]) -> set[str]:
    """Those that answer, all probed at once. A name that takes long to look up is not waited for."""
    probes = {address: DaemonThreads().submit(probe, address) for address in addresses}
    done, _ = wait(probes.values(), PROBE_TIMEOUT)
    return {address for address, probed in probes.items() if probed in done and probed.result()}
