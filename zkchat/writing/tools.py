"""Tools that propose changes of notes. Nothing is written before the user has agreed."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from zkchat.errors import EditRefused
from zkchat.model.choices import SectionPosition
from zkchat.model.line_diff import hunks_of, split_lines
from zkchat.model.note import is_note
from zkchat.model.patterns import lazy_pattern
from zkchat.model.references import DocumentReference
from zkchat.ports.tools import Tool, ToolOutcome
from zkchat.tools.argument_kinds import Number, OneOf, Text, WrongValue
from zkchat.tools.arguments import Arguments
from zkchat.tools.explore import NotePath, OneNote
from zkchat.tools.readings import Readings
from zkchat.tools.registry import FunctionTool
from zkchat.tools.toolbox import failure
from zkchat.vault.notes.shown import shown_text
from zkchat.vault.privacy.classes import written_class
from zkchat.writing.editor import NoteEditor, StagedEdit
from zkchat.writing.properties.values import PropertyScalar, parse_property_value

PROPOSED: Final = "Proposed, not done: the user decides when you have answered."
MAX_DIFF_CHARS: Final = 1500
"""Characters of a diff that a model is shown of what it did."""
MAX_SECTION_CHARS: Final = 4000
"""Characters of a section that a model is given to try again."""
_CODE: Final = lazy_pattern(r"<%|^[ \t>]*(?:```+|~~~+)[ \t]*(?:dataviewjs|js-engine|jsx:|run-)|`\$=", re.MULTILINE)
"""What plugins of Obsidian run: Templater, Dataview, JS Engine, React, Execute Code."""

Content = Annotated[str, Text(also=("content", "body", "markdown"))]


class CreateDocument(Arguments, frozen=True, kw_only=True):
    relative_path: Annotated[
        str,
        Text(
            description="Path or title",
            min_length=1,
            also=("path", "title", "note", "file", "name"),
        ),
    ]
    text: Content


class EditDocument(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    old: Annotated[str, Text(min_length=1, also=("old_string", "old_text", "search"))]
    new: Annotated[str, Text(also=("new_string", "new_text", "replace"))]
    expected: Annotated[int, Number(at_least=1, also=("count",))] = 1


class EditSection(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    section: Annotated[
        str,
        Text(
            description="Heading, Heading#Sub, ^block; empty: end of note",
            also=("heading", "place", "target", "anchor"),
        ),
    ] = ""
    text: Content
    position: Annotated[
        SectionPosition,
        OneOf(choices=get_args(SectionPosition), description="append, prepend, replace, before, after"),
    ] = "append"
    include_children: bool = False


class _PropertyValue(Struct, frozen=True, kw_only=True):
    """One value, a list of values, or nothing."""

    description: str
    also: tuple[str, ...] = ()

    def read(self, value: object) -> object:
        if value is None or isinstance(value, str | int | float):
            return value
        wrong = "list[union[str,int,float,bool,date]]", "Input should be a valid list"
        if isinstance(value, list):
            odd = next((place for place, each in enumerate(value) if not isinstance(each, str | int | float)), None)
            if odd is None:
                return value
            wrong = f"{wrong[0]}.{odd}.str", "Input should be a valid string"
        raise WrongValue(
            ("str", "Input should be a valid string"),
            ("bool", "Input should be a valid boolean"),
            ("int", "Input should be a valid integer"),
            ("float", "Input should be a valid number"),
            wrong,
        )

    def schema(self) -> dict[str, Any]:
        string, boolean, integer, number = ({"type": name} for name in ("string", "boolean", "integer", "number"))
        items = {"anyOf": [string, integer, number, boolean, {"format": "date", **string}]}
        listed = {"items": items, "type": "array"}
        return {"anyOf": [string, boolean, integer, number, listed, {"type": "null"}], "description": self.description}


class SetProperty(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    key: Annotated[str, Text(min_length=1, also=("property", "field"))]
    value: Annotated[
        str | bool | int | float | list[PropertyScalar] | None, _PropertyValue(description="null removes it")
    ]


class AddTag(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    tag: Annotated[str, Text(min_length=1)]


class AppendDaily(Arguments, frozen=True, kw_only=True):
    text: Content
    section: Annotated[str, Text(also=("heading",))] = ""


class CreateFromTemplate(Arguments, frozen=True, kw_only=True):
    template: Annotated[str, Text(min_length=1)]
    title: Annotated[str, Text(min_length=1, also=("relative_path", "path", "name", "note"))]


class RenameDocument(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    new_name: Annotated[str, Text(min_length=1, also=("new", "new_path", "target", "to"))]


class MoveDocument(Arguments, frozen=True, kw_only=True):
    relative_path: NotePath
    folder: Annotated[str, Text(also=("to", "target", "new_folder", "directory"))]


def write_tools(editor: NoteEditor, readings: Readings | None = None) -> list[Tool]:
    """One row for each tool. Descriptions are short: they are sent with every request while writing is on."""
    write = _Write(editor, readings or Readings(editor.library))
    return [
        FunctionTool("create_document", "Create a note.", CreateDocument, write.create_document),
        FunctionTool(
            "edit_document", "Replace an exact passage of a note, copied from it.", EditDocument, write.edit_document
        ),
        FunctionTool("edit_section", "Add to or replace a section of a note.", EditSection, write.edit_section),
        FunctionTool("set_property", "Set a frontmatter property.", SetProperty, write.set_property),
        FunctionTool("add_tag", "Tag a note.", AddTag, write.add_tag),
        FunctionTool("append_daily", "Append to today's note.", AppendDaily, write.append_daily),
        FunctionTool(
            "create_from_template", "Create a note from a template.", CreateFromTemplate, write.create_from_template
        ),
        FunctionTool("rename_document", "Rename a note; links follow.", RenameDocument, write.rename_document),
        FunctionTool("move_document", "Move a note to a folder; links follow.", MoveDocument, write.move_document),
        FunctionTool("delete_document", "Move a note to the trash.", OneNote, write.delete_document),
    ]


class _Write:
    def __init__(self, editor: NoteEditor, readings: Readings) -> None:
        self._editor = editor
        self._staged = editor.staged
        self._readings = readings

    def create_document(self, wanted: CreateDocument) -> ToolOutcome:
        return self._new(self._editor.create(wanted.relative_path, wanted.text))

    def create_from_template(self, wanted: CreateFromTemplate) -> ToolOutcome:
        return self._new(self._editor.create_from_template(wanted.template, wanted.title))

    def edit_document(self, wanted: EditDocument) -> ToolOutcome:
        return self._edited(
            wanted.relative_path,
            lambda path: self._editor.edit(path, wanted.old, wanted.new, wanted.expected),
        )

    def edit_section(self, wanted: EditSection) -> ToolOutcome:
        if not wanted.section:
            if wanted.position != "append":
                raise EditRefused(f"To {wanted.position}, name a section.", hint="Without one, text is appended.")
            return self._edited(wanted.relative_path, lambda path: self._editor.append(path, wanted.text))
        with self._staged.holding(self._editor.find(wanted.relative_path)):
            if wanted.position == "replace" and (
                refusal := self._unknown(wanted.relative_path, wanted.section, must_be_read=True)
                or self._partly_read(wanted.relative_path, wanted.section, wanted.include_children)
            ):
                return refusal
            return self._edited(
                wanted.relative_path,
                lambda path: self._editor.edit_section(
                    path, wanted.section, wanted.text, wanted.position, wanted.include_children
                ),
            )

    def set_property(self, wanted: SetProperty) -> ToolOutcome:
        value = parse_property_value([wanted.value]) if isinstance(wanted.value, str) else wanted.value
        with self._staged.holding(self._editor.find(wanted.relative_path)):
            return self._unknown(wanted.relative_path) or self._edited(
                wanted.relative_path, lambda path: self._editor.set_property(path, wanted.key, value)
            )

    def add_tag(self, wanted: AddTag) -> ToolOutcome:
        return self._edited(wanted.relative_path, lambda path: self._editor.add_tag(path, wanted.tag))

    def append_daily(self, wanted: AppendDaily) -> ToolOutcome:
        edit = self._editor.append_daily(wanted.text, wanted.section)
        return self._outcome(edit, ("",) if not edit.before else ())

    def rename_document(self, wanted: RenameDocument) -> ToolOutcome:
        is_named = is_note(self._editor.find_any(wanted.relative_path))
        if is_named and (unknown := self._unknown(wanted.relative_path)):
            return unknown
        return self._moved(wanted.relative_path, lambda path: self._editor.rename(path, wanted.new_name))

    def move_document(self, wanted: MoveDocument) -> ToolOutcome:
        return self._moved(wanted.relative_path, lambda path: self._editor.move(path, wanted.folder))

    def delete_document(self, wanted: OneNote) -> ToolOutcome:
        if unknown := self._unknown(wanted.relative_path, must_be_read=True):
            return unknown
        given, total = self._readings.given_share(self._editor.find(wanted.relative_path))
        edit = self._editor.delete(wanted.relative_path)
        if given < total:
            partly = f"The model read {given:,} of {total:,} characters of {edit.path}."
            edit = replace(edit, remarks=(partly, *edit.remarks))
        self._mark(edit)
        return ToolOutcome(text=self._told(edit), summary=edit.title, stages_change=True)

    def _unknown(self, target: str, place: str = "", *, must_be_read: bool = False) -> ToolOutcome | None:
        """The refusal of what would be done to a note that is not what the model was given, which shows it as it is."""
        path = self._editor.find(target)
        knowledge = self._readings.knowledge(path, place)
        if knowledge == "current" or (knowledge == "unread" and not must_be_read):
            return None
        changed = knowledge == "changed"
        what = f"{path} has changed since you read it." if changed else f"You have not read {path} yet."
        diff = self._readings.change(path) if changed else ""
        parts = [what, *([f"What changed:\n{shorten_lines(diff, MAX_DIFF_CHARS)}"] if diff else [])]
        return self._refusal(path, place, *parts)

    def _partly_read(self, target: str, place: str, include_children: bool) -> ToolOutcome | None:
        """The refusal of a replacement of what the model was given only in part."""
        path = self._editor.find(target)
        if self._readings.was_given(path, place, include_children=include_children):
            return None
        given, total = self._readings.given_share(path)
        what = f"You have read {given:,} of {total:,} characters of {path}, and not all of what you replace."
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
        note = f"{path} has changed since you read it; this is applied to its present text."
        return self._outcome(edit, places, note)

    def _new(self, edit: StagedEdit) -> ToolOutcome:
        self._readings.proposed(edit.path)
        self._readings.wrote(edit.path, edit.after)
        self._mark(edit)
        return ToolOutcome(text=self._told(edit), summary=edit.title, stages_change=True)

    def _moved(self, target: str, act: Callable[[str], StagedEdit]) -> ToolOutcome:
        source = self._editor.find_any(target)
        places = self._readings.current_places(source) if is_note(source) else frozenset()
        edit = act(source)
        if is_note(source):
            self._readings.proposed(edit.path, places, source)
        self._mark(edit)
        return ToolOutcome(text=self._told(edit), summary=edit.title, stages_change=True)

    def _outcome(self, edit: StagedEdit, known_places: Iterable[str], note: str = "") -> ToolOutcome:
        self._readings.proposed(edit.path, known_places)
        self._readings.wrote(edit.path, _added(edit.before, edit.after))
        self._mark(edit)
        library = self._editor.library
        reference = DocumentReference(
            wikilink=library.link_to(edit.path),
            relative_path=edit.path,
            reference_type="search",
            title=library.title(edit.path),
            included=True,
        )
        is_on_disk = edit.path not in self._staged.new_paths
        return ToolOutcome(
            text=self._told(edit, note),
            references=(reference,) if is_on_disk else (),
            summary=edit.title,
            stages_change=True,
        )

    def _told(self, edit: StagedEdit, note: str = "") -> str:
        before, after = (shown_text(text) for text in (edit.before, edit.after))
        diff = diff_of(before, after) if before and after else ""
        return "\n".join(filter(None, [f"{edit.title}. {PROPOSED}", note, edit.follow, *edit.remarks, diff]))

    def _mark(self, edit: StagedEdit) -> None:
        """Note why the user has to be asked about this change whatever folders are accepted."""
        reasons = [
            f"The model first read {path}, a web clipping, in this turn." for path in self._readings.first_clippings()
        ]
        if len(_CODE.findall(edit.after)) > len(_CODE.findall(edit.before)):
            reasons.append(f"{edit.path} would hold code that plugins of Obsidian may run.")
        if edit.before and edit.after and written_class(edit.before) != written_class(edit.after):
            reasons.append(f"It changes which models may see {edit.path}.")
        self._staged.reasons_to_ask += [each for each in reasons if each not in self._staged.reasons_to_ask]
        self._staged.remarks += [each for each in edit.remarks if each not in self._staged.remarks]


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
