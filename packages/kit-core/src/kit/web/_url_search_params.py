# SPDX-License-Identifier: MIT
"""The parameters of a query or of an urlencoded form (WHATWG URL, sections 5 and 6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._entries import Entries
from ._forms.urlencoded import parse_urlencoded


class URLSearchParams(Entries[str]):
    """Names and values of a query, in order; a name may occur several times.

    As a body, it is sent as application/x-www-form-urlencoded. Its `str` is the query of a URL
    without the question mark.

    Args:
        init: A query, with or without its question mark; pairs of name and value, or a mapping.

    Raises:
        TypeError: If a name or value is not a str.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ()

    def __init__(self, init: str | Iterable[tuple[str, str]] | Mapping[str, str] = "") -> None:
        self._entries: list[tuple[str, str]] = []
        if isinstance(init, str):
            self._entries += parse_urlencoded(init.removeprefix("?").encode())
            return
        pairs: Any = init.items() if isinstance(init, Mapping) else init
        for name, value in pairs:
            self.append(name, value)

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self._entries)

    def append(self, name: str, value: str) -> None:
        """Adds an entry.

        Raises:
            TypeError: If the name or the value is not a str.
        """
        _check(name, value)
        self._entries.append((name, value))

    def set(self, name: str, value: str) -> None:
        """Replaces all entries of a name with one, in the place of the first.

        Raises:
            TypeError: If the name or the value is not a str.
        """
        _check(name, value)
        self._replace(name, value)

    def has(self, name: str, value: str | None = None) -> bool:
        """Returns whether there is an entry of this name and, if given, this value."""
        return any(n == name and value in (None, v) for n, v in self._entries)

    def delete(self, name: str, value: str | None = None) -> None:
        """Removes all entries of a name, or only those with the given value."""
        self._entries = [
            (n, v) for n, v in self._entries if n != name or (value is not None and v != value)
        ]

    def sort(self) -> None:
        """Sorts the entries by name, by UTF-16 code units; entries of one name keep their order."""
        self._entries.sort(key=lambda entry: entry[0].encode("utf-16-be", "surrogatepass"))

    def __str__(self) -> str:
        return "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in self._entries)

    def __eq__(self, other: object) -> bool:
        return self._entries == other._entries if isinstance(other, URLSearchParams) else False

    __hash__ = None  # type: ignore[assignment]  # mutable

    def _as_body(self) -> tuple[bytes, str]:
        return str(self).encode(), "application/x-www-form-urlencoded;charset=UTF-8"


def _check(name: object, value: object) -> None:
    if not isinstance(name, str) or not isinstance(value, str):
        raise TypeError(
            f"Invalid search parameter {name!r:.100}={value!r:.100}: "
            "name and value are expected to be str"
        )


def _encoded(text: str) -> str:
    """SPEC: WHATWG URL section 5.2; the tilde is percent-encoded, the asterisk isn't."""
    from urllib.parse import quote_plus

    return quote_plus(text, safe="*").replace("~", "%7E")
