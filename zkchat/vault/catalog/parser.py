"""Parse a question about the vault itself; None for every other question.

All words of such a question are known, but for the tag, the folder or the note that it names: whatever else it speaks
of is looked for in the notes.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from zkchat.lexicon.vault_questions import VAULT_WORDS
from zkchat.model.dates import Calendar
from zkchat.vault.catalog.filters import SIGNS, SILENT, Names, Phrase, with_named_folder, with_tags_and_folder
from zkchat.vault.catalog.lexer import LINK_MARK, MAX_UNKNOWN, PERIOD_MARK, UNKNOWN, Token, tokens_of
from zkchat.vault.catalog.query import CatalogQuery, Order, QueryKind
from zkchat.vault.catalog.task_questions import parse_task_question
from zkchat.vault.dates.questions import find_period

MAX_CHARACTERS: Final = 160
"""Of a question; what is longer tells a story."""
_MAX_NAME_CHARACTERS: Final = 60
_ORDERS: Final[tuple[Order, ...]] = ("newest", "oldest", "longest", "shortest")
_CHANGES: Final = frozenset({"changed", "written", "new", "recent"})
_ANY: Final = frozenset({"note", "vault", "count"})

_WITHOUT_NAME: Final[tuple[tuple[QueryKind, str, frozenset[str]], ...]] = (
    ("broken_links", "broken", _ANY),
    ("orphans", "orphan", _ANY),
    ("untagged", "untagged", _ANY),
    ("hubs", "mostlinked", _ANY | {"number"}),
    ("tags", "tags", _ANY | {"frequent"}),
    ("folders", "folder", _ANY),
)
"""What is asked for, the word that it takes, and the others that may stand beside it."""


def parse_question(text: str, links: Sequence[str], names: Names, calendar: Calendar) -> CatalogQuery | None:
    """The query that a text means in which each of the links is written as `LINK_MARK`."""
    if not 0 < len(text.strip()) <= MAX_CHARACTERS or text.count(LINK_MARK) != len(links) or len(links) > 1:
        return None
    plain = " ".join(text.replace(PERIOD_MARK, " ").split())
    for language in VAULT_WORDS:
        tokens = tokens_of(plain, language)
        if query := _parse(plain, Phrase(tokens=tokens), language, links, names):
            return query
        found = find_period(plain, language, calendar)
        if found is None:
            continue
        marked = f"{plain[: found.start]} {PERIOD_MARK} {plain[found.end :]}".strip()
        phrase = Phrase(tokens=_without_on(tokens_of(marked, language)), period=found.period)
        if query := _parse(marked, phrase, language, links, names):
            return query
    if any(link.endswith("/") for link in links):
        return None
    return parse_task_question(plain, calendar, *links)


def _without_on(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the word before a time that only says that one follows."""
    followed = [*tokens[1:], None]
    return [
        token
        for token, after in zip(tokens, followed, strict=True)
        if not (after and after.meaning == "period" and token.may_mean("on"))
    ]


def _parse(text: str, phrase: Phrase, language: str, links: Sequence[str], names: Names) -> CatalogQuery | None:
    if sum(token.meaning == UNKNOWN for token in phrase.tokens) >= MAX_UNKNOWN:
        return None
    phrase = _with_named_note(text, phrase, links, names)
    if phrase.folder and not phrase.has("note"):
        return None  # a folder that is mentioned comes with the list of its files
    if phrase.folder is None and not phrase.note:
        phrase = with_named_folder(text, phrase, names)
    named = with_tags_and_folder(phrase, names)
    if named is None or any(token.meaning == UNKNOWN for token in named.tokens):
        return None
    if named.note:
        return _links_query(named, language)
    return _listing_query(named)


def _with_named_note(text: str, phrase: Phrase, links: Sequence[str], names: Names) -> Phrase:
    """The phrase with its link, or with the note whose name ends it: "which notes link to Evergreen notes"."""
    tokens = phrase.tokens
    for at, token in enumerate(tokens):
        if token.meaning == "link" and links[0].endswith("/"):
            return replace(phrase, tokens=[*tokens[:at], *tokens[at + 1 :]], folder=links[0])
        if token.meaning == "link":
            return replace(phrase, note=links[0], note_at=at)
        if token.meaning in {"linkto", "backlink"}:
            name = text[token.end :].strip(SIGNS)
            if name and len(name) <= _MAX_NAME_CHARACTERS and names.is_note(name):
                kept = [*tokens[: at + 1], replace(token, meanings=("link",))]
                return replace(phrase, tokens=kept, note=name, note_at=at + 1)
    return phrase


