"""The tools of a model that may propose changes, over a small vault."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import Located, library_of
from zkchat.chat.context.formatting import documents_in
from zkchat.chat.tools.explore import explore_tools
from zkchat.chat.tools.readings import GivenBefore, Readings
from zkchat.chat.tools.registry import Toolbox
from zkchat.core.message import ToolCallPart
from zkchat.core.ports import ToolOutcome
from zkchat.index.library import Library
from zkchat.writing.editor import NoteEditor
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import VaultConventions
from zkchat.writing.tools import write_tools

NOW = datetime(2026, 3, 1, 9, 5).astimezone()


class MessagesBefore(GivenBefore):
    """What was given of a note is all of it, unless `parts` say less."""

    def __init__(self, notes: Mapping[str, str] | None = None) -> None:
        self.notes = notes or {}
        self.parts: dict[str, list[str]] = {}
        self.turn = 1
        self.earlier: dict[str, str] = {}
        self.linked: dict[str, str] = {}

    def question(self) -> tuple[str, Mapping[str, str]]:
        return str(self.turn), self.linked

    def before(self) -> Mapping[str, str]:
        return self.earlier

    def texts(self, path: str, /) -> Sequence[str]:
        is_whole = path in {*self.earlier, *self.linked} and path in self.notes
        return self.parts.get(path, [self.notes[path]] if is_whole else [])


class WriteDesk:
    """Calls tools as the tool loop does."""

    def __init__(
        self, library: Library, notes: Mapping[str, str], model: Located, conventions: VaultConventions
    ) -> None:
        self.files = FilesInMemory(notes)
        self.staged = StagedChanges(self.files)
        self.library = library.overlaid(self.staged).guarded_for(model)
        self.messages = MessagesBefore(notes)
        self.readings = Readings(self.library, self.messages)
        editor = NoteEditor(self.library, self.staged, conventions, lambda: NOW, for_model=True)
        self.box = Toolbox([*explore_tools(self.library, lambda: NOW), *write_tools(editor, self.readings)])

    def call(self, tool: str, **arguments: object) -> ToolOutcome:
        call = ToolCallPart(call_id="c", name=tool, arguments=json.dumps(arguments))
        outcome = asyncio.run(self.box.call(call))
        self.readings.see(outcome.references, documents_in(outcome.text))
        return outcome

    @property
    def written(self) -> dict[str, str]:
        return {write.path: write.after.decode() for write in self.staged.change_set().writes}


@contextmanager
def write_desk(
    folder: Path, notes: dict[str, str], *, here: bool = False, conventions: VaultConventions | None = None
) -> Iterator[WriteDesk]:
    with library_of(folder, notes) as library:
        yield WriteDesk(library, notes, Located(on_this_machine=here), conventions or VaultConventions())
