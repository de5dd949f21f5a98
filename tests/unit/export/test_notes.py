"""Conversations and answers as Markdown, and keys in none of it."""

import json
import re
import sys
from time import process_time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.core.message import (
    ChatMessage,
    CompactionPart,
    DocumentReference,
    FilePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from zkchat.core.session import DraftEntry, Entry, EntryBody, MessageEntry, PriorityEntry, Session, read_message
from zkchat.core.text import KEY, KEY_MARKS, NAMED_KEY, NAMED_KEY_MARKS
from zkchat.core.values import to_plain
from zkchat.sessions import note_export
from zkchat.sessions.note_export import REDACTED, answer_note, as_json, as_markdown, contains_secret, file_name, redact

SESSION = Session(id="s1", title="Sleep", created_at=NOON, updated_at=NOON, message_count=2)
SLEEP = DocumentReference(wikilink="[[Sleep]]", relative_path="body/Sleep.md", cited=True)
BROKEN = DocumentReference(wikilink="[[Slep]]", status="missing")
KEYS = [
    "sk-proj-abcdefghij0123456789ABCDEFGHIJ",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    "glpat-0123456789abcdefghij",
    "xoxb-123456789012-abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "hf_abcdefghijklmnopqrstuv0123456789",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBFabcdef\n-----END PGP PRIVATE KEY BLOCK-----",
    "sk-abcdefghijKLMNOPqrstuvwx",
    "hf_abcdefghijKLMNOPqrst",
]
NAMED_KEYS = [
    "api_key=abc123def456",
    'password: "hunter2hunter2"',
    "Authorization: Bearer abcdef0123456789",
    "TOKEN=a1b2c3d4",
]
ORDINARY = [
    "The secret: consistency and patience.",
    "It took 12,300 tokens: most of them references.",
    "sk-learn-based-regression-models are fine, and so is a risk-assessment-of-2026.",
    "See [[Passwords]] and https://example.org/token-economy?page=12.",
    "The password is told to nobody.",
    "Tokens: 123456789",
]


def said(role: str, text: str, *references: DocumentReference, **more: Any) -> ChatMessage:
    fields: dict[str, Any] = {"id": f"{role}1", "parts": (TextPart(text=text),), "created_at": NOON, **more}
    return read_message({"role": role, "session_id": "s1", "references": references, **fields})


def properties(note: str) -> dict[str, Any]:
    _, written, _ = note.split("---\n", 2)
    read = yaml.safe_load(written)
    assert isinstance(read, dict)
    return read


def test_a_conversation_becomes_a_note_with_links() -> None:
    answer = said("assistant", "See [[Sleep]].", SLEEP, BROKEN, model="play")
    note = as_markdown(SESSION, [said("user", "What is [[Sleep]]?", SLEEP), answer])
    assert properties(note) | {"created": "", "updated": ""} == {
        "zkchat-note": "conversation",
        "session": "s1",
        "created": "",
        "updated": "",
    }
    body = re.sub(r", \d{4}-\d\d-\d\d \d\d:\d\d", "", note.split("---\n", 2)[2])
    assert body == "# Sleep\n\n## You\n\nWhat is [[Sleep]]?\n\n## play\n\nSee [[Sleep]].\n\nSources: [[Sleep]]\n"


def test_thoughts_tools_and_included_documents_stay_out_of_a_note() -> None:
    parts = (
        ThinkingPart(text="Hmm secretly"),
        ToolCallPart(call_id="c", name="find", arguments="{}"),
        ToolResultPart(call_id="c", name="find", text="passages"),
        FilePart(name="Sleep.md", text="whole note"),
    )
    note = as_markdown(SESSION, [said("assistant", "", parts=parts), said("tool", "", parts=parts[2:3])])
    assert note.split("---\n", 2)[2] == "# Sleep\n"


def test_a_compaction_is_shown_where_it_happened_with_its_summary() -> None:
    part = CompactionPart(number=2, summary="About [[Sleep]].\n\nMore.", archived=("a", "b"))
    note = as_markdown(SESSION, [said("system", "", parts=(part,))])
    assert "> Context compacted #2: 2 messages archived\n>\n> About [[Sleep]].\n>\n> More.\n" in note


def test_a_message_stands_under_the_name_of_its_speaker() -> None:
    speakers = [
        said("user", "Hi"),
        said("user", "Hi", name="Ann"),
        said("assistant", "Ho"),
        said("system", "Be brief."),
    ]
    note = as_markdown(SESSION, speakers)
    assert re.findall(r"^## (\w+), ", note, re.MULTILINE) == ["You", "Ann", "Answer", "Instructions"]


def test_an_answer_is_saved_with_its_question_and_sources() -> None:
    unused = DocumentReference(wikilink="[[Dreams#Kinds]]", relative_path="Dreams.md")
    doubtful = DocumentReference(wikilink="[[Log]]", relative_path="a/Log.md", status="ambiguous", cited=True)
    embedded = DocumentReference(wikilink="![[Sleep]]", relative_path="body/Sleep.md", cited=True)
    answer = said("assistant", "Rest.", unused, SLEEP, embedded, doubtful, BROKEN, provider="ollama", model="qwen3")
    note = answer_note("On sleep", said("user", "What is sleep?\nIn short."), answer)
    assert properties(note)["zkchat-note"] == "answer"
    assert properties(note)["model"] == "ollama:qwen3"
    assert note.split("---\n", 2)[2] == (
        "# On sleep\n\n> What is sleep?\n> In short.\n\nRest.\n\n"
        "## Sources\n\n- [[Sleep]]\n- [[a/Log]]\n- [[Dreams#Kinds]]\n"
    )


def test_a_note_that_the_model_was_never_given_is_no_source() -> None:
    claimed = DocumentReference(wikilink="[[Dreams]]", relative_path="Dreams.md", cited=True, unverified=True)
    nearest = DocumentReference(wikilink="[[Tea]]", relative_path="Tea.md", reference_type="search", via="evidence")
    answer = said("assistant", "Rest, says [[Dreams]].", SLEEP, claimed, nearest)
    for title, text, quotes in (
        ("What is sleep", "What is sleep?", 0),
        ("What is Sleep", "What is [[Sleep]]?", 1),
        ("What is sleep", "What is sleep in short?", 1),
    ):
        assert answer_note(title, said("user", text), answer).count(f"\n> {text}\n") == quotes
    assert answer_note("A", None, answer).endswith("## Sources\n\n- [[Sleep]]\n")
    assert as_markdown(SESSION, [answer]).endswith("Sources: [[Sleep]]\n")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What is sleep?", "What is sleep"),
        ("a/b\\c: [[Sleep#Night|x]] *", "a b c Sleep Night x"),
        ("../../etc/passwd", "etc passwd"),
        ("睡眠とは何か", "睡眠とは何か"),
        ("\x1b]0;x\x07 …", "]0;x …".replace("]", "").strip()),
        ("???", "Answer"),
        ("x" * 300, "x" * 80),
    ],
)
def test_a_file_is_named_by_what_every_system_can_hold(title: str, name: str) -> None:
    assert file_name(title) == name