_LINK_WORDS: Final = frozenset(
    {"note", "vault", "count", "linkto", "backlink", "outlink", "linked", "whereto", "whereis", "link", "single"}
)


def _links_query(phrase: Phrase, language: str) -> CatalogQuery | None:
    """Which notes link to the note, or which it links to."""
    meanings = phrase.meanings
    if phrase.period or phrase.names_tags or phrase.folder or not meanings <= _LINK_WORDS:
        return None
    if "backlink" in meanings or {"whereis", "linked"} <= meanings:
        return CatalogQuery(kind="backlinks", note=phrase.note)
    if "outlink" in meanings or {"whereto", "linkto"} <= meanings:
        return CatalogQuery(kind="links", note=phrase.note)
    place = next((at for at, token in enumerate(phrase.tokens) if token.meaning == "linkto"), None)
    if place is None:
        return None
    if language == "ja":  # "X に link" leads to X, "X は … に link" from it
        leads_there = place == phrase.note_at + 1 or phrase.tokens[phrase.note_at + 1].text == "に"
    else:
        leads_there = place < phrase.note_at
    return CatalogQuery(kind="backlinks" if leads_there else "links", note=phrase.note)


def _listing_query(phrase: Phrase) -> CatalogQuery | None:
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
            allowed = {*beside, *named, *SILENT}
            is_plain = all(token.may_mean(word) or token.meaning in allowed for token in phrase.tokens)
            is_plain &= kind not in {"tags", "folders"} or not has_filter
            return _filtered(kind, phrase) if is_plain else None
    return _notes_query(phrase, meanings, has_filter=has_filter)


def _filtered(kind: QueryKind, phrase: Phrase) -> CatalogQuery:
    return CatalogQuery(
        kind=kind,
        tags=phrase.tags,
        any_tag=phrase.any_tag,
        without_tags=phrase.without_tags,
        folder=phrase.folder,
        wants_all=phrase.may_have("all"),
    )


_NOTE_WORDS: Final = frozenset(
    {
        "note",
        "vault",
        "count",
        "define",
        "tag",
        "tagged",
        "folder",
        "infolder",
        "period",
        "number",
        "single",
        *_CHANGES,
        *_ORDERS,
    }
)


def _notes_query(phrase: Phrase, meanings: frozenset[str], *, has_filter: bool) -> CatalogQuery | None:
    """Which notes, by tag, folder and time, or how many."""
    orders = [order for order in _ORDERS if order in meanings]
    changes = not meanings.isdisjoint(_CHANGES)
    numbers = [int(token.text) for token in phrase.tokens if token.meaning == "number"]
    is_odd = len(orders) > 1 or (numbers and not (orders or changes))
    if is_odd or not meanings <= _NOTE_WORDS or not _is_whole(phrase, meanings, bool(orders), changes=changes):
        return None
    if _asks_what_a_day_says(phrase, meanings):
        return None
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


def _asks_what_a_day_says(phrase: Phrase, meanings: frozenset[str]) -> bool:
    """Whether it asks what was written on a single day: that is answered with the notes of the day themselves."""
    period = phrase.period
    is_day = period is not None and period.first and period.end and (period.end - period.first).days == 1
    return bool(is_day) and "written" in meanings and meanings.isdisjoint({"note", "single", "count", "tag", "folder"})


def _is_whole(phrase: Phrase, meanings: frozenset[str], is_ranked: bool, *, changes: bool) -> bool:
    """Whether it says of what: of notes, of a tag or a folder, or of what changed when."""
    names_some = phrase.names_tags or phrase.folder is not None
    if not meanings.isdisjoint({"note", "single"}):
        return "define" not in meanings or names_some or phrase.period is not None
    if is_ranked:
        return False
    if names_some:
        return changes or not meanings.isdisjoint(
            {"tag", "tagged"} if phrase.names_tags else {"define", "folder", "infolder"}
        )
    return changes and (phrase.period is not None or ("recent" in meanings and bool(meanings & {"changed", "vault"})))
