"""Files of a vault, databases, git and PDFs: what the stores are built on."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.storage.database import (
        CacheDatabase,
        Migration,
        Row,
        execute_all,
        last_written,
        open_read_only,
        read_rows,
        require_regular_files,
        result_code,
        sibling,
        storage_errors,
    )
    from zkchat.storage.durable_database import (
        DurableDatabase,
        LazyStore,
        Recovered,
        UnreadableRow,
        copies_of,
        keep_reserve,
        open_recovered,
        release_reserve,
        timestamp,
    )
    from zkchat.storage.git import GitHistory
    from zkchat.storage.locations import DATABASES, KnownVaults, Locations, claim, locate, writable_cache_path
    from zkchat.storage.pdf_layout import PdfExtractor, PdfLimits, texts_of
    from zkchat.storage.pdf_reading import read_pdf
    from zkchat.storage.pdf_texts import SCHEMA, VERSION, SqliteExtractedTexts
    from zkchat.storage.vault_files import (
        FILE_FLAGS,
        FOLDER_FLAGS,
        LINK_ERRORS,
        FolderCount,
        FolderWatch,
        ProfileFolders,
        VaultFiles,
        WatchedFiles,
        template_folders,
    )
else:
    __getattr__ = lazy_names(__name__, __file__)
