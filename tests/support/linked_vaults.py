"""Vaults with every form of link that a rename has to follow, made by chance from a seed."""

import json
import random
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

_WORDS = ("Tea", "Coffee", "Sleep", "Été", "Über uns", "日本", "naïve plan", "C++", "Q&A", "plan (old)", "50% off")
_ODD_NAMES = (
    "a%20b",
    "x.png",
    "v1.2",
    "Mr. O'Brien",
    "a_b*c",
    "[draft] x",
    "left (",
    "caf\u00e9",
    "cafe\u0301",
    "nb\u00a0sp",
)
_UNLINKABLE = ("A#B", "C^d", "E|F")
_FOLDERS = ("", "a", "a/b", "a/b/c", "b", "Été", "my folder", "my folder/sub (1)", "b/a", "Archive/2024")


def make_vault(notes: int, seed: int) -> dict[str, bytes]:
    """The files of a vault with so many notes, and some attachments, canvases and bases, by path."""
    return _Maker(random.Random(seed)).make(notes)


class _Maker:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._paths: list[str] = []
        self._aliases: dict[str, str] = {}

    def make(self, notes: int) -> dict[str, bytes]:
        chance = self._chance
        shared = min(0.3, 45 / notes)
        paths = {self._note_path(number, shared) for number in range(notes)}
        paths |= {
            self._path(f"{chance.choice(_WORDS)}.{chance.choice(('png', 'pdf', 'svg'))}") for _ in range(notes // 10)
        }
        self._paths = sorted(paths)
        files = {path: self._note(path).encode() if path.endswith(".md") else b"" for path in self._paths}
        for number in range(max(1, notes // 100)):
            files[self._path(f"board {number}.canvas")] = self._canvas().encode()
            files[self._path(f"view {number}.base")] = self._base().encode()
        return files

    def _path(self, name: str) -> str:
        return f"{self._chance.choice(_FOLDERS)}/{name}".lstrip("/")

    def _note_path(self, number: int, shared: float) -> str:
        """The path of a note; a share of them has names that others have too."""
        chance = self._chance
        kind = chance.random()
        if kind < 0.8 - shared:
            name = f"{chance.choice(_WORDS)} {number}"
        elif kind < 0.8:
            name = chance.choice(_WORDS)
        elif kind < 0.85:
            name = f"2024{chance.randrange(10_000_000, 99_999_999)} {chance.choice(_WORDS)}"
        elif kind < 0.99:
            name = chance.choice(_ODD_NAMES) + chance.choice(("", "", f" {number}"))
        else:
            name = chance.choice(_UNLINKABLE)
        return self._path(f"{name}.{'MD' if chance.random() < 0.01 else 'md'}")

    def _note(self, path: str) -> str:
        chance = self._chance
        lines = [self._line(path) for _ in range(chance.randrange(1, 8))]
        title = chance.choice(
            (
                f"# {path.rpartition('/')[2][:-3]}",
                f"# About {self._wikilink(path)}",
                "# Tea",
                "",
                f"# Title {chance.randrange(50)}",
            )
        )
        text = "\n".join([*self._frontmatter(path), title, *lines])
        text += chance.choice(("", "\n", "\n\n"))
        if chance.random() < 0.15:
            text = text.replace("\n", "\r\n")
        return f"\ufeff{text}" if chance.random() < 0.05 else text

    def _frontmatter(self, path: str) -> list[str]:
        chance = self._chance
        if chance.random() < 0.6:
            return []
        lines = ["---"]
        if chance.random() < 0.5:
            lines.append(f"aliases: [{chance.choice(('Alias', 'Tea', 'Coffee'))} {chance.randrange(30)}]")
        if chance.random() < 0.5:
            lines.append(f'up: "{self._wikilink(path, plain=True)}"')
        if chance.random() < 0.3:
            lines += ["related:", f'  - "{self._wikilink(path, plain=True)}"', "  # a comment [[Tea]]"]
        if chance.random() < 0.1:
            lines.append(chance.choice(("zkchat: local", "zkchat: never", "title: Title 7")))
        return [*lines, "---"]

    def _line(self, path: str) -> str:
        link: Callable[[str], str] = self._chance.choice((self._wikilink, self._wikilink, self._markdown_link))
        one, other = link(path), self._wikilink(path)
        reference = f"r{self._chance.randrange(10**6)}"
        destination = self._destination(path)
        return self._chance.choice(
            (
                f"See {one} and {other}.",
                f"- [ ] {one}",
                f"> {one}\n> {other}",
                f"%%{other}%% {one}",
                f"`{other}` and {one}",
                f"```\n{one}\n```",
                f"<!-- {other} -->",
                f"$x$ {one} \\{other}",
                f"| a | b |\n|---|---|\n| {self._wikilink(path, table=True)} | {other} |\n",
                f"[text][{reference}] {one}\n\n[{reference}]: {destination} 'title'\n",
                f"> [{reference}]\n>\n> [{reference}]: {destination}\n",
                f"[[ ]] {one} [[Nowhere {self._chance.randrange(99)}]] https://example.org/[[{reference}",
                f"![]({destination}) text",
            )
        )

    def _target(self, source: str) -> str:
        """A way to name a file, most often one that works."""
        chance = self._chance
        path = chance.choice(self._paths)
        if any(mark in path for mark in "#|"):
            path = chance.choice(self._paths[:3])
        spelled = path if not path.endswith(".md") or chance.random() < 0.2 else path[:-3]
        up = "../" * source.count("/")
        name = spelled.rpartition("/")[2]
        forms = (
            *(name for _ in range(6)),
            spelled,
            spelled,
            f"/{spelled}",
            f"{up}{spelled}" if up else f"./{spelled}",
            "/".join(spelled.split("/")[-2:]),
            name.lower(),
            unicodedata.normalize("NFD", name),
            f"Alias {chance.randrange(30)}",
            f"Title {chance.randrange(50)}",
            name.split(" ")[0],
        )
        return chance.choice(forms)

    def _wikilink(self, source: str, *, plain: bool = False, table: bool = False) -> str:
        chance = self._chance
        target = self._target(source)
        if any(mark in target for mark in "#|[]"):
            target = "Tea"
        if plain:
            return f"[[{target}]]"
        pipe = "\\|" if table else "|"
        rest = chance.choice(("", "", "", f"{pipe}label", "#Heading", f"#Heading#Sub{pipe}x", "#^block", "^block"))
        return f"{chance.choice(('', '', '!'))}[[{chance.choice(('', '', ' '))}{target}{rest}]]"

    def _markdown_link(self, source: str) -> str:
        title = self._chance.choice(("", ' "a title"', " 'x'"))
        return f"{self._chance.choice(('', '!'))}[label]({self._destination(source)}{title})"

    def _destination(self, source: str) -> str:
        chance = self._chance
        target = self._target(source)
        anchor = chance.choice(("", "", "#Heading", "#a%20b"))
        if chance.random() < 0.3 and not any(mark in target for mark in "<>%"):
            return f"<{target.replace('#', '%23')}{anchor}>"
        safe = chance.choice(("/()'", "/'", "/()'éÉüÜ日本&+*"))
        return f"{quote(target, safe=safe)}{anchor}"

    def _canvas(self) -> str:
        chance = self._chance
        nodes = [
            {"id": "a", "type": "file", "file": chance.choice(self._paths), "x": 0, "subpath": "#H"} for _ in range(3)
        ]
        nodes += [
            {"id": "t", "type": "text", "text": f'"Q" {self._line("board.canvas")}\n\U0001f600'} for _ in range(3)
        ]
        return json.dumps(
            {"nodes": nodes, "edges": []}, indent=chance.choice((None, 2, "\t")), ensure_ascii=chance.random() < 0.5
        )

    def _base(self) -> str:
        path = next(
            path for path in iter(lambda: self._chance.choice(self._paths), None) if not set(path) & set("'\"[]")
        )
        folder = path.rpartition("/")[0]
        return (
            f'filters:\n  and:\n    - file.inFolder("{folder}")\n    - "file.path != \\"{path}\\""\n'
            f"    - 'file.hasLink(\"{path}\")'\n    # [[Tea]]\nviews:\n  - type: table\n    note: '[[Tea]]'\n"
        )