@pytest.mark.parametrize("key", KEYS)
def test_what_looks_like_a_key_is_in_no_export(key: str) -> None:
    assert redact(f"before {key} after").startswith(f"before {REDACTED}")
    assert key not in redact(f'"{key}"')
    assert contains_secret(f"export OPENAI={key}")
    reference = replace(SLEEP, snippet=f"x {key}")
    parts = (TextPart(text=f"My key: {key}"), ToolResultPart(call_id="c", name="read", text=f"{key}"))
    message = said("assistant", "", reference, parts=parts, error=f"refused {key}")
    entry = Entry(session_id="s1", sequence=1, at=NOON, body=MessageEntry(message=message))
    session = replace(SESSION, title=f"About {key}")
    secret = key.splitlines()[1] if key.startswith("---") else key
    for text in (as_json(session, [entry]), as_markdown(session, [message]), answer_note(key, message, message)):
        assert secret not in text
        assert REDACTED in text


def test_what_is_called_a_key_is_redacted_and_its_name_stays() -> None:
    for text in NAMED_KEYS:
        cleaned = redact(text)
        assert REDACTED in cleaned
        assert cleaned.startswith(text[:5])
        assert not re.search(r"\d", cleaned)
    assert redact("it is plainwords, yes", ["", "is", "plainwords"]) == f"it is {REDACTED}, yes"
    assert redact("eighteen, sixteen1", ["eighteen", "sixteen"]) == f"{REDACTED}, sixteen1", "seven letters are a word"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_words_about_keys_stay_as_they_are(text: str) -> None:
    assert redact(text) == text
    assert not contains_secret(text)


