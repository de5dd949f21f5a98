"""Parse a question about the vault itself or its tasks; None for every other question."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache
from typing import Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import Calendar, DayRange, lazy_pattern
from zkchat.index import UNSPACED_RUN, begins_unspaced, terms
from zkchat.language import by_code, phrases
from zkchat.notes import Phrases, Token, find_period, fold

LINK_MARK: Final = "\ue000"
"""Stands for a link in the text."""
PERIOD_MARK: Final = "\ue001"
"""Stands for a time."""
UNKNOWN: Final = "unknown"
MAX_UNKNOWN: Final = 4
"""Tokens that are not understood at which reading ends."""
_WORD: Final = lazy_pattern(r"[\w'’/.-]*\w")
_LITERALS: Final[Sequence[tuple[re.Pattern[str], str, Callable[[str], str]]]] = (
    (lazy_pattern(LINK_MARK), "link", str),
    (re.compile(r"#[^\s#?!,;:\"'“”„‘’«»()\[\]{}、。？！，：；「」『』]+"), "hashtag", lambda tag: tag[1:].rstrip("./")),
    (lazy_pattern(r"(?:[\w.-]+/)+(?=$|[\s?!,;:])"), "path", str),
    (lazy_pattern(PERIOD_MARK), "period", str),
    (lazy_pattern(r"\d{1,3}(?![\w.-]*\d)"), "number", str),
)
"""What is known by its form: pattern, meaning, value."""


def tokens_of(text: str, language: str, *, for_tasks: bool = False) -> list[Token]:
    """The text without its punctuation, up to what is not understood once too often: that is no question of ours.

    What is not understood next to each other is one token.
    """
    folded, phrases = fold(text), _phrases_of(language, for_tasks)
    tokens: list[Token] = []
    at = 0
    while at < len(text) and sum(token.meaning == UNKNOWN for token in tokens) < MAX_UNKNOWN:
        if text[at] == " ":
            at += 1
            continue
        known = None if _is_inside_word(text, at) else _literal(text, at)
        if known is None and not _is_inside_word(text, at):
            known = phrases.longest(folded, at, _is_inside_word)
        end = known.end if known else _end_of_unknown(text, at)
        if known:
            tokens.append(known)
        elif end:
            last = tokens[-1] if tokens else None
            is_one = last and last.meaning == UNKNOWN and not text[last.end : at].strip()
            start = tokens.pop().start if is_one else at
            tokens.append(Token(start, end, text[start:end], {UNKNOWN: ""}))
        at = end or at + 1
    return tokens


def vault_words(text: str) -> frozenset[str]:
    """What of a vault a text names, in any language: its notes, tags, folders or links."""
    folded = fold(text)
    places = [at for at in range(len(folded)) if not _is_inside_word(folded, at)]
    readers = [_phrases_of(language, False) for language in by_code("catalog")]
    tokens = filter(None, (each.longest(folded, at, _is_inside_word) for each in readers for at in places))
    return VAULT_WORDS.intersection(meaning for token in tokens for meaning in token.meanings)


@cache
def asking_terms() -> frozenset[str]:
    """Those of the words, in any language, with which one asks for something of a note."""
    listed = (
        words.get(kind, "") for words in by_code("catalog").values() for kind in ("ask", "list", "page", "linkto")
    )
    return frozenset(term for each in listed for term in terms(" ".join(phrases(each))))


def _literal(text: str, at: int) -> Token | None:
    """A link, a tag, a folder, a date or a number."""
    for pattern, meaning, value_of in _LITERALS:
        if found := pattern.match(text, at):
            value = value_of(found[0])
            return Token(at, found.end(), value, {meaning: value})
    return None


def _end_of_unknown(text: str, at: int) -> int:
    """Where a word ends that is not understood; 0 for punctuation."""
    if not (text[at].isalnum() or text[at] in "_/#@+="):
        return 0
    word = None if begins_unspaced(text[at]) else _WORD.match(text, at)
    if not word:
        return at + 1
    unspaced = UNSPACED_RUN.search(text, at, word.end())
    return unspaced.start() if unspaced else word.end()


def _is_inside_word(text: str, at: int) -> bool:
    """Whether letters of one word stand on both sides."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and (after.isalnum() or after == "_")):
        return False
    return not (begins_unspaced(before) or begins_unspaced(after))


