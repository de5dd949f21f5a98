"""The tags and the folder that a question about the vault names: which notes are meant, and which are not."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.dates import DayRange
from zkchat.vault.catalog.lexer import UNKNOWN, Token
from zkchat.vault.dates.tokens import fold

SIGNS: Final = " \t?!.,;:…。？！，¿¡\"'“”„‘’«»「」『』"
SILENT: Final = frozenset({"ask", "list", "or"})
_INSIDE: Final = frozenset({"in", "inside", "within", "im", "dans", "en", "em", "na", "no"})
"""Words before the name of a folder."""
_MAX_FOLDER_TOKENS: Final = 4
_TAG_WORDS: Final = frozenset({"tagged", "tag", "with"})


class Names(Protocol):
    """The names by which a question may speak of folders, notes and tags without a link or a sign."""

    def is_folder(self, name: str) -> bool: ...

    def is_note(self, name: str) -> bool: ...

    def is_tag(self, name: str) -> bool: ...


class Phrase(Struct, frozen=True, kw_only=True):
    """A question in one language: its tokens, and the names in it."""

    tokens: Sequence[Token]
    period: DayRange | None = None
    tags: tuple[str, ...] = ()
    any_tag: bool = False
    without_tags: tuple[str, ...] = ()
    folder: str | None = None
    note: str | None = None
    """A link, or the name of a note."""
    note_at: int = 0
    """Where the note stands among the tokens."""

    @property
    def meanings(self) -> frozenset[str]:
        return frozenset(token.meaning for token in self.tokens) - SILENT

    @property
    def names_tags(self) -> bool:
        return bool(self.tags or self.without_tags)

    def has(self, meaning: str) -> bool:
        return any(token.meaning == meaning for token in self.tokens)

    def may_have(self, meaning: str) -> bool:
        return any(token.may_mean(meaning) for token in self.tokens)


def with_named_folder(text: str, phrase: Phrase, names: Names) -> Phrase:
    """The phrase in which the name of a folder is one token, also where its words mean something else: "in Notes"."""
    tokens = phrase.tokens
    for at, token in enumerate(tokens):
        for first, end in _folder_places(tokens, at):
            name = text[tokens[first].start : tokens[end - 1].end]
            is_name = token.meaning != "folder" or name[:1].isupper()
            if is_name and not name.endswith("/") and names.is_folder(name):
                named = replace(tokens[first], meanings=("path",), text=name, end=tokens[end - 1].end)
                return replace(phrase, tokens=[*tokens[:first], named, *tokens[end:]])
    return _with_counted_folder(text, phrase, names)


def _folder_places(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Where the name of a folder may stand beside a token, the longest first."""
    token = tokens[at]
    if fold(token.text) in _INSIDE or token.meaning in {"infolder", "folder"}:
        for end in range(min(len(tokens), at + 1 + _MAX_FOLDER_TOKENS), at + 1, -1):
            yield at + 1, end
    if token.meaning == "folder" and at:
        yield at - 1, at


def _with_counted_folder(text: str, phrase: Phrase, names: Names) -> Phrase:
    """The phrase that counts or lists what a folder is named after: "how many daily notes", "list my projects"."""
    tokens = phrase.tokens
    at = next((at for at, token in enumerate(tokens) if token.meaning == UNKNOWN), None)
    is_list = phrase.has("count") or (phrase.has("list") and phrase.may_have("own"))
    if at is None or not is_list or not phrase.meanings <= {"count", "note", UNKNOWN}:
        return phrase
    has_note = at + 1 < len(tokens) and tokens[at + 1].meaning == "note"
    if phrase.has("note") and not has_note:
        return phrase
    for end in (at + 2, at + 1) if has_note else (at + 1,):
        name = text[tokens[at].start : tokens[end - 1].end]
        if names.is_folder(name):
            named = replace(tokens[at], meanings=("infolder",))
            return replace(phrase, tokens=[*tokens[:at], named, *tokens[at + 1 :]], folder=name)
    return phrase


def with_tags_and_folder(phrase: Phrase, names: Names) -> Phrase | None:
    """The phrase with its tags and its folder; None where it names something else."""
    places: list[int] = []
    kept: list[int] = []
    folder = phrase.folder
    tokens = phrase.tokens
    for at, token in enumerate(tokens):
        before = tokens[at - 1].meaning if at else ""
        after = tokens[at + 1].meaning if at + 1 < len(tokens) else ""
        if token.meaning == "hashtag" or (token.meaning == UNKNOWN and _is_tag(phrase, at, places, names)):
            places.append(at)
        elif token.meaning == "path":
            if folder is not None:
                return None
            folder = token.text
        elif token.meaning != UNKNOWN:
            kept.append(at)
        elif "folder" in (before, after) or before == "infolder" or (at and fold(tokens[at - 1].text) in _INSIDE):
            is_there = names.is_folder(token.text)
            is_meant = before == "infolder" and " " not in token.text and phrase.has("note")
            if folder is not None or not (is_there or is_meant):
                return None
            folder = token.text
        else:
            return None
    return _with_tags(replace(phrase, folder=folder), places, kept)


def _is_tag(phrase: Phrase, at: int, places: Sequence[int], names: Names) -> bool:
    """Whether a word that is not understood is a tag: it follows "tagged", or a tag and "or"."""
    token, before = phrase.tokens[at], phrase.tokens[at - 1] if at else None
    if before is None or " " in token.text:
        return False
    if before.meaning == "tagged" or (before.meaning == "tag" and (phrase.has("note") or phrase.has("single"))):
        return True
    is_joined = any(before.may_mean(word) for word in ("or", "and", "not")) and bool(places)
    return is_joined and names.is_tag(token.text.strip(SIGNS))


def _with_tags(phrase: Phrase, places: Sequence[int], kept: Sequence[int]) -> Phrase | None:
    """The phrase with the tags that stand at these places: all of them, any, or none."""
    tokens, spent = phrase.tokens, set[int]()
    wanted: list[str] = []
    unwanted: list[str] = []
    joined = set[str]()
    for number, at in enumerate(places):
        first = at
        while first and _leads_to_tag(tokens[first - 1]):
            first -= 1
        before = range(first, at)
        is_not = any(tokens[each].may_mean("not") for each in before)
        spent.update(each for each in before if tokens[each].may_mean("not") or tokens[each].meaning in {"or", "with"})
        words = {word for word in ("or", "and") for each in before if tokens[each].may_mean(word)}
        if (is_not and "or" in words) or (unwanted and not is_not) or ("or" in words and not number):
            return None  # of "not #a or #b" nobody knows what it means
        joined |= set() if is_not else words
        (unwanted if is_not else wanted).append(tokens[at].text.strip(SIGNS))
    left = [tokens[each] for each in kept if each not in spent]
    if joined >= {"or", "and"} or any(token.meaning in {"or", "not"} for token in left):
        return None
    return replace(
        phrase,
        tokens=left,
        tags=tuple(filter(None, wanted)),
        any_tag="or" in joined,
        without_tags=tuple(filter(None, unwanted)),
    )


def _leads_to_tag(token: Token) -> bool:
    """Whether a word may stand between two tags, or before the first of them."""
    return token.meaning in _TAG_WORDS or any(token.may_mean(word) for word in ("or", "and", "not"))
