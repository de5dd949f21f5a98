"""Forms in which people, programs and mistakes write the property `zkchat`, each with the class that the note gets.

`python -m tests.support.frontmatter_forms docs/privacy-forms.md` renews the table of the page.
"""

import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

from zkchat.core.note import PrivacyClass


class Form(NamedTuple):
    what: str
    text: str
    """The beginning of the note, to which a body is added."""
    privacy: PrivacyClass


def _block(lines: str, *, opening: str = "---", closing: str = "---") -> str:
    return f"{opening}\n{lines}\n{closing}\n"


_LONG = "\n".join(f"key{number}: {'x' * 60}" for number in range(1000))

_UNDERSTOOD = (
    Form("as documented", _block("zkchat: local"), "local"),
    Form("never", _block("zkchat: never"), "never"),
    Form("open", _block("zkchat: open"), "open"),
    Form("without a value, as an empty property of Obsidian", _block("zkchat:"), "open"),
    Form("no property", _block("title: A"), "open"),
    Form("among others", _block("title: A\nzkchat: local\ntags: [a, b]"), "local"),
    Form("value in capitals", _block("zkchat: LOCAL"), "local"),
    Form("name in capitals", _block("ZKCHAT: Local"), "local"),
    Form("name in mixed case", _block("ZkChat: Never"), "never"),
    Form("value in double quotes", _block('zkchat: "local"'), "local"),
    Form("value in single quotes", _block("zkchat: 'local'"), "local"),
    Form("name in double quotes", _block('"zkchat": local'), "local"),
    Form("name in single quotes", _block("'zkchat': local"), "local"),
    Form("name with escapes", _block('"\\x7akchat": local'), "local"),
    Form("space before the colon", _block("zkchat : local"), "local"),
    Form("many spaces", _block("zkchat:      local   "), "local"),
    Form("tab after the colon", _block("zkchat:\tlocal"), "local"),
    Form("with a comment", _block("zkchat: local # my diary"), "local"),
    Form("comment above", _block("# zkchat: open, local or never\nzkchat: local"), "local"),
    Form("commented out", _block("title: A\n# zkchat: local"), "open"),
    Form("value on the next line", _block("zkchat:\n  local"), "local"),
    Form("literal block scalar", _block("zkchat: |\n  local"), "local"),
    Form("folded block scalar", _block("zkchat: >-\n  local"), "local"),
    Form("explicit key", _block("? zkchat\n: local"), "local"),
    Form("flow mapping", _block("{title: A, zkchat: local}"), "local"),
    Form("with a tag", _block("zkchat: !!str local"), "local"),
    Form("spaces after the fences", _block("zkchat: local", opening="---  ", closing="--- \t"), "local"),
    Form("byte order mark", "\ufeff" + _block("zkchat: local"), "local"),
    Form("line ends of Windows", _block("zkchat: local").replace("\n", "\r\n"), "local"),
    Form("line ends of old Macs", _block("zkchat: local").replace("\n", "\r"), "local"),
)

_UNKNOWN_VALUES = (
    Form("misspelled", _block("zkchat: lokal"), "never"),
    Form("private", _block("zkchat: private"), "never"),
    Form("true", _block("zkchat: true"), "never"),
    Form("false", _block("zkchat: false"), "never"),
    Form("no", _block("zkchat: no"), "never"),
    Form("a number", _block("zkchat: 0"), "never"),
    Form("a list", _block("zkchat: [local]"), "never"),
    Form("a list in lines", _block("zkchat:\n  - local"), "never"),
    Form("a table", _block("zkchat: {class: local}"), "never"),
    Form("two words", _block("zkchat: local only"), "never"),
    Form("a date that does not exist", _block("zkchat: 2026-02-31"), "never"),
)

