"""`zkchat note`: new notes, and changes of those that there are, each shown first and undone by `zkchat undo`."""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from shlex import quote
from typing import Annotated

import typer
from msgspec.structs import replace
from rich.text import Text

from zkchat.app import link_style
from zkchat.cli.common import CommandIO, Told, argument, command, flag, option
from zkchat.cli.editors import edit_file
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.note_changes import (
    DryRunOption,
    OpenNotes,
    UnaskedOption,
    change_notes,
    change_summary,
    note_command,
    open_notes,
    print_patch,
)
from zkchat.cli.note_lookup import NoteArgument
from zkchat.cli.output import UNDO
from zkchat.core import ChangeOrigin, ColorChoice, UsageError, patch_of
from zkchat.index import old_and_new_name
from zkchat.render import sanitize_line, sanitize_text
from zkchat.writing import (
    NO_MENTIONS,
    ChosenLinks,
    MentionGroup,
    MentionLink,
    MentionLinks,
    StagedEdit,
    parse_property_value,
    stage_links,
)


def choose_mentions(questions: KeyQuestions, groups: Iterable[MentionGroup]) -> ChosenLinks | None:
    """Show each mention as the link that it would be, in its line, until there is no more or the user has enough.

    What the user said yes to; None after Ctrl-C.
    """
    chosen: list[tuple[MentionGroup, Sequence[MentionLink]]] = []
    skipped: set[str] = set()
    with questions.listening():
        for group in groups:
            if group.first.target in skipped:
                continue
            questions.show(*_mention_lines(group.first, questions.width))
            count = len(group.links)
            every = [("a", f"all {count} here")] if count > 1 else []
            keys = [("y", "yes"), ("n", "no"), *every, ("s", "skip this name"), ("q", "enough")]
            answer = questions.ask("Link it?", keys, others="a")
            if answer in {"y", "a"}:
                chosen.append((group, group.links if answer == "a" else group.links[:1]))
            elif answer == "s":
                skipped.add(group.first.target)
            elif answer == "q":
                break
    return None if questions.cancelled else chosen


