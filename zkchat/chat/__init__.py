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
    from zkchat.chat.context.assembly import AssembledRequest, Shares, digest, request_from, turns_left
    from zkchat.chat.context.condensing import condense_message
    from zkchat.chat.context.documents import DocumentRoom, add_summaries, include_documents
    from zkchat.chat.context.extractive import summarise
    from zkchat.chat.context.formatting import documents_in
    from zkchat.chat.context.selection import Candidate, Relevance, SelectionLimits, added_items, selection_use
    from zkchat.chat.context.strategies import CompactionPlan, Retention
    from zkchat.chat.context.tokens import (
        DIGESTS,
        FALLBACK_ENCODING,
        CachedTokenizer,
        Encoding,
        check_encodings,
        tokenizer_for,
    )
    from zkchat.chat.context.unit_ranking import content_terms
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
    from zkchat.chat.goal_plan import GoalChecker, parse_plan, plan_text
    from zkchat.chat.goals import GoalBounds, GoalRun, PlanReviewer
    from zkchat.chat.journal import Asked, Journal
    from zkchat.chat.memory import MAX_FILE_CHARS, Memory, OwnUse, RecallLimits, imports_of, list_items
    from zkchat.chat.message_search import ConversationSearch
    from zkchat.chat.privacy import Elsewhere, ReadOutside, nothing_outside, stays_here
    from zkchat.chat.question import Question
    from zkchat.chat.references import changed_items, embedded, resolve_links
    from zkchat.chat.request import NOTHING_TO_SUMMARISE, Preview
    from zkchat.chat.request_plan import recall
    from zkchat.chat.session_items import SessionItems
    from zkchat.chat.tools.explore import NotePath, explore_tools, missing_heading, reference_to
    from zkchat.chat.tools.memory import memory_tools, recall_tools
    from zkchat.chat.tools.readings import GivenBefore, Readings
    from zkchat.chat.tools.registry import (
        MAX_FOUND,
        Arguments,
        FunctionTool,
        InvalidArguments,
        Number,
        Text,
        Toolbox,
        failure,
        full_schema_of,
        function_tool,
        read_arguments,
    )
    from zkchat.chat.tools.server_tools import CallAnswer, CallReviewer, ServerAccess, ServerCall
else:
    __getattr__ = lazy_names(__name__, __file__)
