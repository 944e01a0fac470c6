# SPDX-License-Identifier: MIT
"""The data of a session as Python values: as a dict, or as a type of the app."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec

from kit.authoring.field_errors import read_message
from kit.authoring.maybe_await import plain_result
from kit.authoring.models import find_model, with_defaults

from ._data import EMPTY, Changes, changes_between, decode_object, encode_data

__all__ = ("DICT", "Kind", "View", "find_decoder")

T = TypeVar("T")

_logger = logging.getLogger("kit.session")


class Kind(Generic[T]):
    """A type of session data.

    Attributes:
        name: The name of the type in errors and logs.
        decode: Decodes a JSON object to an object of the type; raises ValueError if it doesn't fit.
    """

    __slots__ = ("decode", "name")

    def __init__(self, name: str, decode: Callable[[bytes], T]) -> None:
        self.name = name
        self.decode = decode

    def fresh(self) -> T:
        """Returns the data of a new session."""
        return self.decode(EMPTY)


DICT: Kind[Any] = Kind("dict", decode_object)
"""Any data."""


def find_decoder(type: Any) -> Kind[Any]:
    """Returns the decoder for a type; None is a dict.

    Raises:
        TypeError: If the type can't be used for a session.
    """
    if type is None or type is dict:
        return DICT
    return _find_decoder(type) if isinstance(type, Hashable) else _find_decoder.__wrapped__(type)


@lru_cache(maxsize=256)
def _find_decoder(type: Any) -> Kind[Any]:
    name = getattr(type, "__name__", None) or str(type)
    try:
        model = find_model(type)
        kind: Kind[Any] = Kind(
            name,
            with_defaults(msgspec.json.Decoder(type).decode, type)
            if model is None
            else model.validate_json,
        )
        encoded = encode_data(kind.fresh())
        kind.decode(encoded)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} can't be the type of a session: expected a Struct, dataclass or TypedDict "
            f"whose fields all have defaults ({error})"
        ) from error
    return kind


class View(Generic[T]):
    """The data of one session as one type, and the changes to it.

    Args:
        kind: The type.
        data: The data as it was read, a JSON object.
        on_invalid: Gets data that no longer fits the type, as a dict, and returns the value to use.
            Default: a new value, and a warning in the log.
    """

    __slots__ = ("_before", "_kept", "_on_invalid", "_read", "kind", "value")

    def __init__(
        self,
        kind: Kind[T],
        data: bytes,
        on_invalid: Callable[[dict[str, Any]], T] | None = None,
    ) -> None:
        self.kind = kind
        self._on_invalid = on_invalid
        self.reset(data)

    def reset(self, data: bytes) -> None:
        """Starts over with other data."""
        # A value that differs from the data read, but needn't be saved yet.
        self._kept: bytes | None = None
        before = data
        try:
            self.value = self.kind.decode(data)
            if self.kind is not DICT:
                # Only fields of the type count as changes, and none of its defaults.
                before = encode_data(self.value)
        except ValueError as error:
            self.value = self._replacement(data, error)
        # The base of the comparison at the end, and after each repeatable step.
        self._read = self._before = before

    def _replacement(self, data: bytes, error: Exception) -> T:
        if self._on_invalid is not None:
            value = self._on_invalid(decode_object(data))
            return plain_result(value, self._on_invalid, "get_session(on_invalid=...)")
        # APPSEC: the text of the error may quote the data.
        _logger.warning(
            "The data of a session no longer fits %s (%s): the handler gets new data",
            self.kind.name,
            read_message(str(error)).type,
        )
        fresh = self.kind.fresh()
        self._kept = encode_data(fresh)
        return fresh

    def clear(self) -> None:
        """Replaces the value by a new one, which counts as a change."""
        self.value = self.kind.fresh()
        self._kept = None
        self.step()

    def changes(self) -> Changes | None:
        """Returns all changes since the data was read; None if there are none."""
        now = encode_data(self.value)
        return None if now == self._kept else changes_between(self._read, now)

    def step(self) -> Changes | None:
        """Returns the changes since the last step, and starts the next one."""
        now = encode_data(self.value)
        changes = None if now == self._kept else changes_between(self._before, now)
        self._before = now
        return changes

    def replay(self, function: Callable[[T], Any]) -> Callable[[bytes], bytes]:
        """Returns a function that applies `function` to other data than these."""

        def apply(data: bytes) -> bytes:
            view = View(self.kind, data, self._on_invalid)
            function(view.value)
            changes = view.changes()
            return data if changes is None else changes.apply(data)

        return apply
