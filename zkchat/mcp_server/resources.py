"""The files of the vault as resources: `note:///` addresses, in pages, notes as text and the rest as it is."""

from base64 import b64encode
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from zkchat.errors import NoteNotFound
from zkchat.mcp_server.service import VaultService
from zkchat.mcp_server.tools import Context, progress_to
from zkchat.mcp_server.uris import TEMPLATE, uri_of
from zkchat.mcp_server.vault_files import ListedFile, list_page

RESOURCE_NOT_FOUND: Final = -32002
"""Of the revisions before 2026-07-28, which has `INVALID_PARAMS` for it."""
MAX_URI_CHARACTERS: Final = 10_000


class ResourceHandlers:
    """Answers `resources/list`, `resources/templates/list` and `resources/read`."""

    def __init__(self, service: VaultService) -> None:
        self._service = service

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = (params and params.cursor) or ""
        try:
            page = await self._service.use(lambda vault: list_page(vault.files, cursor), progress_to(context))
        except ValueError:
            raise MCPError(types.INVALID_PARAMS, "The cursor is not one of this list.") from None
        return types.ListResourcesResult(resources=[*map(_resource, page.files)], next_cursor=page.cursor or None)

    async def list_templates(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        if params and params.cursor:
            raise MCPError(types.INVALID_PARAMS, "The list of templates has one page.")
        template = types.ResourceTemplate(
            name="note",
            title="File of the vault",
            uri_template=TEMPLATE,
            description="A note or an attachment by its path; #heading after it names a section of a note.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = params.uri
        try:
            if len(uri) > MAX_URI_CHARACTERS:
                raise NoteNotFound("")
            content = await self._service.use(lambda vault: vault.read_resource(uri), progress_to(context))
        except NoteNotFound:
            is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
            raise MCPError(code, "Resource not found", {"uri": uri[:MAX_URI_CHARACTERS]}) from None
        if content.text is not None:
            text = types.TextResourceContents(uri=uri, mime_type=content.media_type, text=content.text)
            return types.ReadResourceResult(contents=[text])
        blob = b64encode(content.data).decode()
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=uri, mime_type=content.media_type, blob=blob)]
        )


def _resource(file: ListedFile) -> types.Resource:
    modified = file.changed_at.isoformat(timespec="seconds") if file.changed_at else None
    return types.Resource(
        name=file.path,
        title=file.title,
        uri=uri_of(file.path),
        mime_type=file.media_type or None,
        size=file.size,
        annotations=types.Annotations(last_modified=modified) if modified else None,
    )
