# SPDX-License-Identifier: MIT
"""Header lines, stored as ASGI requires: a list of pairs of bytes with lower-case names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from kit.interface import Headers as AnyHeaders

HeaderLine: TypeAlias = tuple[bytes, bytes]
HeaderArgument: TypeAlias = Mapping[str, str | Iterable[str]]
HeadersInit: TypeAlias = "Headers | AnyHeaders | Mapping[str, str] | Iterable[tuple[str, str]]"

# SPEC: RFC 9110 section 5.1, field-name = token.
_OF_NAMES = frozenset(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
_WHITE = " \t\r\n"

# PERF: an app sends the same few names again and again; checking one costs more than a lookup.
# Code on the path of every request looks names up here without a call.
known_names: dict[str, bytes] = {}
# Those of them that say nothing about the body.
plain_names: dict[str, bytes] = {}
_MAX_KNOWN_NAMES = 1000

CONTENT_LENGTH = b"content-length"
"""The same object for every spelling of the name, so that `set_headers` can compare by `is`."""

OWN_NAMES = frozenset((b"content-type", CONTENT_LENGTH))
"""The headers that a response may have set itself."""


class LinesOfBody(list[HeaderLine]):
    """Header lines among which there may be one of `OWN_NAMES`."""


def _is_name(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and bool(name) and _OF_NAMES.issuperset(name)


def encode_name(name: str) -> bytes:
    """Returns a checked header name as it is stored: lower-case bytes.

    Raises:
        ValueError: If `name` is not a token (RFC 9110 section 5.1).
    """
    known = known_names.get(name)
    if known is not None:
        return known
    if not _is_name(name):
        raise ValueError(f"Invalid header name {name!r}: expected a token of RFC 9110")
    encoded = name.lower().encode("ascii")
    if encoded == CONTENT_LENGTH:
        encoded = CONTENT_LENGTH
    if len(known_names) < _MAX_KNOWN_NAMES:
        known_names[name] = encoded
        if encoded not in OWN_NAMES:
            plain_names[name] = encoded
    return encoded


def encode_value(name: str, value: str) -> bytes:
    """Returns a checked header value as bytes, without surrounding whitespace.

    Raises:
        ValueError: If it contains CR, LF, NUL or a character beyond latin-1 (WHATWG Fetch, 2.2.2).
    """
    if value.__class__ is str and value.isascii() and value.isprintable():
        return value.strip(" ").encode()  # PERF: true of nearly every value, and needs no search
    if not isinstance(value, str):
        raise ValueError(f"Invalid value {value!r} of header {name!r}: expected a str")
    value = value.strip(_WHITE)
    # SPEC: RFC 9110 section 5.5: the characters that could end a line early.
    if "\r" in value or "\n" in value or "\0" in value:
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


# PERF: looked up without a call on the path of every response, like names.
length_lines: dict[int, HeaderLine] = {}
_MAX_KNOWN_LENGTH = 1000


def length_line(size_bytes: int) -> HeaderLine:
    """Returns the Content-Length line for a body of this size (RFC 9110 section 8.6)."""
    line = (b"content-length", b"%d" % size_bytes)
    if size_bytes <= _MAX_KNOWN_LENGTH:
        length_lines[size_bytes] = line
    return line


def set_line(lines: list[HeaderLine], line: HeaderLine) -> None:
    """Replaces all lines of a name with one, in the place of the first."""
    key = line[0]
    for each in lines:
        if each[0] == key:
            index = lines.index(each)
            lines[index + 1 :] = [other for other in lines[index + 1 :] if other[0] != key]
            lines[index] = line
            return
    lines.append(line)


def set_headers(lines: list[HeaderLine], headers: HeaderArgument) -> bool:
    """Sets headers in a list of lines.

    Args:
        lines: The lines; each header replaces those of its name.
        headers: Names and values; a list sets several lines, an empty one removes the header.

    Returns:
        Whether `headers` has a Content-Length, even one with an empty list.

    Raises:
        ValueError: If a name or value is invalid.
    """
    has_length = False
    for name, value in headers.items():
        # PERF: nearly every name and value needs no call.
        try:
            key = known_names[name]
        except KeyError:
            key = encode_name(name)
        if key is CONTENT_LENGTH:
            has_length = True
        if value.__class__ is str and value.isascii() and value.isprintable():
            line = (key, value.strip().encode())
        elif isinstance(value, str):
            line = (key, encode_value(name, value))
        else:
            lines[:] = [line for line in lines if line[0] != key]
            lines += [(key, encode_value(name, each)) for each in value]
            continue
        for each, _ in lines:  # PERF: nearly always there is none, so set_line() isn't called
            if each == key:
                set_line(lines, line)
                break
        else:
            lines.append(line)
    return has_length


def find_value(lines: Iterable[HeaderLine], name: str) -> str | None:
    """Returns the values of a name joined with `", "`, or None if there is none."""
    key = known_names.get(name) or encode_name(name)
    found = None
    for line in lines:
        if line[0] == key:
            if found is not None:
                # All at once: appending one by one would take quadratic time.
                values = [value for each, value in lines if each == key]
                return b", ".join(values).decode("latin-1")
            found = line
    return None if found is None else found[1].decode("latin-1")


def values_by_name(lines: Iterable[HeaderLine]) -> dict[str, list[str]]:
    """Returns the values of each name, one per header line, in order."""
    values: dict[str, list[str]] = {}
    for name, value in lines:
        values.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return values


class Headers:
    """Header lines by name (WHATWG Fetch, section 5.1). Names are case-insensitive.

    Values are latin-1 text. `get` joins the lines of one name with `", "`; iteration never joins
    Set-Cookie lines. Not a `dict`, but `h["x"]`, `"x" in h`, `len(h)` and iteration over the names
    work.

    Args:
        init: Other headers, a mapping, or pairs of name and value.

    Raises:
        ValueError: If a name or value is invalid.
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
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(f"Invalid header {pair!r}: expected a pair of name and value")
            self.append(*pair)

    @property
    def raw(self) -> list[HeaderLine]:
        """The lines in ASGI's form: pairs of lower-case name and value, both bytes.

        This is the list itself: changes to it are not checked.
        """
        return self._lines

    def get(self, name: str) -> str | None:
        """Returns the values of `name` joined with `", "`, or None if there is none."""
        return find_value(self._lines, name)

    def get_all(self, name: str) -> list[str]:
        """Returns the values of `name`, one per header line, in order."""
        key = encode_name(name)
        return [value.decode("latin-1") for n, value in self._lines if n == key]

    def get_set_cookie(self) -> list[str]:
        """Returns the values of the Set-Cookie lines (WHATWG Fetch, section 5.1)."""
        return self.get_all("set-cookie")

    def has(self, name: str) -> bool:
        """Returns whether there is a line `name`."""
        key = encode_name(name)
        # PERF: a generator for any() costs more than the search.
        for each, _ in self._lines:  # noqa: SIM110
            if each == key:
                return True
        return False

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
        """Returns the names, as `items` does."""
        return (name for name, _ in self.items())

    def values(self) -> Iterator[str]:
        """Returns the values, as `items` does."""
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
        return _is_name(name) and self.has(name)

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
