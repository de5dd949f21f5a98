"""A page that shows which conversations used which notes. It needs nothing but itself, and asks nobody for anything."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from zkchat.model.memory import UsageGraph

MARK: Final = "<!doctype html><!-- zkchat refs -->"
"""How such a page begins, so that it can be told from a page of somebody else."""

_PLACE: Final = re.compile(r"<!--(\w+)-->")
_IN_SCRIPT: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def graph_page(graph: UsageGraph, *, vault: str) -> str:
    """The whole page. Titles and paths are data in it, which cannot become markup or script."""
    script, style = _part("graph.js"), _part("graph.css")
    policy = (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; style-src '{_fingerprint(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "vault": escape(vault.encode("utf-8", "replace").decode()),
        "style": style,
        "script": script,
        "data": _as_json(graph),
    }
    return MARK + _PLACE.sub(lambda place: parts[place[1]], _part("graph.html"))


def _as_json(graph: UsageGraph) -> str:
    # ASCII, and nothing that could end the element it stands in.
    return json.dumps(graph.model_dump(mode="json"), separators=(",", ":")).translate(_IN_SCRIPT)


def _fingerprint(text: str) -> str:
    """What the page's own rules know the script by: no other one runs in it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _part(name: str) -> str:
    return (files("zkchat.render") / "graph" / name).read_text("utf-8")