@cache
def _phrases_of(language: str, for_tasks: bool) -> Phrases:
    return Phrases(language, *(("tasks",) if for_tasks else ()), "catalog")


QueryKind = Literal[
    "notes",
    "orphans",
    "unlinked",
    "untagged",
    "broken_links",
    "overview",
    "count",
    "tags",
    "folders",
    "backlinks",
    "links",
    "hubs",
    "tasks",
    "dates",
    "note",
    "holding",
]
TaskTime = Literal["open", "due", "overdue"]
Order = Literal["newest", "oldest", "longest", "shortest"]
MAX_LISTED: Final = 15
"""Rows of an answer, unless the question asks for another number."""
MAX_ASKED: Final = 50


class CatalogQuery(Struct, frozen=True, kw_only=True):
    kind: QueryKind
    tags: tuple[str, ...] = ()
    """Without their `#`; a note has all of them, or tags below them."""
    any_tag: bool = False
    """Whether one of the tags is enough."""
    without_tags: tuple[str, ...] = ()
    """A note has none of these, nor tags below them."""
    folder: str | None = None
    """As it is written."""
    period: DayRange | None = None
    by_change: bool = False
    """Whether its time is that of the last change, and not when a note was written."""
    order: Order | None = None
    is_about_changes: bool = False
    """Whether it asks what was changed, and not only for the notes of a time."""
    limit: int | None = None
    wants_all: bool = False
    """Whether it asks for all of them in so many words."""
    tasks: TaskTime = "open"
    """Which tasks, where it asks for tasks."""
    note: str | None = None
    """The link whose links are asked for, as it is written; or the name of a note."""
    words: str = ""
    """Those that the notes hold, or the tasks or their places."""
    parts: tuple[str, ...] = ()
    """What is asked of a note beside its text: names of its properties, or `headings`; all where none is named."""


MAX_CHARACTERS: Final = 160
"""Of a question; what is longer tells a story."""
_ORDERS: Final[tuple[Order, ...]] = ("newest", "oldest", "longest", "shortest")
_CHANGES: Final = frozenset({"changed", "written", "new", "recent"})
_ANY: Final = frozenset({"note", "vault", "count"})

_WITHOUT_NAME: Final[tuple[tuple[QueryKind, str, frozenset[str]], ...]] = (
    ("broken_links", "broken", _ANY),
    ("orphans", "orphan", _ANY),
    ("unlinked", "unlinked", _ANY),
    ("untagged", "untagged", _ANY),
    ("hubs", "mostlinked", _ANY | {"number"}),
    ("tags", "tags", _ANY | {"frequent", "on", "and"}),
    ("folders", "folder", _ANY | {"frequent"}),
)
"""What is asked for, the word that it takes, and the others that may stand beside it."""


_OF_LINKS: Final = ("linkto", "backlink", "outlink", "linked", "orphan", "unlinked")
_LINKS_OF_ONE: Final = ("linkto", "backlink", "outlink", "linked", "whereto")
NOTE_WORDS: Final = frozenset({"note", "single", "page"})
_LINK_WORDS: Final = _ANY | NOTE_WORDS | {*_LINKS_OF_ONE, "mention", "occur", "whereis", "link", "about", "topic", "on"}
_NOTE_WORDS: Final = (
    _ANY | _CHANGES | {*_ORDERS, "page", "define", "tag", "tagged", "folder", "infolder", "period", "number", "single"}
)
_SILENT: Final = frozenset({"ask", "list", "or"})
VAULT_WORDS: Final = NOTE_WORDS | {"tag", "tags", "tagged", "untagged", "folder", "infolder"} | {*_OF_LINKS}
_HOLDING_WORDS: Final = frozenset({"occur", "appear", "where", "note", "vault", "count", *_SILENT})
_DATE_WORDS: Final = _CHANGES | {"when", "newest", "note", "single", "link", "about", "topic", "on"}
_SIGNS: Final = " \t?!.,;:…。？！，¿¡\"'“”„‘’«»「」『』"


