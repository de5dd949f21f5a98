"""Parse a question for the open tasks of the vault; None for every other question."""

from collections.abc import Iterable, Sequence, Set
from typing import Final

from msgspec.structs import replace

from zkchat.lexicon.task_questions import TASK_WORDS
from zkchat.model.dates import Calendar, DayRange
from zkchat.vault.catalog.lexer import PERIOD_MARK, Token, tokens_of
from zkchat.vault.catalog.query import CatalogQuery, TaskTime
from zkchat.vault.dates.questions import find_period

_WORDS: Final = frozenset(
    {"task", "overdue", "due", "open", "todo", "remaining", "doing", "period", "count", "ask", "list", "on"}
)
_OF_A_NOTE: Final = frozenset({"within", "link"})
_TIMES: Final[tuple[TaskTime, ...]] = ("overdue", "due", "open")


def parse_task_question(plain: str, calendar: Calendar, note: str | None = None) -> CatalogQuery | None:
    """All words have to be known: "What is the task of the roof?" asks for something else.

    `note` is the one that the question links to.
    """
    known = _WORDS | _OF_A_NOTE if note else _WORDS
    for language, words in TASK_WORDS.items():
        needed = {"todo", "doing"} & words.keys()
        if query := _parse(tokens_of(plain, language, for_tasks=True), None, needed, known):
            return replace(query, note=note)
        for looks_ahead in (True, False):
            found = find_period(plain, language, replace(calendar, looks_ahead=looks_ahead))
            if found is None:
                break
            marked = f"{plain[: found.start]} {PERIOD_MARK} {plain[found.end :]}".strip()
            query = _parse(tokens_of(marked, language, for_tasks=True), found.period, needed, known)
            is_past = query and (query.tasks == "overdue" or found.period.end is None)  # "overdue since Monday"
            if query and not (looks_ahead and is_past):
                return replace(query, note=note)
    return None


def _parse(
    tokens: Sequence[Token], period: DayRange | None, needed: Iterable[str], known: Set[str]
) -> CatalogQuery | None:
    if not all(any(token.may_mean(word) for word in known) for token in tokens):
        return None

    def has(word: str) -> bool:
        return any(token.may_mean(word) for token in tokens)

    if period and all(map(has, needed)) and not has("task"):
        return CatalogQuery(kind="tasks", tasks="due", period=period)
    if has("remaining") and not has("task"):
        return CatalogQuery(kind="tasks", tasks="due" if period else "open", period=period)
    times = [time for time in _TIMES if has(time)]
    if not has("task") or not (times or period or has("own") or has("list") or has("link")):
        return None
    when = times[0] if times else "due" if period else "open"
    return CatalogQuery(kind="tasks", tasks=when, period=period, wants_all=has("all"))
