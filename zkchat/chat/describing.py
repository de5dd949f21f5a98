"""A model's sentences for long documents (SPEC 2.5): written while nobody waits, left at once when somebody does."""

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing, suppress

from zkchat.chat.summaries import LONGEST, Place, Summaries, as_read
from zkchat.context.documents import wants_evidence, wrapped
from zkchat.context.instructions import DESCRIPTION
from zkchat.context.language import language_of
from zkchat.errors import VaultError, ZkchatError
from zkchat.model.message import ChatMessage
from zkchat.model.prompt import Finish, ModelRequest, PromptMessage, TextChunk
from zkchat.ports import ModelProvider
from zkchat.vault.library import Library
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import asked_terms, terms

MOST_PER_TURN = 3
"""Documents that are described after an answer: it costs tokens, or the time of the user's own machine."""
READ = 3000
"""Characters of a document that the model gets to see."""
LONGEST_ANSWER = 512
"""In tokens: a sentence, and what a model may think before it."""
MOST_CHARACTERS = 20 * LONGEST
"""Of an answer: a model that goes on describes nothing."""
WARMTH = 0.3
OWN_WORDS = 0.5
"""The share of its telling words that a sentence must have from the document."""

_EXCUSE = re.compile(
    r"(?:i'?m sorry|sorry|i can(?:no|'|’)t|i am unable|as an? |unfortunately|sure|here)\b", re.IGNORECASE
)
"""How models begin that do something else than they were asked for."""


class Describing:
    """The background work of one conversation. It sees what the conversation's model may see, and never raises."""

    def __init__(
        self,
        *,
        summaries: Summaries,
        library: Library,
        provider: ModelProvider,
        window: Callable[[], int],
        is_wanted: Callable[[], bool],
    ) -> None:
        self._summaries = summaries
        self._library = library
        self._provider = provider
        self._window = window
        self._is_wanted = is_wanted
        self._asked: set[Place] = set()
        self._is_tidy = False
        self._task: asyncio.Task[None] | None = None

    def soon(self, answer: ChatMessage, request: Callable[[], ModelRequest]) -> None:
        """Have those of the answer's documents described that need it, the cited ones first, until `stop`.

        `request` gives the one that was answered.
        """
        self.stop()
        if self._is_wanted() and self._is_able():
            self._task = asyncio.get_running_loop().create_task(self._describe(answer, request))

    def stop(self) -> None:
        """At once, whatever is under way: what was written so far is kept."""
        if self._task:
            self._task.cancel()
        self._task = None

    def _is_able(self) -> bool:
        """Small models, and those that only quote, cannot do it."""
        info = self._provider.info
        return not (info.needs_notes or wants_evidence(info, self._window()))

    async def _describe(self, answer: ChatMessage, request: Callable[[], ModelRequest]) -> None:
        with suppress(ZkchatError):  # nobody waits for it, and the next turn tells what is wrong
            if not self._is_tidy:
                self._is_tidy = True
                self._summaries.tidy()
            cited_first = sorted(answer.references, key=lambda reference: not reference.cited)
            new = [place for place in self._summaries.cut(cited_first) if place not in self._asked]
            if new and (before := self._said_before(answer, request)):
                for place in new[:MOST_PER_TURN]:
                    self._asked.add(place)
                    await self._describe_one(place, before)

    def _said_before(self, answer: ChatMessage, request: Callable[[], ModelRequest]) -> ModelRequest | None:
        """What the wish for a sentence follows; None where there is no room left after it.

        A server on this machine keeps what it has read of the conversation, and would read all of it again in the next
        turn if it were asked anything else meanwhile. Elsewhere every token is paid for.
        """
        if not self._provider.info.on_this_machine:
            return ModelRequest(messages=(), window=self._window())
        usage = answer.request_context.usage if answer.request_context else None
        # Of characters no text has fewer than tokens, or nearly so.
        if usage is None or usage.total + answer.token_count + READ + LONGEST_ANSWER > usage.window:
            return None
        before = request()
        return before.model_copy(
            update={"messages": (*before.messages, PromptMessage(role="assistant", text=answer.text))}
        )

    async def _describe_one(self, place: Place, before: ModelRequest) -> None:
        try:
            text = self._library.section(place.path, place.anchor)
        except VaultError:
            return  # gone since, or kept from this model
        wish = f"{wrapped(place.path, text[:READ])}\n\n{DESCRIPTION}"
        if sentence := accepted(await self._written(wish, before), text):
            self._summaries.improve(place, sentence)

    async def _written(self, wish: str, before: ModelRequest) -> str:
        request = before.model_copy(
            update={
                "messages": (*before.messages, PromptMessage(role="user", text=wish)),
                "max_answer_tokens": LONGEST_ANSWER,
                "temperature": WARMTH,
            }
        )
        said, finish = "", None
        async with aclosing(self._provider.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    said += chunk.text
                    if len(said) > MOST_CHARACTERS:
                        return ""
                elif isinstance(chunk, Finish):
                    finish = chunk
        return said if finish and finish.reason == "stop" else ""


def accepted(said: str, text: str) -> str:
    """What a model said of a text, if it is one short sentence about it in its language; else nothing."""
    sentence = as_read(said)
    if not sentence or len(sentence) > LONGEST or len(sentences(said.strip())) != 1 or _EXCUSE.match(sentence):
        return ""
    written, language = language_of(sentence), language_of(text)
    if written and language and written != language:
        return ""
    own, there = {*asked_terms(sentence)}, {*terms(text)}
    return sentence if len(own & there) >= OWN_WORDS * len(own) else ""
