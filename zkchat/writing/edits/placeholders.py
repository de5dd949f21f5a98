"""Placeholders that stand for text left out of a replacement, as models write them."""

import re
from typing import Final

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern

_WHAT: Final = (
    r"(?:(?:the |your |all |any |of |this |other |previous |prior ){0,4}"
    r"(?:contents?|text|notes?|document|file|sections?|code|paragraphs?|list|items?|entries|lines?)"
    r"(?: of (?:the|this) (?:note|document|file|section))?)"
)
_KEPT: Final = (
    r"(?:is |are |remains? |stays? |kept |keep |left |goes ){0,3}"
    r"(?:unchanged|the same|as (?:is|it is|before)|here|untouched|unmodified)"
)
_PHRASE: Final = "|".join(
    (
        rf"(?:the )?(?:rest|remainder)(?: of)? (?:{_WHAT} )?{_KEPT}",
        rf"(?:all )?(?:other|remaining|existing|previous|original) {_WHAT} {_KEPT}",
        rf"(?:your|insert|add|put) (?:{_WHAT}) (?:goes )?here",
        r"(?:der )?rest (?:bleibt |ist )?(?:unverändert|gleich|wie bisher)",
        r"(?:le )?reste (?:est |reste )?(?:inchangé|identique)",
        r"(?:el |o |il )?resto (?:queda |permanece |rimane )?(?:sin cambios|igual|inalterado|invariato)",
        r"остальное без изменений|(?:其余|剩余)(?:内容|部分)?(?:保持)?不变|以下(?:省略|同上)",
    )
)
_PLACEHOLDER: Final = lazy_pattern(
    rf"^[ \t>*_#.…(\[<{{!/（-]{{0,20}}(?:{_PHRASE})[ \t.…)\]>}}*_/）-]{{0,20}}$"
    r"|(?:\.{3}|…) {0,3}[(\[]?(?:the )?(?:rest of|remainder of|same as before|unchanged|rest unchanged|"
    rf"(?:existing|remaining|previous|original) {_WHAT})\b"
    r"|(?<!\[)[\[(<{](?:!--)? {0,3}(?:\.{3}|…)? {0,3}(?:the )?"
    r"(?:rest of|remainder of|existing|remaining|original|previous|unchanged|your) "
    rf"{_WHAT}[^\])>}}\n]{{0,60}}[\])>}}](?!\])"
    r"|[\[(<{](?:!--)? {0,3}unchanged {0,3}(?:--)?[\])>}]",
    re.IGNORECASE | re.MULTILINE,
)
"""Words alone on a line, or after dots or between brackets. The same words within a sentence are text."""


def refuse_placeholders(new: str, present: str) -> None:
    """Raise `EditRefused` where a new text says that something was left out, in words that the note does not hold."""
    known = present.casefold()
    for match in _PLACEHOLDER.finditer(new):
        if match[0].strip().casefold() not in known:
            raise EditRefused(
                f"The new text holds a placeholder, “{match[0].strip()}”, where text of the note was left out.",
                hint="Write out the whole text, or change only the passage that is to change.",
            )
