"""A vault for one host: opened with the first call that needs it, up to date before each, used by one thread."""

import asyncio
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from hashlib import sha256
from mimetypes import MimeTypes
from typing import Final, NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote

import mcp_types as types
from msgspec import Struct
from msgspec.structs import replace

from zkchat.app import UNATTENDED, Notices, ProposalParts, UserInterface, Workspace, WritingOptions, open_change_store
from zkchat.chat import (
    Elsewhere,
    GivenBefore,
    Readings,
    Toolbox,
    changed_paths,
    documents_in,
    explore_tools,
    sentence_about,
)
from zkchat.core import (
    Ambiguous,
    CatalogRow,
    ChangeOrigin,
    ChangeSet,
    ConfigError,
    Link,
    LocatedModel,
    NoteNotFound,
    Resolved,
    ToolCallPart,
    ToolOutcome,
    file_title,
    is_drawing,
    is_note,
    patch_of,
    touched_paths,
)
from zkchat.hosting import NoteService
from zkchat.index import GuardedLibrary, Library, OnThisMachine, targets_of
from zkchat.render import sanitize_text
from zkchat.writing import Proposals, Verdict, why_asked

MAX_SHOWN_CHARS: Final = 8_000
"""Characters of a diff that the host shows to its user."""


class Question(Struct, frozen=True, kw_only=True):
    """Changes that the host's user is to be asked about."""

    message: str
    """What the user reads: why they are asked, and the diff."""
    state: str
    """Names the changes: who says yes says it with this."""


class Settled(Struct, frozen=True, kw_only=True):
    """What became of a call that changes notes."""

    text: str
    failed: bool = False
    title: str = ""
    paths: tuple[str, ...] = ()
    record: int | None = None


