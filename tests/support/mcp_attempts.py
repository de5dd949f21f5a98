"""Ways to ask for a note that do not go by a tool: resources, the template, prompts and completions."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from tests.support.egress import FILE, ID

Attempts = dict[str, tuple[str, dict[str, Any]]]

_TEMPLATE: Final = {"type": "ref/resource", "uri": "note:///{+path}"}


def _prompt(name: str, **arguments: str) -> tuple[str, dict[str, Any]]:
    return "prompts/get", {"name": name, "arguments": arguments}


def _completed(typed: str) -> tuple[str, dict[str, Any]]:
    return "completion/complete", {"ref": _TEMPLATE, "argument": {"name": "path", "value": typed}}


def _argument(prompt: str, name: str, typed: str) -> tuple[str, dict[str, Any]]:
    ref = {"type": "ref/prompt", "name": prompt}
    return "completion/complete", {"ref": ref, "argument": {"name": name, "value": typed}}


def requests_for(names: Mapping[str, str], day: str) -> Attempts:
    """By these names of the note, which changed on that day."""
    escaped = "".join(f"%{ord(letter):02X}" for letter in FILE)
    uris = {
        "path": f"note:///{quote(FILE)}",
        "path, unescaped": f"note:///{FILE}",
        "path, escaped throughout": f"note:///{escaped}",
        "path in capitals of the scheme": f"NOTE:///{quote(FILE)}",
        "heading": f"note:///{quote(FILE)}#Dunnartheading",
        "block": f"note:///{quote(FILE)}#^bettongblock",
        "missing heading": f"note:///{quote(FILE)}#No",
        "path round about": f"note:///Diaries/../{quote(FILE)}",
        "rooted path": f"note:////{quote(FILE)}",
        "title": "note:///Wombattitle",
        "folder": "note:///Diaries/",
        "nothing": "note:///",
    }
    typed = ("", "d", "diaries/", "DIARIES/2", ID, "quok", "wombat", "numbat", "file", FILE)
    return {
        **{f"resource by {how}": ("resources/read", {"uri": uri}) for how, uri in uris.items()},
        "resources": ("resources/list", {}),
        **{f"completion of {text!r}": _completed(text) for text in typed},
        **{
            f"completion of a link to {text!r}": _argument("ask", "question", f"What is [[{text}")
            for text in ("", ID, "wombat", "numbat", "diar")
        },
        "completion of a folder": _argument("vault_health", "folder", "d"),
        "completion of every folder": _argument("what_changed", "folder", ""),
        **{f"prompt ask by {how}": _prompt("ask", question=f"What is {name}?") for how, name in names.items()},
        "prompt ask by its words": _prompt("ask", question="What is the lighthouse password?"),
        "prompt what_changed": _prompt("what_changed", since="2020-01-01"),
        "prompt what_changed in its folder": _prompt("what_changed", since="2020-01-01", folder="Diaries"),
        "prompt daily_review": _prompt("daily_review", date=day),
        "prompt vault_health": _prompt("vault_health"),
        "prompt vault_health of its folder": _prompt("vault_health", folder="Diaries"),
    }
