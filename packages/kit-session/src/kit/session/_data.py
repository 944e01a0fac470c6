# SPDX-License-Identifier: MIT
"""The data of sessions as JSON, and the changes to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from kit.authoring.codecs import default_codecs

from ._errors import SessionDataError

__all__ = ("EMPTY", "Changes", "changes_between", "decode_object", "encode_data")

EMPTY = b"{}"

_Parts: TypeAlias = dict[str, msgspec.Raw]

_encode = default_codecs().encode_plainly
_decode_parts = msgspec.json.Decoder(_Parts).decode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode
"""Decodes a JSON object; raises `msgspec.DecodeError` for anything else."""

# Errors of encoders: for types, for ints beyond 64 bits and lone surrogates, for deep nesting.
_UNENCODABLE = (TypeError, ValueError, OverflowError, RecursionError)
_MOST_DEPTH = 50


class Changes:
    """The changes to the data of a session, by key.

    Args:
        before: The data before, a JSON object.
        after: The data after it.
    """

    __slots__ = ("_after", "_before")

    def __init__(self, before: bytes, after: bytes) -> None:
        self._before = before
        self._after = after

    def apply(self, data: bytes) -> bytes:
        """Returns the data with the changes applied."""
        if data == self._before:  # PERF: unless another request was faster
            return self._after
        parts, before, after = map(_decode_parts, (data, self._before, self._after))
        for key in before:
            if key not in after:
                parts.pop(key, None)
        parts.update((key, value) for key, value in after.items() if before.get(key) != value)
        return _encode(parts)


def changes_between(before: bytes, after: bytes) -> Changes | None:
    """Compares data as JSON; returns None if only the order of the keys has changed."""
    if before == after or _decode_parts(before) == _decode_parts(after):
        return None
    return Changes(before, after)


def encode_data(value: Any) -> bytes:
    """Encodes the data of a session as a JSON object.

    Raises:
        SessionDataError: If a part of it can't be encoded, or it isn't an object.
    """
    try:
        data = _encode(value)
    except _UNENCODABLE as error:
        where, culprit, reason = _culprit(value, "session", error)
        raise SessionDataError(
            f"{where} can't be saved as JSON: it is of the type {type(culprit).__name__} ({reason})"
        ) from error
    if not data.startswith(b"{"):
        raise SessionDataError(
            f"A session of the type {type(value).__name__} can't be saved: "
            "it isn't encoded as a JSON object"
        )
    return data


def _culprit(value: Any, where: str, error: Exception, depth: int = 0) -> tuple[str, Any, str]:
    """Finds the innermost part that can't be encoded, and the reason."""
    for step, part in _split(value) if depth < _MOST_DEPTH else ():
        try:
            _encode(part)
        except _UNENCODABLE as inner:
            return _culprit(part, where + step, inner, depth + 1)
    return where, value, str(error)


def _split(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"[{key!r:.50}]", part) for key, part in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    names = getattr(value, "__struct_fields__", getattr(value, "__dataclass_fields__", ()))
    return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]
