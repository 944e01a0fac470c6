# SPDX-License-Identifier: MIT
"""The Headers of WHATWG Fetch, section 5.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar, overload

from ._header_lines import (
    HeaderLine,
    encode_name,
    encode_value,
    find_value,
    has_name,
    is_name,
    set_line,
    values_by_name,
)

if TYPE_CHECKING:
    from kit.interface import Headers as AnyHeaders

T = TypeVar("T")

HeadersInit: TypeAlias = "Headers | AnyHeaders | Mapping[str, str] | Iterable[tuple[str, str]]"


class Headers:
    """Header lines by name (WHATWG Fetch, section 5.1). Names are case-insensitive.

    Values are latin-1 text. `get` joins the lines of one name with `", "`; iteration never joins
    Set-Cookie lines. A Headers isn't a `dict`, but `h["x"]`, `"x" in h`, `len(h)` and iteration
    over the names work.

    Args:
        init: Other headers, a mapping, or pairs of name and value.

    Raises:
        ValueError: If a name or value is invalid.
        TypeError: If `init` is of the wrong type.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_lines",)

    def __init__(self, init: HeadersInit | None = None) -> None:
        self._lines: list[HeaderLine] = []
        if init is None:
            return
        if isinstance(init, Headers):
            self._lines = list(init._lines)
            return
        pairs = init.items() if hasattr(init, "items") else init
        if isinstance(pairs, (str, bytes)) or not hasattr(pairs, "__iter__"):
            raise TypeError(
                f"Headers are a Headers, a mapping, or pairs of name and value, not {init!r:.100}"
            )
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"Invalid header {pair!r}: expected a pair of name and value")
            name, value = pair
            # In copies of a request, the client chose the names.
            self._lines.append((encode_name(name, keep=False), encode_value(name, value)))

    @property
    def raw(self) -> list[HeaderLine]:
        """The lines as in ASGI: pairs of lower-case name and value, both bytes.

        This is the list itself; changes to it are not checked.
        """
        return self._lines

    @overload
    def get(self, name: str) -> str | None: ...
    @overload
    def get(self, name: str, default: T) -> str | T: ...
    def get(self, name: str, default: T | None = None) -> str | T | None:
        """Returns the values of `name` joined with `", "`, or `default` if there are none."""
        value = find_value(self._lines, name)
        return default if value is None else value

    def get_all(self, name: str) -> list[str]:
        """Returns the values of `name`, one per header line, in order."""
        key = encode_name(name)
        return [value.decode("latin-1") for n, value in self._lines if n == key]

    def get_set_cookie(self) -> list[str]:
        """Returns the values of the Set-Cookie lines (WHATWG Fetch, section 5.1)."""
        return self.get_all("set-cookie")

    def has(self, name: str) -> bool:
        """Returns whether there is a line `name`."""
        return has_name(self._lines, encode_name(name))

    def set(self, name: str, value: str) -> None:
        """Replaces all lines of `name` with one, in the place of the first.

        Raises:
            ValueError: If the name or value is invalid.
        """
        set_line(self._lines, (encode_name(name), encode_value(name, value)))

    def append(self, name: str, value: str) -> None:
        """Adds a line.

        Raises:
            ValueError: If the name or value is invalid.
        """
        self._lines.append((encode_name(name), encode_value(name, value)))

    def delete(self, name: str) -> None:
        """Removes all lines of `name`."""
        key = encode_name(name)
        self._lines[:] = [line for line in self._lines if line[0] != key]

    def items(self) -> Iterator[tuple[str, str]]:
        """Yields names and values sorted by name; joins lines of one name, except Set-Cookie."""
        for name, values in sorted(values_by_name(self._lines).items()):
            if name == "set-cookie":
                yield from ((name, value) for value in values)
            else:
                yield name, ", ".join(values)

    def keys(self) -> Iterator[str]:
        """Returns the names, in the order of `items`."""
        return (name for name, _ in self.items())

    def values(self) -> Iterator[str]:
        """Returns the values, in the order of `items`."""
        return (value for _, value in self.items())

    def __getitem__(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: str) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        if not self.has(name):
            raise KeyError(name)
        self.delete(name)

    def __contains__(self, name: object) -> bool:
        return is_name(name) and self.has(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self.keys()))

    def __len__(self) -> int:
        return len({n for n, _ in self._lines})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Headers):
            return NotImplemented
        return list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __copy__(self) -> Headers:
        return Headers(self)

    def __repr__(self) -> str:
        return f"Headers({list(self.items())!r})"


def lines_from(init: HeadersInit) -> list[HeaderLine]:
    """Returns the lines of new headers."""
    return Headers(init).raw


def headers_over(lines: list[HeaderLine]) -> Headers:
    """Returns headers that read and change the given list itself."""
    headers = Headers.__new__(Headers)
    headers._lines = lines
    return headers
