"""What lets the model of a conversation propose changes of notes."""

from collections.abc import Sequence

from msgspec import Struct, field

from zkchat.compose.link_style import vault_conventions
from zkchat.compose.local_notes import local_globs
from zkchat.compose.user_interface import UNATTENDED, UserInterface
from zkchat.compose.workspace import Workspace
from zkchat.compose.writing import link_follower, stage_over
from zkchat.compose.writing_options import WritingOptions
from zkchat.model.change import ChangeSet
from zkchat.model.patch import path_before, text_of
from zkchat.ports.changes import ChangeStore
from zkchat.ports.models import LocatedModel
from zkchat.ports.tools import Tool
from zkchat.tools.readings import Readings
from zkchat.vault.library import GuardedLibrary, Library
from zkchat.vault.privacy.classes import privacy_of_text
from zkchat.writing.proposals import Proposals
from zkchat.writing.review import ReviewPolicy
from zkchat.writing.staging import StagedChanges


class ProposalParts(Struct, kw_only=True):
    """What proposals are made of; opened with the conversation, used once writing is switched on."""

    workspace: Workspace
    model: LocatedModel
    store: ChangeStore
    staged: StagedChanges
    options: WritingOptions
    user_interface: UserInterface = UNATTENDED
    local_globs: Sequence[str] = field(default_factory=tuple)

    def proposals(self, library: GuardedLibrary, readings: Readings) -> Proposals:
        """Proposals over the notes that the model may see, which show what is staged, and what it was given of them."""
        write, options = self.workspace.settings.write, self.options
        return Proposals(
            staged=self.staged,
            store=self.store,
            make_tools=lambda: self._tools(library, readings),
            reviewer=self.user_interface.change_reviewer,
            policy=ReviewPolicy(
                mode=write.mode,
                accept=tuple(write.accept),
                assumes_yes=options.assumes_yes,
                is_dry_run=options.proposes_only,
            ),
            is_withheld=lambda changes, path: self.is_withheld(library, changes, path),
            follow_links=link_follower(self.workspace, library, self.store),
            is_on=write.enabled if options.enabled is None else options.enabled,
        )

    def _tools(self, library: Library, readings: Readings) -> list[Tool]:
        from zkchat.writing.editor import NoteEditor
        from zkchat.writing.tools import write_tools

        vault, now = self.workspace.paths.vault, self.workspace.environment.now
        return write_tools(NoteEditor(library, self.staged, vault_conventions(vault), now, for_model=True), readings)

    def is_withheld(self, library: GuardedLibrary, changes: ChangeSet, path: str) -> bool:
        """Whether a path is, was or will be a note that the model may not see."""
        before = path_before(changes, path)
        if library.hidden() & {path, before}:
            return True
        texts = [
            text_of(content)
            for write in changes.writes
            if write.path == path
            for content in (write.before, write.after)
        ]
        classes = {privacy_of_text(text, place, self.local_globs) for text in texts or [""] for place in (path, before)}
        return "never" in classes or ("local" in classes and not self.model.info.on_this_machine)


def proposals_over(
    store: ChangeStore,
    workspace: Workspace,
    model: LocatedModel,
    user_interface: UserInterface,
    options: WritingOptions,
    local_only: Sequence[str] | None = None,
) -> ProposalParts:
    """What proposals are made of, with nothing staged yet over the files of a store.

    `local_only`: the patterns of local notes, where they may change meanwhile.
    """
    return ProposalParts(
        workspace=workspace,
        model=model,
        store=store,
        staged=stage_over(store),
        options=options,
        user_interface=user_interface,
        local_globs=local_globs(workspace) if local_only is None else local_only,
    )
