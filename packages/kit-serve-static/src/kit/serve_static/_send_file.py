# SPDX-License-Identifier: MIT
"""`send_file`: responds with a single file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from kit.authoring.options import OptionChecks
from kit.interface import HTTPException, KitRequest

from ._disposition import content_disposition, usable_name
from ._file_results import FileHeaders, FileRequest, FileResult, answer
from ._files import Folder, OpenFile
from ._media_types import OCTET_STREAM, find_content_type
from ._options import IS_WINDOWS, check_root
from ._paths import safe_segments
from ._threads import run_in_thread

__all__ = ("send_file",)

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Responding(Protocol[R_co]):
    """A context with responses of type R."""

    @property
    def req(self) -> KitRequest:
        """The request."""

    def body(
        self,
        data: Any,
        status: int | None = None,
        headers: Mapping[str, str | Iterable[str]] | None = None,
    ) -> R_co:
        """Creates a response."""


_CHECK = OptionChecks("send_file")


async def send_file(
    c: Responding[R],
    path: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] | None = None,
    filename: str | None = None,
    download: bool = False,
    content_type: str | None = None,
    cache_control: str | None = None,
) -> R:
    """Responds with a file, whole or in ranges, with ETag and Last-Modified.

        @app.get("/invoices/:id")
        async def invoice(c):
            path = await invoice_path(c.req.param("id", int))
            return await send_file(c, path, filename="invoice.pdf", download=True)

    Without `root`, `path` is opened as is, so it must not come from a client. With `root`, nothing
    outside that folder is opened, and symbolic links in it aren't followed.

    Preconditions are evaluated for GET, HEAD and QUERY, ranges for GET.

    Args:
        c: The context of the request.
        path: The path of the file; with `root`, relative to it, with slashes.
        root: The folder that must contain the file.
        filename: The name under which browsers save the file; by default its own name.
        download: Whether browsers save the file instead of showing it.
        content_type: The content type; by default based on the file extension.
        cache_control: Cache-Control of the response.

    Returns:
        A 200 or 206, or a 304, 412 or 416 depending on the request.

    Raises:
        HTTPException: 404, if there is no such file below `root`.
        FileNotFoundError: If there is no such file, without `root`.
        TypeError: If an argument has the wrong type.
        ValueError: If a text can't be sent in a header, or `root` is not a folder.

    SPEC: RFC 9110, sections 13 and 14; RFC 6266 for Content-Disposition.
    """
    _CHECK.flag("download", download)
    name = os.fspath(path)
    segments = None
    if root is not None:
        # Check the path first: it may come from a client, and client errors aren't server errors.
        segments = safe_segments(name, windows=IS_WINDOWS)
        if not segments:
            raise _not_found()
    disposition = None
    if filename is not None:
        disposition = content_disposition("attachment" if download else "inline", filename)
    elif download:
        disposition = content_disposition("attachment", usable_name(os.path.basename(name)))
    if content_type is None:
        known = find_content_type(name, {}) or (
            find_content_type(filename, {}) if filename else None
        )
        content_type = known or OCTET_STREAM
    else:
        _CHECK.header_value("content_type", content_type)
    if cache_control is not None:
        _CHECK.header_value("cache_control", cache_control)
    file_request = FileRequest(c.req.method, c.req.header)
    file_headers = FileHeaders(content_type, None, disposition)
    found = await run_in_thread(_answer_with, file_request, name, root, segments, file_headers)
    if found is None:
        if segments is None:
            raise FileNotFoundError(f"send_file() can't open {name!r}: there is no such file")
        raise _not_found()
    if cache_control is not None and found.status < 400:
        found.headers["Cache-Control"] = cache_control
    return c.body(found.body, found.status, found.headers)


def _not_found() -> HTTPException:
    return HTTPException(404, "404 Not Found")


def _answer_with(
    file_request: FileRequest,
    path: str,
    root: Any,
    segments: Sequence[str] | None,
    file_headers: FileHeaders,
) -> FileResult | None:
    if segments is None:
        file = Folder(os.path.abspath(path), follow_symlinks=True).open(())
    else:
        file = Folder(check_root(_CHECK, root)).open(segments)
    return answer(file_request, file, file_headers) if isinstance(file, OpenFile) else None
