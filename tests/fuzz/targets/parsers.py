"""Parsers of notes, messages, answers: no text makes one raise, and every place they name is in the text."""

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import get_args

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.support.gguf_files import write_gguf
from tests.support.sessions import NOON
from zkchat.chat.agents import parse_agent, parse_rule
from zkchat.chat.context.condensing import condense_text
from zkchat.chat.context.documents import MAX_SUMMARY_CHARS, plain_line, summarize
from zkchat.chat.context.extractive import summarise
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.tokens import Estimate
from zkchat.chat.memory import compare_fact, imports_of, learning_points, list_items, project_memory
from zkchat.chat.references import is_named
from zkchat.core.errors import ConfigError, NoteNotFound
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.note import PrivacyClass
from zkchat.core.profile import Fact, ProfileFile
from zkchat.core.session import read_message
from zkchat.core.values import from_plain
from zkchat.index.search.passages import matches, parse_query, snippet
from zkchat.index.search.postings import Vocabulary
from zkchat.index.search.terms import phrase_text, pieces, query_terms, term_spans, terms
from zkchat.index.search.weighted_question import names_in, topic_terms
from zkchat.models.gguf import read_header
from zkchat.notes import frontmatter
from zkchat.notes import link_catalog as wikilink
from zkchat.notes.link_catalog import section_lines
from zkchat.notes.markdown import flatten, outline, plain, sections_of
from zkchat.notes.note_blocks import blocks, excerpt, sentences
from zkchat.notes.parse import parse_note, prose_of
from zkchat.notes.privacy import privacy_of_text
from zkchat.notes.runs import detect_language
from zkchat.sessions.note_export import answer_note, file_name

Parser = Callable[[str, Random], None]


def inside(spans: Iterable[tuple[int, int]], text: str) -> None:
    for start, end in spans:
        require(0 <= start <= end <= len(text), "spans are within the text", f"{start}:{end} of {len(text)}")


def note(text: str, _: Random) -> None:
    parsed = parse_note("folder/n.md", text)
    inside([(link.start, link.end) for link in parsed.links], text)
    inside(parsed.comments, text)
    for link in parsed.links:
        require(text[link.start : link.end] == link.text, "a link is the text where it stands", repr(link))
    for heading in parsed.headings[:200]:
        first, last = section_lines(parsed, heading.text) or (1, 1)
        require(1 <= first <= last <= parsed.line_count, "lines are those of the note", repr(heading))
    sections = sections_of(parsed, text)
    inside([(section.start, section.end) for section in sections], text)
    if len(text) < 20_000:
        parts = "".join("".join(section.text.split()) for section in sections)
        hidden = {offset for start, end in parsed.comments for offset in range(start, end)}
        body = "".join(text[at] for at in range(parsed.body_start, len(text)) if at not in hidden)
        require(parts == "".join(body.split()), "every visible character of the body is in exactly one section")


def privacy(text: str, rng: Random) -> None:
    places = [mutation.line(rng)[:80] for _ in range(rng.randrange(4))]
    got = privacy_of_text(text, mutation.line(rng)[:80] or "n.md", places)
    require(got in get_args(PrivacyClass), "a note has one of the classes", repr(got))


def matter(text: str, _: Random) -> None:
    flat = flatten(text)
    found = frontmatter.cut(flat)
    inside(
        [found.span, (found.span[1], max(found.end, found.span[1])), *frontmatter.comments_in(flat, found.span)], flat
    )
    frontmatter.properties_at(flat, found.span)


def markdown(text: str, _: Random) -> None:
    flat = flatten(text)
    require(len(flat) == len(text), "to flatten a text moves no offset")
    found = outline(flat)
    inside([*found.code, *found.formulas, *found.blocks], flat)
    inside([(link.start, link.end) for link in found.hyperlinks], flat)
    prose_of(text)
    plain(text[:5_000])


def links(text: str, _: Random) -> None:
    inside([(link.start, link.end) for link in wikilink.scan(text)], text)
    inside(wikilink.wikilink_spans(text), text)


def queries(text: str, _: Random) -> None:
    query_terms(parse_query(text).ranking)
    matches("Sleep and tea in the garden.", text)
    names_in(text)


