"""Words of a command line as Bash reads and writes them: split at the cursor, and quoted."""

from typing import Final

from msgspec import Struct

_SPECIAL_IN_DOUBLE_QUOTES: Final = '\\"$`'
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,")
"""The ASCII characters that mean themselves outside quotes; all others get a backslash."""
_BREAKS_REPLACED: Final = "@$"
"""Readline replaces these too, and of all other breaks only what follows them."""


class TypedLine(Struct, frozen=True, kw_only=True):
    """A command line up to the cursor."""

    words: tuple[str, ...]
    """The complete ones, without their quotes."""
    typed: str
    """The word before the cursor, without its quotes."""
    quote: str = ""
    """The quotation mark that is open there."""
    kept: str = ""
    """The part of the word that stays on the line: Readline replaces only what follows the last quote or break."""


def split_line(line: str, breaks: str = "") -> TypedLine:
    """Split a line at white space outside quotes. At unquoted `breaks`, Readline begins to replace."""
    words: list[str] = []
    word = quote = kept = ""
    is_begun = is_escaped = False
    for sign in line:
        if is_escaped:
            word += ("\\" if quote and sign not in _SPECIAL_IN_DOUBLE_QUOTES else "") + sign
            is_escaped = False
        elif sign == "\\" and quote != "'":
            is_escaped = is_begun = True
        elif sign == quote:
            quote, kept = "", word
        elif quote:
            word += sign
        elif sign in "'\"":
            quote, kept, is_begun = sign, word, True
        elif sign in " \t\n":
            words += [word] if is_begun else []
            word, kept, is_begun = "", "", False
        else:
            if sign in breaks:
                kept = word + ("" if sign in _BREAKS_REPLACED else sign)
            word, is_begun = word + sign, True
    return TypedLine(words=tuple(words), typed=word, quote=quote, kept=kept)


def quote_word(text: str, quote: str = "") -> str:
    """Write a text so that Bash reads it as it is, after the quotation mark that is open, if any.

    Readline closes the quotes, unless the text ends in a quotation mark: then they are closed here.
    """
    if not quote:
        return "".join(sign if sign in _PLAIN or not sign.isascii() else f"\\{sign}" for sign in text)
    if quote == "'":
        quoted = text.replace("'", "'\\''")
    else:
        quoted = "".join(f"\\{sign}" if sign in _SPECIAL_IN_DOUBLE_QUOTES else sign for sign in text)
        quoted = quoted.replace("!", '"\\!"')  # within the quotes it would be looked up in the history
    return quoted + (quote if quoted.endswith(quote) else "")
