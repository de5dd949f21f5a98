"""A vault of any size, the same each time: words by Zipf's law, headings, tags, aliases, three links for each note.

python -m benchmarks.generate FOLDER --notes 10000 [--words 243]
"""

import argparse
import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

SEED = 20_240
VOCABULARY = 40_000
WORDS_OF_NOTE = 243
"""On average; 10,000 notes are 18 MB in 80,000 sections."""
WORDS_OF_SECTION = 31
LINKS_OF_NOTE = 3
NOTES_OF_FOLDER = 60

FUNCTION_WORDS = """
    the of and to a in is that it for was on are as with be by at this have from or one had not but what all were when
    we there can an your which their said if do will each about how up out them then she many some so these would other
    into has more her two like him see time could no make than first been its who now people my made
"""
SYLLABLES = """
    ba be bor ca cen da den do er fa fin ga gen hal in ka lan len lo ma men mor na ner no or pa per ra ren ri sa sen so
    ta ter ti to va ver vi za
"""
ENDINGS = ("", "", "", "", "", "", "s", "s", "s", "ing", "ed", "er", "ation", "ly")


class Generator:
    """Makes notes one after the other; titles exist before texts, so that links can point anywhere."""

    def __init__(self, notes: int, seed: int = SEED, words: int = WORDS_OF_NOTE) -> None:
        """`words` are those of a note, on average."""
        self._random = random.Random(seed)
        self._words_of_note = words
        function_words = FUNCTION_WORDS.split()
        self._content = self._invented(VOCABULARY - len(function_words))
        self._words = [*function_words, *self._content]
        self._weights = [*accumulate(1 / (rank + 2.7) ** 1.05 for rank in range(len(self._words)))]
        self._phrase_words, self._tags = self._content[:6000], self._content[:200]
        self._titles = self._distinct_titles(notes)

    def notes(self) -> Iterator[tuple[str, str]]:
        """Paths and texts."""
        for number, title in enumerate(self._titles):
            folder = f"area {number // NOTES_OF_FOLDER // 20:02}/topic {number // NOTES_OF_FOLDER % 20:02}"
            yield f"{folder}/{title}.md", self._note(title)

    def queries(self, count: int) -> list[str]:
        """Questions of two to seven words, some of which name a note."""
        chosen = random.Random(SEED + 1)
        named = [chosen.choice(self._titles) for _ in range(count // 3)]
        asked = [
            " ".join(chosen.choices(self._words, cum_weights=self._weights, k=chosen.randint(1, 4)))
            + " "
            + " ".join(chosen.choices(self._content[:8000], k=chosen.randint(1, 3)))
            for _ in range(count - len(named))
        ]
        return [*named, *asked]

    def _invented(self, count: int) -> list[str]:
        words: dict[str, None] = {}
        all_syllables = SYLLABLES.split()
        while len(words) < count:
            syllables = (1, 2, 2) if len(words) < 800 else (2, 2, 3) if len(words) < 8_000 else (2, 3, 3, 4)
            stem = "".join(self._random.choices(all_syllables, k=self._random.choice(syllables)))
            words[stem + self._random.choice(ENDINGS)] = None
        return [*words]

    def _distinct_titles(self, count: int) -> list[str]:
        titles: dict[str, None] = {}
        title_words = self._content[:12_000]
        while len(titles) < count:
            words = self._random.choices(title_words, k=self._random.randint(2, 5))
            titles[" ".join(words).capitalize()] = None
        return [*titles]

    def _note(self, title: str) -> str:
        length = max(20, round(self._random.lognormvariate(0, 0.75) * self._words_of_note * 0.755))
        sections = max(1, round(length / WORDS_OF_SECTION))
        links = [self._link() for _ in range(LINKS_OF_NOTE)]
        lines = [*self._frontmatter(title), f"# {title}", ""]
        for section in range(sections):
            if section:
                lines += [f"## {self._phrase(self._random.randint(1, 4)).capitalize()}", ""]
            words = self._text(length // sections)
            if links and self._random.random() < (LINKS_OF_NOTE + 1) / sections:
                words.insert(len(words) // 2, links.pop())
            lines += [" ".join(words).capitalize() + ".", ""]
        lines += [f"See {link}." for link in links]
        return "\n".join(lines)

    def _frontmatter(self, title: str) -> list[str]:
        if self._random.random() < 0.4:
            return []
        tags = ", ".join(self._random.choices(self._tags, k=self._random.randint(1, 3)))
        aliases = [f"aliases: [{self._phrase(2)}]"] if self._random.random() < 0.3 else []
        return ["---", f"title: {title}", f"tags: [{tags}]", *aliases, "---", ""]

    def _text(self, count: int) -> list[str]:
        words = self._random.choices(self._words, cum_weights=self._weights, k=max(3, count))
        for place in range(9, len(words), 11):
            words[place] += self._random.choice((",", ".", ";", "**", ":", " –", "’s"))
        return words

    def _phrase(self, words: int) -> str:
        return " ".join(self._random.choices(self._phrase_words, k=words))

    def _link(self) -> str:
        if self._random.random() < 0.04:
            return f"[[{self._phrase(3)}]]"
        title = self._titles[int(len(self._titles) * self._random.random() ** 2)]
        shape = self._random.random()
        return f"[[{title}|{self._phrase(1)}]]" if shape < 0.36 else f"[[{title}{f'#{title}' if shape < 0.41 else ''}]]"


def write_vault(root: Path, notes: int, words: int = WORDS_OF_NOTE) -> Generator:
    generator = Generator(notes, words=words)
    for path, text in generator.notes():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return generator


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--words", type=int, default=WORDS_OF_NOTE, help="of a note, on average")
    wanted = parser.parse_args()
    write_vault(wanted.folder, wanted.notes, wanted.words)