class HostChanges(GivenBefore):
    """Calls tools that change notes. Only the worker's thread uses it.

    Implements `GivenBefore` for a host, of whose messages nothing is known: each call is a turn of its own; and
    `ChangeReviewer`: the answer is yes to the changes that the host's user has seen.
    """

    readings: Readings
    _proposals: Proposals
    _toolbox: Toolbox
    _was_withheld: Callable[[ChangeSet, str], bool]
    """`Proposals.is_withheld` over the notes without what is staged."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._at: datetime | None = None
        self._calls = 0
        self._agreed = ""
        """The name of the changes that may be made."""

    @classmethod
    @contextmanager
    def opened(
        cls, workspace: Workspace, library: Library, model: LocatedModel, notices: Notices
    ) -> "Iterator[HostChanges]":
        """What a host may change notes with, over the notes that its model may see."""
        changes = cls(workspace.environment.now)
        workspace = replace(workspace, environment=replace(workspace.environment, now=changes.now))
        interface = UserInterface()  # the host's user is asked about changes, and about nothing else
        interface.change_reviewer = changes
        with open_change_store(workspace, library, notices) as store:
            parts = ProposalParts(store, workspace, model, interface, WritingOptions(enabled=True))
            visible = library.overlaid(parts.staged).guarded_for(model)
            changes.readings = Readings(visible, changes)
            changes._proposals = parts.proposals(visible, changes.readings)
            changes._toolbox = Toolbox(changes._proposals.tools)
            changes._was_withheld = partial(parts.is_withheld, library.guarded_for(model))
            yield changes

    def now(self) -> datetime:
        """The time of a proposal, which is the same when it is made again after the user's yes."""
        return self._at or self._now()

    def question(self) -> tuple[str, dict[str, str]]:
        return str(self._calls), {}

    def review(
        self,
        changes: ChangeSet,
        *,
        remarks: Sequence[str] = (),  # noqa: ARG002 - they were shown with the question
        may_always: bool = False,  # noqa: ARG002
        is_asked: bool = True,
    ) -> Verdict:
        is_agreed = is_asked and bool(self._agreed) and _name_of(changes) == self._agreed
        return Verdict(answer="yes" if is_agreed else "no", changes=changes)

    def call(self, tool: str, arguments: str, *, can_ask: bool, agreed: str = "") -> Question | Settled:
        """Propose a change, and apply it if it was `agreed` to or nobody has to be asked.

        Where the host has no way to ask its user, its approval of the call is the review.
        """
        self._calls += 1
        at, _, name = agreed.partition(" ")
        try:
            self._at = datetime.fromisoformat(at).astimezone(UTC)
        except (ValueError, OverflowError):  # no state of ours
            self._at, name = self._now(), ""
        try:
            outcome = asyncio.run(self._toolbox.call(ToolCallPart(call_id="", name=tool, arguments=arguments)))
            if outcome.failed or not self._proposals.staged:
                return Settled(text=outcome.text, failed=outcome.failed)
            return self._settle(tool, outcome, can_ask, name)
        finally:
            self._proposals.staged.clear()
            self._at, self._agreed = None, ""

    def _settle(self, tool: str, outcome: ToolOutcome, can_ask: bool, agreed: str) -> Question | Settled:
        proposals = self._proposals
        changes = proposals.staged.change_set()
        is_refused = bool(proposals.staged.refusals)  # which is told as if the user had not agreed
        unwritten = replace(changes, writes=tuple(replace(each, after=each.before or b"") for each in changes.writes))
        if not is_refused and any(self._was_withheld(unwritten, path) for path in touched_paths(changes)):
            why_not = "It would change notes that are kept from this host: nothing was changed."
            return Settled(text=f"{why_not} Do it with `zkchat note` in a terminal.", failed=True)
        reasons, remarks = tuple(proposals.staged.reasons_to_ask), tuple(proposals.staged.remarks)
        if any(proposals.is_withheld(changes, path) for path in touched_paths(changes)):
            reasons = reasons or ("It makes a private note, which this program will not be able to see.",)
        why = why_asked(changes, proposals.policy, reasons=reasons)
        is_asked = why is not None and can_ask and proposals.policy.mode != "propose"
        name = _name_of(changes)
        if why and is_asked and agreed != name:
            said = [*(() if why.takes_yes else why.sentences), *remarks]
            return Question(message=_shown(changes, said), state=f"{self.now().isoformat()} {name}")
        if why and not (is_asked or why.takes_yes):
            refusal = f"{changes.title}: nothing was changed, because it needs a yes of the user. {why.sentence}"
            return Settled(text=refusal, failed=True)
        self._agreed = name
        return self._applied(tool, outcome)

    def _applied(self, tool: str, outcome: ToolOutcome) -> Settled:
        settled = self._proposals.settle(ChangeOrigin(command=f"mcp {tool}"))
        assert settled is not None
        told = sentence_about(settled)
        applied = settled.decision == "applied"
        paths = tuple(path for path in changed_paths(settled.changes) if path not in settled.withheld)
        details = outcome.text.partition("\n")[2]
        return Settled(
            text="\n".join(filter(None, [told, details if applied else ""])),
            failed=not applied,
            title=settled.changes.title,
            paths=paths,
            record=settled.record_id,
        )


def _shown(changes: ChangeSet, remarks: Sequence[str]) -> str:
    patch = patch_of(changes)
    cut = [f"Only the first {MAX_SHOWN_CHARS:,} of {len(patch):,} characters of the diff are shown."]
    said = [f"{changes.title}?", *remarks, *(cut if len(patch) > MAX_SHOWN_CHARS else []), patch[:MAX_SHOWN_CHARS]]
    return sanitize_text("\n\n".join(said)).encode(errors="replace").decode()


def _name_of(changes: ChangeSet) -> str:
    """The same for the same changes of the same files."""
    return sha256(repr((changes.moves, changes.writes)).encode(errors="backslashreplace")).hexdigest()[:32]


SCHEME: Final = "note:///"
TEMPLATE: Final = f"{SCHEME}{{+path}}"


class Place(NamedTuple):
    """What an address names."""

    path: str
    heading: str = ""


def uri_of(path: str, heading: str = "") -> str:
    """The address of a file of the vault, or of what stands under a heading of a note."""
    path, heading = (quote(text, safe="/-._~!$&'()*+,;=:@", errors="replace") for text in (path, heading))
    return f"{SCHEME}{path}#{heading}" if heading else f"{SCHEME}{path}"


