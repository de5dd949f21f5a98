"""Parse a question for the open tasks of the vault; None for every other question."""

from collections.abc import Iterable, Sequence
from typing import Final

from zkchat.lexicon.task_questions import TASK_WORDS
from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.catalog.lexer import PERIOD_MARK, Token, tokens_of
from zkchat.vault.catalog.query import CatalogQuery, TaskTime
from zkchat.vault.dates.questions import find_period

_WORDS: Final = frozenset({"task", "overdue", "due", "open", "todo", "doing", "period", "count", "ask", "list", "on"})
_TIMES: Final[tuple[TaskTime, ...]] = ("overdue", "due", "open")


def parse_task_question(plain: str, calendar: Calendar) -> CatalogQuery | None:
    """All words have to be known: "What is the task of the roof?" asks for something else."""
    for language, words in TASK_WORDS.items():
        needed = {"todo", "doing"} & words.keys()
        if query := _parse(tokens_of(plain, language, for_tasks=True), None, needed):
            return query
        if found := find_period(plain, language, calendar):
            marked = f"{plain[: found.start]} {PERIOD_MARK} {plain[found.end :]}".strip()
            if query := _parse(tokens_of(marked, language, for_tasks=True), found.period, needed):
                return query
    return None


def _parse(tokens: Sequence[Token], period: DayRange | None, needed: Iterable[str]) -> CatalogQuery | None:
    if not all(any(token.may_mean(word) for word in _WORDS) for token in tokens):
        return None

    def has(word: str) -> bool:
        return any(token.may_mean(word) for token in tokens)

    if period and all(map(has, needed)) and not has("task"):
        return CatalogQuery(kind="tasks", tasks="due", period=period)
    times = [time for time in _TIMES if has(time)]
    if not has("task") or not (times or period or has("own") or has("list")):
        return None
    when = times[0] if times else "due" if period else "open"
    return CatalogQuery(kind="tasks", tasks=when, period=period, wants_all=has("all"))
