"""Requests of few parts."""

from zkchat.context.assembly import AssembledRequest, Assembler
from zkchat.context.budget import Budget
from zkchat.context.calibration import Calibration
from zkchat.context.prompt_items import PromptItem, RequestPlan, digest, tool_text
from zkchat.model.prompt import ToolSpec
from zkchat.model.request_context import RequestItem
from zkchat.model.session_history import Window
from zkchat.ports.tokenizer import Tokenizer


def tool_item(spec: ToolSpec) -> PromptItem:
    """A tool as it is described to the model."""
    text = tool_text(spec)
    item = RequestItem(type="tool", name=spec.name, server=spec.server, digest=digest(text))
    return PromptItem(item=item, text=text)


def assemble(
    plan: RequestPlan, window: Window, budget: Budget, tokenizer: Tokenizer, calibration: Calibration | None = None
) -> AssembledRequest:
    """A single request."""
    return Assembler(tokenizer).assemble(plan, window, budget, calibration or Calibration())
