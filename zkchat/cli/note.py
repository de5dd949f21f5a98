"""`zkchat note`: new notes, and changes of those that there are, each shown first and undone by `zkchat undo`."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec import Struct
from rich.text import Text

from zkchat.app import link_style
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.note_changes import (
    ChangeOptions,
    DryRunOption,
    OpenNotes,
    UnaskedOption,
    change_notes,
    file_records,
    open_notes,
    print_patch,
)
from zkchat.cli.note_lookup import NoteArgument
from zkchat.core import ChangeOrigin, ChangeSet, SectionPosition, UsageError, patch_of
from zkchat.render import sanitize_line, sanitize_text
from zkchat.writing import (
    NO_MENTIONS,
    ChosenLinks,
    LinkStyle,
    MentionGroup,
    MentionLink,
    MentionLinks,
    StagedEdit,
    StagedLinks,
    parse_property_value,
    stage_links,
)

_MIN_CONTEXT: Final = 20
"""Characters that are shown at least before and after a mention."""


class MentionDialog:
    """Shows each mention as the link that it would be, in its line."""

    def __init__(self, questions: KeyQuestions) -> None:
        self._questions = questions

    def choose(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        """What the user said yes to, until there is no more or the user has enough; None after Ctrl-C."""
        chosen: list[tuple[MentionGroup, Sequence[MentionLink]]] = []
        skipped: set[str] = set()
        with self._questions.listening():
            for group in groups:
                if group.first.target in skipped:
                    continue
                answer = self._ask(group)
                if answer == "y":
                    chosen.append((group, group.links[:1]))
                elif answer == "a":
                    chosen.append((group, group.links))
                elif answer == "s":
                    skipped.add(group.first.target)
                elif answer == "q":
                    break
        return None if self._questions.cancelled else chosen

    def _ask(self, group: MentionGroup) -> str:
        self._questions.show(*self._lines(group.first))
        count = len(group.links)
        every = [("a", f"all {count} here")] if count > 1 else []
        keys = [("y", "yes"), ("n", "no"), *every, ("s", "skip this name"), ("q", "enough")]
        return self._questions.ask("Link it?", keys, others="a")

    def _lines(self, link: MentionLink) -> list[Text]:
        place = Text(sanitize_line(f"{link.source}:{link.line}"), style="bold")
        if f"[[{link.name}" not in link.link:
            place.append(f" names {sanitize_line(link.target)}", style="dim")
        room = max(_MIN_CONTEXT, (self._questions.width - len(link.link) - 4) // 2)
        before, after = (sanitize_text(part).replace("\n", " ") for part in (link.before, link.after))
        shown = Text("  ")
        shown.append(f"…{before[-room:]}" if len(before) > room else before.lstrip(), style="dim")
        shown.append(sanitize_line(link.link), style="bold green")
        shown.append(f"{after[:room]}…" if len(after) > room else after, style="dim")
        return [Text(""), place, shown]


class ChatMentions(Struct, frozen=True):
    """Implements `repl.command_context.MentionChooser`."""

    io: CommandIO
    vault: Path
    color: str = "auto"
    plain: bool = False

    @property
    def style(self) -> LinkStyle:
        return link_style(self.vault)

    def choose(self, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
        if not self.io.environment.stdin_is_tty:
            raise UsageError(
                "You are asked about each mention, and here is no terminal to ask at.",
                hint="In a shell: zkchat note link --yes, or --dry-run.",
            )
        return MentionDialog(KeyQuestions(self.io, color=self.color, plain=self.plain)).choose(groups)


_DEFAULT_LIMIT: Final = 100
_HERE_IS_NO_TERMINAL: Final = (
    "Nothing was changed. You are asked about each mention, and here is no terminal to ask at."
)


def link(
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="Its path, its title, or a [[wikilink]].", show_default=False)
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="Mentions at most, with --yes or --dry-run.")
    ] = _DEFAULT_LIMIT,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Link the first mention in each note, unasked.")] = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Turn mentions of notes into links, one key each.

    With NOTE: where other notes name it without a link to it, then where it names others. Without: what the notes name
    that changed last. A note that links to the other one already is left alone, and so are names that are ordinary
    words, such as Ideas, unless NOTE has that name. All links that you say yes to are one change for zkchat undo.

    zkchat note link "Evergreen notes"

    zkchat note link --dry-run --limit 20
    """
    io = current_io()
    options = ChangeOptions("note link", vault, yes, dry_run, json_output)
    if not (yes or dry_run or io.environment.stdin_is_tty):
        raise UsageError(_HERE_IS_NO_TERMINAL, hint="Link without a question: --yes; only show the diff: --dry-run")
    with open_notes(io, vault) as notes:
        style = link_style(notes.workspace.paths.vault)
        path = notes.find(note).path if note else None
        groups = MentionLinks(notes.library, notes.editing.staged.read, style).about(path)
        chosen: ChosenLinks | None
        if (first := next(groups, None)) is None and not json_output:
            io.note(NO_MENTIONS)
            return
        groups = chain([first] if first else [], groups)
        if yes or dry_run:
            chosen = [(group, group.links[:1]) for group in islice(groups, limit)]
        else:
            chosen = MentionDialog(KeyQuestions(io, color=notes.workspace.settings.ui.color)).choose(groups)
        _apply(notes, options, chosen or [], cancelled=chosen is None)


