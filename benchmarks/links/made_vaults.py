"""Vaults with known mentions and known broken links, the same for the same seed.

Words are invented and used by Zipf's law. A name is a mention where it was put for it, and so is every use of a rare
word that is the name of a note; a frequent word that a note is called by happens to be one.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from benchmarks.generate import ENDINGS, FUNCTION_WORDS, SYLLABLES

SEED = 20_261
NOTES = 1_500
VOCABULARY = 15_000
FREQUENT = 1_200
"""Words of the vocabulary that are ordinary, the most frequent first."""
ORDINARY_TITLES = ("Ideas", "Today", "Notes", "Inbox", "Projects", "Meetings", "Reading", "Questions")
FOREIGN = ("机器学习", "睡眠债务", "光合作用", "知識管理", "東京駅", "서울역", "Évian café", "Müßiggang")
SENTENCES = 12
FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
SERIES = (
    *(f"2024-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29, 3)),
    *(f"Data course week {week}" for week in range(1, 20, 2)),
    *(f"Release {major}.{minor}" for major in range(1, 5) for minor in (0, 2, 4)),
)
OPPOSITES = {
    "Supervised learning": "Unsupervised learning", "Linear systems": "Nonlinear systems", "Virus": "Antivirus",
    "Encoder": "Decoder", "Visible light": "Invisible light", "Rational functions": "Irrational functions",
    "External links": "Internal links", "North America": "South America", "Symmetric relation": "Asymmetric relation",
    "Upper bound": "Lower bound", "Divergent margins": "Convergent margins", "Input devices": "Output devices",
    "Long-term scheduling": "Short-term scheduling", "Elliptic curves": "Hyperelliptic curves",
    "Active voice": "Passive voice", "Import of goods": "Export of goods", "Encryption": "Decryption",
    "Equations": "Inequations", "Centralized storage": "Decentralized storage",
}  # fmt: skip
"""Names of notes, each with one that nobody has written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeVault:
    notes: dict[str, str]
    truth: dict[str, dict[str, str]]
    """By note, for each thing in it what it means: of mentions, the note for each target; of links, by their text."""
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)


class _Words:
    def __init__(self, chance: random.Random) -> None:
        words: dict[str, None] = dict.fromkeys(FUNCTION_WORDS.split())
        while len(words) < VOCABULARY:
            count = chance.choice((1, 2, 2) if len(words) < FREQUENT else (2, 3, 3, 4))
            words["".join(chance.choices(SYLLABLES.split(), k=count)) + chance.choice(ENDINGS)] = None
        self.all = [*words]
        self._chance = chance
        self._weights = [*accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(len(self.all)))]

    @property
    def frequent(self) -> list[str]:
        """Ordinary words that are no function words."""
        return self.all[150:FREQUENT]

    @property
    def rare(self) -> list[str]:
        return [word for word in self.all[FREQUENT * 3 :] if len(word) > 4]

    def sentence(self) -> list[str]:
        return self._chance.choices(self.all, cum_weights=self._weights, k=self._chance.randint(8, 18))


def vault_with_mentions(seed: int = SEED, notes: int = NOTES) -> MadeVault:
    """Notes of all kinds of names, with mentions among what only looks like one."""
    chance = random.Random(seed)
    words = _Words(chance)
    names = _names(chance, words, notes)
    paths = {name: f"area {number % 7}/{name}.md" for number, name in enumerate(names)}
    rare = {name.lower(): name for name in names if name.lower() in {*words.rare}}
    plain = [name for name in names if name not in ORDINARY_TITLES and name.lower() not in {*words.frequent}]
    truth: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for name, path in paths.items():
        meant = [other for other in chance.sample(plain, chance.randint(1, 5)) if other != name]
        sentences = [words.sentence() for _ in range(SENTENCES)]
        found = {paths[other]: "put there" for other in meant}
        for other in meant:
            sentence = chance.choice(sentences)
            sentence.insert(chance.randint(1, len(sentence) - 1), _mention(chance, other))
        for sentence in sentences:
            found |= {paths[rare[word]]: "rare word" for word in sentence if word in rare and rare[word] != name}
        lines = [" ".join(sentence).capitalize() + "." for sentence in sentences]
        lines += _decoys(chance, [other for other in names if other != name and paths[other] not in found])
        chance.shuffle(lines)
        lines = [f"## Part {number // 3}\n\n{line}" if number % 3 == 0 else line for number, line in enumerate(lines)]
        texts[path] = "\n\n".join([f"# {name}", *lines]) + "\n"
        truth[path] = found
    return MadeVault(notes=texts, truth=truth)


