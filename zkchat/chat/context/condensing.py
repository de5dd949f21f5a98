"""Condense a long message or text with a question in mind, and tell the question from the material it is about."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final

from msgspec import Struct

from zkchat.chat.context.unit_ranking import TextUnits, find_in_text, is_question, rank_units, split_units
from zkchat.core import MessageExcerpt, counted, lazy_pattern
from zkchat.notes import Span

Count = Callable[[str], int]

MIN_MATERIAL: Final = 2_000
"""Characters of a message beside its question that are taken for material."""
MAX_QUESTION: Final = 1_200
"""Characters of a paragraph, the first or the last one, that is taken for the question."""
MAX_QUESTION_LINES: Final = 8
MARK: Final = lazy_pattern(r"(?<!\s)\s*\[… [\d,]+ (?:line|row|record|character)s? left out …\]\s*")
_RATE_SAMPLE: Final = 16
_PARAGRAPH_END: Final = lazy_pattern(r"\n[ \t\r]*\n\s*")
_QUESTION_END: Final = lazy_pattern(r"[?？؟](?=\s)|[？]|:(?=\s)|：")


class SplitMessage(Struct, frozen=True, kw_only=True):
    """A message as what was typed and the material it is about: `before + material + after` is the message."""

    before: str = ""
    material: str = ""
    after: str = ""

    @property
    def question(self) -> str:
        """What was typed."""
        return "\n\n".join(part.strip() for part in (self.before, self.after) if part.strip())


def split_question(text: str, *, least: int = MIN_MATERIAL) -> SplitMessage:
    """The typed question of a long message, its first and last paragraph where they are short, and the material."""
    if len(text) < least:
        return SplitMessage(before=text)
    split = _split(text)
    is_paragraph = len(text) <= 20_000 and "\n" not in text.strip()
    if len(split.material) < least or (is_paragraph and not split.material.lstrip().startswith(("{", "["))):
        return SplitMessage(before=text)
    return split


def _split(text: str) -> SplitMessage:
    start = _end_of_opening(text)
    end = max(start, _start_of_closing(text, has_question=_asks(text[:start])))
    return SplitMessage(before=text[:start], material=text[start:end], after=text[end:])


def condense_message(text: str, budget: int, count: Count, *, remark: str = "") -> str:
    """A long message in at most `budget` tokens: the typed question whole where it fits, the material condensed.

    A remark, such as where the rest can be read, follows the material where something of it is left out.
    """
    if _fits(text, budget, count):
        return text
    split = _split(text)
    material = split.material.rstrip()
    after = (f"\n{remark}" if remark else "") + split.material[len(material) :] + split.after
    left = budget - count(split.before) - count(after)
    if not material or left < budget // 10:
        return condense_text(text, budget, count, question=split.question)
    while left > 0:
        short = split.before + condense_text(material, left, count, question=split.question) + after
        over = count(short) - budget
        if over <= 0:
            return short
        left -= over
    return condense_text(text, budget, count, question=split.question)


def condense_text(text: str, budget: int, count: Count, *, question: str = "") -> str:
    """The text in at most `budget` tokens: its head, its tail, and what bears on the question; as it is if it fits."""
    if _fits(text, budget, count):
        return text
    units = split_units(text)
    step = max(1, len(units.spans) // _RATE_SAMPLE)
    sample = "\n".join(text[start:end] for start, end in units.spans[::step][: 2 * _RATE_SAMPLE])
    characters_per_token = len(sample) / max(1, count(sample)) if sample else 1.0
    order = _order(units, question, budget * characters_per_token)
    return _fitting(units, order, budget, count) or truncate(text, budget, count)


def _fits(text: str, budget: int, count: Count) -> bool:
    # Of so long a text it is sure without counting.
    return len(text) <= max(budget, 0) * 128 and count(text) <= budget


def _end_of_opening(text: str) -> int:
    """Where the question ends that a message begins with; 0 if it begins with none."""
    body = len(text) - len(text.lstrip())
    found = _PARAGRAPH_END.search(text, body, body + MAX_QUESTION)
    if found and text.count("\n", body, found.start()) < MAX_QUESTION_LINES:
        return found.end()
    line = text.find("\n", body, body + MAX_QUESTION)
    if line >= 0 and _asks(text[body:line]):
        return line + 1
    asked = _QUESTION_END.search(text, body, body + MAX_QUESTION // 3)
    return asked.end() if asked and (line < 0 or asked.end() <= line) else 0


def _start_of_closing(text: str, *, has_question: bool) -> int:
    """Where the question begins that a message ends with; its length if it ends with none.

    Where it begins with one, the last paragraph is taken for the end of the material unless it asks too.
    """
    body = len(text.rstrip())
    ends = [*_PARAGRAPH_END.finditer(text, max(0, body - MAX_QUESTION), body)]
    if ends:
        closing = text[ends[-1].end() : body]
        lines = closing.count("\n") + 1
        if lines <= (MAX_QUESTION_LINES if _asks(closing) else 0 if has_question else 3):
            return ends[-1].end()
    line = text.rfind("\n", max(0, body - MAX_QUESTION), body) + 1
    return line if line and is_question(text[line:body]) else len(text)


def _asks(paragraph: str) -> bool:
    """Whether a line of it ends as a question does, or announces what follows."""
    lines = [line for line in paragraph.splitlines() if line.strip()]
    return any(map(is_question, lines)) or (bool(lines) and lines[-1].rstrip().endswith((":", "：")))


def _order(units: TextUnits, question: str, characters: float) -> list[int]:
    """The numbers of the units in the order in which they are kept: head, tail, what bears on the question, the rest.

    No more than may fit: `characters` are about as many as the budget holds.
    """
    total = len(units.spans)
    share = 0.1 * characters  # for the beginning, before anything that bears on the question; and for the end
    head = [*_within(units, range(total), share)]
    tail = [*_within(units, range(total - 1, -1, -1), share)]
    header = range(min(1, total)) if units.kind == "row" else range(0)
    rest = chain.from_iterable(zip_longest(range(total), range(total - 1, -1, -1)))
    order = dict.fromkeys(
        number for number in chain(header, head, tail, rank_units(units, question), rest) if number is not None
    )
    return [*_within(units, order, 4 * characters + 1_000)]


def _within(units: TextUnits, numbers: Sequence[int] | dict[int, None], characters: float) -> Iterator[int]:
    """The first of these units, as many as these characters hold."""
    for number in numbers:
        start, end = units.spans[number]
        characters -= end - start + 1
        if characters < 0:
            return
        yield number


def _fitting(units: TextUnits, order: Sequence[int], budget: int, count: Count) -> str:
    """As many units as fit, the first of the order first."""
    low, high = 0, len(order) + 1
    best = ""
    guess = max(1, len(order) // 4)
    for _ in range(12):
        if high - low < 2:
            break
        text = _written(units, [units.spans[number] for number in order[:guess]])
        tokens = count(text)
        if tokens <= budget:
            low, best = guess, text
        else:
            high = guess
        guess = min(max(int(guess * budget / max(1, tokens)), low + 1), high - 1)
    return best


def _written(units: TextUnits, spans: Sequence[Span]) -> str:
    """These spans of the text in their order, with a mark wherever something is missing between them."""
    pieces: list[str] = []
    place = 0
    for start, end in sorted(spans):
        pieces += [_gap(units, place, start), units.text[start:end]]
        place = end
    return "".join([*pieces, _gap(units, place, len(units.text))])


def _gap(units: TextUnits, start: int, end: int) -> str:
    """The mark for what is left out between two places; the text itself where it is no longer than a mark."""
    missing = units.text[start:end]
    content = missing.strip()
    if not content:
        return missing
    lines = content.count("\n") + 1
    between = units.between(start, end)
    is_whole = (start == 0 or "\n" in missing[: len(missing) - len(missing.lstrip())]) and (
        end == len(units.text) or "\n" in missing[len(missing.rstrip()) :]
    )
    if units.kind == "record" and between:
        what = counted(between, "record")
    elif lines > 1 or is_whole:
        what = counted(lines, units.kind if units.kind == "row" else "line")
    else:
        what = counted(len(content), "character")
    mark = f"[… {what} left out …]"
    if len(missing) <= len(mark) + 2:
        return missing
    before = "" if start == 0 else "\n" if lines > 1 or is_whole else " "
    after = "" if end == len(units.text) else "\n" if lines > 1 or is_whole else " "
    return before + mark + after


def truncate(text: str, budget: int, count: Count) -> str:
    """As much of the beginning of a text as fits."""
    low, high = 0, min(len(text), 8 * max(budget, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if count(f"{text[:middle].rstrip()}…") <= budget:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()}…" if low else ""


def find_excerpts(message: str) -> tuple[MessageExcerpt, ...]:
    """The lines of the material of a message that answer its question."""
    split = split_question(message, least=200)
    return find_in_text(split.material, split.question)
