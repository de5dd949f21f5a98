"""Change one value in the frontmatter of an agent; comments, order and the text below stay. Pure."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from zkchat.agents.parsing import AGENT_KEYS, parse_agent, unix_lines
from zkchat.errors import ConfigError, UsageError
from zkchat.model.profile import ProfileFile, ProfileProblem
from zkchat.vault.notes.frontmatter import cut

if TYPE_CHECKING:
    import yaml

_SECTIONS = ("context", "rules", "references", "tools", "servers")


def set_value(file: ProfileFile, key: str, value: str) -> str:
    """The text of the file with `key`, such as `model` or `rules.Tone`, set to `value`.

    Raises `UsageError` for a key that there is not, `ConfigError` if the file would not be read any more.
    """
    section, _, name = key.partition(".")
    if section not in AGENT_KEYS or bool(name) != (section in _SECTIONS):
        known = [*(key for key in AGENT_KEYS if key not in _SECTIONS), *(f"{each}.NAME" for each in _SECTIONS)]
        raise UsageError(f"There is no '{key}' in an agent.", hint=f"There is: {', '.join(known)}.")
    _check(file, section)
    text = unix_lines(file.text)
    matter = cut(text)
    start, end = matter.span
    source = _changed(text[start:end], section, name, value)
    changed = text[:start] + source + text[end:] if matter.end else f"---\n{source}---\n{text}"
    _check(replace(file, text=changed), key)
    return changed


def _check(file: ProfileFile, key: str) -> None:
    """Raise `ConfigError` if the file cannot be used, or not what it says under `key`."""
    read = parse_agent(file)
    problem = read if isinstance(read, ProfileProblem) else read.warning
    if problem and (not problem.is_used or f"'{key}'" in problem.text):
        raise ConfigError(f"Nothing was changed. {problem.text}", hint=f"Look at {problem.path}, line {problem.line}.")


def _changed(source: str, section: str, name: str, value: str) -> str:
    import yaml

    node = yaml.compose(source, yaml.SafeLoader)
    there = _entry(node, section)
    if not name:
        return _put(
            source, there, section, _scalar(yaml.safe_load(value) if section in {"enabled", "memory"} else value)
        )
    wanted = _scalar(yaml.safe_load(value) if section == "context" else value)
    if there is None:
        return _put(source, None, section, f"\n  {_scalar(name)}: {wanted}")
    _, inside = there
    if isinstance(inside, yaml.MappingNode) and inside.value and not inside.flow_style:
        if found := _entry(inside, name):
            return _put(source, found, name, wanted)
        first = inside.start_mark
        return f"{source[: first.index]}{_scalar(name)}: {wanted}\n{' ' * first.column}{source[first.index :]}"
    modes = _as_mapping(yaml.safe_load(source)[section]) | {name: yaml.safe_load(wanted)}
    lines = "".join(f"\n  {_scalar(each)}: {_scalar(mode)}" for each, mode in modes.items())
    return _put(source, there, section, lines)


def _entry(node: "yaml.Node | None", name: str) -> "tuple[yaml.Node, yaml.Node] | None":
    pairs: list[tuple[yaml.Node, yaml.Node]] = node.value if node is not None else []
    return next((pair for pair in pairs if pair[0].value in {name, f"[[{name}]]"}), None)


def _put(source: str, there: "tuple[yaml.Node, yaml.Node] | None", name: str, written: str) -> str:
    """The source with this value in the place of the old one, or on a line at the end."""
    space = "" if written.startswith("\n") else " "
    if there is None:
        return f"{source}{_scalar(name)}:{space}{written}\n"
    key, old = there
    colon = source.index(":", key.end_mark.index)
    # A block ends where the next thing begins: the blank lines and comments between the two stay.
    kept = source[old.start_mark.index : old.end_mark.index].rstrip()
    return f"{source[: colon + 1]}{space}{written}{source[old.start_mark.index + len(kept) :]}"


def _as_mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {item if isinstance(item, str) else item[0][0]: "always" for item in value}
    return dict(value or {})


def _scalar(value: object) -> str:
    import yaml

    return yaml.safe_dump(value, allow_unicode=True, width=10_000).removesuffix("...\n").strip()
