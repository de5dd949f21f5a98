"""Cut a section, or a whole note, into blocks that a person would copy.

A block is a paragraph, a list with the line that introduces it, a table, a question with its answer, code with the
sentence before it. Whatever the text holds, the time is proportional to its length.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import lazy_pattern, wide_letters
from zkchat.notes import runs
from zkchat.notes.markdown import Span
from zkchat.notes.runs import ITEM, LinedText, Run, ends_in_colon, is_delimiter, opens_fence, sentence_spans

_MIN_WORDS: Final = 3
"""Words beside its links that a text has which does more than refer."""
_MAX_LENGTH: Final = 2_000
"""Characters of a text that may be nothing but references."""
_MAX_BESIDE_LINKS: Final = 100
"""Characters that such a text may have beside its links and line ends."""
_MAX_SUBJECT: Final = 60
"""Characters of a clause before the words that refer."""

_SEE = (
    r"see also|see|siehe(?: auch)?|vgl\.?|voir(?: aussi)?|v[ée]ase(?: también)?|ver también|vedi(?: anche)?|"
    r"zie(?: ook)?|veja(?: também)?|см(?:отри(?:те)?)?\.? ?(?:также)?"
)
_UNSPACED_SEE = r"参见|另见|参考|参阅|参照|を?見よ|ดูเพิ่มเติม(?:ที่)?|ดู(?:ที่)?|انظر أيضا|انظر|راجع|यह भी देखें|देखें"
_DESCRIBED_IN = (
    r"(?:is|are|was|were) (?:(?:described|explained|discussed|covered|documented|listed|told|written down) )?"
    r"(?:in|under|on)|(?:stands?|lives?|lies?) (?:in|under)|(?:steht|stehen|ist|sind) (?:unter|in)|"
    r"(?:beschrieben|erklärt) (?:unter|in)|(?:est|sont) (?:décrite?s? )?dans|(?:está|están) (?:descrit[oa]s? )?en|"
    r"(?:è|sono) (?:descritt[oaie] )?in|(?:está|estão) (?:descrit[oa]s? )?em|(?:staat|staan) in|описан[аоы]? в"
)
_CROSS_REFERENCES_LINK = lazy_pattern(
    r"!?\[\[[^\[\]\n]{0,1000}\]\]|!?\[[^\[\]\n]{0,1000}\]\([^()\n]{0,2000}\)|(?m:^)\s*\[\^?[^\]\n]{0,100}\]:|"
    r"<[^<>\n]{1,1000}>|\b(?:https?|mailto|file):\S+|(?<!\S)#[^\s#]+"
)
_CROSS_REFERENCES_LABEL = lazy_pattern(
    rf"\b(?:{_SEE}|related(?: notes| links)?|further reading|more|links?|tags?|up|parent|prev(?:ious)?|next|"
    r"verwandt(?:es)?|weiterlesen|mehr(?: dazu)?|relacionad[oa]s?)\b|"
    rf"{_UNSPACED_SEE}|相关(?:笔记|链接)?|関連(?:ノート|リンク|項目)?|관련",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(
    rf"(?:^|(?<=[.,;:!?(\n]))[^.,;:!?()\[\]\n]{{0,{_MAX_SUBJECT}}}?"
    rf"(?:\b(?:{_SEE}|{_DESCRIBED_IN})|{_UNSPACED_SEE})[ :]*\[\[[^\[\]\n]{{0,1000}}\]\]",
    re.IGNORECASE,
)
_WORD = lazy_pattern(r"[^\W_]+")


def without_cross_references(text: str) -> str:
    """The text without the clauses that only tell where something is described."""
    return _CLAUSE.sub(" ", text) if "[[" in text else text


def cross_references(text: str) -> list[str]:
    """Those clauses, each with its link."""
    return _CLAUSE.findall(text) if "[[" in text else []


Kind = runs.Kind | Literal["faq"]

_MAX_LIST_LEAD = 80
"""Columns of a line that introduces a list although it does not end in a colon."""
_MAX_CODE_LEAD = 240
"""Columns of a paragraph that introduces code although it does not end in a colon."""
_MAX_UNCUT_ITEM = 240
"""Characters of a list item that is one unit; a longer one is cut into sentences."""

_BOLD_LINE = lazy_pattern(r"\s*(\*\*|__)(?!\s)(?:(?!\1).)+\1[:：]?\s*")
_LABEL = r"[*_]{{0,2}}(?:{})[ ]?\d{{0,3}}[.)]?[*_]{{0,2}}[:：][*_]{{0,2}}(?:\s|(?<=：))"
_QUESTION_LABEL = lazy_pattern(
    _LABEL.format(
        "Q|Question|F|Frage|P|Pregunta|Pergunta|D|Domanda|V|Vraag|S|Soru|В|Вопрос|"
        "问|问题|問|質問|문|질문|ถาม|คำถาม|س|سؤال|प्र|प्रश्न|Hỏi"
    ),
    re.IGNORECASE,
)
_ANSWER_LABEL = lazy_pattern(
    r"(?<!\S)"
    + _LABEL.format(
        "A|Answer|Antwort|R|Respuesta|Resposta|Réponse|Risposta|Antwoord|C|Cevap|О|Ответ|"
        "答|答案|回答|답|답변|ตอบ|คำตอบ|ج|جواب|उ|उत्तर|Đáp"
    ),
    re.IGNORECASE,
)


class Sentence(NamedTuple):
    """A unit by which a block is scored and cut: a sentence, a list item, a table row, a listing."""

    text: str
    start: int
    end: int
    parent: int | None = None
    """The unit that it needs to be understood: the lead of a list, the header of a table, the question."""


class Block(Struct, frozen=True):
    text: str
    """As it is written, list markers and quote marks included; without headings, and without a block id at its end."""
    first_line: int
    """The number of its first line within the section, from 0."""
    kind: Kind
    sentences: tuple[Sentence, ...]
    heading_path: tuple[str, ...] = ()
    """The headings above it within the section."""
    is_pointer: bool = False
    """Whether it says nothing alone: it only names other notes, or only introduces what does not follow."""


def blocks(section: str) -> list[Block]:
    """The blocks in order. Each line that is not blank, a heading, a ruler or a block id alone is in one of them."""
    text = runs.split_lines(section)
    found = runs.Scanner(text)
    groups: list[list[Run]] = []
    """The runs of each block, the last first: those that introduce others are together with them."""
    for run in reversed(_with_questions(text, found.runs)):
        if groups and _introduces(text, run, groups[-1]):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [_block(section, text, group[::-1], found.paths[group[0].region]) for group in reversed(groups)]


_MARKER = lazy_pattern(r"^(?:\s*>)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?")
"""Quote marks, call-outs, list bullets, check boxes: they frame a sentence and are no part of it."""
MAX_CODE_LINES = 12
"""Lines of a listing that is one sentence, or in an excerpt, its fences included."""


def sentences(text: str) -> list[str]:
    """In order, each exactly as it is written, soft line breaks included; rows of tables and short listings whole."""
    found: list[str] = []
    for block in blocks(text):
        for unit in block.sentences:
            first, _, rest = unit.text.partition("\n")
            fence = opens_fence(first)
            if fence or first.lstrip().startswith("|"):
                is_short = rest.count("\n") + 2 <= MAX_CODE_LINES
                is_whole = not fence or runs.closes_fence(rest.rpartition("\n")[2], fence)
                found += [first if is_delimiter(rest) else unit.text.strip()] if is_short and is_whole else []
            else:
                said = _MARKER.sub("", unit.text, count=1)
                found += [said[start:end] for start, end in sentence_spans(said, 0, len(said))]
    return found


def _with_questions(text: LinedText, found: Sequence[Run]) -> list[Run]:
    """The runs, with the question that each begins with; one that holds several, such as `Q: … A: …`, is cut."""
    cut = [part for run in found for part in _cut_at_questions(text, run)]
    for number, run in enumerate(cut):
        if run.stands_alone or run.kind not in {"paragraph", "list"}:
            continue
        start, end = text.span(run)
        line = text.lines[run.first]
        label = _QUESTION_LABEL.match(line.lstrip())
        if label and run.kind == "paragraph":
            answer = _ANSWER_LABEL.search(text.flat, start, end)
            answered = number + 1 < len(cut) and _ANSWER_LABEL.match(text.lines[cut[number + 1].first].lstrip())
            run.question_end = answer.start() if answer else end if answered else 0
        if not run.question_end and runs.ends_in_question_mark(line) and (run.kind == "paragraph" or run.is_one_line):
            end = start + len(line)
            is_one = _BOLD_LINE.fullmatch(line) or len([*sentence_spans(text.flat, start, end)]) == 1
            run.question_end = end if is_one or run.kind == "list" else 0
    return cut


def _cut_at_questions(text: LinedText, run: Run) -> Iterator[Run]:
    """The parts of a paragraph that begin with a question each, if it answers one; else the run."""
    starts_with_label = run.kind == "paragraph" and _QUESTION_LABEL.match(text.lines[run.first].lstrip())
    if starts_with_label and _ANSWER_LABEL.search(text.flat, *text.span(run)):
        first = run.first
        for number in range(run.first + 1, run.last):
            if _QUESTION_LABEL.match(text.lines[number].lstrip()):
                yield Run("paragraph", first, number, run.region)
                first = number
        run.first = first
    yield run


def _introduces(text: LinedText, run: Run, following: Sequence[Run]) -> bool:
    """Whether a run belongs to those after it, which are given last first."""
    main, nearest = following[0], following[-1]
    if run.region != nearest.region or run.stands_alone or nearest.stands_alone:
        return False
    start, end = text.span(run)
    if run.question_end == end:
        return not nearest.question_end
    if run.kind != "paragraph":
        return False
    said = text.flat[start:end]
    if runs.ends_in_colon(said) or (run.is_one_line and _BOLD_LINE.fullmatch(said)):
        return True
    room = {"list": _MAX_LIST_LEAD * run.is_one_line, "code": _MAX_CODE_LEAD}.get(main.kind, 0)
    is_short = len(following) == 1 and len(said) <= room and len(said) + wide_letters(said) <= room
    return is_short and _WORD.search(_CROSS_REFERENCES_LINK.sub("", said)) is not None  # a picture introduces nothing


def _block(section: str, text: LinedText, group: Sequence[Run], heading_path: tuple[str, ...]) -> Block:
    start, end = text.starts[group[0].first], text.span(group[-1])[1]
    line = text.lines[group[0].first] if group[0].kind == "paragraph" else ""
    start += len(line) - len(line.lstrip())
    end = start + len(text.flat[start:end].rstrip())
    if group[-1].kind != "code":
        end = text.before_id(start, end)
    units = _Units(section, text, start, end)
    for run in group:
        units.add(run)
    return Block(
        text=section[start:end],
        first_line=group[0].first,
        kind="faq" if any(run.question_end for run in group) and len(units.found) > 1 else group[-1].kind,
        sentences=tuple(units.found),
        heading_path=heading_path,
        is_pointer=_is_pointer(section[start:end], group, units.found),
    )


_PieceKind = Literal["text", "item", "row", "header", "code"]


class _Piece(NamedTuple):
    """Some lines within a block, as offsets in the text."""

    start: int
    end: int
    kind: _PieceKind
    indent: int


class _Units:
    def __init__(self, section: str, text: LinedText, start: int, end: int) -> None:
        self._section = section
        self._text = text
        self._start = start
        self._end = end
        self.found: list[Sentence] = []

    def add(self, run: Run) -> None:
        """Add those of the next run. What stands before it introduces it."""
        start, end = self._text.span(run)
        if run.question_end:
            self._append((start, run.question_end), self._last())
            if run.question_end >= end:
                return
            rest = self._text.flat[run.question_end : end]
            start = run.question_end + len(rest) - len(rest.lstrip())
        if run.kind == "paragraph":
            self._pieces([_Piece(start, end, "text", 0)])
        elif run.kind == "code":
            self._append((start, end), self._last())
        else:
            self._pieces([*_pieces_of(self._text, run)], has_title=run.kind == "callout")
        if not self.found:
            self._append((start, end), None)

    def _last(self) -> int | None:
        return len(self.found) - 1 if self.found else None

    def _append(self, span: Span, parent: int | None) -> int:
        start, end = max(span[0], self._start), min(span[1], self._end)
        end = self._text.before_id(start, end)
        if said := self._section[start:end].rstrip():
            self.found.append(Sentence(said, start - self._start, start - self._start + len(said), parent))
        return len(self.found) - 1

    def _pieces(self, pieces: Sequence[_Piece], *, has_title: bool = False) -> None:
        lead = self._last()
        within: list[tuple[int, int]] = []  # the items around, as their indents and numbers
        header: int | None = None
        introduction: int | None = None  # the sentence before that ends in a colon
        for number, piece in enumerate(pieces):
            while within and within[-1][0] >= piece.indent:
                within.pop()
            is_introduced = piece.kind != "text" and introduction is not None
            parent = within[-1][1] if within else introduction if is_introduced else lead
            span = piece.start, piece.end
            if piece.kind == "row":
                self._append(span, parent if header is None else header)
                continue
            header = None
            if piece.kind == "header":
                header = self._append(span, parent)
            elif piece.kind == "item":
                within.append((piece.indent, self._item(piece, parent)))
            elif has_title and number == 0:
                lead = self._append(span, parent)
            elif piece.kind == "code":
                self._append(span, parent)
            else:
                for sentence in sentence_spans(self._text.flat, *span):
                    self._append(sentence, parent)
                introduction = self._last() if self.found and runs.ends_in_colon(self.found[-1].text) else None

    def _item(self, piece: _Piece, parent: int | None) -> int:
        if piece.end - piece.start <= _MAX_UNCUT_ITEM:
            return self._append((piece.start, piece.end), parent)
        marker = runs.ITEM.match(self._text.flat, piece.start)
        found = [*sentence_spans(self._text.flat, marker.end() if marker else piece.start, piece.end)]
        first, *others = found or [(piece.start, piece.end)]
        place = self._append((piece.start, first[1]), parent)
        for other in others:
            self._append(other, place)
        return place


def _pieces_of(text: LinedText, run: Run) -> Iterator[_Piece]:
    """The paragraphs, items, rows and listings of a run."""
    is_quoted = run.kind in {"quote", "callout"}
    current: _Piece | None = None
    fence = ""
    for number in range(run.first, run.last):
        line = text.lines[number]
        start, end = text.starts[number], text.starts[number] + len(line)
        said = runs.without_quote_marks(line) if is_quoted else line
        if current and fence:
            current = current._replace(end=end)
            fence = "" if runs.closes_fence(said, fence) else fence
            continue
        kind = "row" if run.kind == "table" else _piece_kind(said)
        if current and current.kind == "row" and runs.is_delimiter(said):
            current = current._replace(end=end, kind="header")
            continue
        is_title = run.kind == "callout" and number == run.first + 1
        if current and kind == "text" and current.kind in {"text", "item"} and not is_title:
            current = current._replace(end=end)
            continue
        if current:
            yield current
        indent = said.expandtabs(4)
        current = _Piece(start, end, kind, len(indent) - len(indent.lstrip())) if kind else None
        fence = runs.opens_fence(said) if kind == "code" else ""
    if current:
        yield current


def _piece_kind(said: str) -> _PieceKind | None:
    """What a line begins, or goes on with if it is text; None for a blank one."""
    stripped = said.lstrip()
    if not stripped:
        return None
    if stripped[0] == "|":
        return "row"
    if stripped[0] in "`~" and runs.opens_fence(said):
        return "code"
    return "item" if not stripped[0].isalpha() and runs.ITEM.match(said) else "text"


def _is_pointer(said: str, group: Sequence[Run], units: Sequence[Sentence]) -> bool:
    """Whether a block only names other notes, or only introduces what does not follow."""
    main = group[-1]
    if main.kind in {"code", "table"}:
        return main.kind == "table" and runs.is_delimiter(units[-1].text.splitlines()[-1])
    if len(units) == 1 and runs.ends_in_colon(said):
        return True
    if not any(sign in said for sign in ("[[", "](", "]:", "://", "#", "<")):
        return _WORD.search(said) is None
    rest, links = _CROSS_REFERENCES_LINK.subn(" ", said[:_MAX_LENGTH])
    if len(said) > _MAX_LENGTH or len(rest) - said.count("\n") > _MAX_BESIDE_LINKS:
        return False
    rest, labels = _CROSS_REFERENCES_LABEL.subn(" ", rest)
    words = len(_WORD.findall(rest)) + wide_letters(rest) // 2
    is_labelled = len(group) > 1 or main.stands_alone  # then it has to hold nothing but links
    return words == 0 if is_labelled and not labels else bool(links or not words) and words < _MIN_WORDS


_GAP = " […] "
_MARK = "…"
_EMPTY = " \t\r\n>"
"""What may stand between two units without a meaning of its own."""
_BLANK_LINE = lazy_pattern(r"\n[ \t\r>]*\n")
_LINK = lazy_pattern(r"\[[^\[\]\n]{0,1000}\](?:\([^()\s]{0,2000}\))?|\[\[[^\[\]\n]{0,1000}\]\]")


def excerpt(block: Block, chosen: Collection[int], limit: int) -> str:
    """The block if it has at most `limit` characters, else its sentences around the chosen ones, best first.

    What the first of them needs to be understood stays with it, for which the limit may be exceeded by three quarters.
    """
    if len(block.text) > limit and block.kind == "table":
        block = _without_padding(block)
    if len(block.text) <= limit or not block.sentences:
        return block.text
    wanted = [number for number in chosen if 0 <= number < len(block.sentences)] or [0]
    kept = _Selection(block, limit)
    kept.require(wanted[0])
    for number in wanted[1:]:
        kept.take(number)
    if block.kind != "table":
        kept.take_neighbours(wanted[0])
    kept.complete()
    return kept.text()


class _Selection:
    """The units of a block that are kept, and how many characters are left for others."""

    def __init__(self, block: Block, limit: int) -> None:
        self._block = block
        self._units = block.sentences
        self._limit = limit
        self._room = limit
        self._kept: dict[int, str] = {}
        self._quote = "> " if block.kind in {"quote", "callout"} and block.text.startswith(">") else ""
        said = [unit.text.lstrip(_EMPTY) for unit in block.sentences]
        self._is_code = [bool(opens_fence(text.partition("\n")[0])) for text in said]
        self._is_code[-1] |= block.kind == "code"
        self._is_row = [
            text.startswith("|") or (block.kind == "table" and unit.parent is not None)
            for text, unit in zip(said, block.sentences, strict=True)
        ]
        self._has_own_lines = [
            bool(ITEM.match(text)) or self._is_row[number] or self._is_code[number] for number, text in enumerate(said)
        ]

    def require(self, number: int) -> None:
        """Keep a unit, and of those that it needs as much as half of the limit holds."""
        self._keep(number, self._limit)
        room = max(self._room, self._limit // 2)
        for parent in self._parents(number):
            said = self._units[parent].text
            if len(said) <= room or (room >= 40 and not said.lstrip(_EMPTY).startswith("|")):
                self._keep(parent, room)
                room -= len(self._kept[parent])

    def take(self, number: int) -> bool:
        """Keep a unit with those that it needs, if there is room."""
        needed: list[int] = []
        cost = 0
        for each in (number, *self._parents(number)):
            if each not in self._kept:
                needed.append(each)
                cost += self._cost(each)
            if cost > self._room:
                return False
        for each in needed:
            self._keep(each, self._room)
        return True

    def take_neighbours(self, number: int) -> None:
        """Keep what stands after and before a unit, as far as there is room."""
        after, before = number + 1, number - 1
        while after < len(self._units) or before >= 0:
            after = after + 1 if after < len(self._units) and self.take(after) else len(self._units)
            before = before - 1 if before >= 0 and self.take(before) else -1

    def complete(self) -> None:
        """Let the excerpt not end in something that introduces what was left out."""
        last = max(self._kept)
        if last + 1 < len(self._units) and ends_in_colon(self._kept[last]) and not self.take(last + 1):
            self._keep(last + 1, self._limit // 4)

    def text(self) -> str:
        first, *others = sorted(self._kept)
        pieces, last = [self._before(first), self._kept[first]], first
        for number in others:
            pieces += (self._between(last, number), self._kept[number])
            last = number
        if last + 1 < len(self._units) and not re.search(r"[>|\s]*…[\s|]*$", self._kept[last][-20:]):
            pieces.append(f"\n{self._mark(last)}" if self._has_own_lines[last] else f" {_MARK}")
        return "".join(pieces)

    def _keep(self, number: int, room: int) -> None:
        said = self._units[number].text
        if len(said) > room:
            said = _first_lines(said, room) if self._is_code[number] else _first_words(said, room)
        self._room -= self._cost(number) - len(self._units[number].text) + len(said)
        self._kept[number] = said

    def _cost(self, number: int) -> int:
        """The characters of a unit, with those between it and the one beside it that is kept."""
        unit = self._units[number]
        between = len(_GAP)
        if number - 1 in self._kept:
            between = unit.start - self._units[number - 1].end
        elif number + 1 in self._kept:
            between = self._units[number + 1].start - unit.end
        return len(unit.text) + between

    def _parents(self, number: int) -> Iterator[int]:
        parent = self._units[number].parent
        while parent is not None:
            yield parent
            parent = self._units[parent].parent

    def _indent(self, number: int) -> str:
        """The quote marks or the space before a unit that is the first of its line."""
        start = self._units[number].start
        line_start = self._block.text.rfind("\n", 0, start) + 1
        indent = self._block.text[line_start:start]
        return "" if indent.strip(_EMPTY) else indent

    def _mark(self, number: int) -> str:
        """A line that stands for others that were left out beside this unit."""
        return self._quote + ("| … |" if self._is_row[number] else _MARK)

    def _before(self, number: int) -> str:
        if number == 0 or is_delimiter(self._units[number].text.rpartition("\n")[2]):
            return ""
        if self._has_own_lines[number] or self._units[number].text.startswith(">"):
            return f"{self._mark(number)}\n{self._indent(number)}"
        return f"{self._mark(number)} "

    def _between(self, before: int, number: int) -> str:
        between = self._block.text[self._units[before].end : self._units[number].start]
        is_whole = self._kept[before] == self._units[before].text
        is_next = number == before + 1
        if is_next and is_whole and len(between) <= 40 and not between.strip(_EMPTY):
            return between
        line_end = "\n\n" if _BLANK_LINE.search(between) and not self._quote else "\n"
        indent = self._indent(number)
        if self._has_own_lines[before] or self._has_own_lines[number] or self._units[number].text.startswith(">"):
            return f"\n{indent}" if is_next else f"\n{self._mark(number)}\n{indent}"
        if line_end == "\n" and not ("\n" in between and before == self._units[number].parent):
            return _GAP
        return f"{line_end}{indent or self._quote}{'' if is_next else _GAP.lstrip()}"


def _without_padding(block: Block) -> Block:
    """The block of a table without the spaces and dashes that only align its columns."""
    pieces: list[str] = []
    units: list[Sentence] = []
    length = place = 0
    for unit in block.sentences:
        between, said = (_squeeze(text) for text in (block.text[place : unit.start], unit.text))
        start = length + len(between)
        units.append(unit._replace(text=said, start=start, end=start + len(said)))
        pieces += (between, said)
        length, place = start + len(said), unit.end
    pieces.append(_squeeze(block.text[place:]))
    return replace(block, text="".join(pieces), sentences=tuple(units))


def _squeeze(text: str) -> str:
    return re.sub(r" {2,}|-{4,}", lambda match: match[0][:1] if match[0].isspace() else "---", text)


def _first_words(said: str, room: int) -> str:
    cut = said[: max(room, 1)]
    opened = max(cut.rfind("[["), cut.rfind("["))
    link = _LINK.match(said, opened, len(said)) if opened > len(cut) // 2 else None
    cut = cut[:opened] if link and link.end() > len(cut) else cut
    place = max(cut.rfind(" "), cut.rfind("\n"))
    return f"{cut[:place] if place > len(cut) // 2 else cut} {_MARK}"


def _first_lines(said: str, room: int) -> str:
    """The first lines of a listing, with the fence that closes it."""
    first, *lines = said.split("\n")
    fence = opens_fence(first.lstrip(_EMPTY))
    kept = [first if len(first) <= room else _first_words(first, room)]
    for line in lines[: MAX_CODE_LINES - 3]:
        room -= len(kept[-1]) + 1
        if len(line) > room:
            break
        kept.append(line)
    closing = [lines[-1]] if fence and lines and lines[-1].strip(_EMPTY).startswith(fence) else []
    mark = f"> {_MARK}" if first.startswith(">") else _MARK
    return "\n".join((*kept, mark, *closing))
