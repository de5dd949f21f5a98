"""How well the notes answer questions whose answers are known: those of a user's file, or of a benchmark."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import DecodeError, Struct, field, json
from msgspec.structs import replace

from zkchat.chat.evidence_lookup import answer_about_vault, as_reference, look_up
from zkchat.chat.question import Question
from zkchat.chat.references import resolve_links
from zkchat.core import DEFAULT_LIMIT, ChatMessage, Findings, TextPart, UsageError, ZkchatError, utc_now
from zkchat.index import Library

SEARCHED: Final = 10
"""Notes of the search among which the right one is looked for."""
_LINE: Final = re.compile(r"(?P<indent>\s*)(?:[-*+] +)?(?P<question>\S.*?)\s*=>\s*(?P<answers>.*)")
_PLACE: Final = re.compile(r"(?P<link>\[\[[^\[\]]+\]\])?\s*(?:[\"“„](?P<words>[^\"“”]+)[\"“”])?")
FORMS: Final = """A line is `question => [[Note]]`, `question => "words"`, or `question =>` if no note answers it."""


class AnswerPlace(Struct, frozen=True, array_like=True):
    """A note, and words of the passage of it that answers; without words every passage, without a note one of any."""

    path: str = ""
    contains: str = ""

    def holds(self, path: str, text: str) -> bool:
        return self.path in {"", path} and _plain(self.contains) in _plain(text)


class ShownPassage(Struct, frozen=True):
    path: str
    text: str


class KnownQuestion(Struct, frozen=True, kw_only=True):
    """A question; the answer has a part for each of `parts`, which lists the places where that part stands."""

    text: str = field(name="question")
    parts: tuple[tuple[AnswerPlace, ...], ...] = field(name="answers")
    before: tuple[str, ...] = ()
    """What was asked before it in the conversation."""

    @property
    def answerable(self) -> bool:
        return bool(self.parts)

    @property
    def places(self) -> list[AnswerPlace]:
        return [place for part in self.parts for place in part]

    def is_answered_by(self, passage: ShownPassage) -> bool:
        return any(place.holds(passage.path, passage.text) for place in self.places)


class Shown(Struct, frozen=True):
    """What is made of a question: the passages that are shown, and the notes that are called the nearest."""

    passages: tuple[ShownPassage, ...]
    nearest: tuple[str, ...] = ()
    is_doubtful: bool = False
    """Whether the passages are shown with a word of doubt."""
    rank: int = 0
    """The place of a note with the answer in the search, from 1; 0 where it is not among those looked at."""

    @classmethod
    def of(cls, found: Findings, rank: int = 0) -> "Shown":
        passages = tuple(ShownPassage(each.relative_path, each.text) for each in found.evidence)
        return cls(passages, tuple(each.relative_path for each in found.nearest), found.is_doubtful, rank)


class Judged(Struct, frozen=True):
    asked: KnownQuestion
    shown: Shown

    @property
    def first(self) -> bool:
        return any(self.asked.is_answered_by(each) for each in self.shown.passages[:1])

    @property
    def any(self) -> bool:
        """Each part of the answer stands in one of the passages."""
        return self.asked.answerable and all(
            any(place.holds(each.path, each.text) for place in part for each in self.shown.passages)
            for part in self.asked.parts
        )

    @property
    def wrong(self) -> bool:
        """Something is shown, and nothing of the answer is in it."""
        return not self.silent and not any(self.asked.is_answered_by(each) for each in self.shown.passages)

    @property
    def silent(self) -> bool:
        return not self.shown.passages

    @property
    def doubted(self) -> bool:
        return not self.silent and self.shown.is_doubtful

    @property
    def near(self) -> bool:
        """Nothing is shown, and a note with the answer is among those that are called the nearest."""
        return self.silent and not {place.path for place in self.asked.places}.isdisjoint(self.shown.nearest)

    @property
    def verdict(self) -> str:
        if not self.asked.answerable:
            return "right" if self.silent else "answered"
        return "silent" if self.silent else "wrong" if self.wrong else "right" if self.first and self.any else "later"


class Figures(Struct, frozen=True, kw_only=True):
    """Of a group of questions, how many … ; `answered` counts those that no note answers."""

    answerable: int
    search_first: int
    search_3: int
    search_10: int
    first: int
    any: int
    wrong: int
    wrong_without_doubt: int
    silent: int
    near: int
    doubted: int
    unanswerable: int
    answered: int
    answered_with_doubt: int
    with_nearest: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> "Figures":
        listed = [*judged]
        answerable = [each for each in listed if each.asked.answerable]
        unanswerable = [each for each in listed if not each.asked.answerable]
        return cls(
            answerable=len(answerable),
            search_first=sum(each.shown.rank == 1 for each in answerable),
            search_3=sum(0 < each.shown.rank <= 3 for each in answerable),
            search_10=sum(0 < each.shown.rank <= SEARCHED for each in answerable),
            first=sum(each.first for each in answerable),
            any=sum(each.any for each in answerable),
            wrong=sum(each.wrong for each in answerable),
            wrong_without_doubt=sum(each.wrong and not each.doubted for each in answerable),
            silent=sum(each.silent for each in answerable),
            near=sum(each.near for each in answerable),
            doubted=sum(each.doubted for each in answerable),
            unanswerable=len(unanswerable),
            answered=sum(not each.silent and not each.doubted for each in unanswerable),
            answered_with_doubt=sum(each.doubted for each in unanswerable),
            with_nearest=sum(each.silent and bool(each.shown.nearest) for each in unanswerable),
        )


def _plain(text: str) -> str:
    """The text without emphasis, code marks, bars of tables and line breaks, in small letters."""
    return re.sub(r"[*`|\s]+", " ", text).strip().casefold()


# Asking.


def judge(library: Library, asked: KnownQuestion) -> Judged:
    """What a chat shows on a question, and where the search has a note with the answer."""
    question = in_conversation(library, asked.text, asked.before)
    references = resolve_links(library, question.links)
    listed = answer_about_vault(library, question, references)

    def is_right(path: str, text: str) -> bool:
        return any(place.path == path if place.path else place.holds(path, text) for place in asked.places)

    rank = search_rank(library, question, is_right)
    if listed:
        passages = (ShownPassage(each.relative_path or "", listed.text) for each in listed.references)
        return Judged(asked, Shown(tuple(passages) or (ShownPassage("", listed.text),), rank=rank))
    return Judged(asked, Shown.of(look_up(library, question, references), rank))


def search_rank(
    library: Library, question: Question, is_right: Callable[[str, str], bool], limit: int = SEARCHED
) -> int:
    """The place, from 1, of the first note of the search that is right by its path and passage; 0 for none."""
    found = library.documents(question.going_on(question.text), limit=limit)
    return next((place for place, each in enumerate(found, 1) if is_right(each.path, each.text)), 0)


def in_conversation(library: Library, text: str, before: Sequence[str] = ()) -> Question:
    """The question with the topic of those before it, each answered by what is found for it."""
    said: list[ChatMessage] = []
    for number, earlier in enumerate(before):
        found = evidence_of(library, Question.parse(earlier).after(reversed(said), library))
        cited = tuple(replace(as_reference(each), cited=True) for each in found.evidence)
        asked_at = utc_now()
        said.append(ChatMessage(id=f"q{number}", role="user", parts=(TextPart(text=earlier),), created_at=asked_at))
        said.append(ChatMessage(id=f"a{number}", role="assistant", references=cited, created_at=asked_at))
    return Question.parse(text).after(reversed(said), library)


def evidence_of(library: Library, question: Question, limit: int = DEFAULT_LIMIT) -> Findings:
    return look_up(library, question, resolve_links(library, question.links), limit=limit)


# Reading files.


def parse_questions(text: str, find: Callable[[str], Sequence[str]]) -> list[KnownQuestion]:
    """The questions of a file, given which notes a link may mean. A list in JSON is as those of our benchmarks.

    Raises `UsageError` with the line that cannot be used.
    """
    if re.match(r"\s*\[\s*\{", text):
        try:
            return json.decode(text, type=list[KnownQuestion])
        except DecodeError as error:
            raise UsageError(f"The JSON cannot be used: {error}.", hint=FORMS) from error
    found: list[KnownQuestion] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            found.append(_parse_line(line, found, find))
        except ZkchatError as error:
            raise UsageError(f"Line {number}: {error.message}", hint=error.hint) from error
    return found


def _parse_line(line: str, earlier: Sequence[KnownQuestion], find: Callable[[str], Sequence[str]]) -> KnownQuestion:
    read = _LINE.fullmatch(line.rstrip())
    if read is None:
        raise UsageError("The line needs a question, then =>.", hint=FORMS)
    if read["indent"] and not earlier:
        raise UsageError("It is indented as a follow-up, but there is no question above it.", hint=FORMS)
    before = (*earlier[-1].before, earlier[-1].text) if read["indent"] else ()
    places: list[AnswerPlace] = []
    for written in map(str.strip, read["answers"].split("|") if read["answers"] else ()):
        place = _PLACE.fullmatch(written)
        if place is None or not written:
            raise UsageError(f"{written!r} is neither a [[Note]] nor words in quotation marks.", hint=FORMS)
        paths = find(place["link"]) if place["link"] else [""]
        places += (AnswerPlace(path, place["words"] or "") for path in paths)
    return KnownQuestion(text=read["question"], parts=(tuple(places),) if places else (), before=before)
