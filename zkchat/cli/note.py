"""`zkchat note`: new notes, and changes of those that there are, each shown first and undone by `zkchat undo`."""

from typing import Annotated

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.link_mentions import link
from zkchat.cli.note_changes import ChangeOptions, DryRunOption, OpenNotes, UnaskedOption, change_notes
from zkchat.cli.note_lookup import NoteArgument
from zkchat.errors import UsageError
from zkchat.model.choices import SectionPosition
from zkchat.writing.editor import StagedEdit
from zkchat.writing.properties.values import parse_property_value

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
