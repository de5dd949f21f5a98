"""How often `verify` calls a statement supported that the notes make, and one that was altered or invented.

    python -m benchmarks.retrieval.verification [--misses]

The statements of verification.json are our own, over vault-fixtures/garden and library; more are made by rules from the
sentences of those and of the generated vaults: as they are, with another number, another name, and negated. Thresholds
were chosen on `dev`. Beside it a floor in the same run: the share of the statement's words that the best sentence of
the same passages holds, with the threshold that does best on `dev`.
"""

import argparse
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple

from benchmarks.retrieval.answer_set import notes_of, write_vault
from zkchat.answers import extract_statements, verify
from zkchat.core import VERDICTS, Verdict
from zkchat.index import Library, SqliteNoteIndex, phrase_text, query_terms, terms
from zkchat.notes import detect_language, frontmatter_of, sentences
from zkchat.storage import VaultFiles

STATEMENTS: Final = Path(__file__).parent / "verification.json"
ALTERED: Final = ("number", "name", "negation", "mixed", "invented")
KINDS: Final = ("verbatim", "near", "free", *ALTERED)
VAULTS: Final = ("garden", "handbook", "journal")
MAX_GENERATED: Final = 60
"""Statements of each kind and vault that rules make."""
_PASSAGES: Final = 10

Half = Literal["dev", "test", "work", "held"]
"""The last two are of dates, weekdays and denials alone; the errors on `held` are not read."""
HALVES: Final[dict[Half, str]] = {
    "dev": "thresholds chosen on it",
    "test": "unseen",
    "work": "dates and denials",
    "held": "dates and denials, unseen",
}


class Statement(NamedTuple):
    half: Half
    language: str
    kind: str
    statement: str
    vault: str = "garden"


class Judged(NamedTuple):
    statement: Statement
    verdict: Verdict
    overlap: float
    """The floor: the share of its words that the best sentence holds."""


def read_statements() -> list[Statement]:
    """Those that were written by hand."""
    return [Statement(**row) for row in json.loads(STATEMENTS.read_text())]


# Statements by rules.


def generate_statements(vault: str, most: int = MAX_GENERATED) -> Iterator[Statement]:
    """Sentences of a vault as they are and altered, the same each time."""
    chance = random.Random(vault)
    texts = [text for _, text in notes_of(vault)]
    said = phrase_text("\n".join(texts))
    found = [sentence for text in texts for sentence in _plain_sentences(text)]
    sampled = chance.sample(found, min(len(found), 20 * most))
    names = sorted({name for sentence in found for name in _names(sentence)})
    rules: dict[str, Callable[[str], str]] = {
        "verbatim": lambda sentence: sentence,
        "number": lambda sentence: _with_another_number(sentence, chance),
        "name": lambda sentence: _with_another_name(sentence, names, chance),
        "negation": _negated,
    }
    for kind, rule in rules.items():
        made = (rule(sentence) for sentence in sampled)
        new = (each for each in made if each and (kind == "verbatim") == (phrase_text(each).strip() in said))
        for number, statement in zip(range(most), new, strict=False):
            yield Statement("dev" if number % 2 == 0 else "test", "", kind, statement)


def _plain_sentences(text: str) -> list[str]:
    return [
        sentence
        for sentence in sentences(text[frontmatter_of(text).end :])
        if "[[" not in sentence and "\n" not in sentence and len(extract_statements(sentence).statements) == 1
    ]


def _with_another_number(sentence: str, chance: random.Random) -> str:
    numbers = [*re.finditer(r"(?<![\w.,:-])\d+(?![\w.:-]|,\d)", sentence)]
    if not numbers:
        return ""
    found = chance.choice(numbers)
    value = int(found[0])
    other = chance.choice([each for each in (value + 1, value + 7, 2 * value + 3, 10 * (value + 1)) if each != value])
    return f"{sentence[: found.start()]}{other}{sentence[found.end() :]}"


def _names(sentence: str) -> list[str]:
    return re.findall(r"(?<=[a-z,] )[A-Z][a-zäöüß]{3,}\b", sentence) if " the " in f" {sentence.lower()} " else []


def _with_another_name(sentence: str, names: Sequence[str], chance: random.Random) -> str:
    own = _names(sentence)
    if not own:
        return ""
    name = chance.choice(own)
    others = [each for each in names if each[:3] != name[:3] and each not in sentence]
    return sentence.replace(name, chance.choice(others)) if others else ""


