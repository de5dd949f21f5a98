"""What others need to know of tools without making any: their names, and what a call may hold."""

from typing import Final

CORE_TOOLS: Final = frozenset({"read_document", "find_excerpts"})
"""What a model needs to look into the vault by itself: the last to be left out where there is little room."""
MEMORY_TOOLS: Final = frozenset({"remember", "recall"})
READ_ATTACHMENT: Final = "read_attachment"
MAX_ARGUMENTS_CHARS: Final = 64_000
"""Characters. What is longer is no call but text that a model could not stop writing."""
