"""Large notes that nobody would write: each kind in any size, for whoever wants to know what they cost."""

import random
from collections.abc import Callable
from itertools import accumulate

Maker = Callable[[int], str]


def plain(size: int) -> str:
    """What the others are compared with: paragraphs of words, of which many are rare."""
    syllables = ("ba", "be", "bor", "ca", "cen", "da", "den", "do", "er", "fa", "fin", "ga", "gen", "hal", "lan", "mor")
    chosen = random.Random(7)  # the same words in every run
    rare = ["".join(chosen.choices(syllables, k=chosen.randint(1, 4))) for _ in range(20_000)]
    known = ["garden", "water", "target", *rare]
    weights = [*accumulate(1 / (rank + 3) for rank in range(len(known)))]
    words = chosen.choices(known, cum_weights=weights, k=size // 5)
    lines = [" ".join(words[start : start + 12]) for start in range(0, len(words), 12)]
    return "\n".join(line + (".\n" if number % 5 == 4 else "") for number, line in enumerate(lines))[:size]


def repeated(piece: str, before: str = "", after: str = "") -> Maker:
    return lambda size: before + piece * (size // len(piece.encode(errors="surrogatepass"))) + after


def numbered(piece: str, before: str = "", after: str = "") -> Maker:
    """The piece again and again, with numbers up to a thousand in the place of {}."""
    return lambda size: before + "".join(piece.format(n % 1_000) for n in range(size // len(piece.format(100)))) + after


def deep_list(size: int) -> str:
    depth = int((2 * size) ** 0.5)
    return "".join(" " * level + "- x\n" for level in range(depth))


def within_frontmatter(body: Maker) -> Maker:
    """As much as a frontmatter may hold, of that kind, and the rest in the note."""
    return lambda size: f"---\n{body(45_000)}\n---\n{plain(size)}"


ODD_NOTES: dict[str, Maker] = {
    "closing marks of a heading": repeated(" #", "# "),
    "underlined headings": repeated("a\n=\n"),
    "headings": repeated("# h\n"),
    "numbered headings": numbered("## Heading {}\n"),
    "nested headings": repeated("# a\n## b\n### c\n#### d\n##### e\n###### f\n"),
    "one long heading": repeated("long ", "# "),
    "links to one note on one line": repeated("[[Target]] "),
    "links to one note": repeated("[[Target]]\n"),
    "links to headings of one note": numbered("[[Target#h{}]] "),
    "links to nothing": numbered("[[Nothing {}]] "),
    "links with a long target": lambda size: f"[[{'t' * (size // 2)}]] [[{'../' * (size // 8)}x]]",
    "links with many anchors": lambda size: f"[[Target{'#h' * (size // 2)}]]",
    "links with pipes": lambda size: f"[[Target{'|x' * (size // 2)}]]",
    "link openings": repeated("[["),
    "unclosed links": repeated("[[a"),
    "embeds": repeated("![[Target]] "),
    "brackets": repeated("["),
    "closing brackets": repeated("]"),
    "bracket pairs": repeated("[]"),
    "brackets and addresses": repeated("[a]("),
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "parentheses": repeated("("),
    "hyperlinks": repeated("[a](Target.md) "),
    "images": repeated("![a](b.png)"),
    "nested images": lambda size: "![" * (size // 6) + "](b)" * (size // 6),
    "nested links and images": lambda size: "[![a](b)" * (size // 12) + "](c)" * (size // 12),
    "reference definitions": numbered("[r{}]: Target.md\n"),
    "references": lambda size: "[r]: Target.md\n\n" + "[r] " * (size // 4),
    "footnotes": numbered("[^{0}] and\n\n[^{0}]: note\n"),
    "automatic links": repeated("<http://a.b> "),
    "stars": repeated("*"),
    "star words": repeated("*a "),
    "emphasis": repeated("*a_"),
    "underscores": repeated("_"),
    "backticks": repeated("`"),
    "growing backticks": lambda size: " ".join("`" * n for n in range(1, int((2 * size) ** 0.5))),
    "code spans": repeated("`a` "),
    "tildes": repeated("~"),
    "dollars": repeated("$"),
    "formulas": repeated("$a$ "),
    "double dollars": repeated("$$ "),
    "pipes": repeated("|"),
    "table rows": repeated("| a | b |\n", "| a | b |\n|---|---|\n"),
    "table columns": lambda size: f"{'|a' * (size // 6)}|\n{'|-' * (size // 6)}|\n{'|b' * (size // 6)}|\n",
    "short rows of a wide table": lambda size: (
        f"{'|a' * (size // 8)}|\n{'|-' * (size // 8)}|\n" + "|b|\n" * (size // 8)
    ),
    "less-than signs": repeated("<"),
    "tags of HTML": repeated("<a>"),
    "unclosed tags of HTML": repeated("<a "),
    "HTML blocks": repeated("<div>\n\n"),
    "HTML comments": repeated("<!-- "),
    "greater-than signs": repeated(">"),
    "deep quotes": repeated("> ", "", "garden"),
    "quotes": repeated("> garden\n\n"),
    "call-outs": repeated("> [!note] garden\n> garden\n\n"),
    "entities": repeated("&amp;"),
    "ampersands": repeated("&"),
    "percent signs": repeated("%"),
    "comments": repeated("%%a%% "),
    "unclosed comment": repeated("garden ", "%% "),
    "commented headings": repeated("%%\n# a\n%%\n"),
    "tags": repeated("#tag "),
    "numbered tags": numbered("#tag{} "),
    "nested tag": repeated("a/", "#"),
    "hashes": repeated("#"),
    "block ids": numbered("a ^id{}\n\n"),
    "block ids in one list": numbered("- a ^id{}\n"),
    "block ids in one paragraph": numbered("a ^id{}\n"),
    "block ids in deep quotes": lambda size: "".join("> " * n + f"a ^id{n}\n" for n in range(int(size**0.5))),
    "carets": repeated("^"),
    "deep list": deep_list,
    "list markers": repeated("- "),
    "list items": repeated("- garden\n"),
    "numbered lists": repeated("1. garden\n"),
    "task lists": repeated("- [ ] garden\n"),
    "rulers": repeated("---\n\n"),
    "unclosed fence": repeated("garden\n", "```\n"),
    "fences": repeated("```\na\n```\n"),
    "indented code": repeated("    garden\n\n"),
    "blank lines": repeated("\n"),
    "spaces": repeated(" "),
    "spaces before a line end": repeated("a" + " " * 200 + "\n"),
    "tabs": repeated("\t"),
    "carriage returns": repeated("garden\r"),
    "mixed line ends": repeated("garden\r\nsoil\rseed\n"),
    "line separators": repeated("garden\u2028soil\u2029seed\v"),
    "one line": repeated("garden "),
    "one word": repeated("g"),
    "one word of digits": repeated("7"),
    "dotted word": repeated("a."),
    "full stops": repeated("."),
    "question marks": repeated("? "),
    "quoted ends": repeated('."'),
    "abbreviations": repeated("e.g. "),
    "backslashes": repeated("\\"),
    "escaped brackets": repeated("\\["),
    "combining marks": repeated("a" + "\u0301\u0302\u0303" * 20 + " "),
    "one letter under many marks": repeated("\u0301", "a"),
    "marks of two classes": repeated("\u0301\u0316", "a"),
    "words under marks of two classes": repeated("a" + "\u0301\u0316" * 300 + " "),
    "zero-width": repeated("a\u200b\u200d\ufeff"),
    "Chinese": repeated("花园里的水和土"),
    "Thai": repeated("สวนและน้ำ"),
    "Korean": repeated("정원과물 "),
    "emoji": repeated("👩‍👩‍👧‍👦"),
    "surrogates": repeated("\ud800 "),
    "replacement characters": repeated("\ufffd "),
    "control characters": repeated("\x1b]0;x\x07 "),
    "base64": lambda size: f"![a](data:image/png;base64,{'QUJD' * (size // 4)})",
    "JSON": repeated('{"a":[1,2,{"b":null}],"c":"d"},'),
    "CSV": repeated('1,"a",2.5,,x\n'),
    "addresses": repeated("https://example.org/a?b=c#d "),
    "long frontmatter of lists": within_frontmatter(repeated("- a\n", "tags:\n")),
    "long frontmatter of names": within_frontmatter(numbered("key{}: value\n")),
    "long frontmatter of aliases": within_frontmatter(numbered("- name {}\n", "aliases:\n")),
    "long frontmatter of links": within_frontmatter(repeated('- "[[Target]]"\n', "up:\n")),
    "long frontmatter of text": within_frontmatter(repeated("word ", "title: ")),
    "deep frontmatter": within_frontmatter(lambda size: f"a: {'[' * (size // 2)}{']' * (size // 2)}"),
    "frontmatter of quotes": within_frontmatter(repeated('"')),
    "frontmatter of colons": within_frontmatter(repeated("a: ")),
    "unclosed frontmatter": repeated("key: value\n", "---\n"),
    "frontmatter of rules": repeated("---\n"),
    "frontmatter of dots": repeated("...\n", "---\n"),
    "data of drawings": repeated("```json\n%%\n# Drawing\n", "---\nexcalidraw-plugin: parsed\n---\n"),
}
