"""The user at the terminal, asked about one mention after the other: shall it become a link?"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct
from rich.text import Text

from zkchat.cli.common import CommandIO
from zkchat.cli.key_questions import KeyQuestions
from zkchat.compose.link_style import link_style
from zkchat.errors import UsageError
from zkchat.render.sanitize import sanitize_line, sanitize_text
from zkchat.writing.conventions import LinkStyle
from zkchat.writing.links.mentions import ChosenLinks, MentionGroup, MentionLink

_MIN_CONTEXT: Final = 20
"""Characters that are shown at least before and after a mention."""


class MentionDialog:
    """Shows each mention as the link that it would be, in its line."""

    def __init__(self, questions: KeyQuestions) -> None:
        self._questions = questions

    def choose(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        """What the user said yes to, until there is no more or the user has enough; None after Ctrl-C."""
        chosen: list[tuple[MentionGroup, Sequence[MentionLink]]] = []
        skipped: set[str] = set()
        with self._questions.listening():
            for group in groups:
                if group.first.target in skipped:
                    continue
                answer = self._ask(group)
                if answer == "y":
                    chosen.append((group, group.links[:1]))
                elif answer == "a":
                    chosen.append((group, group.links))
                elif answer == "s":
                    skipped.add(group.first.target)
                elif answer == "q":
                    break
        return None if self._questions.cancelled else chosen

    def _ask(self, group: MentionGroup) -> str:
        self._questions.show(*self._lines(group.first))
        count = len(group.links)
        every = [("a", f"all {count} here")] if count > 1 else []
        keys = [("y", "yes"), ("n", "no"), *every, ("s", "skip this name"), ("q", "enough")]
        return self._questions.ask("Link it?", keys, others="a")

    def _lines(self, link: MentionLink) -> list[Text]:
        place = Text(sanitize_line(f"{link.source}:{link.line}"), style="bold")
        if f"[[{link.name}" not in link.link:
            place.append(f" names {sanitize_line(link.target)}", style="dim")
        room = max(_MIN_CONTEXT, (self._questions.width - len(link.link) - 4) // 2)
        before, after = (sanitize_text(part).replace("\n", " ") for part in (link.before, link.after))
        shown = Text("  ")
        shown.append(f"…{before[-room:]}" if len(before) > room else before.lstrip(), style="dim")
        shown.append(sanitize_line(link.link), style="bold green")
        shown.append(f"{after[:room]}…" if len(after) > room else after, style="dim")
        return [Text(""), place, shown]


class ChatMentions(Struct, frozen=True):
    """Implements `repl.command_context.MentionChooser`."""

    io: CommandIO
    vault: Path
    color: str = "auto"
    plain: bool = False

    @property
    def style(self) -> LinkStyle:
        return link_style(self.vault)

    def choose(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        if not self.io.environment.stdin_is_tty:
            raise UsageError(
                "You are asked about each mention, and here is no terminal to ask at.",
                hint="In a shell: zkchat note link --yes, or --dry-run.",
            )
        return MentionDialog(KeyQuestions(self.io, color=self.color, plain=self.plain)).choose(groups)
