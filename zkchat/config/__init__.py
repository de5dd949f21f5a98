"""Settings: their schema, their files, and what the user trusts."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.config.edit import remove_entry, set_entries
    from zkchat.config.files import read_file, read_table, read_vault_file, settings_item
    from zkchat.config.loading import InvalidSettings, Loaded, load, make_settings, read_default_vault, unknown_setting
    from zkchat.config.schema import (
        FIELDS,
        Settings,
        accepted_values,
        as_key,
        field_of,
        is_model_name,
        is_user_only,
        needs_trust,
        shown_key,
        value_of,
    )
    from zkchat.config.servers import (
        HOSTS,
        ExpansionError,
        HostEntry,
        MissingVariable,
        ParsedServers,
        check_constants,
        expand,
        find_entry,
        parse_object,
        parse_server,
        parse_servers,
        read_vault_servers,
        server_item,
        server_of,
        server_table,
        write_entry,
    )
    from zkchat.config.trust import StoredApprovals, TrustStore
else:
    __getattr__ = lazy_names(__name__, __file__)
