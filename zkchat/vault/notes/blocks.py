"""Cut a section, or a whole note, into blocks that a person would copy.

A block is a paragraph, a list with the line that introduces it, a table, a question with its answer, code with the
sentence before it. Whatever the text holds, the time is proportional to its length.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from zkchat.model.text import wide_letters
from zkchat.vault.notes import runs
from zkchat.vault.notes.cross_references import holds_only_links, only_refers
from zkchat.vault.notes.markdown import Span
from zkchat.vault.notes.runs import LinedText, Run
from zkchat.vault.notes.sentences import sentence_spans

Kind = runs.Kind | Literal["faq"]

_MAX_LIST_LEAD = 80
"""Columns of a line that introduces a list although it does not end in a colon."""
_MAX_CODE_LEAD = 240
"""Columns of a paragraph that introduces code although it does not end in a colon."""
_MAX_UNCUT_ITEM = 240
"""Characters of a list item that is one unit; a longer one is cut into sentences."""

_BOLD_LINE = re.compile(r"\s*(\*\*|__)(?!\s)(?:(?!\1).)+\1[:：]?\s*")
_LABEL = r"[*_]{{0,2}}(?:{})[ ]?\d{{0,3}}[.)]?[*_]{{0,2}}[:：][*_]{{0,2}}(?:\s|(?<=：))"
_QUESTION_LABEL = re.compile(
    _LABEL.format(
        "Q|Question|F|Frage|P|Pregunta|Pergunta|D|Domanda|V|Vraag|S|Soru|В|Вопрос|"
        "问|问题|問|質問|문|질문|ถาม|คำถาม|س|سؤال|प्र|प्रश्न|Hỏi"
    ),
    re.IGNORECASE,
)
_ANSWER_LABEL = re.compile(
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
    found = runs.scan(text)
    groups = _grouped(text, _with_questions(text, found.runs))
    return [_block(section, text, group, found.paths[group[0].region]) for group in groups]


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


def _grouped(text: LinedText, found: Sequence[Run]) -> list[list[Run]]:
    """The runs of each block, those that introduce others together with them."""
    groups: list[list[Run]] = []
    for run in reversed(found):
        if groups and _introduces(text, run, groups[-1]):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [group[::-1] for group in reversed(groups)]


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
    return is_short and not holds_only_links(said)  # a picture introduces nothing


def _block(section: str, text: LinedText, group: Sequence[Run], heading_path: tuple[str, ...]) -> Block:
    start, end = text.starts[group[0].first], text.span(group[-1])[1]
    if group[0].kind == "paragraph":
        line = text.lines[group[0].first]
        start += len(line) - len(line.lstrip())
    end = start + len(text.flat[start:end].rstrip())
    if (
        text.has_ids
        and group[-1].kind != "code"
        and (block_id := runs.BLOCK_ID.search(text.flat, max(start, end - 100), end))
    ):
        end = block_id.start()
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
    """The units of a block, collected run by run."""

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
        if run.question_end or run.kind == "paragraph":
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
        if self._text.has_ids and (block_id := runs.BLOCK_ID.search(self._text.flat, max(start, end - 100), end)):
            end = block_id.start()
        said = self._section[start:end].rstrip()
        if said:
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
        first, *others = [*sentence_spans(self._text.flat, marker.end() if marker else piece.start, piece.end)] or [
            (piece.start, piece.end)
        ]
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
    if main.kind == "code":
        return False
    if main.kind == "table":
        return runs.is_delimiter(units[-1].text.splitlines()[-1])
    if len(units) == 1 and runs.ends_in_colon(said):
        return True
    return only_refers(said, is_labelled=len(group) > 1 or main.stands_alone)
