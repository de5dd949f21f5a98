"""What goes into a request beside the conversation: texts with their reasons, and the plan of a request."""

import json
from collections.abc import Collection, Iterable
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from zkchat.context.instructions import STRICT
from zkchat.model.choices import IncludeMode, ItemType
from zkchat.model.prompt import ToolSpec
from zkchat.model.request_context import LeftOut, RequestItem


class PromptItem(Struct, frozen=True, kw_only=True):
    """A text that goes into the request beside the messages, and why."""

    item: RequestItem
    text: str


def prompt_item(
    type_: ItemType,
    name: str,
    text: str,
    *,
    include: IncludeMode = "always",
    score: float | None = None,
    reason: str = "",
    this_turn_only: bool = False,
) -> PromptItem:
    """A text, with the item that the record keeps of it."""
    item = RequestItem(
        type=type_,
        name=name,
        include=include,
        score=score,
        reason=reason,
        this_turn_only=this_turn_only,
        digest=digest(text),
    )
    return PromptItem(item=item, text=text)


def tool_text(spec: ToolSpec) -> str:
    """The definition of a tool as it is sent, so that its count is that of what is sent."""
    return json.dumps(spec.definition, ensure_ascii=False, separators=(",", ":"))


class RequestPlan(Struct, frozen=True, kw_only=True):
    """What goes into a request beside the conversation, and how the request is to be built."""

    items: tuple[PromptItem, ...]
    """Instructions, rules, notes, tools and what is remembered, in the order in which they are sent."""
    left_out: tuple[LeftOut, ...] = ()
    agent: str = "default"
    can_read: bool = False
    """Whether the model has tools in this turn, even if it is to answer without them now."""
    tightness: float = 1.0
    """The share of the prompt budget that may be used; less once a server has found a prompt too long."""
    last_turn_only: bool = False
    """For a model that does not read earlier messages."""
    omits_summary: bool = False
    """Where there is no room for the summary of earlier messages this time."""

    @property
    def offers_tools(self) -> bool:
        return any(each.item.type == "tool" for each in self.items)

    def offers(self, tool: str) -> bool:
        """Whether the model may call this tool of ours."""
        return any(each.item.type == "tool" and each.item.name == tool and not each.item.server for each in self.items)

    def with_items(self, items: Iterable[PromptItem]) -> "RequestPlan":
        return replace(self, items=(*self.items, *items))

    def without(self, items: Collection[PromptItem]) -> "RequestPlan":
        """The plan without these items, which are recorded as left out for lack of room."""
        if not items:
            return self
        left_out = (LeftOut(item=each.item, why="budget") for each in items)
        kept = tuple(each for each in self.items if each not in items)
        return replace(self, items=kept, left_out=(*self.left_out, *left_out))

    def without_tools(self) -> "RequestPlan":
        return replace(self, items=tuple(each for each in self.items if each.item.type != "tool"))

    def only_from_evidence(self) -> "RequestPlan":
        """For an answer that rests on nothing but what is sent with the question."""
        system, *others = self.without_tools().items
        rule = prompt_item("rule", "strict", STRICT, include="manual", reason="asked for with --strict")
        return replace(self, items=(system, rule, *others), can_read=False)


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