_TASK_WORDS: Final = frozenset(
    {"task", "overdue", "due", "open", "todo", "remaining", "doing", "period", "count", "ask", "define", "list", "on"}
)
_OF_A_NOTE: Final = frozenset({"within", "link", "single", "topic"})
_TASK_TIMES: Final[tuple[TaskTime, ...]] = ("overdue", "due", "open")


_OF_ONE_NOTE: Final = (*_LINKS_OF_ONE, "task")
"""What is asked of a note that is named without a link; its dates only where the word "note" stands there, too."""


class Names(Protocol):
    """The names by which a question may speak of folders, notes and tags without a link or a sign."""

    def is_folder(self, name: str) -> bool: ...

    def is_note(self, name: str) -> bool: ...

    def note_like(self, words: str) -> str:
        """The note in whose title these words stand, or whose title they hold; empty where there is none."""

    def is_tag(self, name: str) -> bool: ...

    def tag_for(self, plural: str) -> str:
        """The tag that a word is another form of: `recipe` for "recipes"; empty where there is none."""


class _Phrase(Struct, frozen=True, kw_only=True):
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
        return frozenset(token.meaning for token in self.tokens) - _SILENT

    @property
    def names_tags(self) -> bool:
        return bool(self.tags or self.without_tags)

    def has(self, meaning: str) -> bool:
        return any(token.meaning == meaning for token in self.tokens)

    def may_have(self, meaning: str) -> bool:
        return any(token.may_mean(meaning) for token in self.tokens)


def parse_question(text: str, links: Sequence[str], names: Names, calendar: Calendar) -> CatalogQuery | None:
    """The query that a text means in which each of the links is written as `LINK_MARK`."""
    if not 0 < len(text.strip()) <= MAX_CHARACTERS or text.count(LINK_MARK) != len(links) or len(links) > 1:
        return None
    plain = " ".join(text.replace(PERIOD_MARK, " ").split())
    for language in by_code("catalog"):
        tokens = tokens_of(plain, language)
        if query := _parse(plain, _Phrase(tokens=tokens), language, links, names):
            return query
        found = find_period(plain, language, calendar)
        if found is None:
            continue
        period, marked = found[0], _with_mark(plain, *found[1])
        tokens = tokens_of(marked, language)
        kept = [  # without the word before a time that only says that one follows
            token
            for token, after in zip(tokens, [*tokens[1:], None], strict=True)
            if not (after and after.meaning == "period" and token.may_mean("on"))
        ]
        phrase = _Phrase(tokens=kept, period=period)
        if query := _parse(marked, phrase, language, links, names):
            return query
    if any(link.endswith("/") for link in links):
        return None
    query = _parse_task_question(plain, calendar, *links)
    if links or query:
        return query
    return _parse_tasks_with_words(plain, calendar) or _parse_with_named_note(plain, names, calendar)


def _parse_with_named_note(plain: str, names: Names, calendar: Calendar) -> CatalogQuery | None:
    """The query of a question that names a note without a link: the note stands where its name does."""
    for language in by_code("catalog"):
        for for_tasks in (False, True):
            tokens = tokens_of(plain, language, for_tasks=for_tasks)
            asked = {meaning for token in tokens for meaning in token.meanings}
            if asked.isdisjoint(_OF_ONE_NOTE) and not {"when", "single"} <= asked:
                continue
            for first, end, name in _named_notes(plain, tokens, names):
                marked = f"{plain[:first]} {LINK_MARK} {plain[end:]}"
                if query := parse_question(marked, [name], names, calendar):
                    return query
    return None


