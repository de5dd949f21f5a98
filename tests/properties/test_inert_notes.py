"""A note made of an answer loads nothing from elsewhere, whatever the answer holds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.sessions import NOON
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import Session
from zkchat.sessions.note_export import answer_note, as_markdown, neutralize

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
HARMLESS = re.compile(r"</?[a-z]+\s*/?>|<https://ok\.example>")
TAG = re.compile(r"<[a-zA-Z/!?%]")
REMOTE = re.compile(r"^\s*([a-z][a-z0-9+.-]*:|//|\\)", re.IGNORECASE)
PIECES = [
    "![", "![[", "]]", "](", "][", "]: ", ")", "[a]", "[a]: http://evil.example/x\n", "http://evil.example/a.png",
    "//evil.example/x", "HTTPS://EVIL.example", "data:image/png;base64,AA", "a.png", "Note", "`", "``",
    "```\n", "~~~\n", "    ", "\n", "\n\n", "\r", "> ", "- ", "\\", "!", "<", ">", "<img src=", "<iframe src='",
    "<style>@import ", "</b>", "<b>", "<https://ok.example>", "<!--", "-->", "<?", "<%", "$$\n", "%%\n",
    "&#33;", "&lt;", '"', "'", " ", "|", "*", "javascript:", "<!DOCTYPE x>", "<![CDATA[", "]]>", "<svg/onload=x>", "\t",
    "\u2028", "vec![1]", "text",
]  # fmt: skip


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or [])]
    return found


def loads(text: str) -> list[str]:
    """What a program that renders the text would fetch or run."""
    found = []
    for token in tokens(text):
        if token.type == "image" and REMOTE.match(str(token.attrs["src"])):
            found.append(str(token.attrs["src"]))
        if token.type in {"html_inline", "html_block"} and TAG.search(HARMLESS.sub("", token.content)):
            found.append(token.content)
    return found


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_no_text_loads_anything_once_it_is_inert(text: str) -> None:
    assert loads(neutralize(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://evil.example/a.png)",
        "![x](//evil.example/a.png)",
        "![x](<http://evil.example/a b.png> 'title')",
        "![x][r]\n\n[r]: http://evil.example/a.png",
        "![r]\n\n[r]: http://evil.example/a.png",
        "![multi\nline](http://evil.example/a.png)",
        "![a [b] c](http://evil.example/a.png)",
        "![x](&#104;ttp://evil.example/a.png)",
        "[![x](http://evil.example/a.png)](http://ok.example)",
        "| a |\n|---|\n| ![x](http://evil.example/a.png) |",
        "> ![x](http://evil.example/a.png)",
        '<img src="http://evil.example/a.png">',
        "<video src=//evil.example></video><iframe src=http://evil.example></iframe><link rel=stylesheet href=//e>",
        "<style>@import url(http://evil.example)</style><object data=http://evil.example></object>",
        '![<img src="](a.png)" srcset="http://evil.example">',
        "$$\n```\n$$\n![x](http://evil.example/a.png)\n```",
        "a\rb\n```\ncode\n```\n![x](http://evil.example/a.png)",
        "![[http://evil.example/a.png]]",
    ],
)
def test_saved_answers_and_exports_hold_no_image_from_elsewhere(text: str) -> None:
    answer = ChatMessage(id="a", role="assistant", parts=(TextPart(text=text),), created_at=NOON)
    session = Session(id="s", title=text, created_at=NOON, updated_at=NOON, message_count=1)
    for note in (answer_note("Title", answer, answer), as_markdown(session, [answer])):
        assert loads(note.partition("---\n")[2].partition("---\n")[2]) == []
        assert "![[http" not in note.replace(r"\![[", "")


@pytest.mark.parametrize(
    "text",
    [
        "An image of the vault: ![sky](images/sky.png) and ![[Sky.png|300]] and ![[Note#Heading]].",
        "```rust\nlet a = vec![1];\n<img src=x>\n```",
        "    <b class=x>\n",
        "1 < 2, a <b>bold</b> word, a line<br>, <https://ok.example/a?b=c> and H<sub>2</sub>O",
        "[link](http://ok.example) and [[Wikilink]]",
        r"\![not an image](http://ok.example)",
    ],
)
def test_what_loads_nothing_stays_as_it_is(text: str) -> None:
    assert neutralize(text) == text


def test_an_image_from_elsewhere_becomes_a_link_and_html_becomes_text() -> None:
    assert neutralize("See ![x](http://e/a.png).") == r"See \![x](http://e/a.png)."
    assert neutralize("<img src=x> <% tp.run() %>") == "&lt;img src=x> &lt;% tp.run() %>"
