"""Conversations: turns, requests, tools, agents, memory and goals."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.chat.agents import (
        AGENT_NAME,
        BUILT_IN,
        Profiles,
        build_profiles,
        built_in,
        parse_agent,
        parse_rule,
        set_value,
    )
    from zkchat.chat.change_settlement import ProposedChanges, changed_paths, sentence_about
    from zkchat.chat.context.assembly import (
        AssembledRequest,
        Assembler,
        RequestPlan,
        Shares,
        budget_for,
        digest,
        prompt_item,
        request_from,
        turns_left,
    )
    from zkchat.chat.context.calibration import calibrate
    from zkchat.chat.context.condensing import condense_message, content_terms
    from zkchat.chat.context.documents import DocumentRoom, include_documents
    from zkchat.chat.context.extractive import summarise
    from zkchat.chat.context.formatting import documents_in
    from zkchat.chat.context.selection import Candidate, Relevance, SelectionLimits, Selector, added_items
    from zkchat.chat.context.strategies import CompactionPlan, Retention
    from zkchat.chat.context.tokens import (
        DIGESTS,
        FALLBACK_ENCODING,
        CachedTokenizer,
        Encoding,
        Estimate,
        check_encodings,
        load_encoding,
        tokenizer_for,
    )
    from zkchat.chat.conversation import Conversation
    from zkchat.chat.core import AnswerLimits, ConversationCore, Policy, Reviewer, TurnSettings
    from zkchat.chat.evaluation import (
        AnswerPlace,
        Figures,
        Judged,
        KnownQuestion,
        Shown,
        ShownPassage,
        evidence_of,
        in_conversation,
        judge,
        parse_questions,
        search_rank,
    )
    from zkchat.chat.evidence_lookup import MAX_QUOTED, PAGE_SIZE, answer_about_vault
    from zkchat.chat.goals.plan import GoalChecker, parse_plan, plan_text
    from zkchat.chat.goals.run import GoalBounds, GoalRun, PlanReviewer
    from zkchat.chat.journal import Asked, Journal
    from zkchat.chat.memory import Memory, OwnUse, RecallLimits, list_items
    from zkchat.chat.message_search.search import ConversationSearch
    from zkchat.chat.note_usage import NoteUsage, note_uses
    from zkchat.chat.privacy import Elsewhere, ServerAccess, stays_here
    from zkchat.chat.project_memory import MAX_FILE_CHARS, imports_of
    from zkchat.chat.question import Question
    from zkchat.chat.references import embedded, resolve_links
    from zkchat.chat.request import NOTHING_TO_SUMMARISE, Preview
    from zkchat.chat.request_plan import recall
    from zkchat.chat.session_items import SessionItems
    from zkchat.chat.staleness import changed_items
    from zkchat.chat.summaries import add_summaries
    from zkchat.chat.tools.arguments import MAX_FOUND, Arguments, Number, Text, full_schema_of
    from zkchat.chat.tools.explore import NotePath, explore_tools, reference_to
    from zkchat.chat.tools.memory import memory_tools, recall_tools
    from zkchat.chat.tools.readings import NothingBefore, Readings
    from zkchat.chat.tools.registry import CORE_TOOLS, FunctionTool, Toolbox, failure, function_tool
    from zkchat.chat.tools.server_tools import CallAnswer, CallReviewer, ServerCall
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "agents": "AGENT_NAME BUILT_IN Profiles build_profiles built_in parse_agent parse_rule set_value",
            "change_settlement": "ProposedChanges changed_paths sentence_about",
            "context.assembly": (
                "AssembledRequest Assembler RequestPlan Shares budget_for digest prompt_item request_from turns_left"
            ),
            "context.calibration": "calibrate",
            "context.condensing": "condense_message content_terms",
            "context.documents": "DocumentRoom include_documents",
            "context.extractive": "summarise",
            "context.formatting": "documents_in",
            "context.selection": "Candidate Relevance SelectionLimits Selector added_items",
            "context.strategies": "CompactionPlan Retention",
            "context.tokens": (
                "CachedTokenizer DIGESTS Encoding Estimate FALLBACK_ENCODING check_encodings load_encoding "
                "tokenizer_for"
            ),
            "conversation": "Conversation",
            "core": "AnswerLimits ConversationCore Policy Reviewer TurnSettings",
            "evaluation": (
                "AnswerPlace Figures Judged KnownQuestion Shown ShownPassage evidence_of in_conversation judge "
                "parse_questions search_rank"
            ),
            "evidence_lookup": "MAX_QUOTED PAGE_SIZE answer_about_vault",
            "goals.plan": "GoalChecker parse_plan plan_text",
            "goals.run": "GoalBounds GoalRun PlanReviewer",
            "journal": "Asked Journal",
            "memory": "Memory OwnUse RecallLimits list_items",
            "message_search.search": "ConversationSearch",
            "note_usage": "NoteUsage note_uses",
            "privacy": "Elsewhere ServerAccess stays_here",
            "project_memory": "MAX_FILE_CHARS imports_of",
            "question": "Question",
            "references": "embedded resolve_links",
            "request": "NOTHING_TO_SUMMARISE Preview",
            "request_plan": "recall",
            "session_items": "SessionItems",
            "staleness": "changed_items",
            "summaries": "add_summaries",
            "tools.arguments": "Arguments MAX_FOUND Number Text full_schema_of",
            "tools.memory": "memory_tools recall_tools",
            "tools.readings": "NothingBefore Readings",
            "tools.registry": "CORE_TOOLS FunctionTool Toolbox failure function_tool",
            "tools.explore": "NotePath explore_tools reference_to",
            "tools.server_tools": "CallAnswer CallReviewer ServerCall",
        },
    )
