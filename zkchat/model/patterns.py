"""Patterns of modules and classes: `lazy_pattern` is `re.compile`. All of them together take some 60 ms."""

import re
from typing import Final

lazy_pattern: Final = re.compile