def places_in(uri: str) -> list[Place]:
    """What an address may name, the likeliest first; nothing where it is no address of a file of the vault.

    Clients that fill in the template leave a `#` of a path as it is.
    """
    if uri[: len(SCHEME)].casefold() != SCHEME:
        return []
    whole = uri[len(SCHEME) :]
    path, sign, heading = whole.partition("#")
    try:
        path, heading, whole = (unquote(text, errors="strict") for text in (path, heading, whole))
    except UnicodeDecodeError:
        return []
    return [Place(path, heading), Place(whole)] if sign else [Place(path)]


PAGE_FILES: Final = 100
MAX_BLOB_BYTES: Final = 8_000_000
"""Bytes of a file that is no note."""
MARKDOWN: Final = "text/markdown"
_TYPES: Final = MimeTypes()
for _type, _suffix in (
    ("text/yaml", ".base"),
    ("image/webp", ".webp"),
    ("image/avif", ".avif"),
    ("image/heic", ".heic"),
    ("audio/mp4", ".m4a"),
    ("audio/flac", ".flac"),
    ("video/x-matroska", ".mkv"),
):
    _TYPES.add_type(_type, _suffix)
Content = types.TextResourceContents | types.BlobResourceContents
_TEXT_TYPES: Final = ("text/", "application/json", "application/xml", "application/yaml", "application/javascript")


class VisibleFiles:
    """The files that a host may know.

    An attachment that is linked by notes which are kept back, and by no other, is kept back with them.
    """

    def __init__(self, library: GuardedLibrary) -> None:
        self.library = library
        self._known: tuple[int, frozenset[str]] | None = None
        self._rows: list[CatalogRow] = []
        self._versions: Mapping[str, object] = {}

    def versions(self) -> Mapping[str, object]:
        """By path, something that is another where the file is."""
        self.rows()
        return self._versions

    def rows(self) -> list[CatalogRow]:
        """By path."""
        state = self.library.generation(), self.library.hidden()
        if self._known != state:
            links = self.library.whole.links_from(*state[1]) if state[1] else ()
            attachments = {path for link in links for path in targets_of(link.resolution) if not is_note(path)}
            kept_back = {path for path in attachments if not self.library.links_to(path)}
            self._rows = sorted(
                (row for row in self.library.files() if row.path not in kept_back), key=lambda row: row.path
            )
            stamps = self.library.stamps()
            self._versions = {row.path: stamps.get(row.path, ())[:2] for row in self._rows}
            self._known = state
        return self._rows


def list_page(files: VisibleFiles, cursor: str = "") -> types.ListResourcesResult:
    """A page of all files. Raises `ValueError` for a cursor that is none of ours."""
    rows, library = files.rows(), files.library
    after = urlsafe_b64decode(cursor.encode()).decode()
    if _cursor_of(after) != cursor:
        raise ValueError(cursor)
    start = bisect_right(rows, after, key=lambda row: row.path)
    page = rows[start : start + PAGE_FILES]
    stamps, zone = library.stamps(), library.calendar().now.tzinfo
    shown = {*library.confirmed(row.path for row in page)}
    dates = library.dates(shown)

    def described(row: CatalogRow) -> types.Resource:
        stamp, date = stamps.get(row.path), dates.get(row.path)
        modified = date.changed.at(zone).isoformat(timespec="seconds") if date else None
        return types.Resource(
            name=row.path,
            title=row.title or file_title(row.path),
            uri=uri_of(row.path),
            mime_type=media_type_of(row.path) or None,
            size=stamp[0] if stamp else None,
            annotations=types.Annotations(last_modified=modified) if modified else None,
        )

    return types.ListResourcesResult(
        resources=[described(row) for row in page if row.path in shown],
        next_cursor=_cursor_of(page[-1].path) if start + PAGE_FILES < len(rows) else None,
    )


def _cursor_of(path: str) -> str:
    return urlsafe_b64encode(path.encode()).decode()


