# SPDX-License-Identifier: MIT
"""Turns the parts of a multipart body into form entries, in memory or in a temporary file."""

from __future__ import annotations

from kit.authoring.bodies import memory_of_text
from kit.web._limits import (
    Limits,
    field_too_large,
    form_too_large,
    form_too_large_for_memory,
)

from .form_data import FormData, FormValue, create_file, create_form
from .spool import Spool

# A list of smaller pieces would take many times their total size.
_LEAST_PIECE_BYTES = 4096


class _Pieces:
    """Bytes that arrive in pieces. PERF: large pieces are not copied before the end."""

    __slots__ = ("_large", "_small", "size_bytes")

    def __init__(self) -> None:
        self._large: list[bytes | bytearray] = []
        self._small = bytearray()
        self.size_bytes = 0

    def add(self, piece: bytes | bytearray) -> None:
        self.size_bytes += len(piece)
        if len(piece) < _LEAST_PIECE_BYTES:
            self._small += piece
            return
        if self._small:
            self._large.append(self._small)
            self._small = bytearray()
        self._large.append(piece)

    def extend(self, other: _Pieces) -> None:
        for piece in (*other._large, other._small):
            self.add(piece)

    def join(self) -> bytes:
        return b"".join((*self._large, self._small))


class Collector:
    """Collects the parts of a form as the parser returns them, within its limits."""

    __slots__ = (
        "_content",
        "_entries",
        "_fields",
        "_filename",
        "_files",
        "_kept_bytes",
        "_name",
        "_size_bytes",
        "_spool",
        "_start",
        "_text_bytes",
        "_type",
        "_unwritten",
        "limits",
    )

    def __init__(self, limits: Limits) -> None:
        self._entries: list[tuple[str, FormValue]] = []
        self.limits = limits
        self._fields = 0
        self._files = 0
        self._name = self._type = ""
        self._filename: str | None = None
        # PERF: nearly every part is small and arrives in one piece, which is stored unchanged.
        self._content: bytes | bytearray | _Pieces = b""
        self._size_bytes = 0
        self._kept_bytes = 0
        self._text_bytes = 0
        self._spool: Spool | None = None
        self._unwritten = _Pieces()  # for the temporary file, appended by the next write()
        # Offset of the current part's content in the temporary file, or None if it is in memory.
        self._start: int | None = None

    @property
    def unwritten_bytes(self) -> int:
        """Number of bytes that wait for `write`."""
        return self._unwritten.size_bytes

    def start(self, name: str, filename: str | None, type: str) -> None:
        """Starts a part, a file if it has a file name; raises a 413 if there are too many."""
        if filename is None:
            self._fields += 1
            if self._fields > self.limits.max_fields:
                raise form_too_large("fields", self.limits.max_fields)
        else:
            self._files += 1
            if self._files > self.limits.max_files:
                raise form_too_large("files", self.limits.max_files)
        self._name, self._filename, self._type = name, filename, type
        self._content = b""
        self._size_bytes = 0
        self._start = None

    def data(self, piece: bytes | bytearray) -> None:
        """Adds content to the part; raises a 413 if a field is too long."""
        self._size_bytes += len(piece)
        if self._start is not None:
            self._unwritten.add(piece)
            return
        if self._size_bytes == len(piece):
            self._content = piece
        else:
            self._pieces().add(piece)
        if self._filename is None:
            if self._size_bytes > self.limits.max_field_size_bytes:
                raise field_too_large(self._name, self.limits.max_field_size_bytes)
        elif self._kept_bytes + self._size_bytes > self.limits.spool_size_bytes:
            self._spool = self._spool or Spool()
            self._start = self._spool.size + self.unwritten_bytes
            self._unwritten.extend(self._pieces())
            self._content = b""

    def end(self) -> None:
        """Ends the part and adds its entry to the form."""
        content = self._content
        data = content.join() if isinstance(content, _Pieces) else bytes(content)
        value: FormValue
        if self._filename is None:
            value = data.decode("utf-8", "replace")
            most = self.limits.max_memory_size_bytes
            self._text_bytes += memory_of_text(value) + memory_of_text(self._name)
            if most is not None and self._text_bytes > most:
                raise form_too_large_for_memory(most)
        else:
            name, kind, size = self._filename, self._type.strip(), self._size_bytes
            if self._start is None:
                value = create_file(name, kind, data)
                self._kept_bytes += size
            else:
                value = create_file(
                    name, kind, b"", spool=self._spool, start=self._start, size=size
                )
        self._entries.append((self._name, value))

    def form(self) -> FormData:
        """Returns the form, once all parts have ended."""
        return create_form(self._entries, self._spool)

    def _pieces(self) -> _Pieces:
        """Returns the content so far as pieces, so that more can be added."""
        content = self._content
        if not isinstance(content, _Pieces):
            self._content = _Pieces()
            self._content.add(content)
            content = self._content
        return content

    async def write(self) -> None:
        """Writes pending content to the temporary file; can be called again if cancelled."""
        if self._spool is not None and self._unwritten.size_bytes:
            await self._spool.write(self._unwritten.join())
            self._unwritten = _Pieces()

    def close(self) -> None:
        """Closes the temporary file."""
        if self._spool is not None:
            self._spool.close()
