"""What an agent has at hand, as candidates for its requests (SPEC 5.1). Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from html import escape

from zkchat.context.documents import wrapped
from zkchat.context.selection import Candidate
from zkchat.model.profile import Agent, Rule
from zkchat.model.prompt import ToolSpec

_HEAD = 400
"""Characters of a note that say what it is about, where nothing else does."""


def candidates(
    agent: Agent,
    *,
    rules: Iterable[Rule] = (),
    notes: Mapping[str, str] | None = None,
    tools: Iterable[ToolSpec] = (),
    core: Collection[str] = (),
) -> list[Candidate]:
    """Rules, notes and tools in this order. `notes` are texts by name, `core` the tools that are always there."""
    return [
        *(_rule(agent, rule) for rule in rules),
        *_notes(agent, notes or {}),
        *(_tool(agent, spec, core) for spec in tools),
    ]


def _rule(agent: Agent, rule: Rule) -> Candidate:
    about = f"{rule.name}\n{rule.description or rule.text[:_HEAD]}"
    text = f'<rule name="{escape(rule.name)}">\n{rule.text}\n</rule>'
    return Candidate(type="rule", name=rule.name, include=agent.rule_mode(rule), about=about, text=text)


def _notes(agent: Agent, notes: Mapping[str, str]) -> Iterator[Candidate]:
    for name, text in notes.items():
        yield Candidate(
            type="reference",
            name=name,
            include=agent.references.get(name, "manual"),
            about=f"{name.removesuffix('.md')}\n{text[:_HEAD]}",
            text=wrapped(name, text),
        )


def _tool(agent: Agent, spec: ToolSpec, core: Collection[str]) -> Candidate:
    is_core = not spec.server and spec.name in core
    return Candidate(
        type="tool",
        name=spec.name,
        server=spec.server,
        include="always" if is_core else agent.tool_mode(spec.name, spec.server),
        about=f"{spec.name.replace('_', ' ')}\n{spec.description}",
        text=spec.model_dump_json(),
        core=is_core,
    )
