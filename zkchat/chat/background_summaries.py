"""Summaries of documents that a model writes in the background, while the user reads an answer."""

import asyncio
import re
from contextlib import aclosing, suppress
from typing import Literal

from msgspec.structs import replace

from zkchat.chat.document_summaries import MAX_SUMMARY_CHARS, DocumentVersion, Summaries, plain_line
from zkchat.context.assembly import request_from
from zkchat.context.budget import Shares, budget_for
from zkchat.context.formatting import format_document
from zkchat.context.instructions import DESCRIPTION
from zkchat.context.selection import wants_evidence
from zkchat.errors import VaultError, ZkchatError
from zkchat.model.message import ChatMessage
from zkchat.model.patterns import lazy_pattern
from zkchat.model.prompt import Finish, ModelRequest, PromptMessage, TextChunk
from zkchat.model.session_history import History
from zkchat.ports.models import ModelProvider
from zkchat.vault.library import Library
from zkchat.vault.notes.language import detect_language
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.search.terms import query_terms, terms

MAX_PER_TURN = 3
"""Documents that are described after an answer: it costs tokens, or the time of the user's own machine."""
MAX_DOCUMENT_CHARS = 3000
"""Characters of a document that the model gets to see."""
MAX_ANSWER_TOKENS = 512
"""In tokens: a sentence, and what a model may think before it."""
MAX_ANSWER_CHARS = 20 * MAX_SUMMARY_CHARS
"""Of an answer: a model that goes on describes nothing."""
TEMPERATURE = 0.3
"""At which a model describes documents."""
MIN_OVERLAP = 0.5
"""The share of its telling words that a sentence must have from the document."""

_EXCUSE = lazy_pattern(
    r"(?:i'?m sorry|sorry|i can(?:no|'|’)t|i am unable|as an? |unfortunately|sure|here)\b", re.IGNORECASE
)
"""How models begin that do something else than they were asked for."""


SummaryMode = Literal["always", "local", "never"]
"""With which models documents are described: with all, with those on this machine, with none."""


class BackgroundSummaries:
    """Has long documents of an answer described by the model while the user reads; stopped when the next turn begins.

    It sees what the conversation's model may see, and never raises.
    """

    def __init__(
        self,
        *,
        summaries: Summaries,
        library: Library,
        provider: ModelProvider,
        shares: Shares,
        mode: SummaryMode = "always",
    ) -> None:
        self._summaries = summaries
        self._library = library
        self._provider = provider
        self._shares = shares
        self._mode = mode
        self._asked: set[DocumentVersion] = set()
        self._is_tidy = False
        self._task: asyncio.Task[None] | None = None

    def start(self, answer: ChatMessage, history: History) -> None:
        """Have those of the answer's documents described that need it, the cited ones first, until `stop`."""
        self.stop()
        if self._is_wanted() and self._is_able():
            self._task = asyncio.get_running_loop().create_task(self._describe(answer, history))

    def stop(self) -> None:
        """At once, whatever is under way: what was written so far is kept."""
        if self._task:
            self._task.cancel()
        self._task = None

    @property
    def _window(self) -> int:
        return budget_for(self._provider.info, self._shares).window

    def _is_wanted(self) -> bool:
        match self._mode:
            case "always":
                return True
            case "local":
                return self._provider.info.on_this_machine
            case "never":
                return False

    def _is_able(self) -> bool:
        """Small models, and those that only quote, cannot do it."""
        info = self._provider.info
        return not (info.needs_notes or wants_evidence(info, self._window, can_read=info.calls_tools))

    async def _describe(self, answer: ChatMessage, history: History) -> None:
        with suppress(ZkchatError):  # nobody waits for it, and the next turn reports what is wrong
            if not self._is_tidy:
                self._is_tidy = True
                self._summaries.tidy()
            cited_first = sorted(answer.references, key=lambda reference: not reference.cited)
            new = [version for version in self._summaries.truncated(cited_first) if version not in self._asked]
            if new and (before := self._prefix(answer, history)):
                for version in new[:MAX_PER_TURN]:
                    self._asked.add(version)
                    await self._describe_one(version, before)

    def _prefix(self, answer: ChatMessage, history: History) -> ModelRequest | None:
        """What the request for a sentence follows; None where there is no room left after it.

        A server on this machine caches the conversation as its prompt prefix, and would read all of it again in the
        next turn if it were asked anything else meanwhile. Elsewhere every token is paid for.
        """
        if not self._provider.info.on_this_machine:
            return ModelRequest(messages=(), window=self._window)
        record = answer.request_context
        usage = record.usage if record else None
        # Of characters no text has fewer than tokens, or nearly so.
        if (
            not record
            or not usage
            or usage.total + answer.token_count + MAX_DOCUMENT_CHARS + MAX_ANSWER_TOKENS > usage.window
        ):
            return None
        before = request_from(record, history.messages, history.contents)
        return replace(before, messages=(*before.messages, PromptMessage(role="assistant", text=answer.text)))

    async def _describe_one(self, version: DocumentVersion, before: ModelRequest) -> None:
        try:
            text = self._library.section(version.path, version.anchor)
        except VaultError:
            return  # gone since, or kept from this model
        prompt = f"{format_document(version.path, text[:MAX_DOCUMENT_CHARS])}\n\n{DESCRIPTION}"
        if sentence := accept_sentence(await self._written(prompt, before), text):
            self._summaries.replace(version, sentence)

    async def _written(self, prompt: str, before: ModelRequest) -> str:
        request = replace(
            before,
            messages=(*before.messages, PromptMessage(role="user", text=prompt)),
            max_answer_tokens=MAX_ANSWER_TOKENS,
            temperature=TEMPERATURE,
        )
        said, finish = "", None
        async with aclosing(self._provider.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    said += chunk.text
                    if len(said) > MAX_ANSWER_CHARS:
                        return ""
                elif isinstance(chunk, Finish):
                    finish = chunk
        return said if finish and finish.reason == "stop" else ""


def accept_sentence(said: str, text: str) -> str:
    """What a model said of a text, if it is one short sentence about it in its language; else nothing."""
    sentence = plain_line(said)
    if (
        not sentence
        or len(sentence) > MAX_SUMMARY_CHARS
        or len(sentences(said.strip())) != 1
        or _EXCUSE.match(sentence)
    ):
        return ""
    written, language = detect_language(sentence), detect_language(text)
    if written and language and written != language:
        return ""
    own, there = {*query_terms(sentence)}, {*terms(text)}
    return sentence if len(own & there) >= MIN_OVERLAP * len(own) else ""
