"""What the user asks, parsed once."""

from collections.abc import Sequence
from dataclasses import dataclass

from zkchat.agents.profiles import split_address
from zkchat.model.note import Link
from zkchat.vault.notes import wikilink
from zkchat.vault.search.passages import term_matches
from zkchat.vault.search.question_terms import topic_of
from zkchat.vault.search.terms import query_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    """As the user typed it."""
    agent: str | None = None
    """The agent that it is addressed to: `@writer make it shorter`."""
    links: Sequence[Link] = ()
    prose: str = ""
    """The text without its links."""

    def matches(self, text: str) -> list[tuple[int, int]]:
        """Where words of the question stand in a text, without those that only ask."""
        return term_matches(text, frozenset(query_terms(topic_of(self.prose))))

    @classmethod
    def parse(cls, text: str) -> "Question":
        agent, _ = split_address(text)
        links = wikilink.scan(text)
        return cls(text=text, agent=agent, links=links, prose=wikilink.without(links, text))
