"""The check of a goal: which sentences of its results stand in the notes that the model was given, and where."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import Struct

from zkchat.chat.conversation import Conversation
from zkchat.chat.goals.marks import parse_answer
from zkchat.chat.quotations import MIN_LETTERS
from zkchat.errors import StorageError, VaultError
from zkchat.model.goal import AnswerSupport, Goal, GoalCheck, Support
from zkchat.model.message import ChatMessage
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.library import Library
from zkchat.vault.notes.language import detect_language
from zkchat.vault.notes.sentences import sentences
from zkchat.vault.notes.wikilink import name_key
from zkchat.vault.verification.claims import LANGUAGES, Claim, parse_claim

MAX_NOTES: Final = 40
"""Notes that the results are compared with, those of the last steps first."""
MIN_COVERAGE: Final = 0.75
"""The share of a sentence's terms that one of a note must hold to say nearly the same, and the other way round half."""
MIN_TERMS: Final = 3
"""Terms that are needed for that."""
MAX_SENTENCES: Final = 60
"""Sentences of an answer that are compared."""
MAX_NOTE_CHARACTERS: Final = 100_000
MAX_NOTE_SENTENCES: Final = 600
_LINK: Final = lazy_pattern(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_CITATION: Final = lazy_pattern(r"[(\[]?(?:see|siehe|from|in|—|–|-)?\s*!?\[\[[^\[\]]*\]\][)\]]?", re.IGNORECASE)
_WORD: Final = lazy_pattern(r"(?:[^\W_]|[\u0300-\u036f])+")
_NUMBER: Final = lazy_pattern(r"\d+(?:[.,]\d+)*")
_QUOTED: Final = lazy_pattern(r"[“„\"«「]([^“”„\"«»「」]{10,})[”“\"»」]")
_NO_STATEMENT_ENDS: Final = ("?", "？", ":", "：")
_NO_PROSE: Final = ("```", "~~~", "|", "#")
_EMPHASIZED: Final = lazy_pattern(r"(\*\*|__)[^*_]+\1:?")
"""A line that is a heading in all but name."""


class NoteText(NamedTuple):
    """A note as it is on disk."""

    path: str
    text: str


class _Sentence(NamedTuple):
    claim: Claim
    numbers: frozenset[str]
    text: str


def find_support(answer: str, notes: Sequence[NoteText]) -> AnswerSupport:
    """Which sentences of the answer stand in one of the notes, in order, and which stand in none."""
    indexed = [_IndexedNote(note) for note in notes]
    supported: list[Support] = []
    unsupported: list[str] = []
    for sentence in _statements(answer):
        found = _word_for_word(sentence, indexed) or _nearly(sentence, indexed)
        if found:
            supported.append(found)
        else:
            unsupported.append(sentence)
    return AnswerSupport(supported=tuple(supported), unsupported=tuple(unsupported))


def _statements(answer: str) -> Iterator[str]:
    """Sentences that state something: no questions, introductions, headings or listings."""
    for sentence in sentences(answer)[:MAX_SENTENCES]:
        text = " ".join(sentence.lstrip("> ").split())
        letters = sum(map(len, _WORD.findall(_CITATION.sub(" ", text))))
        is_prose = not (text.endswith(_NO_STATEMENT_ENDS) or text.startswith(_NO_PROSE) or _EMPHASIZED.fullmatch(text))
        if is_prose and letters >= MIN_LETTERS:
            yield text


def _word_for_word(sentence: str, notes: Iterable["_IndexedNote"]) -> Support | None:
    """Where the sentence, without what only says where it is from, or what it quotes stands in a note."""
    shown, bare = _LINK.sub(r"\1", sentence), _CITATION.sub(" ", sentence)
    forms = dict.fromkeys(
        words
        for text in (shown, bare, bare.partition(": ")[2], *_QUOTED.findall(sentence))
        if sum(map(len, words := _words(text))) >= MIN_LETTERS
    )
    for note in notes:
        for words in forms:
            if line := note.find(words):
                return Support(text=sentence, path=note.path, line=line, exact=True)
    return None


def _nearly(sentence: str, notes: Iterable["_IndexedNote"]) -> Support | None:
    """Where a sentence of a note has nearly the same terms, the same numbers, and denies neither more nor less."""
    language = detect_language(sentence) or "en"
    if language not in LANGUAGES:
        return None
    said = _parsed(_CITATION.sub(" ", sentence), language)
    if len(said.claim.terms) < MIN_TERMS:
        return None
    for note in notes:
        for other in note.sentences(language):
            if _says_nearly(said, other) and (line := note.find(_words(other.text))):
                return Support(text=sentence, path=note.path, line=line, exact=False)
    return None


def _says_nearly(said: _Sentence, other: _Sentence) -> bool:
    terms, held = said.claim.terms, other.claim.terms
    shared = len(terms & held)
    return (
        shared >= MIN_COVERAGE * len(terms)
        and shared >= MIN_COVERAGE / 2 * len(held)
        and said.numbers <= other.numbers
        and _denies(said.claim) == _denies(other.claim)
    )


def _denies(claim: Claim) -> bool:
    return any(clause.polarity == "denied" for clause in claim.clauses)


def _parsed(sentence: str, language: str) -> _Sentence:
    shown = _LINK.sub(r"\1", sentence)
    return _Sentence(parse_claim(shown, language), frozenset(_NUMBER.findall(shown)), sentence)


def _words(text: str) -> tuple[str, ...]:
    return tuple(name_key(word) for word in _WORD.findall(text))


class _IndexedNote(Struct, dict=True):
    note: NoteText

    @property
    def path(self) -> str:
        return self.note.path

    @cached_property
    def _text(self) -> str:
        return self.note.text[:MAX_NOTE_CHARACTERS]

    @cached_property
    def _places(self) -> tuple[str, list[int], list[int]]:
        """All words in a row, where each begins in that row, and on which line it stands."""
        row: list[str] = []
        starts: list[int] = []
        lines: list[int] = []
        length = 1
        for number, line in enumerate(self._text.splitlines(), start=1):
            for word in _words(_LINK.sub(r"\1", line)):
                starts.append(length)
                lines.append(number)
                row.append(word)
                length += len(word) + 1
        return f" {' '.join(row)} ", starts, lines

    def find(self, words: Sequence[str]) -> int:
        """The line on which these words begin; 0 where they do not stand in the note."""
        row, starts, lines = self._places
        place = row.find(f" {' '.join(words)} ")
        return lines[bisect_right(starts, place + 1) - 1] if place >= 0 else 0

    def sentences(self, language: str) -> list[_Sentence]:
        if language not in self._parsed:
            found = sentences(self._text)[:MAX_NOTE_SENTENCES]
            self._parsed[language] = [_parsed(sentence, language) for sentence in found]
        return self._parsed[language]

    @cached_property
    def _parsed(self) -> dict[str, list[_Sentence]]:
        return {}


class GoalChecker:
    """Compares what came of each step, and the result, with the notes behind the answers so far.

    An answer is compared once, so that what is written into notes afterwards does not speak for it.
    """

    def __init__(self, conversation: Conversation, library: Library) -> None:
        """`library` holds the notes as they are on disk, without what is staged."""
        self._conversation = conversation
        self._library = library
        self._checked: dict[str, AnswerSupport] = {}

    def check(self, goal: Goal) -> GoalCheck:
        ids = [*(step.message_id for step in goal.steps if step.state == "done"), goal.result_id]
        hidden, messages = self._conversation.hidden_messages, self._conversation.history.messages
        answers = {id_: messages[id_] for id_ in ids if id_ in messages and id_ not in hidden}
        if unchecked := {id_: answer for id_, answer in answers.items() if id_ not in self._checked}:
            notes = [*_notes(self._library, _paths(answers.values()))]
            for id_, answer in unchecked.items():
                self._checked[id_] = find_support(parse_answer(answer.text).body, notes)
        return GoalCheck(
            steps=tuple(self._support(step.message_id if step.state == "done" else "") for step in goal.steps),
            result=self._support(goal.result_id),
        )

    def _support(self, message_id: str) -> AnswerSupport:
        return self._checked.get(message_id, AnswerSupport())


def _paths(answers: Iterable[ChatMessage]) -> list[str]:
    given = (
        reference.relative_path
        for answer in reversed([*answers])
        for reference in answer.references
        if reference.relative_path and (reference.was_given or reference.cited)
    )
    return [*dict.fromkeys(given)][:MAX_NOTES]


def _notes(library: Library, paths: Iterable[str]) -> Iterator[NoteText]:
    for path in paths:
        try:
            yield NoteText(path, library.read(path))
        except (VaultError, StorageError):
            continue  # it is gone since
