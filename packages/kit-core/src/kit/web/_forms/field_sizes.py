# SPDX-License-Identifier: MIT
"""Refuses an urlencoded form that is too large before all of it is in memory."""

from __future__ import annotations

from kit.web._limits import Limits, field_name_too_large, field_too_large, form_too_large

from .urlencoded import decoded

# SPEC: WHATWG URL section 1.3: a byte is encoded as three characters at most.
_ESCAPE_BYTES = 3


class FieldSizes:
    """Checks an urlencoded form as it arrives.

    Counts the minimum size that it can decode to; `decode_urlencoded` checks the actual size.

    Args:
        limits: The limits for number and size of fields.
    """

    __slots__ = ("_escapes", "_fields", "_in_value", "_limits", "_name", "_size")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._fields = 0
        self._begin()

    def _begin(self) -> None:
        self._in_value = False
        self._name = bytearray()
        self._size = 0
        self._escapes = 0

    def add(self, chunk: bytes) -> None:
        """Adds a chunk.

        Raises:
            HTTPException: 413 if the form exceeds a limit.
        """
        first, *rest = chunk.split(b"&")
        self._grow(first)
        if not rest:
            return
        self._fields += (self._in_value or len(self._name) > 0) + sum(map(bool, rest[:-1]))
        if self._fields > self._limits.max_fields:
            raise form_too_large("fields", self._limits.max_fields)
        self._begin()
        self._grow(rest[-1])

    def _grow(self, piece: bytes) -> None:
        most = self._limits.max_field_size_bytes
        if not self._in_value:
            name, equals, piece = piece.partition(b"=")
            self._name += name
            self._count(name)
            if self._is_beyond(most):
                raise field_name_too_large(most)
            if not equals:
                return
            self._in_value = True
            self._size = self._escapes = 0
        self._count(piece)
        if self._is_beyond(most):
            raise field_too_large(decoded(bytes(self._name)), most)

    def _count(self, piece: bytes) -> None:
        self._size += len(piece)
        self._escapes += piece.count(b"%")

    def _is_beyond(self, most: int) -> bool:
        least = self._size - self._escapes * (_ESCAPE_BYTES - 1)
        return least > most or self._size > most * _ESCAPE_BYTES