def words(text: str, rng: Random) -> None:
    inside([(start, end) for start, end, _ in term_spans(text)], text)
    found = terms(text)
    vocabulary = Vocabulary()
    vocabulary.lists(vocabulary.read([text, ""]))
    pieces([text])
    phrase_text(text)
    topic_terms(text)
    snippet(text[:20_000], set(rng.sample(found, min(3, len(found)))))


def said(text: str, rng: Random) -> None:
    for sentence in sentences(text):
        require(sentence.strip(), "no sentence is empty")
    for block in blocks(text):
        require(block.text in text, "a block stands in the text")
        chosen = rng.randrange(len(block.sentences))
        require(len(excerpt(block, [chosen], 200)) < 500, "an excerpt is short")
    detect_language(text)
    learning_points([text])
    fact = Fact(id="f", text=mutation.line(rng)[:500] or "x", source="user", at=NOON)
    compare_fact(text[:2_000], [fact])


def citations(text: str, rng: Random) -> None:
    is_named(text, "a/b.md", [mutation.line(rng) for _ in range(4)])


def summaries(text: str, _: Random) -> None:
    require(len(summarize(text)) <= MAX_SUMMARY_CHARS, "a summary is short")
    plain_line(text[:20_000])


def telegrams(text: str, rng: Random) -> None:
    budget = rng.choice((0, 1, 40, 500))
    count = Estimate().count
    short = condense_text(text, budget, count, question=mutation.line(rng))
    require(count(short) <= max(budget, 1), "what is condensed fits the budget", f"{count(short)} of {budget}: {short}")
    talk = [message("user" if number % 2 else "assistant", part) for number, part in enumerate(halves(text, rng))]
    summarise(talk, budget, count, earlier=mutation.text(rng, 2_000))


def halves(text: str, rng: Random) -> list[str]:
    return mutation.pieces_of(rng, text, 4)


def message(role: str, text: str) -> ChatMessage:
    return read_message({"id": "m", "role": role, "parts": [TextPart(text=text)], "created_at": NOON})


def project(text: str, rng: Random) -> None:
    imports_of(text)
    files = {"ZKCHAT.md": text, "a/b.md": mutation.text(rng, 5_000), "a b.md": f"@ZKCHAT.md {text[:500]}"}

    def read(path: str) -> str:
        if path in files:
            return files[path]
        raise NoteNotFound(path)

    project_memory(read, Estimate(), rng.choice((0, 20, 2_000)), is_approved=lambda _name, _text: True)
    list_items(text)


def profiles(text: str, rng: Random) -> None:
    for kind, read in (("agent", parse_agent), ("rule", parse_rule)):
        source = rng.choice((text, mutation.profile(rng, text)))
        name = mutation.line(rng)[:60]
        read(from_plain(ProfileFile, {"kind": kind, "name": name, "path": "x.md", "origin": "vault", "text": source}))


def notes_written(text: str, rng: Random) -> None:
    name = file_name(mutation.line(rng))
    require(name and "/" not in name and "\0" not in name, "a title gives the name of a file", repr(name))
    answer_note(mutation.line(rng), message("user", mutation.line(rng)), message("assistant", text))
    require(format_document(mutation.line(rng), text).count("</document>") == 1, "a note cannot close its wrapping")


PARSERS: tuple[Parser, ...] = (
    *(note, note, privacy, privacy, matter, markdown, links, queries, words, said, citations, summaries, telegrams),
    *(project, profiles, notes_written),
)


class Parsers:
    def __init__(self, shared: Path) -> None:
        self._weights = write_gguf(shared / "model.gguf").read_bytes()

    def run(self, case: Case) -> None:
        rng = case.rng
        if rng.randrange(20) == 0:
            return self._weights_file(case)
        parser = rng.choice(PARSERS)
        text = mutation.text(rng)
        case.note(f"{parser.__name__}.txt", text)
        return parser(text, rng)

    def _weights_file(self, case: Case) -> None:
        case.note("model.gguf", mutation.mutated_bytes(case.rng, self._weights))
        try:
            head = read_header(case.folder / "model.gguf")
        except ConfigError:
            return
        _ = head.window, head.calls_tools, head.control_tokens, head.bytes_for(4096)


def make(folders: Folders) -> Target:
    return Parsers(folders.shared)
