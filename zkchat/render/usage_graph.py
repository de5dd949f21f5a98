"""An HTML page that shows which conversations used which notes. It is self-contained and loads nothing."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from zkchat.core import UsageGraph, to_plain

MARK: Final = "<!doctype html><!-- zkchat refs -->"
"""The beginning of such a page, by which it is recognized before it is overwritten."""

_PLACEHOLDER: Final = re.compile(r"<!--(\w+)-->")
_IN_SCRIPT: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def graph_page(graph: UsageGraph, *, vault: str) -> str:
    """The page. Titles and paths are embedded as data that cannot become markup or script."""
    script, style = _part("graph.js"), _part("graph.css")
    policy = (
        f"default-src 'none'; script-src '{_csp_hash(script)}'; style-src '{_csp_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "vault": escape(vault.encode("utf-8", "replace").decode()),
        "style": style,
        "script": script,
        # ASCII, and nothing that could end the element it stands in.
        "data": json.dumps(to_plain(graph), separators=(",", ":")).translate(_IN_SCRIPT),
    }
    return MARK + _PLACEHOLDER.sub(lambda placeholder: parts[placeholder[1]], _part("graph.html"))


def _csp_hash(text: str) -> str:
    """The hash by which the content security policy admits the script or style."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _part(name: str) -> str:
    return (files("zkchat.render") / "graph" / name).read_text("utf-8")
