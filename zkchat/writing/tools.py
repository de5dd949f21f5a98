"""Tools that propose changes of notes. Nothing is written before the user has agreed."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Final

from msgspec import Meta
from msgspec.structs import replace

from zkchat.chat import NotePath, Number, Readings, Text, failure, function_tool, reference_to
from zkchat.core import EditRefused, SectionPosition, Tool, ToolOutcome, hunks_of, is_note, lazy_pattern, split_lines
from zkchat.notes import shown_text, written_class
from zkchat.writing.editor import NoteEditor, StagedEdit
from zkchat.writing.properties import parse_property_value

PROPOSED: Final = "Proposed, not done: the user decides when you have answered."
MAX_DIFF_CHARS: Final = 1500
"""Characters of a diff that a model is shown of what it did."""
MAX_SECTION_CHARS: Final = 4000
"""Characters of a section that a model is given to try again."""
_CODE: Final = lazy_pattern(r"<%|^[ \t>]*(?:```+|~~~+)[ \t]*(?:dataviewjs|js-engine|jsx:|run-)|`\$=", re.MULTILINE)
"""What plugins of Obsidian run: Templater, Dataview, JS Engine, React, Execute Code."""

Content = Annotated[str, Text(also=("content", "body", "markdown"))]


def write_tools(editor: NoteEditor, readings: Readings | None = None) -> list[Tool]:
    write = _Write(editor, readings or Readings(editor.library))
    return [function_tool(getattr(write, name)) for name in vars(_Write) if not name.startswith("_")]


class _Write:
    """Each public method is a tool, in this order; what it is to people and hosts is in `CHANGE_TOOLS`."""

    def __init__(self, editor: NoteEditor, readings: Readings) -> None:
        self._editor = editor
        self._staged = editor.staged
        self._readings = readings

    def create_document(
        self,
        *,
        relative_path: Annotated[
            str, Text(description="Path or title", min_length=1, also=("path", "title", "note", "file", "name"))
        ],
        text: Content,
    ) -> ToolOutcome:
        """Create a note."""
        return self._new(self._editor.create(relative_path, text))

    def edit_document(
        self,
        *,
        relative_path: NotePath,
        old: Annotated[str, Text(min_length=1, also=("old_string", "old_text", "search"))],
        new: Annotated[str, Text(also=("new_string", "new_text", "replace"))],
        expected: Annotated[int, Number(at_least=1, also=("count",))] = 1,
    ) -> ToolOutcome:
        """Replace an exact passage of a note, copied from it."""
        return self._edited(relative_path, lambda path: self._editor.edit(path, old, new, expected))

    def edit_section(
        self,
        *,
        relative_path: NotePath,
        section: Annotated[
            str,
            Text(
                description="Heading, Heading#Sub, ^block; empty: end of note",
                also=("heading", "place", "target", "anchor"),
            ),
        ] = "",
        text: Content,
        position: Annotated[
            SectionPosition,
            Meta(description="append, prepend, replace, before, after", extra_json_schema={"type": "string"}),
        ] = "append",
        include_children: bool = False,
    ) -> ToolOutcome:
        """Add to or replace a section of a note."""
        if not section:
            if position != "append":
                raise EditRefused(f"To {position}, name a section.", hint="Without one, text is appended.")
            return self._edited(relative_path, lambda path: self._editor.append(path, text))
        with self._staged.holding(self._editor.find(relative_path)):
            if position == "replace" and (
                refusal := self._unknown(relative_path, section, must_be_read=True)
                or self._partly_read(relative_path, section, include_children)
            ):
                return refusal
            return self._edited(
                relative_path,
                lambda path: self._editor.edit_section(path, section, text, position, include_children),
            )

    def set_property(
        self,
        *,
        relative_path: NotePath,
        key: Annotated[str, Text(min_length=1, also=("property", "field"))],
        value: Annotated[
            str | bool | int | float | list[str | bool | int | float] | None, Text(description="null removes it")
        ],
    ) -> ToolOutcome:
        """Set a frontmatter property."""
        meant = parse_property_value([value]) if isinstance(value, str) else value
        with self._staged.holding(self._editor.find(relative_path)):
            return self._unknown(relative_path) or self._edited(
                relative_path, lambda path: self._editor.set_property(path, key, meant)
            )

    def add_tag(self, *, relative_path: NotePath, tag: Annotated[str, Text(min_length=1)]) -> ToolOutcome:
        """Tag a note."""
        return self._edited(relative_path, lambda path: self._editor.add_tag(path, tag))

    def append_daily(self, *, text: Content, section: Annotated[str, Text(also=("heading",))] = "") -> ToolOutcome:
        """Append to today's note."""
        edit = self._editor.append_daily(text, section)
        return self._outcome(edit, ("",) if not edit.before else ())

    def create_from_template(
        self,
        *,
        template: Annotated[str, Text(min_length=1)],
        title: Annotated[str, Text(min_length=1, also=("relative_path", "path", "name", "note"))],
    ) -> ToolOutcome:
        """Create a note from a template."""
        return self._new(self._editor.create_from_template(template, title))

    def rename_document(
        self,
        *,
        relative_path: NotePath,
        new_name: Annotated[str, Text(min_length=1, also=("new", "new_path", "target", "to"))],
    ) -> ToolOutcome:
        """Rename a note; links follow."""
        is_named = is_note(self._editor.find_any(relative_path))
        if is_named and (unknown := self._unknown(relative_path)):
            return unknown
        return self._moved(relative_path, lambda path: self._editor.rename(path, new_name))

    def move_document(
        self,
        *,
        relative_path: NotePath,
        folder: Annotated[str, Text(also=("to", "target", "new_folder", "directory"))],
    ) -> ToolOutcome:
        """Move a note to a folder; links follow."""
        return self._moved(relative_path, lambda path: self._editor.move(path, folder))

    def delete_document(self, *, relative_path: NotePath) -> ToolOutcome:
        """Move a note to the trash."""
        if unknown := self._unknown(relative_path, must_be_read=True):
            return unknown
        given, total = self._readings.given_share(self._editor.find(relative_path))
        edit = self._editor.delete(relative_path)
        if given < total:
            partly = f"The model read {given:,} of {total:,} characters of {edit.path}."
            edit = replace(edit, remarks=(partly, *edit.remarks))
        return self._marked(edit)

    def _unknown(self, target: str, place: str = "", *, must_be_read: bool = False) -> ToolOutcome | None:
        """The refusal of what would be done to a note that is not what the model was given, which shows it as it is."""
        path = self._editor.find(target)
        knowledge = self._readings.knowledge(path, place)
        if knowledge == "current" or (knowledge == "unread" and not must_be_read):
            return None
        changed = knowledge == "changed"
        what = f"{path} has changed since it was read." if changed else f"{path} has not been read yet."
        diff = self._readings.change(path) if changed else ""
        parts = [what, *([f"What changed:\n{shorten_lines(diff, MAX_DIFF_CHARS)}"] if diff else [])]
        return self._refusal(path, place, *parts)

    def _partly_read(self, target: str, place: str, include_children: bool) -> ToolOutcome | None:
        """The refusal of a replacement of what the model was given only in part."""
        path = self._editor.find(target)
        if self._readings.was_given(path, place, include_children=include_children):
            return None
        given, total = self._readings.given_share(path)
        what = f"Only {given:,} of {total:,} characters of {path} were read, and not all that would be replaced."
        return self._refusal(path, place, what)

    def _refusal(self, path: str, place: str, *said: str) -> ToolOutcome:
        """What is said, with the present text where that is short."""
        present = self._editor.library.section(path, place)
        if len(present) <= MAX_SECTION_CHARS:
            self._readings.show(path, place)
            shown = [f"It says now:\n{present}", "Call again if it is still right."]
        else:
            shown = ["Call read_document, with its offset for the rest, then call again if it is still right."]
        return replace(failure("\n".join([*said, *shown])), may_repeat=True)

    def _edited(self, target: str, act: Callable[[str], StagedEdit]) -> ToolOutcome:
        path = self._editor.find(target)
        places = self._readings.current_places(path)
        is_changed = self._readings.knowledge(path) == "changed"
        edit = act(path)
        if not is_changed:
            return self._outcome(edit, places)
        said = f"{path} has changed since the model read it. The edit is made to its present text."
        self._staged.remarks += [said] * (said not in self._staged.remarks)
        note = f"{path} has changed since it was read; this is applied to its present text."
        return self._outcome(edit, places, note)

    def _new(self, edit: StagedEdit) -> ToolOutcome:
        self._readings.proposed(edit.path)
        self._readings.wrote(edit.path, edit.after)
        return self._marked(edit)

    def _moved(self, target: str, act: Callable[[str], StagedEdit]) -> ToolOutcome:
        source = self._editor.find_any(target)
        places = self._readings.current_places(source) if is_note(source) else frozenset()
        edit = act(source)
        if is_note(source):
            self._readings.proposed(edit.path, places, source)
        return self._marked(edit)

    def _outcome(self, edit: StagedEdit, known_places: Iterable[str], note: str = "") -> ToolOutcome:
        self._readings.proposed(edit.path, known_places)
        self._readings.wrote(edit.path, _added(edit.before, edit.after))
        outcome = self._marked(edit, note)
        if edit.path in self._staged.new_paths:
            return outcome
        return replace(outcome, references=(reference_to(self._editor.library, edit.path, included=True),))

    def _marked(self, edit: StagedEdit, note: str = "") -> ToolOutcome:
        """What the model is told of a change; why the user has to be asked whatever folders are accepted is noted."""
        reasons = [
            f"The text of {path}, from the web, may have led the model to do this."
            for path in self._readings.first_clippings()
        ]
        if len(_CODE.findall(edit.after)) > len(_CODE.findall(edit.before)):
            reasons.append(f"{edit.path} would hold code that plugins of Obsidian may run.")
        if edit.before and edit.after and written_class(edit.before) != written_class(edit.after):
            reasons.append(f"The change affects which models may see {edit.path}.")
        self._staged.reasons_to_ask += [each for each in reasons if each not in self._staged.reasons_to_ask]
        self._staged.remarks += [each for each in edit.remarks if each not in self._staged.remarks]
        before, after = (shown_text(text) for text in (edit.before, edit.after))
        diff = diff_of(before, after) if before and after else ""
        told = "\n".join(filter(None, [f"{edit.title}. {PROPOSED}", note, edit.follow, *edit.remarks, diff]))
        return ToolOutcome(text=told, summary=edit.title, stages_change=True)


def _added(before: str, after: str) -> str:
    """The lines of a text that are new."""
    hunks = hunks_of(split_lines(before), split_lines(after), context=0)
    return "".join(line.text for hunk in hunks for line in hunk.lines if line.mark == "+")


def diff_of(before: str, after: str) -> str:
    """The changed lines of a text, with one around them, cut where they are many."""
    lines = [
        line.mark + line.text.rstrip("\r\n")
        for hunk in hunks_of(split_lines(before), split_lines(after), context=1)
        for line in hunk.lines
    ]
    return shorten_lines("\n".join(lines), MAX_DIFF_CHARS)


def shorten_lines(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rpartition(chr(10))[0] or text[:limit]}\n…"
