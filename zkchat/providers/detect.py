"""Which model to talk to when nobody has said: the first that is there (SPEC 8.2)."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from zkchat.model.secrets import without_password

Server = Literal["ollama", "openai"]

OPENAI_MODEL = "gpt-5-mini"
SECONDS = 0.3
"""How long a server may take to accept a connection."""
HOW_TO_CHOOSE = "`zkchat models` shows what there is, `zkchat config set model NAME` chooses."


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a model may be found."""

    ollama_host: str
    openai_base_url: str
    """Empty: OpenAI itself."""
    openai_key: bool
    """Whether there is a key; what it is, nobody needs to know here."""
    local: Sequence[str]
    """Names of the models in files that can be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    model: str
    why: str

    @property
    def sentence(self) -> str:
        return f"No model is set, so zkchat uses {self.model}: {self.why}. {HOW_TO_CHOOSE}"


def detect(around: Surroundings, *, reach: Callable[[str], bool], offered: Callable[[Server], Sequence[str]]) -> Choice:
    """The model to use. `reach` says within `SECONDS` whether a server is there; only then its models are asked for."""
    there = _reached([address for address in (around.ollama_host, around.openai_base_url) if address], reach)
    if around.ollama_host in there and (names := offered("ollama")):
        return Choice(model=f"ollama:{names[0]}", why=f"Ollama answers at {without_password(around.ollama_host)}")
    if around.openai_base_url in there and (names := offered("openai")):
        return Choice(model=f"openai:{names[0]}", why=f"a server answers at {without_password(around.openai_base_url)}")
    if around.openai_key and not around.openai_base_url:
        return Choice(model=f"openai:{OPENAI_MODEL}", why="there is a key for OpenAI, to whom your notes are sent")
    if around.local:
        return Choice(model=f"local:{around.local[0]}", why="it is on this machine")
    return Choice(model="quote", why="there is no model, so sentences of your notes are quoted")


def _reached(addresses: Iterable[str], reach: Callable[[str], bool]) -> set[str]:
    """Those that answered, all asked at once. A name that takes long to look up is not waited for."""
    there: set[str] = set()

    def ask(address: str) -> None:
        if reach(address):
            there.add(address)

    threads = [threading.Thread(target=ask, args=(address,), daemon=True) for address in addresses]
    for thread in threads:
        thread.start()
    until = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return set(there)