_FENCES = (
    Form("no closing fence", "---\nzkchat: local\n", "local"),
    Form("no closing fence, unknown value", "---\nzkchat: mine\n", "never"),
    Form("no closing fence, far below", f"---\ntitle: A\n{_LONG[:30_000]}\nzkchat: local\n", "local"),
    Form("closed by dots", _block("zkchat: local", closing="..."), "local"),
    Form("closed by dots, never", _block("zkchat: never", closing="..."), "never"),
    Form("blank line first", "\n" + _block("zkchat: local"), "local"),
    Form("blank lines and spaces first", "  \n\t\n" + _block("zkchat: local"), "local"),
    Form("space before the fence", " " + _block("zkchat: local"), "local"),
    Form("NBSP before the fence", "\u00a0" + _block("zkchat: local"), "local"),
    Form("zero-width space before the fence", "\u200b" + _block("zkchat: local"), "local"),
    Form("two byte order marks", "\ufeff\ufeff" + _block("zkchat: local"), "local"),
    Form("comment after the fence", _block("zkchat: local", opening="--- # mine"), "local"),
    Form("language after the fence", _block("zkchat: local", opening="---yaml"), "local"),
    Form("four dashes", _block("zkchat: local", opening="----", closing="----"), "local"),
    Form("two dashes", _block("zkchat: local", opening="--", closing="--"), "local"),
    Form("fence indented at the end", _block("zkchat: local", closing="  ---"), "local"),
    Form("dashes made long by the keyboard", _block("zkchat: local", opening="—", closing="—"), "local"),
    Form("zero-width space after the fence", _block("zkchat: local", opening="---\u200b"), "local"),
    Form("in a code block", _block("zkchat: local", opening="```yaml", closing="```"), "local"),
    Form("TOML", _block('zkchat = "local"', opening="+++", closing="+++"), "local"),
    Form("TOML, never", _block("zkchat = 'never'", opening="+++", closing="+++"), "never"),
    Form("TOML table", _block('[zkchat]\nclass = "local"', opening="+++", closing="+++"), "never"),
    Form("TOML dotted name", _block('zkchat.class = "local"', opening="+++", closing="+++"), "local"),
    Form("TOML without a closing fence", '+++\nzkchat = "local"\n', "local"),
    Form("JSON", '{"title": "A", "zkchat": "local"}\n', "local"),
    Form("JSON in lines", '{\n  "title": "A",\n  "zkchat": "local"\n}\n', "local"),
    Form("JSON without an end", '{\n  "zkchat": "local",\n', "local"),
    Form("JSON between semicolons", _block('"zkchat": "local"', opening=";;;", closing=";;;"), "local"),
    Form("in an HTML comment", "<!-- zkchat: local -->\n", "local"),
    Form("no fence at all", "zkchat: local\n", "local"),
    Form("no opening fence", "title: A\nzkchat: local\n---\n", "local"),
    Form("below the title", "# A\n\n" + _block("zkchat: local"), "local"),
    Form("two documents", _block("title: A") + _block("zkchat: local"), "local"),
    Form("directive first", "%YAML 1.2\n" + _block("zkchat: local"), "local"),
    Form("line separators of Unicode", _block("zkchat: local").replace("\n", "\u2028"), "local"),
)

_BROKEN = (
    Form("twice, the stricter first", _block("zkchat: local\nzkchat: open"), "local"),
    Form("twice, the stricter last", _block("zkchat: local\nzkchat: never"), "never"),
    Form("twice in different case", _block("zkchat: open\nZKCHAT: local"), "local"),
    Form("twice in a flow mapping", _block("{zkchat: never, zkchat: local}"), "never"),
    Form("broken flow mapping", _block("{title: A, zkchat: local"), "local"),
    Form("broken flow sequence as value", _block("zkchat: [local"), "never"),
    Form("broken elsewhere", _block("title: {{date}\nzkchat: local"), "local"),
    Form("broken elsewhere, never", _block("title: 'A\nzkchat: never"), "never"),
    Form("broken elsewhere, no property", _block("title: {{date}"), "open"),
    Form("tab before the name", _block("title: A\n\tzkchat: local"), "local"),
    Form("list as root", _block("- title: A\n- zkchat: local"), "local"),
    Form("no space after the colon", _block("zkchat:local"), "local"),
    Form("no space after the colon, among others", _block("title: A\nzkchat:local"), "local"),
    Form("equals sign", _block("zkchat = local"), "local"),
    Form("no sign at all", _block("zkchat local"), "local"),
    Form("full-width colon", _block("zkchat：local"), "local"),
    Form("full-width letters", _block("ｚｋｃｈａｔ: local"), "local"),
    Form("NBSP before the value", _block("zkchat:\u00a0local"), "local"),
    Form("NBSP before the name", _block("\u00a0zkchat: local"), "local"),
    Form("zero-width space in the name", _block("zk\u200bchat: local"), "local"),
    Form("zero-width space in the value", _block("zkchat: lo\u200bcal"), "local"),
    Form("below another name", _block("meta:\n  zkchat: local"), "local"),
    Form("below another name, unknown value", _block("meta:\n  zkchat: yes"), "never"),
    Form("below names in a list", _block("meta:\n  - zkchat: local"), "local"),
    Form("in the text of another property", _block("about: |\n  zkchat: local"), "local"),
    Form("anchor and alias", _block("a: &a local\nzkchat: *a"), "never"),
    Form("anchor at the name", _block("a: &a b\nb: *a\n&z zkchat: local"), "local"),
    Form("unknown tag", _block("zkchat: !secret local"), "never"),
    Form("merge key", _block("<<: {zkchat: local}"), "local"),
    Form("nested deeper than is read", _block(f"a: {'[' * 120}{']' * 120}\nzkchat: local"), "local"),
    Form("longer than is read", _block(f"{_LONG}\nzkchat: local"), "local"),
    Form("longer than is read, without a property", _block(_LONG), "open"),
    Form("inline field of Dataview", "# A\n\nzkchat:: local\n", "local"),
    Form("inline field of Dataview in brackets", "# A\n\n[zkchat:: local]\n", "local"),
    Form("inline field in the frontmatter", _block("zkchat:: local"), "local"),
    Form("in bold letters", "**zkchat**: local\n", "local"),
    Form("in a list", "- zkchat: local\n", "local"),
    Form("in a quotation", "> zkchat: never\n", "never"),
    Form("in a comment of Obsidian", "%% zkchat: local %%\n", "local"),
    Form("as a numbered item", _block("1. zkchat: local"), "local"),
    Form("as a numbered item, unknown value", _block("a) zkchat: private"), "never"),
    Form("as a numbered item of the text", "1. zkchat: local\n", "local"),
    Form("as a numbered item of the text, unknown value", "2) zkchat: private\n", "never"),
    Form("as an element", _block("<zkchat>local</zkchat>"), "local"),
    Form("as an element among others", _block("title: A\n<zkchat>never</zkchat>"), "never"),
    Form("as an element of the text", "# A\n\n<zkchat>local</zkchat>\n", "local"),
    Form("as an element, unknown value", "<zkchat>private</zkchat>\n", "never"),
    Form("in a meta element", '<meta name="zkchat" content="local">\n', "local"),
    Form("in a meta element, in the frontmatter", _block('title: A\n<meta name="zkchat" content="never">'), "never"),
    Form("list as an explicit key", _block("? [zkchat]\n: local"), "never"),
    Form("list in lines as an explicit key", _block("? - zkchat\n: local"), "local"),
    Form("list as a key", _block("[zkchat, b]: local"), "never"),
    Form("colon on the next line", _block("zkchat\n: local"), "local"),
    Form("in emphasis", _block("_zkchat_: local"), "local"),
    Form("as part of a name", _block("zkchat-privacy: local"), "local"),
    Form("with a name before it", "Privacy: zkchat: local\n", "local"),
    Form("as a link", "[[zkchat]]: local\n", "local"),
    Form("as the text of another property", _block('about: "zkchat: local"'), "local"),
    Form("as tags", _block("tags: [zkchat, local]"), "local"),
    Form("as a nested tag", _block("tags: [zkchat/local]"), "local"),
    Form("as tags of the text", "#zkchat #local\n", "local"),
    Form("with an arrow", "zkchat -> local\n", "local"),
    Form("in a table", "| zkchat | local |\n", "local"),
)

