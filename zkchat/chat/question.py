"""What the user asks, parsed once."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.agents import split_address
from zkchat.chat.context.condensing import SplitMessage, split_question
from zkchat.chat.context.unit_ranking import listed_terms
from zkchat.core import (
    Ambiguous,
    ChatMessage,
    DocumentReference,
    Evidence,
    External,
    Link,
    Missing,
    OpenText,
    Resolved,
    VaultError,
    Warned,
    as_open_as,
    is_image,
    is_note,
    lazy_pattern,
    without_suffix,
)
from zkchat.index import (
    UNSPACED_SCRIPTS,
    Library,
    are_related,
    begins_unspaced,
    own_terms,
    term_matches,
    terms,
    topic_of,
    topic_terms,
    words,
    written_words,
)
from zkchat.language import (
    ABOUT_THE_ANSWER,
    CHANGES,
    CONNECTIVES,
    DECISIONS,
    ENDS_AS_QUESTION,
    FIRST_PERSON,
    FOR_A_NUMBER,
    FOR_A_TIME,
    GOES_ON,
    INTERROGATIVES,
    LINKING_VERB,
    MAY_POINT_BACK,
    POINTS_BACK,
    REQUEST,
    REQUESTS,
    SUBJECTS,
    TELLING,
    UNSPACED,
    UNSPACED_CHANGES,
    UNSPACED_STATEMENTS,
)
from zkchat.notes import day_of_headings, link_catalog, name_key, sentences

_FILE_NAME: Final = lazy_pattern(
    r".\.(?:md|txt|csv|tsv|json|jsonl|ya?ml|toml|ini|log|org|rst|tex|bib|html?|xml|css|py|ipynb|js|ts|sh|sql|r|"
    r"canvas|base|pdf|docx?|xlsx?|png|jpe?g|gif|svg|webp|avif|bmp|hei[cf]|tiff?)$",
    re.IGNORECASE,
)


def looks_like_path(name: str) -> bool:
    """Whether a name after `@` can only be meant as a path: it has a slash, or the suffix of a file."""
    return "://" not in name and ("/" in name.rstrip() or _FILE_NAME.search(name) is not None)


def is_mentioned(library: Library, link: Link) -> bool:
    """Whether a name after `@` means a document: one that has this path, or the only one of this name."""
    match library.resolve(link, suggestions=0):
        case Resolved():
            return True
        case Ambiguous(path=path):
            return name_key(without_suffix(path)) == name_key(without_suffix(link.target.removeprefix("/")))
        case Missing():
            return bool(path_mentioned(library, link) or library.withheld(link))
        case External():
            return False


def path_mentioned(library: Library, link: Link) -> str:
    """The folder that a mention leads to, or the file that is too new for the index; empty where there is none."""
    if not (link.text.startswith("@") and looks_like_path(link.target)):
        return ""
    return library.find_folder(link.target) or (link.target if library.has_text(link.target) else "")


def link_mentioned(written: str) -> Link:
    """The link that is written as `@name` or `@"a name"`."""
    return link_catalog.link_to(written.removeprefix("@").strip('"'))._replace(text=written)


def problems_of(
    library: Library, unknown_paths: Sequence[Link], references: Iterable[DocumentReference]
) -> Iterator[Warned]:
    """A sentence for each path that is mentioned and not there, and for each file whose text cannot be sent."""
    unknown = [link.target for link in unknown_paths]
    files = [path for each in references if (path := each.relative_path) and not (is_note(path) or is_image(path))]
    for path in dict.fromkeys((*unknown, *files)):
        try:
            library.read(path)
        except VaultError as error:
            yield Warned(text=error.message, hint=error.hint)


_PUNCTUATION: Final = ".,;:!?)]}'”’»…。，、！？）」"
_MENTION = lazy_pattern(rf"""(?<![^\s("'“„‘«（「，。：；、{UNSPACED_SCRIPTS}])@(?:"([^"\n]+)"|([^\s"@]+))""")
"""`@path/to/note.md`, `@Note` or `@"a name with spaces"`.

After a letter it is an e-mail address, unless the script has no spaces."""
_SUFFIX_IN_WORD = lazy_pattern(rf"\.[A-Za-z0-9]{{1,8}}(?=[{UNSPACED_SCRIPTS}])")
"""Where the name of a file ends although the sentence goes on without a space."""


OWN: Final = frozenset(words(FIRST_PERSON))
MINE: Final = OWN - frozenset(words(SUBJECTS))
_ASKING: Final = frozenset(words(" ".join(INTERROGATIVES.values())))
_AND: Final = lazy_pattern(
    rf"[,;，；]?\s+(?:{'|'.join(CONNECTIVES.split())})\s+|[,，；;](?=\s|[^\s\d])|[?？]\s*(?=\S)", re.IGNORECASE
)
_GREETING: Final = lazy_pattern(r"\A\W*\w+[,!…]+\s*")
"""A word before a question: "Moin, wie oft …"."""
_CHANGES: Final = frozenset(words(CHANGES))
_WISHES: Final = _CHANGES.union(words(ABOUT_THE_ANSWER), *map(words, REQUESTS.values())) - OWN
_FOR_A_FIGURE: Final = FOR_A_TIME + FOR_A_NUMBER
DECIDED: Final = frozenset(words(DECISIONS))
MAX_SHORT_TOPIC: Final = 2
"""Terms of a question in which "it" stands for something: "How long does it take to bake bread?" has more."""


def _begins_as_question(used: Sequence[str]) -> bool:
    return not _ASKING.isdisjoint(used[:1])


def _asks_early(text: str, most: int) -> bool:
    """Whether one of its first words asks; in a script without spaces, any."""
    if begins_unspaced(text.lstrip()):
        return any(phrase in text for phrase in UNSPACED.split())
    return not _ASKING.isdisjoint(words(text)[:most])


def terms_of(evidence: Evidence) -> frozenset[str]:
    """Those of a passage, its heading and its title."""
    return frozenset(terms(f"{evidence.title}\n{evidence.heading}\n{evidence.text}"))


def said_in(text: str, *, counts: Callable[[str], bool] = lambda sentence: not _asks(sentence)) -> str:
    """What a message says beside what it asks: all where it asks for nothing, else "I'm off to Trieste." before "What
    is compost?". A later question may be about any of it."""
    said = [*_sentences(text)]
    return " ".join(filter(counts, said)) if any(map(_asks, said)) else text


def _sentences(text: str) -> Iterator[str]:
    """Those of a message, in which many people write no capitals: "vet is Dr Novak now. when are peas sown?"."""
    for each in sentences(text):
        start = 0
        for end in re.finditer(r"[.?!]\s+(?=\S)", each):
            if each[end.start()] in "?!" or _asks_early(each[end.end() :], 1) or REQUEST.match(each[end.end() :]):
                yield each[start : end.end()].strip()
                start = end.end()
        yield each[start:]


def _asks(sentence: str) -> bool:
    is_request = REQUEST.search(sentence) and DECIDED.isdisjoint(words(sentence))  # "Please remember: …"
    goes_on = GOES_ON.match(sentence) and _asks_early(sentence, len(sentence))  # "and his wife, what did she do"
    is_put = _asks_early(sentence, 1) or _asks_early(_GREETING.sub("", sentence), 1)
    return bool(is_request or ENDS_AS_QUESTION.search(sentence) or goes_on) or is_put


def _tells(sentence: str) -> bool:
    return not _asks(sentence) and (_is_own(sentence) or LINKING_VERB.search(sentence) is not None)


def _is_own(text: str) -> bool:
    """Whether a text is of the user's own: "my", "by the way"."""
    is_own = not OWN.isdisjoint(words(text)) or any(sign in text for sign in UNSPACED_STATEMENTS)
    return is_own or bool(TELLING.search(text))


def wants_change(text: str) -> bool:
    """Whether a message asks for a change to notes: "Add a task to …", "Could you rename …?", and no question."""
    used = words(text)
    is_said = not _CHANGES.isdisjoint(used[:8]) or any(sign in text for sign in UNSPACED_CHANGES)
    return is_said and not _begins_as_question(used)


class Question(Struct, frozen=True, kw_only=True):
    text: str
    """As the user typed it."""
    agent: str | None = None
    """The agent that it is addressed to: `@writer make it shorter`."""
    links: Sequence[Link] = ()
    """Its links, and the documents that it mentions: `@path/to/note.md`."""
    prose: str = ""
    """What was typed, without its links, without the agent that it is addressed to, and without material pasted in.

    It is an `OpenText`, unless its turn is to stay on this machine.
    """
    told: str = ""
    """What it tells beside what it asks, which alone is its prose then."""
    unknown_paths: Sequence[Link] = ()
    """Paths that are typed in it and are not there; they are part of the prose."""
    topic: str = ""
    """What earlier questions were about, where this one points back to them."""
    notes: tuple[str, ...] = ()
    """The notes that their answers were from, by path."""
    split: SplitMessage = SplitMessage()
    """What was typed, and the text of its own that it comes with to be answered from, such as a log."""

    @property
    def sought(self) -> str:
        """What is looked for in the notes."""
        return self.going_on(self.prose)

    def going_on(self, text: str) -> str:
        """A text of it, with what earlier questions were about where it goes on with them."""
        return self.with_topic(text) if self.goes_on else as_open_as(self.prose, text)

    def with_topic(self, text: str) -> str:
        return as_open_as(self.prose, f"{text} {self.topic}".strip())

    def after(self, earlier: Iterable[ChatMessage], library: Library) -> "Question":
        """The question with the topic of the earlier messages, the latest first: of the latest question that was
        answered and those that point back to it, or of an older one that this question speaks of again.

        One that names a note has a topic of its own.
        """
        topics: list[str] = []
        notes: list[str] = []
        is_open = True
        may_go_on = self._is_alone and self.asks
        for message in self._from_same_topic([*islice(earlier, 12)]) if may_go_on else ():
            if message.role == "assistant":
                cited = [each for each in message.references if each.cited and each.title][:1]
                # The title of a daily note would be a time that is asked for.
                topics += (each.title for each in cited if not day_of_headings((each.title,)))
                notes += (each.relative_path for each in cited if each.relative_path)
                is_open = is_open and not cited  # whose title the user did not type
            elif message.role == "user":
                question = Question.of(message)
                if not (topic_terms(question.prose) or question.links) or (question.tells and not self.refers):
                    continue  # "Thanks!", "I'm off to Trieste."
                is_open = is_open and not message.local
                topics.append(" ".join([topic_of(question.prose), *(link.target for link in question.links)]))
                if notes and not question.points_back:
                    break
        said = [frozenset(words(each)) for each in topics]
        new = [each for place, each in enumerate(topics) if not any(said[place] <= other for other in said[:place])]
        topic = ", ".join(each for each in reversed(new) if not any(set(words(each)) < other for other in said))
        prose = self.prose if is_open else str(self.prose)
        goes_along = topic and not self._names_note(library)
        return replace(self, topic=topic, notes=tuple(notes), prose=prose) if goes_along else self

    def _names_note(self, library: Library) -> bool:
        """Whether it does so before it points anywhere: "What does Ines want for her birthday?"."""
        from zkchat.answers import resolved

        pointer = POINTS_BACK.search(self.prose) or MAY_POINT_BACK.search(self.prose)
        said = topic_of(self.prose[: pointer.start()] if pointer else self.prose)
        return not GOES_ON.match(self.prose) and any(resolved(library, word) for word in written_words(said))

    def _from_same_topic(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """Those up to the latest that asks about the same, by a word; all where none does."""
        own = own_terms(self.prose)
        asked = [place for place, each in enumerate(messages) if each.role == "user"]
        same = next((place for place in asked if own & own_terms(Question.of(messages[place]).prose)), 0)
        return messages[max((place + 1 for place in asked if place < same), default=0) :]

    def stays_with(self, evidence: Sequence[Evidence]) -> bool:
        """Whether what was found is on the topic of earlier questions: a short question may have one of its own."""
        is_there = self.goes_on and any(each.relative_path in self.notes for each in evidence[:1])
        return bool(self.topic) and (is_there or (self.refers and not self.is_whole_in(evidence)))

    def is_whole_in(self, evidence: Sequence[Evidence]) -> bool:
        """Whether "it" is in the question, as a passage holds all its words: "Why is the bell lower than it was?"."""
        own = own_terms(self.prose)
        is_sure = POINTS_BACK.search(self.prose) or len(own) < MAX_SHORT_TOPIC
        return not is_sure and any(own <= terms_of(each) for each in evidence[:1])

    @property
    def goes_on(self) -> bool:
        """Whether it points back, or is so short that it may: "who is responsible?"."""
        is_short = self._is_alone and self.is_question and 0 < len(topic_terms(self.prose)) <= MAX_SHORT_TOPIC
        return self.points_back or is_short

    @property
    def points_back(self) -> bool:
        """Whether it goes on with what was spoken of: "and the port?", "and its port?", "why?"."""
        return self.refers or bool(self._is_alone and topic_terms(self.prose) and GOES_ON.match(self.prose))

    @property
    def refers(self) -> bool:
        """Whether it is about something that it does not name: "and its port?", "why?", "what does she lend us?"."""
        used = words(self.prose)
        if not (self._is_alone and used):
            return False
        topic = topic_terms(self.prose)
        is_short = len(topic) <= MAX_SHORT_TOPIC and MAY_POINT_BACK.search(self.prose)
        is_bare = _begins_as_question(used) and not topic
        return bool(POINTS_BACK.search(self.prose) or is_short or is_bare)

    @property
    def _is_alone(self) -> bool:
        """Whether nothing comes with it that it may be about."""
        return not (self.links or self.split.material)

    @property
    def is_question(self) -> bool:
        """Whether it is put as one: by its first words, or the mark at its end."""
        return bool(_asks_early(self.prose, 2) or ENDS_AS_QUESTION.search(self.prose))

    @property
    def halves(self) -> tuple[str, ...]:
        """What is looked for in the notes: two things where it is two questions, each with a topic of its own."""
        for found in _AND.finditer(self.prose):
            first, second = self.prose[: found.start()], self.prose[found.end() :]
            are_questions = _asks_early(first, 3) and _asks_early(second, 2)
            if are_questions and topic_terms(first) and topic_terms(second) - listed_terms(_FOR_A_FIGURE):
                points_back = replace(self, prose=second, links=()).points_back
                second = f"{second} {topic_of(first)}" if points_back else second
                return tuple(map(self.going_on, (first, second)))
        return (self.sought,)

    @property
    def clauses(self) -> tuple[str, ...]:
        """The questions in it, one after the other: "what it broke, what was mended since, and what that costs"."""
        text, clauses = self.text, list[str]()
        bounds = [found.span() for found in _AND.finditer(text) if _asks_early(text[found.end() :], 2)]
        for (joint, start), (end, _) in pairwise([(0, 0), *bounds, (len(text), len(text))]):
            is_own = topic_terms(text[start:end]) and (not clauses or _asks_early(clauses[-1], len(text)))
            if clauses and not is_own:
                clauses[-1] += text[joint:end]
            else:
                clauses.append(text[start:end].strip())
        return tuple(clauses)

    @property
    def asks(self) -> bool:
        """Whether it asks for something, rather than to tell something of the user's own."""
        return not _is_own(self.prose) or _asks_early(self.prose, 2) or any(map(_asks, _sentences(self.prose)))

    @property
    def tells(self) -> bool:
        """Whether it only tells something: "The code is 7719." """
        is_whole = bool(re.search(r"\d|[.!。！]\s*\Z", self.prose))  # and no words to search for
        return not self.asks or (is_whole and _tells(self.prose) and not _asks_early(self.prose, 2))

    @property
    def is_news(self) -> bool:
        """Whether it tells something and begins so: "My bike is blue." "Suggest a name for my cat." is a wish."""
        first, verb = words(self.prose)[:1], LINKING_VERB.search(self.prose)
        is_said = _WISHES.isdisjoint(first) and (not OWN.isdisjoint(first) or (verb and verb[0].strip().isalpha()))
        return self.tells and bool(is_said or TELLING.match(self.prose))

    @property
    def is_open_question(self) -> bool:
        """Whether it asks for more than a yes or a no."""
        return _begins_as_question(words(self.prose))

    def matches(self, text: str) -> list[tuple[int, int]]:
        """Where words of the question stand in a text, in any form, without those that only ask."""
        asked = own_terms(self.prose)
        return term_matches(text, lambda term: term in asked or any(are_related(each, term) for each in asked))

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        is_agent: Callable[[str], bool] = lambda _: True,
        is_document: Callable[[Link], bool] = lambda _: False,
        is_resource: Callable[[str], bool] = lambda _: False,
    ) -> "Question":
        """Parse a text, given which names are agents and which mentions are documents; other words with `@` are text.
        Those that name a resource of a server are no paths.

        A name at the beginning that is neither is returned as an agent, for the user to be told that there is none.
        """
        read = link_catalog.prose_of(text)
        name, _ = split_address(text)
        left_out: list[Link] = []
        if name is not None and is_agent(name):
            start = text.index("@")
            written = text[start:].split(maxsplit=1)[0]
            left_out.append(Link(text=written, target="", start=start, end=start + len(written)))
        mentions, unknown = _mentions(text, read.rest, left_out[0].end if left_out else 0, is_document)
        begins_with_mention = bool(mentions) and not text[: mentions[0].start].strip()
        links = sorted([*map(partial(_with_hub_mark, text), read.links), *mentions], key=lambda link: link.start)
        split = split_question(text)
        pasted = range(len(split.before), len(split.before) + len(split.material))
        left_out += [link for link in links if link.start not in pasted]
        if pasted:
            left_out.append(Link(text=split.material, target="", start=pasted.start, end=pasted.stop))
        typed = tuple(link for link in unknown if link.start not in pasted and not is_resource(link.text))
        whole = cls(
            text=text,
            agent=None if begins_with_mention else name,
            links=links,
            prose=OpenText(link_catalog.without(sorted(left_out, key=lambda link: link.start), text)),
            unknown_paths=typed if len(typed) <= 5 else (),  # more of them are pasted code
            split=split,
        )
        return whole if links or pasted else whole._without_told()

    def _without_told(self) -> "Question":
        """The question alone, where it stands for itself: "I have a Moka. How do I clean it?" stays whole."""
        told = said_in(self.prose, counts=_tells)
        asked = [each for each in _sentences(self.prose) if not _tells(each)] if told != self.prose else []
        alone = replace(self, told=told, prose=OpenText(" ".join(asked)))
        return alone if told and topic_terms(alone.prose) and not alone.refers else self

    @classmethod
    def of(cls, asked: ChatMessage) -> "Question":
        """The question of a message that was answered: it mentions the documents that were found then."""
        found = (each.wikilink for each in asked.references if each.relative_path or each.via == "withheld")
        mentioned = {written for written in found if written.startswith("@")}
        question = cls.parse(
            asked.text,
            is_agent=lambda name: f"@{name}" not in mentioned,
            is_document=lambda link: link.text in mentioned,
        )
        return replace(question, prose=str(question.prose)) if asked.local else question


HUB_MARK: Final = "+1"
"""After a link: the notes that the linked one links to are meant too."""
_HUB_MARK = lazy_pattern(r"\+1(?!\w)")


def _with_hub_mark(text: str, link: Link) -> Link:
    """The link with the mark that stands right behind it."""
    if link.syntax != "wikilink" or not _HUB_MARK.match(text, link.end):
        return link
    return link._replace(text=f"{link.text}{HUB_MARK}", end=link.end + len(HUB_MARK))


def _mentions(text: str, rest: str, after: int, is_document: Callable[[Link], bool]) -> tuple[list[Link], list[Link]]:
    """The documents that are mentioned in the `rest`, which is the text with code and links blanked out, and the paths
    that are no documents."""
    documents: list[Link] = []
    unknown: list[Link] = []
    if "@" not in rest:
        return documents, unknown
    for found in islice(_MENTION.finditer(rest, after), 100):  # a pasted log may hold any number
        start = found.start()
        links = [
            link_catalog.link_to(name)._replace(text=text[start:end], start=start, end=end)
            for name, end in _spellings(found)
        ]
        if document := next(filter(is_document, links), None):
            documents.append(document)
        elif looks_like_path(links[-1].target):
            unknown.append(links[-1])
    return documents, unknown


def _spellings(found: re.Match[str]) -> Iterator[tuple[str, int]]:
    """What may be the name, and where it ends: the punctuation after it may be part of it."""
    name = found[1] or found[2]
    yield name, found.end()
    while not found[1] and name and name[-1] in _PUNCTUATION:
        name = name[:-1]
        yield name, found.start(2) + len(name)
    if not found[1] and (suffix := _SUFFIX_IN_WORD.search(name)):
        yield name[: suffix.end()], found.start(2) + suffix.end()