def _mention_lines(link: MentionLink, width: int) -> list[Text]:
    place = Text(sanitize_line(f"{link.source}:{link.line}"), style="bold")
    if f"[[{link.name}" not in link.link:
        place.append(f" names {sanitize_line(link.target)}", style="dim")
    room = max(20, (width - len(link.link) - 4) // 2)
    before, after = (sanitize_text(part).replace("\n", " ") for part in (link.before, link.after))
    shown = Text("  ")
    shown.append(f"…{before[-room:]}" if len(before) > room else before.lstrip(), style="dim")
    shown.append(sanitize_line(link.link), style="bold good")
    shown.append(f"{after[:room]}…" if len(after) > room else after, style="dim")
    return [Text(""), place, shown]


def choose_in_chat(
    io: CommandIO, color: ColorChoice, groups: Iterable[MentionGroup], *, plain: bool
) -> ChosenLinks | None:
    if not io.environment.stdin_is_tty:
        raise UsageError(
            "This asks you about each mention and needs a terminal.",
            hint="In a script: zkchat note link --yes, or --dry-run, which changes nothing.",
        )
    return choose_mentions(KeyQuestions(io, color=color, plain=plain), groups)


app = typer.Typer(
    help="Create notes, and change existing ones.",
    epilog="Each change is shown as a diff and made after you confirm.\nzkchat undo reverts it, zkchat undo --list "
    "lists all changes.",
    no_args_is_help=True,
)

TextArgument = Annotated[list[str] | None, argument("TEXT", "What to write; - is standard input.")]
FolderOrNote = Annotated[str, argument("NOTE", "Its path, its title, or a [[wikilink]]; a folder ends in /.")]


@command(app)
def new(
    io: CommandIO,
    title: Annotated[str, argument("TITLE", "Its name, or its path.")],
    text: TextArgument = None,
    folder: Annotated[str, option("--folder", "PATH", "Where in the vault; / is its top folder.")] = "",
    template: Annotated[str, option("--template", "NAME", "A note in your template folder.")] = "",
    answer: Annotated[
        bool, flag("--answer", "Mark the text as an answer, so that no later answer rests on it.")
    ] = False,
    open_: Annotated[bool, flag("--open", "Then open it in your editor.")] = False,
    yes: UnaskedOption = False,
    dry_run: DryRunOption = False,
) -> Told:
    """Create a note. Never overwrites an existing one.

    Without --folder it goes where Obsidian puts new notes.

    zkchat note new "Compost in winter" "Turn it less often." --folder Garden

    zkchat ask "How long does a heap take?" | zkchat note new "Heap time" - --answer --yes
    """
    if text and len(text) > 1:
        raise UsageError(
            "Give the title and the text as one argument each.",
            hint=f'Quote them: zkchat note new "{" ".join([title, *text])}"',
        )
    if folder and "/" in title:
        raise UsageError(f"{title} already includes a folder.", hint="Give a path or --folder, not both.")
    body = _read_text(io, text or [])
    body += "\n" if body and not body.endswith("\n") else ""
    body = f"---\nzkchat-note: answer\n---\n{body}" if answer else body
    if template and body:
        raise UsageError(
            "Give either a template or a text, not both.", hint="Append the text afterwards: zkchat note append"
        )

    def stage(notes: OpenNotes) -> StagedEdit:
        editor = notes.editing.editor
        if template:
            return editor.create_from_template(template, title, folder)
        return editor.create(title, body, folder)

    made = change_notes(io, "note new", stage, yes=yes, dry_run=dry_run)
    if text is None and not template and io.environment.stdin_is_piped:
        # Not read unasked: in a loop over a file, what is there belongs to others.
        unread = f"Standard input was not read. To add it to the note: zkchat note append {quote(title)} -"
        made = replace(made, notes=[*made.notes, unread])
    if not (open_ and made.data["applied"]):
        return made
    return replace(made, then=lambda: edit_file(io, str(io.workspace().paths.vault / made.data["path"])))


@note_command(app)
def append(
    notes: OpenNotes,
    note: Annotated[str, argument("NOTE", "Its path, its title, or a [[wikilink]], also to a section.")],
    text: TextArgument = None,
    section: Annotated[str, option("--section -s", "HEADING", "To the end of this section.")] = "",
    prepend: Annotated[bool, flag("--prepend", "Right below the section's heading instead.")] = False,
    daily: Annotated[bool, flag("--daily", "To today's daily note, instead of NOTE.")] = False,
) -> StagedEdit:
    """Append a text to a note, or to a section of it.

    Words without quotes are joined with spaces, as echo does.

    A section is its heading, Heading#Subheading, or the ^id of a block. One that does not exist, or exists twice, is
    refused: nothing is ever appended elsewhere.

    zkchat note append Inbox "- [ ] Buy seeds"

    zkchat note append --daily "Slept well." --section Log

    date | zkchat note append "[[Garden#Visits]]" - --yes
    """
    if daily and text:
        raise UsageError("Give either NOTE or --daily, not both.", hint='zkchat note append --daily "A text"')
    body = _read_text(notes.io, [note, *(text or [])] if daily else text or [])
    if not body.strip():
        raise UsageError("Append what?", hint='zkchat note append NOTE "A text", or - for standard input.')
    if prepend and not section and (daily or "#" not in note):
        raise UsageError("--prepend needs a section.", hint="zkchat note append NOTE TEXT --section HEADING --prepend")
    editor = notes.editing.editor
    if daily:
        return editor.append_daily(body, section)
    found = notes.find(note)
    place = section or found.anchor or found.missing_anchor
    if not place:
        return editor.append(found.path, body)
    return editor.edit_section(found.path, place, body, "prepend" if prepend else "append")


@note_command(app)
def rename(
    notes: OpenNotes,
    note: FolderOrNote,
    new_name: Annotated[list[str], argument("NEW", "Its new name, or its new path.")],
) -> StagedEdit:
    """Rename a note or a folder. All links to it are updated.

    A name keeps the note in its folder; a path moves it as well.

    zkchat note rename "Compost heap" Compost

    zkchat note rename Ideas/ Archive/Ideas/
    """
    new = new_name[0]
    if len(new_name) > 1:
        words = (f'"{word}"' if " " in word and "[[" not in word else word for word in (note, *new_name))
        note, new = old_and_new_name(notes.library, " ".join(words), 'zkchat note rename "Raised bed" "Larch bed"')
    return notes.editing.editor.rename(notes.find_path(note), new)


@note_command(app)
def move(
    notes: OpenNotes,
    note: FolderOrNote,
    folder: Annotated[str, argument("PATH", "The folder to move it to; / is the vault.")],
) -> StagedEdit:
    """Move a note or a folder into another folder. All links to it are updated.

    zkchat note move Compost Garden

    zkchat note move Ideas/ Archive/
    """
    return notes.editing.editor.move(notes.find_path(note), folder)


@note_command(app, "set")
def set_(
    notes: OpenNotes,
    note: NoteArgument,
    property_: Annotated[str, argument("PROPERTY", "The name of the property.")],
    values: Annotated[list[str] | None, argument("VALUE", "A number, a day, true, false, or text.")] = None,
    text: Annotated[bool, flag("--text", "Take the value as text, whatever it looks like.")] = False,
    remove: Annotated[bool, flag("--remove", "Remove the property.")] = False,
) -> StagedEdit:
    """Set a property of a note. Only the lines of that property change.

    5 is a number, 2026-03-14 a day, true and false are what they say, everything else is text. Several values are a
    list; one value may also be JSON: ["one"] is a list of one, "5" is text.

    zkchat note set Compost due 2026-03-14

    zkchat note set Compost authors "Ada L." "Grace H."

    zkchat note set Compost due --remove
    """
    if remove == bool(values):
        wrong = "Give either a value or --remove, not both." if remove else f"What should {property_} be?"
        raise UsageError(wrong, hint=f"zkchat note set {note} {property_} VALUE, or --remove")
    value = parse_property_value(values, as_text=text) if values else None
    return notes.editing.editor.set_property(notes.find(note).path, property_, value)


@note_command(app)
def tag(
    notes: OpenNotes, note: NoteArgument, tag_: Annotated[str, argument("TAG", "With or without #.")]
) -> StagedEdit:
    """Add a tag to the properties of a note.

    zkchat note tag Compost garden/soil
    """
    return notes.editing.editor.add_tag(notes.find(note).path, tag_)


@note_command(app)
def trash(notes: OpenNotes, note: NoteArgument) -> StagedEdit:
    """Move a note to the vault's trash, Obsidian's folder .trash.

    Nothing is deleted. Links to it stay, and lead nowhere; you are told how many there are.

    zkchat note trash "Old plan"
    """
    if note.endswith("/"):
        raise UsageError("Only notes can be trashed, not folders.", hint="Give the path of the note.")
    return notes.editing.editor.delete(notes.find(note).path)


@command(app)
def link(
    io: CommandIO,
    note: Annotated[str | None, argument("NOTE", "Its path, its title, or a [[wikilink]].")] = None,
    limit: Annotated[
        int, option("--limit", "N", "Maximum mentions, with --yes or --dry-run.", min=1, show_default=True)
    ] = 100,
    yes: Annotated[bool, flag("--yes -y", "Link the first mention in each note, without asking.")] = False,
    dry_run: DryRunOption = False,
) -> Told:
    """Turn mentions of notes into links, asking about each.

    With NOTE: where other notes mention it without a link, then where it mentions others. Without: mentions in the
    notes that changed last. A note that already links to the other one is skipped, and so are names that are ordinary
    words, such as Ideas, unless NOTE has that name. zkchat undo reverts all of them at once.

    zkchat note link "Evergreen notes"

    zkchat note link --dry-run --limit 20
    """
    if not (yes or dry_run or io.environment.stdin_is_tty):
        raise UsageError(
            "Nothing was changed. This asks you about each mention and needs a terminal.",
            hint="To link without being asked: --yes; to only show the diff: --dry-run",
        )
    with open_notes(io) as notes:
        style = link_style(notes.workspace.paths.vault)
        groups = MentionLinks(notes.library, notes.editing.staged.read, style).about(
            notes.find(note).path if note else None
        )
        if (first := next(groups, None)) is None:
            nothing = change_summary(None, None, (), links=[]) | {"diff": ""}
            return Told(data=nothing, notes=[NO_MENTIONS])
        groups = chain([first], groups)
        chosen: ChosenLinks | None
        if yes or dry_run:
            chosen = [(group, group.links[:1]) for group in islice(groups, limit)]
        else:
            chosen = choose_mentions(KeyQuestions(io, color=notes.workspace.settings.ui.colors), groups)
        why = "this is a dry run" if dry_run else "you left" if chosen is None else "no mention was chosen"
        return _link_all(notes, chosen or [], why_not=why, dry_run=dry_run)


def _link_all(notes: OpenNotes, chosen: ChosenLinks, *, why_not: str, dry_run: bool) -> Told:
    """Stage what was chosen, apply it, and tell."""
    io, staged = notes.io, stage_links(notes.editing.staged, chosen)
    changes = notes.editing.staged.change_set()
    links = [
        {"source": each.source, "line": each.line, "text": each.text, "link": each.link, "path": each.target}
        for each in staged.links
    ]
    if dry_run or not changes:
        return Told(
            data=change_summary(changes, None, staged.remarks, links=links) | {"diff": patch_of(changes)},
            show=lambda: print_patch(io, changes),
            notes=[*staged.remarks, f"Nothing was changed: {why_not}."],
        )
    record = notes.editing.store.apply(changes, ChangeOrigin(command="note link"))
    return Told(
        data=change_summary(record.changes, record.id, staged.remarks, links=links),
        lines=[staged.summary],
        notes=[*staged.remarks, *[UNDO] * io.environment.stdout_is_tty],
    )


def _read_text(io: CommandIO, words: list[str]) -> str:
    """The text that the words of a command line are, or that comes from standard input."""
    if words != ["-"]:
        return " ".join(words)
    try:
        return io.environment.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("The input is not UTF-8 text.") from error
