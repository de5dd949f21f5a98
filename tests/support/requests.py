from zkchat.chat.context.assembly import AssembledRequest, Assembler, Budget, PromptItem, RequestPlan, digest, tool_text
from zkchat.chat.context.tokens import Calibration
from zkchat.core.message import RequestItem
from zkchat.core.ports import Tokenizer
from zkchat.core.prompt import ToolSpec
from zkchat.core.session_history import Window


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
