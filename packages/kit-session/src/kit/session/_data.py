# SPDX-License-Identifier: MIT
"""The data of sessions as JSON, and what was changed in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from ._errors import SessionDataError

__all__ = ("EMPTY", "Changes", "changes_between", "decode_object", "encode_data")

EMPTY = b"{}"

_Parts: TypeAlias = dict[str, msgspec.Raw]


def _encode_other(value: Any) -> Any:
    """Encodes pydantic models, which describe themselves."""
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} can't be encoded as JSON")
    return dump(mode="json")


_encode = msgspec.json.Encoder(enc_hook=_encode_other).encode
_decode_parts = msgspec.json.Decoder(_Parts).decode
decode_object = msgspec.json.Decoder(dict[str, Any]).decode
"""Decodes a JSON object; raises `msgspec.DecodeError` for anything else."""

# What encoders raise: for types, for ints beyond 64 bits and half characters, for deep nesting.
_UNENCODABLE = (TypeError, ValueError, OverflowError, RecursionError)
_MOST_DEPTH = 50


class Changes(NamedTuple):
    """What was changed in the data of a session, by keys.

    Attributes:
        assigned: The keys that are new or have a new value.
        removed: The keys that are gone.
    """

    assigned: _Parts
    removed: tuple[str, ...]

    def apply(self, data: bytes) -> bytes:
        """Returns the data with the changes made."""
        parts = _decode_parts(data)
        for key in self.removed:
            parts.pop(key, None)
        parts.update(self.assigned)
        return _encode(parts)


def changes_between(old: bytes, new: bytes) -> Changes | None:
    """Compares data as JSON; None if nothing was changed but the order of the keys."""
    if old == new:
        return None
    before, after = _decode_parts(old), _decode_parts(new)
    assigned = {
        key: value
        for key, value in after.items()
        if key not in before or bytes(before[key]) != bytes(value)
    }
    removed = tuple(key for key in before if key not in after)
    return Changes(assigned, removed) if assigned or removed else None


def encode_data(value: Any) -> bytes:
    """Encodes the data of a session as a JSON object.

    Raises:
        SessionDataError: If something in it can't be encoded, or it is no object.
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
            "it is encoded as something else than a JSON object"
        )
    return data


def _culprit(value: Any, where: str, error: Exception, depth: int = 0) -> tuple[str, Any, str]:
    """Finds the innermost part that can't be encoded, and why."""
    for step, part in _parts_of(value) if depth < _MOST_DEPTH else ():
        try:
            _encode(part)
        except _UNENCODABLE as inner:
            return _culprit(part, where + step, inner, depth + 1)
    return where, value, str(error)


def _parts_of(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"[{key!r:.50}]", part) for key, part in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    names = getattr(value, "__struct_fields__", getattr(value, "__dataclass_fields__", ()))
    return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]
