"""Words before those whom one met or talked to, and between them and the names."""

from typing import Final

from zkchat.lexicon.words import by_code, of_all

COMPANY: Final[dict[str, str]] = by_code("company")
ARTICLES: Final = of_all("company_articles")
CONJUNCTIONS: Final = of_all("company_conjunctions")
UNSPACED_COMPANY: Final = tuple(by_code("company_pattern").values())
