# SPDX-License-Identifier: MIT
"""Form fields and files (XHR standard, section 5; W3C File API, section 4)."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable
from typing import Any, TypeAlias

from kit.web._blob import Blob, Bytes, as_blob_type
from kit.web._entries import Entries
from kit.web._streams import Chunk, Stream

from .spool import Spool

FormValue: TypeAlias = "str | File"
_CHUNK_BYTES = 64 * 1024
_new = object.__new__


class File(Blob):
    """A blob with a name, e.g. an uploaded file.

    The content is in memory, or in a temporary file that exists until the uploading request ends;
    read it before then.

    Args:
        parts: The content: bytes, str (encoded as UTF-8) or blobs, joined in order.
        name: File name as the client sent it. Never use it as a path without checking it.
        type: Media type, or `""`.
        last_modified: Milliseconds since the epoch; None means now.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_last_modified", "_name", "_size", "_spooled", "_start")

    def __init__(
        self,
        parts: Iterable[Chunk | Blob],
        name: str,
        *,
        type: str = "",
        last_modified: int | None = None,
    ) -> None:
        super().__init__(parts, type=type)
        if last_modified is not None and not isinstance(last_modified, int):
            raise TypeError(
                f"File(last_modified=...) takes milliseconds as an int, not {last_modified!r:.100}"
            )
        self._name = name
        self._size = len(self._data)
        self._last_modified = int(time.time() * 1000) if last_modified is None else last_modified
        self._spooled: Spool | None = None
        self._start = 0

    @property
    def name(self) -> str:
        """File name as the client sent it."""
        return self._name

    @property
    def last_modified(self) -> int:
        """Milliseconds since the epoch."""
        return self._last_modified

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self._size

    async def bytes(self) -> Bytes:
        """Returns the whole content.

        Raises:
            ValueError: If the request that uploaded the file is done.
        """
        if self._spooled is None:
            return self._data
        from anyio import to_thread

        return await to_thread.run_sync(self._content)

    async def stream(self) -> AsyncGenerator[Bytes, None]:
        """Yields the content: one chunk if it is in memory, else chunks of up to 64 KiB.

        Raises:
            ValueError: If the request that uploaded the file is done.
        """
        if self._spooled is None:
            yield self._data
            return
        from anyio import to_thread

        offset = 0
        while chunk := await to_thread.run_sync(self._read_at, offset, _CHUNK_BYTES):
            offset += len(chunk)
            yield chunk

    def _read_at(self, offset: int, most: int) -> Bytes:
        assert self._spooled is not None  # noqa: S101 - otherwise, the content is in memory
        chunk = self._spooled.read_at(self._start + offset, min(self._size - offset, most))
        if chunk is None:
            raise ValueError(
                f"The uploaded file {self._name!r} is gone: its request is done. "
                "Read it before the response, or in a wait_until task"
            )
        return chunk

    def _content(self) -> Bytes:
        if self._spooled is None:
            return self._data
        return self._read_at(0, self._size)

    def _as_body(self) -> tuple[Bytes | Stream, str | None]:
        content = self._data if self._spooled is None else self.stream()
        return content, self.type or None


class FormData(Entries[FormValue]):
    """Names and values of a form, in order; a name may occur several times.

    Args:
        init: Pairs of name and value, or a mapping.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_spool",)

    _spool: Spool | None  # contains files that were uploaded with the form

    def __init__(self, init: Any = ()) -> None:
        self._spool = None
        pairs = init.items() if hasattr(init, "items") else init
        self._entries: list[tuple[str, FormValue]] = []
        for name, value in pairs:
            self.append(name, value)

    def append(self, name: str, value: FormValue | Blob, filename: str | None = None) -> None:
        """Adds an entry.

        Args:
            name: Name of the field.
            value: Text, a File, or a Blob, which becomes a File named `blob`.
            filename: File name to use instead of the file's own.

        Raises:
            TypeError: If the value is neither str nor Blob.
        """
        self._entries.append((name, _as_value(name, value, filename)))

    def set(self, name: str, value: FormValue | Blob, filename: str | None = None) -> None:
        """Replaces all entries of a name with one, in the place of the first.

        Raises:
            TypeError: If the value is neither str nor Blob.
        """
        self._replace(name, _as_value(name, value, filename))

    def has(self, name: str) -> bool:
        """Returns whether there is an entry of this name."""
        return name in self

    def delete(self, name: str) -> None:
        """Removes all entries of a name."""
        self._entries = [entry for entry in self._entries if entry[0] != name]

    def __copy__(self) -> FormData:
        """Returns a form with the same entries that can be changed independently of this one.

        The copy's files belong to this form, and last as long as this form.
        """
        return create_form([*self._entries])


def create_file(
    name: str, type: str, data: bytes, *, spool: Spool | None = None, start: int = 0, size: int = 0
) -> File:
    """Creates an uploaded file, in memory or as a part of a temporary file."""
    file: File = _new(File)
    file._name, file._type = name, as_blob_type(type)
    file._last_modified = int(time.time() * 1000)
    file._data, file._size = data, len(data) if spool is None else size
    file._spooled, file._start = spool, start
    return file


def _renamed(file: File, name: str) -> File:
    """Returns the same content under another name."""
    renamed = create_file(
        name, file.type, file._data, spool=file._spooled, start=file._start, size=file.size
    )
    renamed._last_modified = file.last_modified
    return renamed


def create_form(entries: list[tuple[str, FormValue]], spool: Spool | None = None) -> FormData:
    """Creates a form from entries that were already checked; uses the list itself."""
    form: FormData = _new(FormData)
    form._spool = spool
    form._entries = entries
    return form


def get_entries(form: FormData) -> list[tuple[str, FormValue]]:
    """Returns the stored entries, read-only."""
    return form._entries


def content_in_memory(file: File) -> bytes | None:
    """Returns the content of a file, or None if it is in a temporary file."""
    return file._data if file._spooled is None else None


def close_form(form: FormData) -> None:
    """Closes and removes the temporary file of a form."""
    if form._spool is not None:
        form._spool.close()


def _as_value(name: str, value: Any, filename: str | None) -> FormValue:
    if not isinstance(name, str):
        raise TypeError(f"The name of a form field must be a str, not {name!r:.100}")
    if isinstance(value, str):
        return value
    if isinstance(value, File):
        return value if filename in (None, value.name) else _renamed(value, filename or "")
    if isinstance(value, Blob):
        return File([value], "blob" if filename is None else filename, type=value.type)
    raise TypeError(
        f"Invalid value of the form field {name!r}: expected str, File or Blob, "
        f"not {type(value).__name__}"
    )