def _negated(sentence: str) -> str:
    if detect_language(sentence) != "en" or re.search(r"\b(?:not|no|never|n't)\b", sentence):
        return ""
    made, count = re.subn(r"\b(is|are|was|were|must|will|may|should|can)\b", r"\1 not", sentence, count=1)
    return made if count else ""


# Judging.


@contextmanager
def opened(vault: str) -> Iterator[Library]:
    with tempfile.TemporaryDirectory() as folder, closing(SqliteNoteIndex(Path(folder) / "index.db")) as index:
        root = Path(folder) / "vault"
        root.mkdir()
        write_vault(vault, root)
        library = Library.over(VaultFiles(root, exclude=(), max_note_bytes=5_000_000), index)
        library.refresh()
        yield library


def judge(library: Library, statements: Iterable[Statement]) -> list[Judged]:
    return [Judged(each, _verdict(library, each.statement), _overlap(library, each.statement)) for each in statements]


def _verdict(library: Library, statement: str) -> Verdict:
    found = [each.verdict for each in verify(library, statement).statements]
    return max(found, key=VERDICTS.index, default="unsupported")


def _overlap(library: Library, statement: str) -> float:
    wanted = {*query_terms(statement)}
    passages = library.search(" ".join(re.findall(r"\w+", statement)), limit=_PASSAGES, words_only=True)
    held = ({*terms(sentence)} for passage in passages for sentence in sentences(passage.text))
    return max((len(wanted & each) / len(wanted) for each in held), default=0.0) if wanted else 0.0


def best_threshold(judged: Sequence[Judged]) -> float:
    """The share of words from which on the floor calls a statement supported: most right on these."""

    def right(threshold: float) -> int:
        return sum((each.overlap >= threshold) == (each.statement.kind not in ALTERED) for each in judged)

    return max((step / 20 for step in range(8, 21)), key=right)


# Reporting.


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:9.1f}" if of else f"{'':9}"


def rows(judged: Sequence[Judged], threshold: float) -> Iterator[str]:
    yield f"{'':28}{'count':>6}{'quoted':>9}{'support.':>9}{'contrad.':>9}{'unsupp.':>9}{'floor: supp.':>14}"
    for kind in KINDS:
        yield from _row(kind, [each for each in judged if each.statement.kind == kind], threshold)
    yield from _row("altered or invented", [each for each in judged if each.statement.kind in ALTERED], threshold)


def _row(name: str, judged: Sequence[Judged], threshold: float) -> Iterator[str]:
    if judged:
        shares = [_share(sum(each.verdict == verdict for each in judged), len(judged)) for verdict in VERDICTS]
        floor = _share(sum(each.overlap >= threshold for each in judged), len(judged))
        yield f"{name:28}{len(judged):6}{''.join(shares)}{floor:>14}"


def misses(judged: Iterable[Judged]) -> Iterator[str]:
    for each in judged:
        is_altered = each.statement.kind in ALTERED
        is_right = each.verdict in {"contradicted", "unsupported"} if is_altered else each.verdict != "unsupported"
        if not is_right or (each.statement.kind == "verbatim" and each.verdict != "quoted"):
            yield f"{each.statement.kind:10}{each.verdict:14}{each.statement.statement}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="list what went wrong in `dev` and `work`")
    arguments = parser.parse_args()
    written: list[Judged] = []
    generated: list[Judged] = []
    for vault in (*VAULTS, "workshop"):
        with opened(vault) as library:
            written += judge(library, [each for each in read_statements() if each.vault == vault])
            generated += judge(library, generate_statements(vault)) if vault in VAULTS else []
    threshold = best_threshold([each for each in written if each.statement.half == "dev"])
    print(f"Floor: supported from a share of {threshold:.2f} of the words.")
    for title, judged in {"written": written, "by rules": generated}.items():
        for half, about in HALVES.items():
            of_half = [each for each in judged if each.statement.half == half]
            if of_half:
                print(f"\n{title}, {half} ({about})")
                print("\n".join(rows(of_half, threshold)))
        if arguments.misses:
            print(*misses(each for each in judged if each.statement.half in {"dev", "work"}), sep="\n")


if __name__ == "__main__":
    main()
