"""Values, ports, errors, files and text: what everything else is built on."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.core.changes import (
        TRASH,
        ChangeOrigin,
        ChangeRecord,
        ChangeSet,
        FileChange,
        FileDiff,
        FileMove,
        FileWrite,
        ReviewOutcome,
        changes_of,
        direct_moves,
        edits_of_user,
        file_changes,
        file_diffs,
        hunks_of_write,
        is_in_trash,
        joined,
        last_path_named,
        patch_of,
        path_before,
        path_before_moves,
        text_of,
        touched_paths,
        touches,
        units_of,
    )
    from zkchat.core.choices import (
        DEFAULT_AGENT,
        DEFAULT_GOAL_MINUTES,
        DEFAULT_GOAL_STEPS,
        DEFAULT_GOAL_TOKENS,
        DEFAULT_PRIORITY,
        HOW_TO_APPROVE,
        KEEP_PRIORITY,
        MAX_PRIORITY,
        PAGES,
        PASTE_PRIORITY,
        TOOL_PRIORITY,
        BudgetUse,
        CompactionStrategy,
        ContextUsage,
        Decision,
        IncludeMode,
        ItemType,
        LeftOutReason,
        LinkVia,
        OpenWith,
        PanelView,
        ReviewTime,
        Role,
        Scope,
        SectionPosition,
        SessionItemType,
        ThinkingView,
        TokenUsage,
        ToolName,
        TrustState,
        VaultItem,
        Weekday,
        WriteMode,
        database_item,
        vault_item,
    )
    from zkchat.core.embeddings import (
        DIGEST_BYTES,
        NOTHING_KNOWN,
        AddedVectors,
        EmbeddingProgress,
        OpenText,
        PassageDigests,
        SimilarityTraits,
        StoredVectors,
        VectorBlock,
        VectorPosition,
        as_open_as,
        embedded_text,
        passage_digest,
    )
    from zkchat.core.environment import Environment, SystemTimeZone, utc_now
    from zkchat.core.errors import (
        ConfigError,
        EditRefused,
        ExitCode,
        FileConflict,
        FilesChanged,
        ImageUnusable,
        LostDefaultVault,
        NoAnswer,
        NoteNotFound,
        NoteUnreadable,
        OutsideVault,
        PdfUnread,
        PromptTooLong,
        ProviderError,
        SessionError,
        SessionNotFound,
        StorageDamaged,
        StorageError,
        StorageFull,
        StorageTooNew,
        TextKeptHere,
        TextRefused,
        UnconfirmedVault,
        UnknownProfile,
        UsageError,
        VaultError,
        ZkchatError,
        install_command,
    )
    from zkchat.core.events import (
        DECIDED,
        AnswerReplaced,
        AnswerSupport,
        ChangesReviewed,
        Compacted,
        Compacting,
        Event,
        EvidenceFound,
        Goal,
        GoalCheck,
        GoalEnded,
        GoalEvent,
        GoalPlanned,
        GoalStep,
        LinksResolved,
        Notice,
        PromptReady,
        ReferenceFound,
        Remarked,
        ResourceRead,
        StepFinished,
        StepStarted,
        StepState,
        Support,
        TextDelta,
        ThinkingDelta,
        ToolFinished,
        ToolStarted,
        TurnFailed,
        TurnFinished,
        UsageReported,
        Warned,
    )
    from zkchat.core.files import (
        LockBusy,
        RefusedFile,
        is_writable,
        list_names,
        locked,
        make_private,
        open_regular,
        read_bounded,
        resolve_link,
        write_atomically,
    )
    from zkchat.core.index import (
        CatalogRow,
        DateFacts,
        IndexBatch,
        IndexCounts,
        IndexedNote,
        KnownNote,
        LinkToResolve,
        NoteFilter,
        NotesOfDays,
        Segment,
        SegmentHead,
        StatedDates,
        StoredLink,
        StoredSection,
        StoredTask,
        TermPostings,
        TextLookup,
    )
    from zkchat.core.line_diff import DiffLine, Hunk, LineBlock, changed_blocks, hunks_of, split_lines
    from zkchat.core.message import (
        DEFAULT_LIMIT,
        Brief,
        BriefPurpose,
        ChatMessage,
        CompactionPart,
        Condensed,
        ContextType,
        DocumentReference,
        Evidence,
        EvidencePart,
        FilePart,
        Findings,
        ImagePart,
        LeftOut,
        LineRange,
        MessageExcerpt,
        Part,
        RequestContext,
        RequestItem,
        Status,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolResultPart,
        UnknownPart,
        VaultListing,
    )
    from zkchat.core.note import (
        IMAGES,
        NOTE_SUFFIX,
        NOTE_SUFFIXES,
        PDF_SUFFIX,
        RACY_NS,
        RECORDINGS,
        Ambiguous,
        Block,
        Calendar,
        Commit,
        CommittedFile,
        CommittedFiles,
        DateOrigin,
        DayRange,
        External,
        ExtractedText,
        FileStamp,
        FolderListing,
        Heading,
        HistoryStatus,
        IndexedFiles,
        KnownFolder,
        KnownFolders,
        Link,
        Missing,
        Note,
        NoteDate,
        NoteDates,
        NoteWarning,
        Passage,
        PrivacyClass,
        Resolution,
        Resolved,
        Section,
        TaskLine,
        WarningKind,
        anchor_of,
        counted_files,
        file_kind,
        file_title,
        folder_of,
        is_drawing,
        is_image,
        is_note,
        is_pdf,
        line_place,
        may_hold_text,
        newness,
        page_heading,
        page_named,
        page_of,
        page_of_anchor,
        unknown_calendar,
        without_suffix,
    )
    from zkchat.core.ports import (
        BringToPresent,
        ChangeableFiles,
        ChangeStore,
        LocatedModel,
        MemoryStore,
        MessageIndex,
        ModelProvider,
        SessionStore,
        Tokenizer,
        Tool,
        ToolOutcome,
        ToolServers,
    )
    from zkchat.core.profile import (
        Agent,
        DocumentUse,
        Fact,
        FactSource,
        Origin,
        ProfileFile,
        ProfileKind,
        ProfileProblem,
        Rule,
        Scalar,
        UsageConversation,
        UsageEdge,
        UsageGraph,
        UsedNote,
    )
    from zkchat.core.prompt import (
        DEFAULT_RULE,
        PROVIDERS,
        Finish,
        FinishReason,
        HostedService,
        ImageDetail,
        ImageRule,
        ModelChunk,
        ModelInfo,
        ModelListing,
        ModelOverview,
        ModelRequest,
        ModelRow,
        PromptMessage,
        ProviderName,
        ProviderStatus,
        RemarkChunk,
        TextChunk,
        ThinkingChunk,
        ToolRequested,
        ToolSpec,
    )
    from zkchat.core.reports import (
        DOUBT,
        NOTHING,
        VERDICTS,
        BriefNote,
        CheckedStatement,
        DailyBrief,
        Difference,
        FirstOf,
        Item,
        OpenTask,
        OpenTasks,
        PastDay,
        Priority,
        SourcePlace,
        UnlinkedMention,
        Verdict,
        Verification,
        excerpts,
        heading_of,
        no_answer,
        place_of,
        quotations,
        time_of,
    )
    from zkchat.core.session import (
        AgentEntry,
        ChangesEntry,
        ContentEntry,
        DraftEntry,
        Entry,
        EntryBody,
        EntryFilter,
        GoalEntry,
        HeadEntry,
        IndexedMessage,
        IndexedUpTo,
        ItemsEntry,
        ListingEntry,
        MessageEntry,
        MessageHit,
        MessageRow,
        ModelEntry,
        PinEntry,
        PriorityEntry,
        RestoreEntry,
        Session,
        TitleEntry,
        UnknownEntry,
        read_body,
        read_entry,
        read_json_body,
        read_message,
        sessions_called,
        stored_body,
    )
    from zkchat.core.session_history import (
        Branch,
        History,
        MessageCache,
        Window,
        abstained_turns,
        branches_of,
        compaction_of,
        head_of,
        mark_condensed,
        messages_of,
        orphans_of,
        thread_of,
        unanswered_turns,
    )
    from zkchat.core.text import (
        KEY,
        KEY_MARKS,
        NAMED_KEY,
        NAMED_KEY_MARKS,
        Glob,
        NameGlobs,
        counted,
        lazy_pattern,
        local_time,
        shorten,
        wide_letters,
        without_block_ids,
        without_password,
    )
    from zkchat.core.tool_server import (
        HIDDEN,
        REFERENCE,
        PromptArgument,
        ServerAnswer,
        ServerDefinition,
        ServerOrigin,
        ServerPrompt,
        ServerResource,
        ServerStatus,
        ServerTool,
        describe_for_approval,
        hide_keys,
        hide_keys_of,
        hide_value,
        hide_values,
        redacted_table,
        show_reach,
        texts_of,
    )
    from zkchat.core.values import (
        InvalidValue,
        Json,
        Value,
        explain,
        from_json,
        from_plain,
        place_and_reason,
        plain_without,
        to_json,
        to_plain,
        without_defaults,
    )
    from zkchat.core.vault_ports import (
        CommitHistory,
        DateStore,
        Embedder,
        ExtractedTexts,
        ExtractionStore,
        LinkIndex,
        LinkTargets,
        ListedFiles,
        NoteCatalog,
        NoteFiles,
        NoteIndex,
        SegmentStore,
        TextEmbedder,
        TextExtractor,
        TextIndex,
        VectorIndex,
        Workers,
    )
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "changes": (
                "ChangeOrigin ChangeRecord ChangeSet FileChange FileDiff FileMove FileWrite ReviewOutcome "
                "TRASH changes_of direct_moves edits_of_user file_changes file_diffs hunks_of_write is_in_trash joined "
                "last_path_named patch_of path_before path_before_moves text_of touched_paths touches units_of"
            ),
            "choices": (
                "BudgetUse CompactionStrategy ContextUsage DEFAULT_AGENT DEFAULT_GOAL_MINUTES DEFAULT_GOAL_STEPS "
                "DEFAULT_GOAL_TOKENS DEFAULT_PRIORITY Decision HOW_TO_APPROVE IncludeMode ItemType KEEP_PRIORITY "
                "LeftOutReason LinkVia MAX_PRIORITY OpenWith PAGES PASTE_PRIORITY PanelView ReviewTime Role Scope "
                "SectionPosition SessionItemType TOOL_PRIORITY ThinkingView TokenUsage ToolName TrustState "
                "VaultItem Weekday WriteMode database_item vault_item"
            ),
            "embeddings": (
                "AddedVectors DIGEST_BYTES EmbeddingProgress NOTHING_KNOWN OpenText PassageDigests SimilarityTraits "
                "StoredVectors VectorBlock VectorPosition as_open_as embedded_text passage_digest"
            ),
            "environment": "Environment SystemTimeZone utc_now",
            "errors": (
                "ConfigError EditRefused ExitCode FileConflict FilesChanged ImageUnusable LostDefaultVault NoAnswer "
                "NoteNotFound NoteUnreadable OutsideVault PdfUnread PromptTooLong ProviderError SessionError "
                "SessionNotFound StorageDamaged StorageError StorageFull StorageTooNew TextKeptHere TextRefused "
                "UnconfirmedVault UnknownProfile UsageError VaultError ZkchatError install_command"
            ),
            "events": (
                "AnswerReplaced AnswerSupport ChangesReviewed Compacted Compacting DECIDED Event EvidenceFound Goal "
                "GoalCheck GoalEnded GoalEvent GoalPlanned GoalStep LinksResolved Notice PromptReady ReferenceFound "
                "Remarked ResourceRead StepFinished StepStarted StepState Support TextDelta ThinkingDelta "
                "ToolFinished ToolStarted TurnFailed TurnFinished UsageReported Warned"
            ),
            "files": (
                "LockBusy RefusedFile is_writable list_names locked make_private open_regular read_bounded "
                "resolve_link write_atomically"
            ),
            "index": (
                "CatalogRow DateFacts IndexBatch IndexCounts IndexedNote KnownNote LinkToResolve NoteFilter "
                "NotesOfDays Segment SegmentHead StatedDates StoredLink StoredSection StoredTask TermPostings "
                "TextLookup"
            ),
            "line_diff": "DiffLine Hunk LineBlock changed_blocks hunks_of split_lines",
            "message": (
                "Brief BriefPurpose ChatMessage CompactionPart Condensed ContextType DEFAULT_LIMIT "
                "DocumentReference Evidence EvidencePart FilePart Findings ImagePart LeftOut LineRange "
                "MessageExcerpt Part RequestContext RequestItem Status TextPart ThinkingPart ToolCallPart "
                "ToolResultPart UnknownPart VaultListing"
            ),
            "note": (
                "Ambiguous Block Calendar Commit CommittedFile CommittedFiles DateOrigin DayRange External "
                "ExtractedText FileStamp FolderListing Heading HistoryStatus IMAGES IndexedFiles KnownFolder "
                "KnownFolders Link Missing NOTE_SUFFIX NOTE_SUFFIXES Note NoteDate NoteDates NoteWarning PDF_SUFFIX "
                "Passage PrivacyClass RACY_NS RECORDINGS Resolution Resolved Section TaskLine WarningKind anchor_of "
                "counted_files file_kind file_title folder_of is_drawing is_image is_note is_pdf line_place "
                "may_hold_text newness page_heading page_named page_of page_of_anchor unknown_calendar "
                "without_suffix"
            ),
            "ports": (
                "BringToPresent ChangeStore ChangeableFiles LocatedModel MemoryStore MessageIndex ModelProvider "
                "SessionStore Tokenizer Tool ToolOutcome ToolServers"
            ),
            "profile": (
                "Agent DocumentUse Fact FactSource Origin ProfileFile ProfileKind ProfileProblem Rule Scalar "
                "UsageConversation UsageEdge UsageGraph UsedNote"
            ),
            "prompt": (
                "DEFAULT_RULE Finish FinishReason HostedService ImageDetail ImageRule ModelChunk ModelInfo "
                "ModelListing ModelOverview ModelRequest ModelRow PROVIDERS PromptMessage ProviderName "
                "ProviderStatus RemarkChunk TextChunk ThinkingChunk ToolRequested ToolSpec"
            ),
            "reports": (
                "BriefNote CheckedStatement DOUBT DailyBrief Difference FirstOf Item NOTHING OpenTask OpenTasks "
                "PastDay Priority SourcePlace UnlinkedMention VERDICTS Verdict Verification excerpts heading_of "
                "no_answer place_of quotations time_of"
            ),
            "session": (
                "AgentEntry ChangesEntry ContentEntry DraftEntry Entry EntryBody EntryFilter GoalEntry HeadEntry "
                "IndexedMessage IndexedUpTo ItemsEntry ListingEntry MessageEntry MessageHit MessageRow ModelEntry "
                "PinEntry PriorityEntry RestoreEntry Session TitleEntry UnknownEntry read_body read_entry "
                "read_json_body read_message sessions_called stored_body"
            ),
            "session_history": (
                "Branch History MessageCache Window abstained_turns branches_of compaction_of head_of "
                "mark_condensed messages_of orphans_of thread_of unanswered_turns"
            ),
            "text": (
                "Glob KEY KEY_MARKS NAMED_KEY NAMED_KEY_MARKS NameGlobs counted lazy_pattern local_time shorten "
                "wide_letters without_block_ids without_password"
            ),
            "tool_server": (
                "HIDDEN PromptArgument REFERENCE ServerAnswer ServerDefinition ServerOrigin ServerPrompt "
                "ServerResource ServerStatus ServerTool describe_for_approval hide_keys hide_keys_of hide_value "
                "hide_values redacted_table show_reach texts_of"
            ),
            "values": (
                "InvalidValue Json Value explain from_json from_plain place_and_reason plain_without to_json "
                "to_plain without_defaults"
            ),
            "vault_ports": (
                "CommitHistory DateStore Embedder ExtractedTexts ExtractionStore LinkIndex LinkTargets ListedFiles "
                "NoteCatalog NoteFiles NoteIndex SegmentStore TextEmbedder TextExtractor TextIndex "
                "VectorIndex Workers"
            ),
        },
    )