def _apply(notes: OpenNotes, options: ChangeOptions, chosen: ChosenLinks, *, cancelled: bool) -> None:
    """Stage what was chosen, apply it, and tell."""
    staged = stage_links(notes.editing.staged, chosen)
    changes = notes.editing.staged.change_set()
    report = _Report(notes.io, options, staged)
    if options.dry_run or not changes:
        report.tell_unchanged(changes, cancelled=cancelled)
        return
    record = notes.editing.store.apply(changes, ChangeOrigin(command=options.command))
    report.tell_applied(record.changes, record.id)


class _Report(Struct, frozen=True):
    io: CommandIO
    options: ChangeOptions
    staged: StagedLinks

    def tell_unchanged(self, changes: ChangeSet, *, cancelled: bool) -> None:
        if self.options.json:
            self.io.json({**self._record(changes, None), "diff": patch_of(changes)})
            return
        print_patch(self.io, changes)
        self._tell_remarks()
        why = "this is a dry run" if self.options.dry_run else "you left" if cancelled else "no mention was chosen"
        self.io.note(f"Nothing was changed: {why}.")

    def tell_applied(self, changes: ChangeSet, number: int) -> None:
        if self.options.json:
            self.io.json(self._record(changes, number))
            return
        self.io.out(self.staged.summary)
        self._tell_remarks()
        if self.io.environment.stdout_is_tty:
            self.io.note("zkchat undo takes it back.")

    def _record(self, changes: ChangeSet, number: int | None) -> dict[str, object]:
        return {
            "id": number,
            "applied": number is not None,
            "links": [_link_record(each) for each in self.staged.links],
            "files": file_records(changes),
            "remarks": self.staged.remarks,
        }

    def _tell_remarks(self) -> None:
        for remark in self.staged.remarks:
            self.io.note_wrapped(remark)


def _link_record(link: MentionLink) -> dict[str, object]:
    return {
        "source": link.source, "line": link.line, "text": link.text, "link": link.link, "path": link.target
    }  # fmt: skip


app = typer.Typer(
    help="Write notes: new ones, and changes of those that there are.",
    epilog="Each change is shown as a diff and made after your yes.\n"
    "zkchat undo takes it back, zkchat changes lists them all.",
    no_args_is_help=True,
)

TextArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TEXT", help="What to write; - is standard input.", show_default=False)
]
NoteOrSection = Annotated[
    str,
    typer.Argument(
        metavar="NOTE", help="Its path, its title, or a [[wikilink]], also to a section.", show_default=False
    ),
]
SectionOption = Annotated[
    str, typer.Option("--section", "-s", metavar="HEADING", help="To the end of this section.", show_default=False)
]
FolderOrNote = Annotated[
    str,
    typer.Argument(
        metavar="NOTE", help="Its path, its title, or a [[wikilink]]; a folder ends in /.", show_default=False
    ),
]
FolderOption = Annotated[
    str, typer.Option("--folder", metavar="PATH", help="Where in the vault; / is its top folder.", show_default=False)
]


@app.command()
def new(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Its name, or its path.", show_default=False)],
    text: TextArgument = None,
    folder: FolderOption = "",
    template: Annotated[
        str, typer.Option("--template", metavar="NAME", help="A note of your template folder.", show_default=False)
    ] = "",
    open_: Annotated[bool, typer.Option("--open", help="Then open it in your editor.")] = False,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Make a new note. Never over one that is there.

    Without --folder it goes where Obsidian puts new notes.

    zkchat note new "Compost in winter" "Turn it less often." --folder Garden

    pbpaste | zkchat note new Clipping - --yes
    """
    io = current_io()
    if text and len(text) > 1:
        raise UsageError(
            "A title and a text are one argument each.",
            hint=f'Quote them: zkchat note new "{" ".join([title, *text])}"',
        )
    if folder and "/" in title:
        raise UsageError(f"{title} says already in which folder it is.", hint="Name its path, or --folder.")
    body = _read_text(io, text or [])
    body += "\n" if body and not body.endswith("\n") else ""
    if template and body:
        raise UsageError(
            "A note is made of a template or of a text.", hint="Append the text afterwards: zkchat note append"
        )

    def stage(notes: OpenNotes) -> StagedEdit:
        editor = notes.editing.editor
        if template:
            return editor.create_from_template(template, title, folder)
        return editor.create(title, body, folder)

    made = change_notes(io, ChangeOptions("note new", vault, yes, dry_run, json_output), stage)
    if made and open_:
        from zkchat.cli.editors import edit_file

        edit_file(io, str(made))


@app.command()
def append(
    note: NoteOrSection,
    text: TextArgument = None,
    section: SectionOption = "",
    prepend: Annotated[bool, typer.Option("--prepend", help="Right below the section's heading instead.")] = False,
    daily: Annotated[bool, typer.Option("--daily", help="To today's daily note; no NOTE is named then.")] = False,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Append a text to a note, or to a section of it.

    Words without quotes are joined with spaces, as echo does.

    A section is its heading, Heading#Subheading, or the ^id of a block. One that is not there, or is there twice, is
    refused: nothing is ever appended elsewhere.

    zkchat note append Inbox "- [ ] Buy seeds"

    zkchat note append --daily "Slept well." --section Log

    date | zkchat note append "[[Garden#Visits]]" - --yes
    """
    io = current_io()
    if daily and text:
        raise UsageError("--daily takes the place of NOTE.", hint='zkchat note append --daily "A text"')
    body = _read_text(io, [note, *(text or [])] if daily else text or [])
    if not body.strip():
        raise UsageError("What shall be appended?", hint='zkchat note append NOTE "A text", or - for standard input.')
    if prepend and not section and (daily or "#" not in note):
        raise UsageError("--prepend needs a section.", hint="zkchat note append NOTE TEXT --section HEADING --prepend")

    def stage(notes: OpenNotes) -> StagedEdit:
        if daily:
            return notes.editing.editor.append_daily(body, section)
        return _append(notes, note, section, body, "prepend" if prepend else "append")

    change_notes(io, ChangeOptions("note append", vault, yes, dry_run, json_output), stage)


def _append(notes: OpenNotes, note: str, section: str, text: str, position: SectionPosition) -> StagedEdit:
    """Append to a note, or to the section of it that an option or the link names."""
    editor, found = notes.editing.editor, notes.find(note)
    place = section or found.anchor or found.missing_anchor
    return editor.edit_section(found.path, place, text, position) if place else editor.append(found.path, text)


@app.command()
def rename(
    note: FolderOrNote,
    new_name: Annotated[str, typer.Argument(metavar="NEW", help="Its new name, or its new path.", show_default=False)],
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Rename a note or a folder. Every link to it follows.

    A name keeps the note in its folder; a path moves it as well.

    zkchat note rename "Compost heap" Compost

    zkchat note rename Ideas/ Archive/Ideas/
    """

    def stage(notes: OpenNotes) -> StagedEdit:
        return notes.editing.editor.rename(notes.find_path(note), new_name)

    change_notes(current_io(), ChangeOptions("note rename", vault, yes, dry_run, json_output), stage)


@app.command()
def move(
    note: FolderOrNote,
    folder: Annotated[
        str, typer.Argument(metavar="PATH", help="The folder to move it to; / is the vault.", show_default=False)
    ],
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Move a note or a folder into another folder. Every link to it follows.

    zkchat note move Compost Garden

    zkchat note move Ideas/ Archive/
    """

    def stage(notes: OpenNotes) -> StagedEdit:
        return notes.editing.editor.move(notes.find_path(note), folder)

    change_notes(current_io(), ChangeOptions("note move", vault, yes, dry_run, json_output), stage)


@app.command(name="set")
def set_(
    note: NoteArgument,
    property_: Annotated[str, typer.Argument(metavar="PROPERTY", help="The name of the property.", show_default=False)],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="VALUE", help="A number, a day, true, false, or text.", show_default=False),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Take the value as text, whatever it looks like.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the property.")] = False,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Set a property of a note. Nothing but the lines of that property changes.

    5 is a number, 2026-03-14 a day, true and false are what they say, everything else is text. Several values are a
    list; one value may also be JSON: ["one"] is a list of one, "5" is text.

    zkchat note set Compost due 2026-03-14

    zkchat note set Compost authors "Ada L." "Grace H."

    zkchat note set Compost due --remove
    """
    if remove == bool(values):
        wrong = "A property is set to a value, or removed." if remove else f"What shall {property_} be?"
        raise UsageError(wrong, hint=f"zkchat note set {note} {property_} VALUE, or --remove")
    value = parse_property_value(values, as_text=text) if values else None

    def stage(notes: OpenNotes) -> StagedEdit:
        return notes.editing.editor.set_property(notes.find(note).path, property_, value)

    change_notes(current_io(), ChangeOptions("note set", vault, yes, dry_run, json_output), stage)


@app.command()
def tag(
    note: NoteArgument,
    tag_: Annotated[str, typer.Argument(metavar="TAG", help="With or without #.", show_default=False)],
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Add a tag to the properties of a note.

    zkchat note tag Compost garden/soil
    """

    def stage(notes: OpenNotes) -> StagedEdit:
        return notes.editing.editor.add_tag(notes.find(note).path, tag_)

    change_notes(current_io(), ChangeOptions("note tag", vault, yes, dry_run, json_output), stage)


@app.command()
def trash(
    note: NoteArgument,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Move a note to the trash of the vault, the folder .trash of Obsidian.

    Nothing is deleted. Links to it stay as they are, and lead nowhere; you are told how many there are.

    zkchat note trash "Old plan"
    """

    def stage(notes: OpenNotes) -> StagedEdit:
        if note.endswith("/"):
            raise UsageError("Only notes can be trashed, not folders.", hint="Name the note by its path.")
        return notes.editing.editor.delete(notes.find(note).path)

    change_notes(current_io(), ChangeOptions("note trash", vault, yes, dry_run, json_output), stage)


app.command()(link)


def _read_text(io: CommandIO, words: list[str]) -> str:
    """The text that the words of a command line are, or that comes from standard input."""
    if words != ["-"]:
        return " ".join(words)
    try:
        return io.environment.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("The input is not text in UTF-8.") from error
