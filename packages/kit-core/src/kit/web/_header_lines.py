# SPDX-License-Identifier: MIT
"""Header lines, stored as ASGI requires: a list of pairs of bytes with lower-case names."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias, TypeGuard

HeaderLine: TypeAlias = tuple[bytes, bytes]
Lines: TypeAlias = tuple[HeaderLine, ...] | list[HeaderLine]
"""Lines of a response, see `as_plain`."""
HeaderArgument: TypeAlias = Mapping[str, str | Iterable[str]]

# SPEC: RFC 9110 section 5.1, field-name = token.
_OF_NAMES = frozenset(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
_WHITE = " \t\r\n"

# PERF: an app sends the same few names repeatedly, and checking a name costs more than a lookup.
# Code that runs in every request looks names up here without a call.
known_names: dict[str, bytes] = {}
_MAX_KNOWN_NAMES = 1000
_MAX_NAME_CHARS = 64
# PERF: most headers have the same value in each response. APPSEC: a client may choose a value, so
# neither long ones nor many are kept.
known_lines: dict[tuple[str, str | None], tuple[bytes, tuple[HeaderLine, ...], bool]] = {}
_MAX_KNOWN_LINES = 128
_MAX_KNOWN_VALUE_CHARS = 128

CONTENT_LENGTH = b"content-length"

# SPEC: RFC 9110 section 7.6.1; RFC 9113 section 8.2.2 lists them for HTTP/2.
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
"""The fields of one connection, which belong to the server."""

FRAMING_NAMES = HOP_BY_HOP | {CONTENT_LENGTH}
"""Names that must be checked when the response is sent."""

OWN_NAMES = FRAMING_NAMES | {b"content-type"}
"""The same names, and those that `c.text` and similar methods set."""


def is_name(name: object) -> TypeGuard[str]:
    """Returns whether a name is a token (RFC 9110 section 5.1)."""
    return isinstance(name, str) and bool(name) and _OF_NAMES.issuperset(name)


def encode_name(name: str, *, keep: bool = True) -> bytes:
    """Checks a header name and returns it as stored: lower-case bytes.

    APPSEC: `keep` is False for names that a client may have chosen; they would fill `known_names`.

    Raises:
        ValueError: If `name` is not a token (RFC 9110 section 5.1).
    """
    known = known_names.get(name)
    if known is not None:
        return known
    if not is_name(name):
        raise ValueError(f"Invalid header name {name!r}: expected a token of RFC 9110")
    encoded = name.lower().encode("ascii")
    if keep and len(known_names) < _MAX_KNOWN_NAMES and len(name) <= _MAX_NAME_CHARS:
        known_names[name] = encoded
    return encoded


def encode_value(name: str, value: str) -> bytes:
    """Returns a checked header value as bytes, without surrounding whitespace.

    Raises:
        ValueError: If it contains CR, LF, NUL or a character beyond latin-1 (WHATWG Fetch, 2.2.2).
    """
    if value.__class__ is str and value.isascii() and value.isprintable():
        return value.strip(" ").encode()  # PERF: nearly every value, without a search
    if not isinstance(value, str):
        raise _no_text(name, value)
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


def _no_text(name: str, value: object) -> ValueError:
    return ValueError(f"Invalid value {value!r} of header {name!r}: expected a str")


@lru_cache(1000)
def length_line(size_bytes: int) -> HeaderLine:
    """Returns the Content-Length line for a body of this size (RFC 9110 section 8.6)."""
    return CONTENT_LENGTH, b"%d" % size_bytes


def header_line(name: str, value: str | None) -> tuple[bytes, tuple[HeaderLine, ...], bool]:
    """Returns the name of a header as it is stored, its line alone, and whether that is plain.

    Raises:
        ValueError: If the name or value is invalid.
    """
    key = encode_name(name)
    if value is None:
        return key, (), key not in OWN_NAMES
    line = ((key, encode_value(name, value)),)
    made = key, line, key not in OWN_NAMES
    if len(value) <= _MAX_KNOWN_VALUE_CHARS:
        if len(known_lines) >= _MAX_KNOWN_LINES:
            known_lines.clear()
        known_lines[name, value] = made
    return made


def as_plain(lines: list[HeaderLine], others: Container[bytes] = FRAMING_NAMES) -> Lines:
    """Returns lines as a tuple if none of their names must be checked when they are sent.

    PERF: this holds for nearly all responses. Checking each line takes 0.05 to 0.15 µs, which would
    put responses that set headers behind the fastest peer.
    """
    for name, _ in lines:
        if name in others:
            return lines
    return tuple(lines)


def has_name(lines: Iterable[HeaderLine], key: bytes) -> bool:
    """Returns whether there is a line of a name."""
    # PERF: a generator for any() costs more than the search.
    for each, _ in lines:  # noqa: SIM110
        if each == key:
            return True
    return False


def with_line(
    lines: Lines, key: bytes, line: tuple[HeaderLine, ...], append: bool = False
) -> Lines:
    """Returns the lines with a line appended, or put in place of all lines of its name."""
    for first in lines:
        if first[0] == key and not (append and line):
            place = lines.index(first)
            rest = [each for each in lines[place:] if each[0] != key]
            changed = [*lines[:place], *line, *rest]
            return changed if isinstance(lines, list) else tuple(changed)
    return lines + line if isinstance(lines, tuple) else [*lines, *line]


def set_line(lines: list[HeaderLine], line: HeaderLine) -> None:
    """Replaces all lines of a name with one, in the place of the first."""
    if has_name(lines, line[0]):
        lines[:] = with_line(lines, line[0], (line,))
    else:
        lines.append(line)


def set_headers(lines: list[HeaderLine], headers: HeaderArgument) -> None:
    """Sets headers in a list of lines; a list sets several lines, an empty one removes them.

    Raises:
        ValueError: If a name or value is invalid.
    """
    for name, value in headers.items():
        key = encode_name(name)
        if isinstance(value, str):
            set_line(lines, (key, encode_value(name, value)))
            continue
        lines[:] = [line for line in lines if line[0] != key]
        try:
            lines += [(key, encode_value(name, each)) for each in value]
        except TypeError:
            if hasattr(value, "__iter__"):
                raise
            raise _no_text(name, value) from None


def find_value(lines: Iterable[HeaderLine], name: str) -> str | None:
    """Returns the values of a name joined with `", "`, or None if there are none."""
    key = known_names.get(name) or encode_name(name)
    found = None
    for line in lines:
        if line[0] == key:
            if found is not None:
                # Join all values at once: appending one by one would take quadratic time.
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