def _named_notes(text: str, tokens: Sequence[Token], names: Names) -> Iterator[tuple[int, int, str]]:
    """Where a note is named, with all that is not understood in its name: the longest name first; then the words beside
    "note" that are part of a title."""
    unknown = [at for at, token in enumerate(tokens) if token.meaning == UNKNOWN]
    last = unknown[-1] if unknown else 0
    firsts, ends = range(unknown[0] + 1 if unknown else len(tokens)), range(len(tokens), last, -1)
    places = ((first, end) for first, end in itertools.product(firsts, ends) if first < end)
    for first, end in sorted(places, key=lambda place: place[0] - place[1]):
        name = text[tokens[first].start : tokens[end - 1].end].strip(_SIGNS)
        if len(name) <= 60 and names.is_note(name):
            yield tokens[first].start, tokens[end - 1].end, name
    if unknown and any(token.meaning in {"single", "linkto", "backlink"} for token in tokens):
        start, stop = tokens[unknown[0]].start, tokens[unknown[-1]].end
        if path := names.note_like(text[start:stop].replace("’", "'").removesuffix("'s")):
            yield start, stop, path


def _with_mark(plain: str, start: int, end: int) -> str:
    return f"{plain[:start]} {PERIOD_MARK} {plain[end:]}".strip()


def _parse(text: str, phrase: _Phrase, language: str, links: Sequence[str], names: Names) -> CatalogQuery | None:
    if sum(token.meaning == UNKNOWN for token in phrase.tokens) >= MAX_UNKNOWN:
        return None
    phrase = _with_link(phrase, links)
    if phrase.folder and not phrase.has("note"):
        return None  # a folder that is mentioned comes with the list of its files
    if phrase.folder is None and not phrase.note:
        phrase = _with_named_folder(text, phrase, names)
    if not phrase.note and (words := _words_held(text, phrase)):
        return CatalogQuery(kind="holding", words=words, wants_all=phrase.may_have("all"))
    named = _with_tags_and_folder(phrase, names)
    if named is None or any(token.meaning == UNKNOWN for token in named.tokens):
        return None
    if named.note:
        return _links_query(named, language)
    return _listing_query(named)


def _with_link(phrase: _Phrase, links: Sequence[str]) -> _Phrase:
    """The phrase with the note or the folder that it links to."""
    tokens = phrase.tokens
    for at, token in enumerate(tokens):
        if token.meaning == "link" and links[0].endswith("/"):
            return replace(phrase, tokens=[*tokens[:at], *tokens[at + 1 :]], folder=links[0])
        if token.meaning == "link":
            return replace(phrase, note=links[0], note_at=at)
    return phrase


def _words_held(text: str, phrase: _Phrase) -> str:
    """The words of which it asks in which notes they stand: "which notes mention Owen", "where does Owen come up"."""
    words, others = _apart(text, phrase.tokens)
    asks = {word for word in _HOLDING_WORDS for token in others if token.may_mean(word)}
    is_asked = ("occur" in asks and asks & {"note", "where"}) or {"appear", "note"} <= asks
    is_all = all(any(token.may_mean(word) for word in _HOLDING_WORDS) for token in others)
    return words if is_asked and is_all and len(words.split()) <= 5 else ""


def _apart(text: str, tokens: Sequence[Token]) -> tuple[str, list[Token]]:
    """From the first to the last word that is not understood, and the tokens around that."""
    unknown = [at for at, token in enumerate(tokens) if token.meaning == UNKNOWN]
    if not unknown:
        return "", [*tokens]
    first, last = unknown[0], unknown[-1]
    return text[tokens[first].start : tokens[last].end], [*tokens[:first], *tokens[last + 1 :]]


