"""`zkchat note link`: mentions of notes become links, one key each."""

from itertools import chain, islice
from typing import Annotated, Final

import typer
from msgspec import Struct

from zkchat.cli.change_display import file_records, print_patch
from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.key_questions import KeyQuestions
from zkchat.cli.mention_dialog import MentionDialog
from zkchat.cli.note_changes import ChangeOptions, DryRunOption, OpenNotes, open_notes
from zkchat.compose.link_style import link_style
from zkchat.errors import UsageError
from zkchat.model.change import ChangeOrigin, ChangeSet
from zkchat.model.patch import patch_of
from zkchat.writing.links.mentions import NO_MENTIONS, ChosenLinks, MentionLink, MentionLinks, StagedLinks, stage_links

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
