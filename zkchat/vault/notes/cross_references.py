"""Cross-references: words that only send the reader to another note.

"See also [[Compost]]." says nothing else, and "The brewing is described in [[Pour-over coffee]]" tells nothing of
brewing.
"""

import re
from typing import Final

from zkchat.model.patterns import lazy_pattern
from zkchat.model.text import wide_letters

_MIN_WORDS: Final = 3
"""Words beside its links that a text has which does more than refer."""
_MAX_LENGTH: Final = 2_000
"""Characters of a text that may be nothing but references."""
_MAX_BESIDE_LINKS: Final = 100
"""Characters that such a text may have beside its links and line ends."""
_MAX_SUBJECT: Final = 60
"""Characters of a clause before the words that refer."""
_LINK_SIGNS: Final = ("[[", "](", "]:", "://", "#", "<")

_SEE = (
    r"see also|see|siehe(?: auch)?|vgl\.?|voir(?: aussi)?|v[ée]ase(?: también)?|ver también|vedi(?: anche)?|"
    r"zie(?: ook)?|veja(?: também)?|см(?:отри(?:те)?)?\.? ?(?:также)?"
)
_UNSPACED_SEE = r"参见|另见|参考|参阅|参照|を?見よ|ดูเพิ่มเติม(?:ที่)?|ดู(?:ที่)?|انظر أيضا|انظر|راجع|यह भी देखें|देखें"
_DESCRIBED_IN = (
    r"(?:is|are|was|were) (?:(?:described|explained|discussed|covered|documented|listed|told|written down) )?"
    r"(?:in|under|on)|(?:stands?|lives?|lies?) (?:in|under)|(?:steht|stehen|ist|sind) (?:unter|in)|"
    r"(?:beschrieben|erklärt) (?:unter|in)|(?:est|sont) (?:décrite?s? )?dans|(?:está|están) (?:descrit[oa]s? )?en|"
    r"(?:è|sono) (?:descritt[oaie] )?in|(?:está|estão) (?:descrit[oa]s? )?em|(?:staat|staan) in|описан[аоы]? в"
)
_LINK = lazy_pattern(
    r"!?\[\[[^\[\]\n]{0,1000}\]\]|!?\[[^\[\]\n]{0,1000}\]\([^()\n]{0,2000}\)|(?m:^)\s*\[\^?[^\]\n]{0,100}\]:|"
    r"<[^<>\n]{1,1000}>|\b(?:https?|mailto|file):\S+|(?<!\S)#[^\s#]+"
)
_LABEL = lazy_pattern(
    rf"\b(?:{_SEE}|related(?: notes| links)?|further reading|more|links?|tags?|up|parent|prev(?:ious)?|next|"
    r"verwandt(?:es)?|weiterlesen|mehr(?: dazu)?|relacionad[oa]s?)\b|"
    rf"{_UNSPACED_SEE}|相关(?:笔记|链接)?|関連(?:ノート|リンク|項目)?|관련",
    re.IGNORECASE,
)
_CLAUSE = lazy_pattern(
    rf"(?:^|(?<=[.,;:!?(\n]))[^.,;:!?()\[\]\n]{{0,{_MAX_SUBJECT}}}?"
    rf"(?:\b(?:{_SEE}|{_DESCRIBED_IN})|{_UNSPACED_SEE})[ :]*\[\[[^\[\]\n]{{0,1000}}\]\]",
    re.IGNORECASE,
)
_WORD = lazy_pattern(r"[^\W_]+")


def holds_only_links(text: str) -> bool:
    return _WORD.search(_LINK.sub("", text)) is None


def only_refers(text: str, *, is_labelled: bool) -> bool:
    """Whether a text only names other notes; where something else labels it, it has to hold nothing but links."""
    if not any(sign in text for sign in _LINK_SIGNS):
        return _WORD.search(text) is None
    rest, links = _LINK.subn(" ", text[:_MAX_LENGTH])
    if len(text) > _MAX_LENGTH or len(rest) - text.count("\n") > _MAX_BESIDE_LINKS:
        return False
    rest, labels = _LABEL.subn(" ", rest)
    words = len(_WORD.findall(rest)) + wide_letters(rest) // 2
    return words == 0 if is_labelled and not labels else bool(links or not words) and words < _MIN_WORDS


def without_cross_references(text: str) -> str:
    """The text without the clauses that only tell where something is described."""
    return _CLAUSE.sub(" ", text) if "[[" in text else text