def _links_query(phrase: _Phrase, language: str) -> CatalogQuery | None:
    """Which notes link to the note, or which it links to; or when it was written."""
    meanings = phrase.meanings
    is_dated = bool(meanings & {*_CHANGES, "newest"}) or phrase.may_have("written")
    if "when" in meanings and meanings <= _DATE_WORDS and is_dated:
        return CatalogQuery(kind="dates", note=phrase.note)
    if phrase.period or phrase.names_tags or phrase.folder or not meanings <= _LINK_WORDS:
        return None
    is_where = "whereis" in meanings and meanings & {"linked", "mention", "occur"}
    if "backlink" in meanings or is_where or phrase.tokens[-1].meaning == "linked":  # "is [[Roof]] linked"
        return CatalogQuery(kind="backlinks", note=phrase.note)
    if "outlink" in meanings or {"whereto", "linkto"} <= meanings:
        return CatalogQuery(kind="links", note=phrase.note)
    place = next(
        (at for at, token in enumerate(phrase.tokens) if token.meaning in {"linkto", "mention", "occur"}), None
    )
    if place is None:
        return None
    if language == "ja":  # "X に link" leads to X, "X は … に link" from it
        leads_there = place == phrase.note_at + 1 or phrase.tokens[phrase.note_at + 1].text == "に"
    else:
        leads_there = place < phrase.note_at
    return CatalogQuery(kind="backlinks" if leads_there else "links", note=phrase.note)


def _listing_query(phrase: _Phrase) -> CatalogQuery | None:
    meanings = phrase.meanings
    has_filter = bool(phrase.names_tags or phrase.folder or phrase.period)
    if "about" in meanings:
        is_whole = len(phrase.tokens) == 1 or "vault" in meanings or "note" in meanings
        is_meant = is_whole or any(" " in token.text for token in phrase.tokens if token.meaning == "about")
        is_plain = meanings <= {"about", "note", "vault", "define"} and not has_filter
        return CatalogQuery(kind="overview") if is_meant and is_plain else None
    if "size" in meanings and "vault" in meanings:
        return CatalogQuery(kind="count") if meanings <= {"size", "vault", "note"} and not has_filter else None
    for kind, word, beside in _WITHOUT_NAME:
        is_named = (word == "tags" and phrase.names_tags) or (word == "folder" and phrase.folder)
        if any(token.may_mean(word) for token in phrase.tokens) and not is_named:
            named = {"infolder", "folder"} if phrase.folder else {"tagged", "tag"} if phrase.names_tags else set[str]()
            allowed = {*beside, *named, *_SILENT}
            is_plain = all(token.may_mean(word) or token.meaning in allowed for token in phrase.tokens)
            is_plain &= kind not in {"tags", "folders"} or not has_filter
            return _filtered(kind, phrase) if is_plain else None
    return _notes_query(phrase, meanings, has_filter=has_filter)


def _filtered(kind: QueryKind, phrase: _Phrase) -> CatalogQuery:
    return CatalogQuery(
        kind=kind,
        tags=phrase.tags,
        any_tag=phrase.any_tag,
        without_tags=phrase.without_tags,
        folder=phrase.folder,
        wants_all=phrase.may_have("all"),
    )


def _notes_query(phrase: _Phrase, meanings: frozenset[str], *, has_filter: bool) -> CatalogQuery | None:
    """Which notes, by tag, folder and time, or how many."""
    orders = [order for order in _ORDERS if order in meanings]
    changes = not meanings.isdisjoint(_CHANGES)
    numbers = [token.value("number") for token in phrase.tokens if token.meaning == "number"]
    is_odd = len(orders) > 1 or (numbers and not (orders or changes))
    if is_odd or not meanings <= _NOTE_WORDS or not _is_whole(phrase, meanings, bool(orders), changes=changes):
        return None
    period = phrase.period
    is_day = period is not None and period.first and period.end and (period.end - period.first).days == 1
    if is_day and "written" in meanings and meanings.isdisjoint({"note", "single", "count", "tag", "folder"}):
        return None  # what was written on a single day is answered with the notes of the day themselves
    if has_filter or orders or changes or (phrase.has("list") and "count" not in meanings):
        return replace(
            _filtered("notes", phrase),
            period=phrase.period,
            by_change=not meanings.isdisjoint({"changed", "recent"}) and "written" not in meanings,
            order=orders[0] if orders else None,
            is_about_changes=changes,
            limit=numbers[0] if numbers else None,
        )
    return CatalogQuery(kind="count") if {"count", "note"} <= meanings else None


