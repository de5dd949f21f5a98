"""The figure in the bar, between one answer and the next."""

from pathlib import Path

from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.errors import ProviderError
from zkchat.model.session import compaction_of


class Leaving(Reciting):
    """A model that cannot be reached any more after a while."""

    is_gone = False

    async def connect(self) -> None:
        if self.is_gone:
            raise ProviderError("It is gone.")


def test_after_a_compaction_the_bar_shows_what_is_left_and_taken_back_what_there_was(tmp_path: Path) -> None:
    with library_of(tmp_path, {"Cats.md": "# Cats\n\nThey sleep a lot.\n"}) as library:
        provider = Leaving()
        talk = conversation_over(library, SessionsInMemory(), provider)
        assert talk.usage is None
        for number in range(6):
            events_of(talk.say(f"Question {number} about [[Cats]]? " + "And why is it so? " * 20))
        before = talk.usage
        events_of(talk.compact(keep=2))
        made, after = compaction_of(talk.messages[-1]), talk.usage
        assert before is not None
        assert after is not None
        assert made is not None
        assert after.total == made.tokens_after < before.total
        assert (after.system, after.tools, after.window) == (before.system, before.tools, before.window)
        provider.is_gone = True
        events_of(talk.say("Are you there?"))
        assert talk.messages[-1].role == "user"
        assert talk.usage == after
        talk.uncompact()
        assert talk.usage == before
