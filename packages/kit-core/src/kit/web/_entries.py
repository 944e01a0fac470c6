# SPDX-License-Identifier: MIT
"""Ordered names and values, the base of FormData and URLSearchParams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, overload

V = TypeVar("V")
T = TypeVar("T")


class Entries(Generic[V]):
    """A list of names and values; a name may occur several times."""

    __slots__ = ("_entries",)

    _entries: list[tuple[str, V]]

    @overload
    def get(self, name: str) -> V | None: ...
    @overload
    def get(self, name: str, default: T) -> V | T: ...
    def get(self, name: str, default: T | None = None) -> V | T | None:
        """Returns the first value of a name, or `default` if there is none."""
        return next((value for n, value in self._entries if n == name), default)

    def get_all(self, name: str) -> list[V]:
        """Returns all values of a name."""
        return [value for n, value in self._entries if n == name]

    def entries(self) -> Iterator[tuple[str, V]]:
        """Returns an iterator over all entries, in order."""
        return iter(list(self._entries))

    def items(self) -> Iterator[tuple[str, V]]:
        """Returns an iterator over all entries, in order; the Python name of `entries`."""
        return self.entries()

    def keys(self) -> Iterator[str]:
        """Returns an iterator over the name of each entry."""
        return (name for name, _ in self.entries())

    def values(self) -> Iterator[V]:
        """Returns an iterator over the value of each entry."""
        return (value for _, value in self.entries())

    def _replace(self, name: str, value: V) -> None:
        """Replaces all entries of a name with one, in the place of the first."""
        entries = self._entries
        place = next((i for i, (n, _) in enumerate(entries) if n == name), len(entries))
        rest = [entry for entry in entries[place:] if entry[0] != name]
        self._entries = [*entries[:place], (name, value), *rest]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return self.entries()

    def __contains__(self, name: object) -> bool:
        return any(n == name for n, _ in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._entries!r})"