def _is_whole(phrase: _Phrase, meanings: frozenset[str], is_ranked: bool, *, changes: bool) -> bool:
    """Whether it says of what: of notes, of a tag or a folder, or of what changed when."""
    names_some = phrase.names_tags or phrase.folder is not None
    if not (meanings or phrase.period or phrase.folder):
        return phrase.names_tags  # a tag, and nothing else
    if not meanings.isdisjoint({"note", "single"}):
        return "define" not in meanings or names_some or phrase.period is not None
    if is_ranked:
        return False
    if names_some:
        return changes or not meanings.isdisjoint(
            {"tag", "tagged"} if phrase.names_tags else {"define", "folder", "infolder"}
        )
    is_recent = "recent" in meanings and (meanings & {"changed", "vault"} or len(phrase.tokens) == 1)
    return changes and (phrase.period is not None or bool(is_recent))


def _with_named_folder(text: str, phrase: _Phrase, names: Names) -> _Phrase:
    """The phrase in which the name of a folder is one token, also where its words mean something else: "in Notes"."""
    tokens = phrase.tokens
    for at, token in enumerate(tokens):
        for first, end in _folder_places(tokens, at):
            name = text[tokens[first].start : tokens[end - 1].end]
            is_name = token.meaning != "folder" or name[:1].isupper()
            if is_name and not name.endswith("/") and names.is_folder(name):
                named = replace(tokens[first], meanings={"path": ""}, text=name, end=tokens[end - 1].end)
                return replace(phrase, tokens=[*tokens[:first], named, *tokens[end:]])
    return _with_listed_name(text, phrase, names)


