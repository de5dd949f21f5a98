"""How well the notes answer: a user's own questions with their answers, and at which stage a note was lost."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from zkchat.actions.base import Argument, Result, Vault, action, named_place
from zkchat.answers import MAX_EVIDENCE, time_of
from zkchat.chat import (
    AnswerPlace,
    Elsewhere,
    Figures,
    Judged,
    KnownQuestion,
    Question,
    answer_about_vault,
    evidence_of,
    judge,
    parse_questions,
    resolve_links,
    search_rank,
)
from zkchat.core import Evidence, ExitCode, Findings, Link, NoteNotFound, UsageError, line_place, shorten
from zkchat.index import Library, OnThisMachine, find_named_note
from zkchat.notes import of_period
from zkchat.render import NumberedRow, Place, RowSection

_MAX_TEXT: Final = 160


# A file of questions.


class Evaluation(Struct, frozen=True, kw_only=True):
    """What came of the questions of a file under some settings."""

    judged: Sequence[Judged]
    settings: str = ""

    @property
    def figures(self) -> Figures:
        return Figures.of(self.judged)


def read_questions(library: Library, text: str) -> list[KnownQuestion]:
    """Raises `UsageError` for a file that cannot be used, and for notes that are not there."""

    def paths_of(link: str) -> tuple[str, ...]:
        found = find_named_note(library, link, search="zkchat search")
        return found.path, *found.others

    found = parse_questions(text, paths_of)
    known = {row.path for row in library.indexed()}
    for place in (place for each in found for place in each.places):
        if place.path and place.path not in known:
            raise UsageError(f"There is no note {place.path!r} in the vault.", hint="Give its path.")
    if not found:
        raise UsageError("There is no question in the file.", hint="For example: How long does it take? => [[Bread]]")
    return found


def ask_all(library: Library, questions: Sequence[KnownQuestion], progress: Callable[[int, int], None]) -> list[Judged]:
    here = library.guarded_for(OnThisMachine())
    judged: list[Judged] = []
    for number, each in enumerate(questions, 1):
        judged.append(judge(here, each))
        progress(number, len(questions))
    return judged


def evaluated(of: Evaluation, beside: Evaluation | None = None) -> Result:
    """A row for each question, and the figures; beside them those under other settings."""
    others = beside.judged if beside else of.judged
    rows = [
        _question_row(each, f"{beside.settings}: {other.verdict}" if beside and other.verdict != each.verdict else "")
        for each, other in zip(of.judged, others, strict=True)
    ]
    summary = f"→ with {beside.settings}" if beside else ""
    figures = RowSection(title="Figures", summary=summary, rows=_figure_rows(of, beside))
    sections = [RowSection(title="Questions", rows=rows), figures]
    record = {"figures": asdict(of.figures), "questions": [row.data for row in rows]}
    if beside:
        compared = [_question_row(each, "").data for each in beside.judged]
        record["compared"] = {"settings": beside.settings, "figures": asdict(beside.figures), "questions": compared}
    return Result(sections=sections, data=record)


def _question_row(judged: Judged, beside: str) -> NumberedRow:
    asked, shown = judged.asked, judged.shown
    paths = [*dict.fromkeys(each.path for each in shown.passages)]
    expected = " or ".join(map(_described, asked.places)) or "nothing"
    is_missed = judged.verdict != "right"
    told = [f"expected {expected}; shown {', '.join(paths) or 'nothing'}"] if is_missed else []
    told += [f"nearest {', '.join(shown.nearest)}"] if is_missed and shown.nearest else []
    places = ["marked uncertain"] if judged.doubted else []
    places += [f"search rank: {shown.rank or 'not in the first 10'}"] if asked.answerable else []
    return NumberedRow(
        lead=judged.verdict,
        name=" → ".join([*asked.before, asked.text]),
        place=" · ".join([*places, *([beside] if beside else [])]),
        text="; ".join(told),
        is_doubtful=is_missed,
        data={
            "question": asked.text,
            "before": asked.before,
            "verdict": judged.verdict,
            "in_doubt": judged.doubted,
            "search_rank": shown.rank or None,
            "expected": [asdict(place) for place in asked.places],
            "shown": [asdict(each) for each in shown.passages],
            "nearest": shown.nearest,
        },
    )


def _described(place: AnswerPlace) -> str:
    return " ".join(filter(None, [place.path, f"“{place.contains}”" if place.contains else ""]))


def _figure_rows(of: Evaluation, beside: Evaluation | None) -> list[NumberedRow]:
    def counts(each: Figures) -> dict[str, tuple[int, int]]:
        answered = each.answered + each.answered_with_doubt
        return {
            "the note is the first search result": (each.search_first, each.answerable),
            "the note is among the first three": (each.search_3, each.answerable),
            "the note is among the first ten": (each.search_10, each.answerable),
            "the first passage shown answers the question": (each.first, each.answerable),
            "one of the passages shown answers the question": (each.any, each.answerable),
            "only wrong passages are shown": (each.wrong, each.answerable),
            "nothing is shown": (each.silent, each.answerable),
            "passages are shown, but marked uncertain": (each.doubted, each.answerable),
            "something is shown although no note answers": (answered, each.unanswerable),
        }

    others = counts(beside.figures) if beside else {}
    return [
        NumberedRow(lead=f"{count} → {others[name][0]} of {total}" if beside else f"{count} of {total}", name=name)
        for name, (count, total) in counts(of.figures).items()
        if total
    ]


# One note.


class _Stage(Struct, frozen=True, kw_only=True):
    """How far a note came, in a word for scripts and in sentences."""

    stage: str
    said: str
    first: Sequence[Evidence] = ()
    """The passages that are before it."""
    link: str = ""
    more: dict[str, Any] = {}


@action(by_meaning=True)
def why(
    vault: Vault,
    question: Annotated[str, Argument(name="QUESTION", help="Your question, in quotes.")],
    note: Annotated[str, Argument(name="NOTE", help="Its path, its title, or a [[wikilink]].")],
) -> Result:
    """Show why a note does, or does not, answer a question.

    Takes the same path as a question in a chat, without a model, and says where the note dropped out: not read,
    private, not found by the search, ranked too low, too uncertain. Where something would help, it says what.

    zkchat why "How long does a heap take?" "[[Compost]]"
    """
    return explained(vault.library, Question.parse(question), note)


def explained(library: Library, question: Question, note: str) -> Result:
    """What became of a note on the way of a question."""
    try:
        path = named_place(library, note).path or ""
    except NoteNotFound as error:
        left_out = "Hidden files and those in vault.exclude are not read."
        found = _Stage(stage="missing", said=f"{error.message} {error.hint} {left_out}")
        return _result(question, None, found, ExitCode.VAULT)
    return _result(question, path, _stage_of(library, question, path))


def _result(question: Question, path: str | None, found: _Stage, exit_code: ExitCode = ExitCode.OK) -> Result:
    next_step = _NEXT_STEPS.get(found.stage, "").format(found.link)
    to = Place(path=path) if path else None
    rows = [NumberedRow(name=found.said, text=next_step, is_doubtful=found.stage != "shown", to=to)]
    before = [
        NumberedRow(
            lead=f"{each.score:.2f}",
            name=each.title,
            place=line_place(each.relative_path, each.lines.first),
            text=_short(each),
            to=Place(path=each.relative_path, line=each.lines.first, name=each.title),
        )
        for each in found.first
    ]
    sections = [RowSection(rows=rows), *([RowSection(title="Shown before it", rows=before)] if before else [])]
    data = {
        "question": question.text,
        "path": path,
        "stage": found.stage,
        "explanation": found.said,
        "next_step": next_step,
        **found.more,
        "first": [{"path": each.relative_path, "score": each.score, "text": each.text} for each in found.first],
    }
    return Result(sections=sections, data=data, exit_code=exit_code)


_NEXT_STEPS: Final = {
    "unread": "zkchat check lists the files that zkchat cannot read.",
    "doubt": "Ask with more of the note's words, or write {} in the question.",
    "behind": "Write {} in the question, or ask with words that only this note has.",
    "time": "Ask without the time, or write {} in the question.",
    "ranked": "Add words of the question to the note or its aliases, or write {} in the question.",
    "unfound": "Add words of the question to the note or its aliases, or write {} in the question.",
}


def _stage_of(library: Library, question: Question, path: str) -> _Stage:
    link = Link(text=path, target=f"/{path}")
    here = library.guarded_for(OnThisMachine())
    if reason := here.withheld(link):
        return _Stage(stage="private", said=f"{path} {reason}: no model ever sees it.")
    unread_kinds = {"unreadable", "extraction", "waiting"}
    if unread := [each.text for each in library.warnings() if each.path == path and each.kind in unread_kinds]:
        return _Stage(stage="unread", said=f"The text of {path} is not searched, only its name: {unread[0]}")
    if not library.is_indexed(path):
        return _Stage(stage="unread", said=f"{path} is not a note, so it is not searched.")
    if not library.section(path).strip():
        return _Stage(stage="empty", said=f"{path} has no text.")
    found = _on_the_way(here, question, path)
    reason = library.guarded_for(Elsewhere()).withheld(link)
    kept = f" It {reason}: models on other machines never see it." if reason else ""
    return replace(found, said=found.said + kept, link=library.link_to(path))


def _on_the_way(library: Library, question: Question, path: str) -> _Stage:
    """Where a note is lost that may be shown."""
    if listed := answer_about_vault(library, question, resolve_links(library, question.links)):
        is_listed = "is on" if path in {each.relative_path for each in listed.references} else "is not on"
        return _Stage(stage="listed", said=f"This question is answered with a list of notes. {path} {is_listed} it.")
    found = evidence_of(library, question)
    rank = search_rank(library, question, lambda found, _: found == path, max(1, library.note_count()))
    ranks = {"search_rank": rank or None}
    if shown := _of(found.evidence, path):
        doubt = ", marked uncertain" if found.is_doubtful else ""
        said = f"{path} is shown as passage {found.evidence.index(shown) + 1}{doubt}: “{_short(shown)}”"
        return _Stage(stage="shown", said=said, more={**ranks, "score": shown.score})
    return _lost(library, question, path, found, ranks)


def _lost(library: Library, question: Question, path: str, found: Findings, ranks: dict[str, Any]) -> _Stage:
    first, rank = found.evidence or found.nearest, ranks["search_rank"]
    if near := _of(found.nearest, path):
        said = f"No passage fits well enough to be an answer; {path} is only listed among the closest notes."
        return _Stage(stage="doubt", said=said, more={**ranks, "score": near.score})
    time, dates = time_of(library, question.sought), library.dates([path]).get(path)
    if time and time.period and dates and dates.written.day not in time.period:
        said = f"The question asks for notes {of_period(time.period)}; {path} is from {dates.written.day}."
        return _Stage(stage="time", said=said, more=ranks, first=first)
    further = evidence_of(library, question, limit=MAX_EVIDENCE).evidence
    if behind := _of(further, path):
        place = [*dict.fromkeys(each.relative_path for each in further)].index(path) + 1
        score = f"{behind.score:.2f}"
        said = f"{path} is number {place} among the notes with a passage on this (score {score}): “{_short(behind)}”"
        return _Stage(stage="behind", said=said, more={**ranks, "score": behind.score}, first=first)
    if rank:
        said = f"The search ranks {path} number {rank} of {library.note_count():,} notes: others fit better."
        return _Stage(stage="ranked", said=said, more=ranks, first=first)
    said = f"The search does not find {path}: the note has none of your words, and nothing close to them."
    return _Stage(stage="unfound", said=said, more=ranks, first=first)


def _short(passage: Evidence) -> str:
    return shorten(passage.text, _MAX_TEXT, whole_words=True)


def _of(passages: Sequence[Evidence], path: str) -> Evidence | None:
    return next((each for each in passages if each.relative_path == path), None)
