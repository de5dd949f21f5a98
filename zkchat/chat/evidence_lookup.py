"""What the vault says on a question, with the notes and files that the question links to."""

from collections.abc import Iterable

from msgspec.structs import replace

from zkchat.chat.question import Question
from zkchat.context.unit_ranking import find_in_text
from zkchat.errors import StorageError, VaultError
from zkchat.model.evidence import DEFAULT_LIMIT, Evidence, Findings, MessageExcerpt
from zkchat.model.references import DocumentReference, LineRange
from zkchat.vault.library import Library
from zkchat.vault.search.question_terms import topic_terms
from zkchat.vault.search.terms import terms


def look_up(
    library: Library,
    question: Question,
    references: Iterable[DocumentReference],
    *,
    limit: int = DEFAULT_LIMIT,
    skip: int = 0,
) -> Findings:
    """What the vault says on a question; nothing where the vault cannot be searched."""
    from zkchat.vault.dated_evidence import find_evidence

    linked = [(reference.relative_path, reference.anchor) for reference in references if reference.relative_path]
    asked = question.prose
    try:
        files = dict.fromkeys(path for path, _ in linked if not library.is_indexed(path))
        of_files = [each for path in files for each in evidence_of_file(library, path, asked)]
        if not of_files:
            return find_evidence(library, asked, linked, limit=limit, skip=skip)
        notes = [(path, anchor) for path, anchor in linked if library.is_indexed(path)]
        found = find_evidence(library, asked, notes, limit=limit, skip=max(0, skip - len(of_files)))
    except (VaultError, StorageError):
        return Findings()
    if skip >= len(of_files):
        return found
    of_notes = tuple(each for each in found.evidence if each.linked)
    return Findings((*of_files[skip:], *of_notes), more=found.more + len(found.evidence) - len(of_notes))


def relevant_evidence(library: Library, question: Question, references: Iterable[DocumentReference]) -> list[Evidence]:
    """What the notes say on a message, if it asks for something that may stand there."""
    topic = topic_terms(" ".join([question.prose, *(link.target for link in question.links)]))
    found = look_up(library, question, references) if topic else Findings()
    return [each for each in found.evidence if found.remark or _is_relevant(topic, each)]


def as_reference(evidence: Evidence) -> DocumentReference:
    """The reference of the note that a passage is from."""
    return DocumentReference(
        wikilink=evidence.wikilink,
        relative_path=evidence.relative_path,
        reference_type="search",
        via="evidence",
        title=evidence.title,
        anchor=evidence.heading,
        lines=evidence.lines,
        snippet=evidence.text,
        score=evidence.score,
        included=True,
        date=evidence.date,
        outdated_by=evidence.outdated_by if evidence.outdated_by != evidence.wikilink else "",
        outdates=evidence.outdates,
    )


def _is_relevant(topic: frozenset[str], evidence: Evidence) -> bool:
    """Whether it has more than one word with the question in common, or is from a note of that name.

    A single word is found anywhere, and what was no question about notes shall not be made one.
    """
    named = topic.intersection(terms(evidence.title))
    return bool(named) or len(topic.intersection(terms(f"{evidence.heading} {evidence.text}"))) > 1


def evidence_of_file(library: Library, path: str, question: str) -> list[Evidence]:
    """The lines of a file that answer a question, those that follow each other as one passage; the header of a table
    comes first. None where no line answers, or the file cannot be read."""
    try:
        found = find_in_text(library.read(path), question)
    except VaultError:
        return []
    return [
        Evidence(
            text=excerpt.text,
            relative_path=path,
            title=path,
            wikilink=library.link_to(path),
            lines=LineRange(first=excerpt.first_line, last=excerpt.last_line),
            score=1.0,
            linked=True,
        )
        for excerpt in _joined(found)
    ]


def _joined(excerpts: Iterable[MessageExcerpt]) -> list[MessageExcerpt]:
    """With lines that follow each other put together."""
    joined: list[MessageExcerpt] = []
    for each in excerpts:
        if joined and each.first_line == joined[-1].last_line + 1:
            text = f"{joined[-1].text}\n{each.text}"
            joined[-1] = replace(joined[-1], text=text, last_line=each.last_line)
        else:
            joined.append(each)
    return joined