def _folder_places(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Where the name of a folder may stand beside a token, the longest first."""
    token = tokens[at]
    if fold(token.text) in _inside() or token.meaning in {"infolder", "folder"}:
        for end in range(min(len(tokens), at + 5), at + 1, -1):
            yield at + 1, end
    if token.meaning == "folder" and at:
        yield at - 1, at


def _with_listed_name(text: str, phrase: _Phrase, names: Names) -> _Phrase:
    """The phrase that asks for what a folder or a tag is named after: "how many daily notes", "what are my projects",
    "which recipes do I have" where notes are tagged `recipe`."""
    tokens = phrase.tokens
    at = next((at for at, token in enumerate(tokens) if token.meaning == UNKNOWN), None)
    if at is None or not phrase.meanings <= {"count", "note", "period", "define", UNKNOWN}:
        return phrase
    is_list = phrase.has("count") or (phrase.has("list") and phrase.may_have("own"))
    has_note = at + 1 < len(tokens) and tokens[at + 1].meaning == "note"
    if (phrase.has("define") and not phrase.may_have("own")) or len(text.split()) < 3:  # a name alone is a topic
        return phrase
    if phrase.has("note") and not (is_list and has_note):
        return phrase
    for end in (at + 2, at + 1) if has_note else (at + 1,):
        name = text[tokens[at].start : tokens[end - 1].end]
        before, after = tokens[:at], tokens[end:]
        if names.is_folder(name):
            inside = replace(tokens[at], meanings={"infolder": ""})
            return replace(phrase, tokens=[*before, inside, *after], folder=name)
        if tag := names.tag_for(name):
            tagged, hashtag = ({"tagged": ""}, tokens[at].text), ({"hashtag": ""}, tag)
            named = (replace(tokens[at], meanings=meanings, text=said) for meanings, said in (tagged, hashtag))
            return replace(phrase, tokens=[*before, *named, *after])
    return phrase


def _with_tags_and_folder(phrase: _Phrase, names: Names) -> _Phrase | None:
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
        elif "folder" in (before, after) or before == "infolder" or (at and fold(tokens[at - 1].text) in _inside()):
            is_there = names.is_folder(token.text)
            is_meant = before == "infolder" and " " not in token.text and phrase.has("note")
            if folder is not None or not (is_there or is_meant):
                return None
            folder = token.text
        else:
            return None
    return _with_tags(replace(phrase, folder=folder), places, kept)


def _is_tag(phrase: _Phrase, at: int, places: Sequence[int], names: Names) -> bool:
    """Whether a word that is not understood is a tag: it follows "tagged", or a tag and "or"."""
    token, before = phrase.tokens[at], phrase.tokens[at - 1] if at else None
    after = phrase.tokens[at + 1].meaning if at + 1 < len(phrase.tokens) else ""
    if " " in token.text:
        return False
    if after in {"tag", "tagged"} and phrase.has("note") and names.is_tag(token.text):
        return True  # "notes with the book tag"
    if before is None:
        return False
    if before.meaning == "tagged" or (before.meaning == "tag" and (phrase.has("note") or phrase.has("single"))):
        return True
    is_joined = any(before.may_mean(word) for word in ("or", "and", "not")) and bool(places)
    return is_joined and names.is_tag(token.text.strip(_SIGNS))


def _with_tags(phrase: _Phrase, places: Sequence[int], kept: Sequence[int]) -> _Phrase | None:
    """The phrase with the tags that stand at these places: all of them, any, or none."""
    tokens, spent = phrase.tokens, set[int]()
    wanted: list[str] = []
    unwanted: list[str] = []
    joined = set[str]()
    for number, at in enumerate(places):
        first = at
        while first and (
            tokens[first - 1].meaning in {"tagged", "tag", "with"}
            or any(tokens[first - 1].may_mean(word) for word in ("or", "and", "not"))
        ):
            first -= 1
        before = range(first, at)
        is_not = any(tokens[each].may_mean("not") for each in before)
        spent.update(each for each in before if tokens[each].may_mean("not") or tokens[each].meaning in {"or", "with"})
        words = {word for word in ("or", "and") for each in before if tokens[each].may_mean(word)}
        if (is_not and "or" in words) or (unwanted and not is_not) or ("or" in words and not number):
            return None  # of "not #a or #b" nobody knows what it means
        joined |= set() if is_not else words
        (unwanted if is_not else wanted).append(tokens[at].text.strip(_SIGNS))
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


def _parse_task_question(plain: str, calendar: Calendar, note: str | None = None) -> CatalogQuery | None:
    """All words have to be known: "What is the task of the roof?" asks for something else.

    `note` is the one that the question links to.
    """
    known = _TASK_WORDS | _OF_A_NOTE if note else _TASK_WORDS
    for language, words in by_code("tasks").items():
        needed = {"todo", "doing"} & words.keys()
        tokens = tokens_of(plain, language, for_tasks=True)
        if query := _task_query(tokens, None, needed, known):
            return replace(query, note=note)
        for looks_ahead in (True, False):
            found = find_period(plain, language, replace(calendar, looks_ahead=looks_ahead))
            if found is None:
                break
            period, marked = found[0], _with_mark(plain, *found[1])
            query = _task_query(tokens_of(marked, language, for_tasks=True), period, needed, known)
            is_past = query and (query.tasks == "overdue" or period.end is None)  # "overdue since Monday"
            if query and not (looks_ahead and is_past):
                return replace(query, note=note)
    return None


def _parse_tasks_with_words(plain: str, calendar: Calendar) -> CatalogQuery | None:
    """The open tasks that some words stand in: "what open to-dos does Owen have"."""
    for language in by_code("tasks"):
        words, others = _apart(plain, tokens_of(plain, language, for_tasks=True))
        if not words or find_period(plain, language, calendar):
            continue
        says_which = all(any(token.may_mean(word) for token in others) for word in ("task", "open"))
        is_short = says_which and len(words.split()) <= 3  # more is no name
        if is_short and (query := _task_query(others, None, (), _TASK_WORDS | _OF_A_NOTE)):
            return replace(query, words=words)
    return None


def _task_query(
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
    times = [time for time in _TASK_TIMES if has(time)]
    if not has("task") or not (times or period or has("own") or has("list") or has("link")):
        return None
    when = times[0] if times else "due" if period else "open"
    return CatalogQuery(kind="tasks", tasks=when, period=period, wants_all=has("all"))


@cache
def _inside() -> frozenset[str]:
    """Words before the name of a folder."""
    return frozenset(word for words in by_code("catalog").values() for word in phrases(words.get("inside", "")))
