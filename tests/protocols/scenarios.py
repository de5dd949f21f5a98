"""Checks of the conformance suite that do not apply to us, each with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

REVISIONS: Final = ("2025-11-25", "2026-07-28")
AUTHORIZATION: Final = "auth/"
"""How the names of scenarios on OAuth begin; they are not run."""


@dataclass(frozen=True)
class Exempt:
    """Checks of one scenario that fail, and why that is right."""

    reason: str
    checks: frozenset[str]


def _own(reason: str, *scenarios: str) -> Mapping[str, Exempt]:
    """Scenarios whose only check has their name."""
    return {name: Exempt(reason, frozenset({name})) for name in scenarios}


def _checks(reason: str, **checks: str) -> Mapping[str, Exempt]:
    """Scenarios by name, and their checks in one string."""
    return {name.replace("_", "-"): Exempt(reason, frozenset(each.split())) for name, each in checks.items()}


_TOOL: Final = "tools of the suite's own (`test_…`)"
_PROMPT: Final = "prompts of the suite's own (`test_…`)"
_RESOURCE: Final = "resources of the suite's own (`test://…`)"
_LOGGING: Final = "logging over the protocol, which is deprecated and not offered"
_INPUT: Final = "answers of the user to questions of a server, which the chat does not offer"

SERVER: Final[Mapping[str, Exempt]] = {
    **_own(
        _TOOL,
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-error",
        "tools-call-with-progress",
        "tools-call-sampling",
        "tools-call-elicitation",
    ),
    **_checks(
        _TOOL,
        elicitation_sep1034_defaults="elicitation-sep1034-general",
        elicitation_sep1330_enums="elicitation-sep1330-general",
        server_stateless="sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400 "
        "sep-2575-http-server-no-independent-requests-on-stream sep-2575-server-no-log-without-loglevel",
        input_required_result_basic_elicitation="sep-2322-elicitation-incomplete",
        input_required_result_basic_sampling="sep-2322-sampling-incomplete",
        input_required_result_basic_list_roots="sep-2322-list-roots-incomplete",
        input_required_result_request_state="sep-2322-request-state-incomplete",
        input_required_result_multiple_input_requests="sep-2322-multiple-inputs-incomplete",
        input_required_result_multi_round="sep-2322-multi-round-r1",
        input_required_result_result_type="sep-2322-result-type-included",
        input_required_result_tampered_state="sep-2322-reject-tampered-state",
        input_required_result_capability_check="sep-2322-respect-client-capabilities",
    ),
    **_own(
        _PROMPT,
        "completion-complete",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ),
    **_checks(_PROMPT, input_required_result_non_tool_request="sep-2322-non-tool-incomplete"),
    **_own(_RESOURCE, "resources-read-text", "resources-read-binary", "resources-templates-read"),
    **_own(_LOGGING, "logging-set-level", "tools-call-with-logging"),
}

CLIENT: Final[Mapping[str, Exempt]] = {
    **_checks(
        _INPUT,
        elicitation_sep1034_client_defaults="client-elicitation-sep1034-general "
        "client-elicitation-sep1034-string-default client-elicitation-sep1034-integer-default "
        "client-elicitation-sep1034-number-default client-elicitation-sep1034-enum-default "
        "client-elicitation-sep1034-boolean-default",
        sep_2322_client_request_state="sep-2322-client-request-state-echoed sep-2322-client-jsonrpc-id-different "
        "sep-2322-client-no-state-omitted",
    )
}