def _names(chance: random.Random, words: _Words, count: int) -> list[str]:
    names = dict.fromkeys((*ORDINARY_TITLES, *FOREIGN))
    while len(names) < count:
        kind = chance.random()
        if kind < 0.55:
            parts = [*chance.sample(words.rare, 1), *chance.sample(words.frequent, chance.randint(1, 2))]
            chance.shuffle(parts)
            names[" ".join(parts).capitalize()] = None
        elif kind < 0.75:
            names[chance.choice(words.rare).capitalize()] = None
        elif kind < 0.9:
            names[chance.choice(words.frequent).capitalize()] = None
        else:
            names[f"{chance.choice(words.rare).capitalize()} {chance.choice(words.rare).capitalize()}"] = None
    return [*names]


def _mention(chance: random.Random, name: str) -> str:
    forms: tuple[Callable[[str], str], ...] = (
        str, str, str, str.lower, str.lower, lambda text: f"**{text}**", lambda text: f"_{text}_",
        lambda text: f"“{text}”", lambda text: f"({text})", lambda text: f"{text}’s", lambda text: f"{text},",
    )  # fmt: skip
    return chance.choice(forms)(name)


def _decoys(chance: random.Random, names: list[str]) -> list[str]:
    """Lines that hold names where no link may be."""
    decoys = (
        "Run `{}` first.", "## On {}", "See https://example.org/{}.", "A {}-like thing.", "```\n{}\n```",
        "Tagged #{}", "[[Elsewhere|{}]] and more.", "[{}](https://example.org)", "%% {} %%", "Sub{}ly put.",
        "<!-- {} -->", "${}$", "{}:: yes", "me@{}.org", "pre-{} times",
    )  # fmt: skip
    single = [name for name in names if name.isascii() and " " not in name]
    return [
        pattern.format(name) for pattern, name in zip(chance.sample(decoys, 4), chance.sample(single, 4), strict=True)
    ]


def vault_with_broken_links(seed: int = SEED, notes: int = NOTES) -> MadeVault:
    """Notes whose links are broken in known ways, and links to what was never written.

    Names are invented ones, those of the fixtures, and dates, weeks and versions, of which many are missing.
    """
    chance = random.Random(seed)
    words = _Words(chance)
    written = sorted(path.stem for path in FIXTURES.glob("[gl]*/**/*.md"))
    invented = [name for name in _names(chance, words, notes) if name not in FOREIGN]
    names = [*dict.fromkeys((*invented, *written, *SERIES, *OPPOSITES))]
    folders = {name: f"area {chance.randint(0, 9)}" for name in names}
    headings = {name: [" ".join(words.sentence()[:4]).capitalize() for _ in range(4)] for name in names}
    texts: dict[str, str] = {}
    truth: dict[str, dict[str, str]] = {}
    kinds: dict[tuple[str, str], str] = {}
    for name in names:
        path = f"{folders[name]}/{name}.md"
        links: dict[str, str] = {}
        for other in (*chance.sample(names, 5), chance.choice((*SERIES, *OPPOSITES))):
            is_there = chance.random() < 0.6 and other not in SERIES
            make = _broken if is_there else _never_written
            kind, link, place = make(chance, words, other, folders[other], headings[other])
            if link not in links and f"[[{name}" not in link and link[2:-2] not in folders:
                links[link] = f"{folders[other]}/{other}.md{place}" if is_there else ""
                kinds[path, link] = kind
        body = [f"Text with {link} in it." for link in links]
        texts[path] = (
            "\n\n".join([f"# {name}", *(f"## {heading}\n\nWords." for heading in headings[name]), *body]) + "\n"
        )
        texts[f"pictures/Plan of {name.lower()}.png"] = ""
        truth[path] = links
    return MadeVault(notes=texts, truth=truth, kinds=kinds)


