"""Four hundred odd frontmatters: some written by hand, the others put together from pieces."""

import random
from typing import Final

WRITTEN: Final = (
    # comments
    "# only a comment\n",
    "a: 1 # one\nb: 2\n",
    "a: 1\n# between\nb: 2\n",
    "a: x#y\nb: 'x # y'\n",
    "a: |  # header\n  text # no comment\nb: 2\n",
    "a:\n  # above the items\n  - x # why\n  # between\n  - y\nb: 2\n",
    "a: [x, # why\n  y]\nb: 1\n",
    "a: 1\n\n\n# a group\n\nb: 2\n\n",
    # quotes
    'a: "x \\"y\\" \\u00e9 \\n z"\n',
    "a: 'it''s'\nb: \"it's\"\n",
    "\"a\": 1\n'b': 2\n",
    '"a key: with colon": 1\nb: 2\n',
    "a: “curly”\nb: ‘curly’\n",
    # several lines
    "a: |+\n  one\n\n\nb: 2\n",
    "a: >\n  folded\n  text\n\n  more\nb: 2\n",
    "a: |2\n    indented\n  less\nb: 2\n",
    "a: |\n  # a heading, no comment\n  text\n# a comment\nb: 2\n",
    "a: |\nb: 2\n",
    'a: "quoted text\n  that goes on"\nb: 2\n',
    "a: 'quoted text\n\n  that goes on'  # comment\nb: 2\n",
    "a: |\n  ---\n  no end\nb: 2\n",
    "a: |\n\ttab\nb: 2\n",
    # lists
    "a: [x, y, z,]\n",
    "a: [\n  x,\n  y\n]\nb: 1\n",
    "a: [[Note]]\nb: [[One]], [[Two]]\n",
    "a:\n    -   x\n    -   y\nb: 1\n",
    "a:\n  - x\n\n  - y\n\nb: 1\n",
    "a:\n  - x\n  -\n  - y\n",
    "a:\n  -\n    x\n  - y\n",
    "a:\n  - - x\n    - y\n  - z\n",
    "a:\n  - k: v\n    l: w\n  - k: u\nb: 1\n",
    "a:\n  - |\n    text\n  - y\nb: 1\n",
    "a: [{k: v}, x]\nb: 1\n",
    "a: - x\nb: 1\n",
    "tags: a, b, c\naliases: One, Two\n",
    "tags: one\nTags: two\n",
    "tags: #x\n",
    "tags: ['#x', '#y']\n",
    # maps
    "a:\n  k: v\n  l:\n    m: n\nb: 1\n",
    "{a: 1, b: 2}\n",
    "a:\n  k: v\n  # inside\nb: 1\n",
    "  a: 1\n  b: 2\n",
    "a: 1\n b: 2\n",
    # dates, numbers, words
    "a: 2024-01-01 10:00\nb: 2024-1-1\n",
    "a: 2024-13-45\nb: 1\n",
    "a: 007\nb: 0x1F\n",
    "a: .5\nb: 5.\n",
    "a: .inf\nb: .nan\n",
    "2024: x\n1.5: y\nyes: z\n",
    "a: 10%\nb: $5\nc: @x\n",
    "a: 123456789012345678901234567890\n",
    # templates
    "a: {{title}}\nb: 1\n",
    "a: <% tp.file.title %>\nb: 1\n",
    "{{properties}}\n",
    "a: {% raw %}\n",
    "created: {{date:YYYY-MM-DD}}\ntags:\n  - x\n",
    # names
    "a: 1\na: 2\n",
    "a: 1\nA: 2\nb: 3\n",
    "b: 1\nb: 2\na: 3\n",
    "a : 1\nb  : 2\n",
    "? a\n: 1\nb: 2\n",
    "? [x, y]\n: 1\nb: 2\n",
    "ключ: значение\n名前: 値\n",
    "e\u0301te\u0301: nfd\n\u00e9t\u00e9: nfc\n",
    "😀: 1\nb: 😀 # 😀\n",
    "a:1\nb: 2\n",
    ": 1\nb: 2\n",
    # anchors, aliases, tags
    "a: &x 1\nb: *x\n",
    "base: &base {k: v}\na:\n  <<: *base\n",
    "<<: {a: 1}\nb: 2\n",
    "a: !!str 5\nb: 1\n",
    "a: [&x 1, 2]\nb: 1\n",
    # broken
    "a: [x\nb: 1\n",
    'a: "x\nb: 1\n',
    "a: 'it's'\nb: 1\n",
    "\ta: 1\n",
    "a: 1\n\tb: 2\n",
    "just a line\n",
    "- a\n- b\n",
    "a: 1\n...\n",
    "%YAML 1.2\n",
    "a: @x\nb: `y`\n",
    "a: 1\x07\n",
    "a: x\u2028y\nb: 1\n",
    "a: x\u0085y\nb: 1\n",
    "",
    "\n\n",
    "a:\n",
    "a",
)

_NAMES: Final = ("title", "tags", "aliases", "due", "Status", "cssclasses", "données", "my key", "rating", "source")
_VALUES: Final = (
    *("plain", '"double"', "'single'", "2024-05-06", "2024-05-06T07:08:09", "12:30", "007", "yes", "3.14", "null", ""),
    *("[x, y]", "[ 'x' ]", "[]", "{k: v}", "[[Note]]", '"[[Note]]"', "x # comment", '"x"   # comment', "R&D", "a, b"),
    *("|\n  one\n\n  two", ">-\n  folded\n  text", "|+\n  kept\n", "text that\n  goes on", '"text that\n  goes on"'),
    *("\n  - x\n  - y", "\n- x\n- 'y' # why\n# between\n- z", "\n  k: v\n  l:\n    - 1", "\n  on its own line"),
    *("[x,\n  y]", '"{{title}}"', "café 日本 😀", "cafe\u0301", "x\u00a0y", "|\n  # text\n  {{x}}"),
)
_BAD: Final = ("&anchor x", "{{title}}", "<% now %>", "- odd", "a: b", "[x", "2024-02-30", "*x", "!tag x", "\tx\n\ty")
_BETWEEN: Final = ("", "", "", "", "\n", "# a comment\n", "\n# group\n\n", "   # indented\n")


def _generated(source: random.Random) -> str:
    lines: list[str] = []
    for name in source.sample(_NAMES, source.randint(1, 6)) + (["title"] if source.random() < 0.06 else []):
        value = source.choice(_VALUES if source.random() < 0.96 else _BAD)
        lines.append(source.choice(_BETWEEN))
        lines.append(f"{name}:{'' if value.startswith(chr(10)) or not value else ' '}{value}\n")
    return "".join(lines)


def odd_notes() -> list[str]:
    """The notes, some with a byte order mark, other line ends, no line end at the end, or text below."""
    source = random.Random(13)
    blocks = [*WRITTEN]
    while len(blocks) < 400:
        block = _generated(source)
        if block not in blocks:
            blocks.append(block)
    return [_note(block, number) for number, block in enumerate(blocks)]


def _note(block: str, number: int) -> str:
    body = ("", "body", "\n# Title\n\nbody #inline\n", "text\n\n---\n\nmore: 1\n---\n")[number % 4]
    note = f"---\n{block}---\n{body}" if number % 7 or not block else f"---\n{block}---"
    note = note.replace("\n", "\r\n") if number % 5 == 1 else note
    return f"\ufeff{note}" if number % 6 == 2 else note
