# SPDX-License-Identifier: MIT
"""Header lines, kept as ASGI wants them: a list of pairs of bytes with lower-case names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from kit.interface import Headers as AnyHeaders

HeaderLine: TypeAlias = tuple[bytes, bytes]
HeadersInit: TypeAlias = "Headers | AnyHeaders | Mapping[str, str] | Iterable[tuple[str, str]]"

# SPEC: RFC 9110 section 5.1, field-name = token.
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# SPEC: RFC 9110 section 5.5: CR, LF and NUL are the ones that would let a value end a line.
_FORBIDDEN = re.compile(r"[\r\n\0]")
_WHITE = " \t\r\n"

# PERF: an app sends the same few names again and again; checking one costs more than a lookup.
# Where every request comes by, it is looked up without a call.
known_names: dict[str, bytes] = {}
_MAX_KNOWN_NAMES = 1000


def encode_name(name: str) -> bytes:
    """Checks a header name and gives it as it is kept: lower case, as bytes.

    Raises:
        ValueError: If `name` is no token (RFC 9110 section 5.1).
    """
    known = known_names.get(name)
    if known is not None:
        return known
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"Invalid header name {name!r}: expected a token of RFC 9110")
    encoded = name.lower().encode("ascii")
    if len(known_names) < _MAX_KNOWN_NAMES:
        known_names[name] = encoded
    return encoded


def encode_value(name: str, value: str) -> bytes:
    """Checks a header value and gives it as bytes, without blanks around it.

    Raises:
        ValueError: If it holds CR, LF, NUL or a character beyond latin-1 (WHATWG Fetch, 2.2.2).
    """
    if value.__class__ is str and value.isascii() and value.isprintable():
        return value.strip(" ").encode()  # PERF: nearly every value: nothing in it to look for
    if not isinstance(value, str):
        raise ValueError(f"Invalid value {value!r} of header {name!r}: expected a str")
    value = value.strip(_WHITE)
    if _FORBIDDEN.search(value):
        raise ValueError(
            f"Invalid value {value!r} of header {name!r}: CR, LF and NUL are not allowed"
        )
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise ValueError(
            f"Invalid value {value!r} of header {name!r}: "
            "only latin-1 characters can be sent; percent-encode others"
        ) from None


# PERF: looked up without a call where every response comes by, as names are.
length_lines: dict[int, HeaderLine] = {}
_MAX_KNOWN_LENGTH = 1000


def length_line(size_bytes: int) -> HeaderLine:
    """Gives the Content-Length line for a body of this size (RFC 9110 section 8.6)."""
    line = (b"content-length", b"%d" % size_bytes)
    if size_bytes <= _MAX_KNOWN_LENGTH:
        length_lines[size_bytes] = line
    return line


def set_line(lines: list[HeaderLine], line: HeaderLine) -> None:
    """Replaces all lines of a name by one; its place is that of the first of them."""
    key = line[0]
    for each in lines:
        if each[0] == key:
            index = lines.index(each)
            lines[index + 1 :] = [other for other in lines[index + 1 :] if other[0] != key]
            lines[index] = line
            return
    lines.append(line)


def find_value(lines: Iterable[HeaderLine], name: str) -> str | None:
    """Gives the values of a name joined by `", "`, None if there is none."""
    key = known_names.get(name) or encode_name(name)
    found = None
    for line in lines:
        if line[0] == key:
            if found is not None:
                # All at once: adding one after the other takes time by the square of their number.
                values = [value for each, value in lines if each == key]
                return b", ".join(values).decode("latin-1")
            found = line
    return None if found is None else found[1].decode("latin-1")


def values_by_name(lines: Iterable[HeaderLine]) -> dict[str, list[str]]:
    """Gives the values of each name, one per header line, in order."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return values


class Headers:
    """Header lines by name (WHATWG Fetch, section 5.1). Names compare without case.

    Values are latin-1 text. `get` joins the lines of one name by `", "`; Set-Cookie lines are
    never joined by iteration. It is no `dict`, but `h["x"]`, `"x" in h`, `len(h)` and iteration
    over the names work.

    Args:
        init: Other headers, a mapping, or pairs of name and value.

    Raises:
        ValueError: If a name or value may not be sent.
    """

    __slots__ = ("_lines",)

    def __init__(self, init: HeadersInit | None = None) -> None:
        self._lines: list[HeaderLine] = []
        if init is None:
            return
        if isinstance(init, Headers):
            self._lines = list(init._lines)
            return
        pairs = init.items() if hasattr(init, "items") else init
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"Invalid header {pair!r}: expected a pair of name and value")
            self.append(*pair)

    @property
    def raw(self) -> list[HeaderLine]:
        """The lines as ASGI has them: pairs of lower-case name and value, both bytes.

        It is the list itself: what is put there is not checked.
        """
        return self._lines

    def get(self, name: str) -> str | None:
        """Gives the values of `name` joined by `", "`, or None if there is none."""
        return find_value(self._lines, name)

    def get_all(self, name: str) -> list[str]:
        """Gives the values of `name`, one per header line, in order."""
        key = encode_name(name)
        return [value.decode("latin-1") for n, value in self._lines if n == key]

    def get_set_cookie(self) -> list[str]:
        """Gives the values of the Set-Cookie lines (WHATWG Fetch, section 5.1)."""
        return self.get_all("set-cookie")

    def has(self, name: str) -> bool:
        """Whether there is a line `name`."""
        key = encode_name(name)
        return any(n == key for n, _ in self._lines)

    def set(self, name: str, value: str) -> None:
        """Replaces all lines of `name` by one; its place is that of the first of them.

        Raises:
            ValueError: If the name or value may not be sent.
        """
        set_line(self._lines, (encode_name(name), encode_value(name, value)))

    def append(self, name: str, value: str) -> None:
        """Adds a line.

        Raises:
            ValueError: If the name or value may not be sent.
        """
        self._lines.append((encode_name(name), encode_value(name, value)))

    def delete(self, name: str) -> None:
        """Removes all lines of `name`."""
        key = encode_name(name)
        self._lines[:] = [line for line in self._lines if line[0] != key]

    def items(self) -> Iterator[tuple[str, str]]:
        """Gives names and values, sorted by name, lines of one name joined (Set-Cookie apart)."""
        for name, values in sorted(values_by_name(self._lines).items()):
            if name == "set-cookie":
                yield from ((name, value) for value in values)
            else:
                yield name, ", ".join(values)

    def keys(self) -> Iterator[str]:
        """Gives the names, as `items` does."""
        return (name for name, _ in self.items())

    def values(self) -> Iterator[str]:
        """Gives the values, as `items` does."""
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
        return isinstance(name, str) and bool(_NAME.fullmatch(name)) and self.has(name)

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


def headers_over(lines: list[HeaderLine]) -> Headers:
    """Returns headers that read and change the given list itself."""
    headers = Headers.__new__(Headers)
    headers._lines = lines
    return headers
