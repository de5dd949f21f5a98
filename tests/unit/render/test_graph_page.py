import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sessions import NOON
from zkchat.cli.memory import MARK, graph_page
from zkchat.core.profile import UsageConversation, UsageEdge, UsageGraph, UsedNote
from zkchat.core.values import from_plain


def graph_of(path: str = "A.md", title: str = "Talk") -> UsageGraph:
    return UsageGraph(
        notes=(UsedNote(path=path, turns=2, sessions=1, last_used=NOON),),
        talks=(UsageConversation(session_id="s1", title=title, last_used=NOON, notes=1),),
        lines=(UsageEdge(path=path, session_id="s1", turns=2),),
    )


class Page(HTMLParser):
    """The elements of a page, and what stands in its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.scripts: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href", "action"}]
        values = dict(attrs)
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values.get("content") or ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in {"script", "style"} and data.strip():
            self.scripts.append(data)


def test_the_page_begins_with_its_mark_and_holds_the_data() -> None:
    text = graph_page(graph_of(), vault="Garden")
    assert text.startswith(MARK)
    assert "<title>Notes and conversations: Garden</title>" in text
    assert from_plain(UsageGraph, json.loads(Page(text).scripts[1])) == graph_of()


def test_the_page_asks_nobody_for_anything_and_runs_only_its_own_script() -> None:
    page = Page(graph_page(graph_of(), vault="Garden"))
    assert page.addresses == []
    style, _, script = page.scripts
    assert page.policy.startswith("default-src 'none'; ")
    for kind, text in {"script-src": script, "style-src": style}.items():
        assert f"{kind} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in page.policy
    assert not re.search(r"https?://|\bfetch\(|XMLHttpRequest|import\(|innerHTML", script + style)


HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "\u2028", "&lt;b&gt;", "<!--data-->", "\ud800"]


@given(st.one_of(st.sampled_from(HOSTILE), st.text()), st.one_of(st.sampled_from(HOSTILE), st.text()))
@settings(max_examples=100, deadline=None)
def test_no_title_or_path_can_become_a_part_of_the_page(path: str, title: str) -> None:
    page = Page(graph_page(graph_of(path, title), vault=title))
    assert page.tags == Page(graph_page(graph_of(), vault="Garden")).tags
    data = json.loads(page.scripts[1])
    assert (data["notes"][0]["path"], data["talks"][0]["title"]) == (path, title)
