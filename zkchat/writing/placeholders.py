"""Placeholders that stand for text left out of a replacement, as models write them."""

import re
from typing import Final

from zkchat.errors import EditRefused

_WHAT: Final = (
    r"(?:(?:the |your |all |any |of |this |other |previous |prior )*"
    r"(?:content|contents|text|note|notes|document|file|section|sections|code|paragraphs?|list|items?|entries)"
    r"(?: of (?:the|this) (?:note|document|file|section))?)"
)
_KEPT: Final = (
    r"(?:is |are |remains? |stays? |kept |keep |left )*(?:unchanged|the same|as (?:is|it is|before)|here|untouched)"
)
_LEFT_OUT: Final = r"(?:the )?(?:rest|remainder|existing|remaining|original|previous|unchanged|your)"
_PLACEHOLDER: Final = re.compile(
    r"(?:\.{3}|…)\s*\(?\[?(?:the )?(?:(?:rest|remainder|same as before|unchanged)\b"
    rf"|(?:existing|remaining|previous|other) {_WHAT})"
    rf"|\b(?:rest|remainder) (?:of )?(?:{_WHAT} )?{_KEPT}"
    rf"|[\[(<{{](?:!--)?\s*(?:\.{{3}}|…)?\s*{_LEFT_OUT} ?(?:of )?{_WHAT}[^\])>}}\n]{{0,60}}[\])>}}]"
    rf"|\b(?:your|insert|add) {_WHAT} (?:goes )?here\b"
    r"|[\[(<{](?:!--)?\s*unchanged\s*(?:--)?[\])>}]",
    re.IGNORECASE,
)


def refuse_placeholders(new: str, present: str) -> None:
    """Raise `EditRefused` where a new text says that something was left out, in words that the note does not hold."""
    known = present.casefold()
    for match in _PLACEHOLDER.finditer(new):
        if match[0].casefold() not in known:
            raise EditRefused(
                f"The new text holds a placeholder, “{match[0]}”, where text of the note was left out.",
                hint="Write out the whole text, or change only the passage that is to change.",
            )
