"""Conversations and facts on disk; their import and export."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.sessions.foreign_messages import derived_id
    from zkchat.sessions.llm_logs import SIGNATURE, read_llm_logs
    from zkchat.sessions.memories import LazyMemories, SqliteMemories, open_memories
    from zkchat.sessions.note_export import answer_note, as_json, as_markdown, contains_secret, export_schema, file_name
    from zkchat.sessions.rows import unpack
    from zkchat.sessions.session_import import Imported, ImportedFile, merged, read_conversations, read_value
    from zkchat.sessions.store import LazySessions, SqliteMessageIndex, SqliteSessions, UnavailableSessions
else:
    __getattr__ = lazy_names(__name__, __file__)