def _broken(chance: random.Random, words: _Words, name: str, folder: str, headings: list[str]) -> tuple[str, str, str]:
    """A kind, the broken link, and `#` with the heading that it means where that is what is broken."""
    heading = chance.choice(headings)
    kinds: dict[str, Callable[[], tuple[str, str]]] = {
        "typo": lambda: (f"[[{_typo(chance, name)}]]", ""),
        "two typos": lambda: (f"[[{_typo(chance, _typo(chance, name))}]]", ""),
        "plural": lambda: (f"[[{name}s]]", ""),
        "moved": lambda: (f"[[old {folder}/{name}]]", ""),
        "moved, address": lambda: (f"[x](old/{name.replace(' ', '%20')}.md)", ""),
        "encoded": lambda: (f"[[{name.replace(' ', '%20')}%20]]" if " " in name else f"[[{name}%2Emd]]", ""),
        "doubled extension": lambda: (f"[[{name}.md.md]]", ""),
        "separators": lambda: (f"[[{name.lower().replace(' ', '-')}_]]", ""),
        "heading typo": lambda: (f"[[{name}#{_typo(chance, heading)}]]", f"#{heading}"),
        "heading edited": lambda: (f"[[{name}#{heading} {chance.choice(words.frequent)}]]", f"#{heading}"),
        "heading as on the web": lambda: (f"[[{name}#{heading.lower().replace(' ', '-')}]]", f"#{heading}"),
    }
    kind = chance.choice([*kinds])
    return (kind, *kinds[kind]())


def _never_written(
    chance: random.Random, words: _Words, name: str, _folder: str, _headings: list[str]
) -> tuple[str, str, str]:
    """A kind, and a link to what nobody has written, which has a near neighbour."""
    if name in SERIES:
        return "another date or number", f"[[{_renumbered(chance, name)}]]", ""
    if name in OPPOSITES:
        return "an opposite", f"[[{OPPOSITES[name]}]]", ""
    kinds = {
        "a new name": lambda: _unwritten(chance, words, name),
        "another word": lambda: _reworded(chance, words, name),
        "a longer name": lambda: f"{name} {chance.choice(words.frequent)}",
        "a note, not an image": lambda: f"Plan of {name.lower()}",
        "an image, not a note": lambda: f"{name}.png",
        "another number": lambda: f"{name} {chance.randint(2, 9)}",
    }
    kind = chance.choice([*kinds])
    return kind, f"[[{kinds[kind]()}]]", ""


def _renumbered(chance: random.Random, name: str) -> str:
    """With another last number, which no note of the series has."""
    start, last = name[: -len(name.rpartition(" ")[2].rpartition("-")[2])], name.rpartition(" ")[2].rpartition("-")[2]
    while True:
        other = f"{start}{chance.randint(1, 31):02}" if "-" in name else start + last[:-1] + str(chance.randint(0, 9))
        if other not in SERIES:
            return other


def _reworded(chance: random.Random, words: _Words, name: str) -> str:
    """With one word in place of another."""
    parts = name.split()
    parts[chance.randrange(len(parts))] = chance.choice(words.frequent if len(parts) > 1 else words.rare)
    return " ".join(parts).capitalize()


def _typo(chance: random.Random, name: str) -> str:
    place = chance.randint(1, len(name) - 2) if len(name) > 3 else 1
    letter = chance.choice("abcdefghijklmnopqrstuvwxyz")
    return chance.choice(
        (
            name[:place] + name[place + 1 :],
            name[:place] + letter + name[place:],
            name[:place] + letter + name[place + 1 :],
            name[:place] + name[place + 1 : place + 2] + name[place] + name[place + 2 :],
        )
    )


def _unwritten(chance: random.Random, words: _Words, name: str) -> str:
    """A name that no note has; often it shares a word with one."""
    new = chance.choice(words.rare).capitalize()
    parts = name.split()
    return chance.choice((new, f"{new} {chance.choice(words.frequent)}", f"{parts[0]} {new.lower()}"))


def halves(vault: MadeVault) -> Iterator[list[str]]:
    """The notes of each half of a vault: the one that thresholds are chosen on, and the other."""
    paths = sorted(vault.notes)
    yield paths[::2]
    yield paths[1::2]