def read_uri(files: VisibleFiles, uri: str) -> tuple[Place, Content]:
    """What an address names, and which place that is.

    Raises `NoteNotFound`, the same for a file that is kept back as for one that is not there, and `NoteUnreadable`.
    """
    library = files.library
    place = _find(files.rows(), places_in(uri))
    if place is None:
        raise NoteNotFound("There is no such file in the vault.")
    link = Link(text="", target=f"/{place.path}", anchor=place.heading)
    if place.heading and not (
        library.is_indexed(place.path)
        and isinstance(found := library.resolve(link, suggestions=0), Resolved | Ambiguous)
        and found.path == place.path
        and found.anchor_found
    ):
        raise NoteNotFound(f"{place.path} has no such heading.")
    if is_note(place.path) or is_drawing(place.path) or (place.heading and library.is_indexed(place.path)):
        section = library.section(place.path, place.heading)
        return place, types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=section)
    content = library.read_data(place.path, MAX_BLOB_BYTES)
    media_type = media_type_of(place.path)
    if (text := _as_text(content, media_type)) is not None:
        return place, types.TextResourceContents(uri=uri, mime_type=media_type or "text/plain", text=text)
    blob = b64encode(content).decode()
    return place, types.BlobResourceContents(uri=uri, mime_type=media_type or "application/octet-stream", blob=blob)


def _find(rows: Sequence[CatalogRow], places: Iterable[Place]) -> Place | None:
    """The first of the places whose file is there, also by the other Unicode form of its path."""
    paths = {row.path for row in rows}
    for place in places:
        if place.path in paths:
            return place
        composed = normalize("NFC", place.path)
        if found := next((path for path in paths if normalize("NFC", path) == composed), None):
            return place._replace(path=found)
    return None


def media_type_of(path: str) -> str:
    """Of what is read of a file, by the suffix; empty where that says nothing. A canvas is read as Markdown."""
    return MARKDOWN if is_note(path) or is_drawing(path) else _TYPES.guess_type(f"x.{path.rpartition('.')[2]}")[0] or ""


def _as_text(content: bytes, media_type: str) -> str | None:
    if (media_type and not media_type.startswith(_TEXT_TYPES)) or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


class HostOptions(Struct, frozen=True, kw_only=True):
    is_local: bool = False
    """Whether its model runs on this machine, so that it may see local notes."""
    may_write: bool = False


class OpenVault:
    """The notes as the host's model may see them. Only the worker's thread uses it."""

    def __init__(self, workspace: Workspace, whole: Library, model: LocatedModel, changes: HostChanges | None) -> None:
        self.workspace = workspace
        self.library: GuardedLibrary = whole.guarded_for(model)
        self.changes = changes

    @cached_property
    def files(self) -> VisibleFiles:
        return VisibleFiles(self.library)

    @cached_property
    def _read_tools(self) -> Toolbox:
        return Toolbox(explore_tools(self.library, self.workspace.environment.now))

    def read(self, tool: str, arguments: str) -> ToolOutcome:
        """Call one of the tools that read notes."""
        outcome = asyncio.run(self._read_tools.call(ToolCallPart(call_id="", name=tool, arguments=arguments)))
        if self.changes and not outcome.failed:
            self.changes.readings.see(outcome.references, documents_in(outcome.text))
        return outcome

    def read_resource(self, uri: str) -> Content:
        """What an address names, as `read_uri`; of a note the host's model knows it from now on."""
        place, content = read_uri(self.files, uri)
        if self.changes and is_note(place.path):
            self.changes.readings.show(place.path, place.heading)
        return content


class VaultService(NoteService[OpenVault]):
    """What the handlers of requests use."""

    def __init__(self, workspace: Workspace, options: HostOptions, notices: Notices = UNATTENDED) -> None:
        super().__init__(workspace, notices)
        self.options = options

    def _enter(self, stack: ExitStack, library: Library) -> OpenVault:
        model = OnThisMachine() if self.options.is_local else Elsewhere()  # only the user knows where a host's runs
        changes = None
        if self.options.may_write:
            changes = stack.enter_context(HostChanges.opened(self.workspace, library, model, self._notices))
        return OpenVault(self.workspace, library, model, changes)

    def _check_settings(self, problem: str) -> None:
        if problem and not self.options.is_local:
            # Without the reason: it may quote the name of a folder, which is not for the host's model.
            raise ConfigError(
                "The user's settings cannot be used, so no note is served.", hint="zkchat config show says why."
            )
