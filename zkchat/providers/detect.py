"""Which model to use where none is set: that of the first provider that offers one."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from zkchat.errors import ProviderError
from zkchat.providers.descriptor import Choice, ProviderContext, ProviderDescriptor
from zkchat.providers.locality import is_reachable
from zkchat.providers.registry import descriptors

PROBE_TIMEOUT = 0.3
"""Seconds that a server may take to accept a connection."""


def choose(context: ProviderContext) -> Choice:
    """The model to use. Servers are probed at once, and only one that answers is asked for its models."""
    addresses = {descriptor.name: descriptor.address(context) for descriptor in descriptors()}
    reached = reachable(filter(None, addresses.values()), is_reachable)

    def names_of(descriptor: ProviderDescriptor) -> Sequence[str]:
        address = addresses[descriptor.name]
        if address and address not in reached:
            return ()
        try:
            return descriptor.model_names(context)
        except ProviderError:
            return ()  # whatever listens there, it is no server that we can talk to

    return first_choice(context, names_of)


def first_choice(context: ProviderContext, names_of: Callable[[ProviderDescriptor], Sequence[str]]) -> Choice:
    """The choice of the first provider that has one; `names_of` gives the ids of the models that it offers."""
    for descriptor in descriptors():
        if choice := descriptor.choose(names_of(descriptor), context):
            return choice
    raise AssertionError("the provider `quote` can always be chosen")


def reachable(addresses: Iterable[str], probe: Callable[[str], bool]) -> set[str]:
    """Those that answer, all probed at once. A name that takes long to look up is not waited for."""
    found: set[str] = set()

    def ask(address: str) -> None:
        if probe(address):
            found.add(address)

    threads = [threading.Thread(target=ask, args=(address,), daemon=True) for address in addresses]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + PROBE_TIMEOUT
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return set(found)
