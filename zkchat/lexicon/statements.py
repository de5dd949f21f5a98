"""What people say of themselves: decisions, preferences, the first person; and what they only ask for."""

import re
from typing import Final

from zkchat.lexicon.words import any_of, of_all

DECISIONS: Final = of_all("decisions")
FIRST_PERSON: Final = of_all("first_person")
UNSPACED_STATEMENTS: Final = tuple(of_all("statements").split())
PREFERENCES: Final = of_all("preferences")
REQUEST: Final = re.compile(rf"[?？]|\b(?:{any_of('request_phrases')})\b", re.IGNORECASE)