BEGINNINGS = (
    *("sk-", "pk_", "rk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-"),
    *(f"xox{letter}-" for letter in "abeprs"),
    *("AKIA", "ASIA", "AIza", "hf_", "gsk_", "r8_", "npm_", "tvly-", "xai-", "-----BEGIN RSA PRIVATE KEY-----\n"),
    *("api_key=", "APIKEY: ", "access-key = ", "Secret: ", "toKen=", "PASSWD=", "password: ", "passphrase=", "Bearer "),
)
CODE = "A1B2C3D4E5F6G7H8A1B2C3D4"
pieces = st.sampled_from([*BEGINNINGS, *KEY_MARKS, *NAMED_KEY_MARKS, CODE, "eyJ", ".", " ", "\n", "ſ", "K", "=", ":"])
texts = st.lists(pieces | st.text(max_size=5), max_size=12).map("".join)


@given(texts)
def test_what_has_no_mark_matches_no_pattern(text: str) -> None:
    assert any(mark in text for mark in KEY_MARKS) or not KEY.search(text)
    assert any(mark in text.casefold() for mark in NAMED_KEY_MARKS) or not NAMED_KEY.search(text)


def test_every_beginning_of_a_key_has_a_mark() -> None:
    for beginning in BEGINNINGS:
        assert redact(f"It is {beginning}{CODE}, yes.") != f"It is {beginning}{CODE}, yes.", beginning
    assert redact(f"eyJ{CODE}.eyJ{CODE}.{CODE}") == REDACTED


def test_letters_of_a_name_fold_to_themselves_however_they_are_written() -> None:
    letters = "".join(sorted({*"".join(NAMED_KEY_MARKS)}))
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    found = {*re.findall(f"[{letters}]", every, re.IGNORECASE)}
    assert len(found) > 2 * len(letters)  # the long s and the sign of kelvin are among them
    for letter in letters:
        assert all(letter in each.casefold() for each in found if re.match(letter, each, re.IGNORECASE))


@pytest.mark.no_cover
def test_beginnings_of_keys_without_an_end_take_time_in_proportion_to_their_length() -> None:
    def cpu(length: int) -> float:
        started = process_time()
        KEY.search("eyJ-" * length)
        return process_time() - started

    # Between linear (2.7) and quadratic (7.1); a busy machine may be slow once, but not each time.
    assert any(cpu(4_000) < 5 * cpu(1_500) for _ in range(3))
    assert KEY.search("eyJ-" * 1_000 + f"eyJ{'a' * 30}.eyJ{'b' * 5_000}.c")


def test_entries_and_messages_say_the_same_and_each_message_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[EntryBody] = [
        MessageEntry(message=said("user", f'The "key" is {KEYS[0]}.', id="m1")),
        DraftEntry(message_id="m2", parent_id="m1", text="Se"),
        MessageEntry(message=said("assistant", "Seven.", id="m2", parent_id="m1")),
        PriorityEntry(message_id="m1", priority=9),
    ]
    written: list[str] = []

    def watched(value: object) -> object:
        written.extend([value.id] if isinstance(value, ChatMessage) else [])
        return to_plain(value)

    monkeypatch.setattr(note_export, "to_plain", watched)
    text = as_json(
        SESSION, [Entry(session_id="s1", sequence=place, at=NOON, body=body) for place, body in enumerate(bodies, 1)]
    )
    assert written == ["m1", "m2"]
    assert KEYS[0] not in text
    exported = json.loads(text)
    assert [entry["sequence"] for entry in exported["entries"]] == [1, 2, 4]
    assert exported["entries"][0]["at"] == "2026-03-01T12:00:00Z"
    messages = [entry["body"]["message"] for entry in exported["entries"][:2]]
    assert [message["priority"] for message in messages] == [9, 5]
    contents = ['The "key" is [redacted].', "Seven."]
    assert exported["messages"] == [
        {**message, "content": content} for message, content in zip(messages, contents, strict=True)
    ]
