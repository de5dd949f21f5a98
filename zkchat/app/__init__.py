"""Opens vaults and conversations; the only place that names adapters."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.app.conversation import (
        OpenConversation,
        bounds_of,
        command_context,
        inline_image,
        open_conversation,
        open_goal_run,
        session_to_continue,
        session_with_open_goal,
    )
    from zkchat.app.conversation_core import ConversationOptions, ModelCatalogue, WritingOptions
    from zkchat.app.document_links import VaultDocumentLinks
    from zkchat.app.imports import Stored, mark_local, read_import, read_import_text, store_conversation
    from zkchat.app.library import (
        NOT_INSTALLED,
        FreshIndex,
        check_embedder,
        count_files_of_notes,
        embed_for_search,
        embed_texts,
        extract_for_search,
        open_fresh_index,
        open_library,
        open_note_library,
        unread_reason,
        vault_files,
    )
    from zkchat.app.mcp_servers import (
        DefinedServer,
        ServerConnections,
        connect_servers,
        defined_servers,
        is_client_installed,
    )
    from zkchat.app.model_import import import_models
    from zkchat.app.models import (
        LiveSettings,
        check_model,
        check_model_name,
        create_provider,
        preload_client,
        provider_statuses,
        pull_model,
        survey_models,
        verify_model,
        weights_of,
    )
    from zkchat.app.paths import (
        MAX_NOTES_COUNTED,
        FoundFolder,
        Paths,
        count_notes,
        default_vault,
        find_folder,
        find_paths,
        find_settings_folder,
        find_vault,
        known_vaults,
        unconfirmed,
    )
    from zkchat.app.settings import (
        SettingsEditor,
        check_setting,
        known_keys,
        load_settings,
        own_server_names,
        setting_help,
        setting_value,
        trust_states,
    )
    from zkchat.app.setup import (
        LOCAL_ONLY,
        MODEL,
        WITHOUT_KEY,
        ServerEditor,
        SetupPlan,
        SetupResult,
        default_vault_setting,
        define_server,
        find_host_entry,
        local_folders_set,
        missing_folders,
        server_command,
        top_folders,
        with_settings,
        write_setup,
    )
    from zkchat.app.stores import FactStore, StoredNames, open_memory, open_said, open_session_store, open_sessions
    from zkchat.app.trust import ProfileStore, VaultTrust, describe_item, left_out_sentence, page_item, page_text
    from zkchat.app.workspace import (
        UNATTENDED,
        Notices,
        UserInterface,
        Workspace,
        calendar_for,
        load_workspace,
        local_folders_of,
        local_globs,
    )
    from zkchat.app.writing import (
        Editing,
        ProposalParts,
        action_vault,
        daily_note_settings,
        link_follower,
        link_style,
        open_change_store,
        open_editing,
    )
    from zkchat.config import as_key, shown_key
    from zkchat.models import SETUP_HELPS, services_with_key
else:
    __getattr__ = lazy_names(__name__, __file__)