_NOT_MEANT = (
    Form("no frontmatter", "# A\n\nPlain text.\n", "open"),
    Form("another name", _block("zkchat-note: answer"), "open"),
    Form("in a title", _block('title: "Why zkchat: local models"'), "open"),
    Form("in an address", _block("url: https://zkchat:8080/"), "open"),
    Form("in a sentence", "# A\n\nI use zkchat: it reads my notes.\n", "open"),
    Form("a sentence about it", "zkchat: a chat over the notes of a vault, in a terminal.\n", "open"),
    Form("far below in the text", "# A\n\n" + "A line.\n" * 40 + "zkchat: local\n", "open"),
    Form("a link named so", "# A\n\n[zkchat]: https://example.org/zkchat\n", "open"),
    Form("a tag", _block("tags: [zkchat, ai]"), "open"),
    Form("a tag beside another property", _block("tags: [zkchat]\nstatus: local"), "open"),
    Form("a list of links", "- [[zkchat]]: done\n- [[local]]\n", "open"),
    Form("a heading and a place", "# zkchat\n\nzkchat > Settings > Privacy\n", "open"),
    Form("in code of a long line", "`zkchat` is a chat; it keeps notes that are `local` on this machine.\n", "open"),
    Form("in a path", _block("source: projects/zkchat-notes/local.md"), "open"),
    Form("in parentheses of a sentence", "I ran zkchat (local) today.\n", "open"),
    Form("a picture of it", '<img alt="zkchat" src="local.png">\n', "open"),
)

SECTIONS: Final = {
    "Understood": _UNDERSTOOD,
    "Values that are no class": _UNKNOWN_VALUES,
    "Fences": _FENCES,
    "Not quite YAML, or not where it belongs": _BROKEN,
    "Not meant": _NOT_MEANT,
}
FORMS: Final = tuple(form for forms in SECTIONS.values() for form in forms)

_BEGIN, _END = "<!-- forms -->", "<!-- end of forms -->"
_LONGEST_SHOWN: Final = 90


def table() -> str:
    return "\n\n".join(
        "\n".join([f"## {title}", "", "| form | the note begins with | class |", "|---|---|---|", *map(_row, forms)])
        for title, forms in SECTIONS.items()
    )


def renewed(page: str) -> str:
    return re.sub(rf"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{table()}\n\n{_END}", page, flags=re.DOTALL)


def _row(form: Form) -> str:
    shown = form.text.encode("unicode_escape").decode() if not form.text.isascii() else repr(form.text)[1:-1]
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[:40]}…{shown[-40:]}"
    return f"| {form.what} | `` {shown.replace('|', '&#124;')} `` | `{form.privacy}` |"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text("utf-8")), "utf-8")
