# SPDX-License-Identifier: MIT
"""Header lines, stored as ASGI requires: a list of pairs of bytes with lower-case names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias, TypeGuard

HeaderLine: TypeAlias = tuple[bytes, bytes]
Lines: TypeAlias = tuple[HeaderLine, ...]
HeaderArgument: TypeAlias = Mapping[str, str | Iterable[str]]

# SPEC: RFC 9110 section 5.1, field-name = token.
_OF_NAMES = frozenset(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)
_WHITE = " \t\r\n"

# PERF: an app sends the same few names again and again; checking one costs more than a lookup.
# Code on the path of every request looks names up here without a call.
known_names: dict[str, bytes] = {}
# Those of them that say nothing about the body or its framing, each with the lines of its values;
# None for a name with too many values to keep.
plain_names: dict[str, tuple[bytes, dict[str, Lines] | None]] = {}
_MAX_KNOWN_NAMES = 1000
_MAX_NAME_CHARS = 64
_MAX_VALUES = 8
_MAX_VALUE_CHARS = 256

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
"""Names that need a look when the response is sent. No tuple of lines of a response has any."""

OWN_NAMES = FRAMING_NAMES | {b"content-type"}
"""The headers that a response may have set itself, and those that need a look when it is sent."""


class LinesOfBody(tuple[HeaderLine, ...]):
    """Header lines among which there may be one of `OWN_NAMES`."""

    __slots__ = ()

    def __add__(self, lines: tuple[HeaderLine, ...], /) -> LinesOfBody:  # type: ignore[override]
        return LinesOfBody((*self, *lines))


def is_name(name: object) -> TypeGuard[str]:
    """Returns whether a name is a token (RFC 9110 section 5.1)."""
    return isinstance(name, str) and bool(name) and _OF_NAMES.issuperset(name)


def encode_name(name: str, *, keep: bool = True) -> bytes:
    """Returns a checked header name as it is stored: lower-case bytes.

    Args:
        name: The name.
        keep: Whether to keep it in `known_names`. APPSEC: not if a client may have chosen it, since
            it would stay there, in the place of a name that the app uses.

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
        if encoded not in OWN_NAMES:
            plain_names[name] = (encoded, {})
    return encoded


def keep_line(name: str, value: str, line: Lines) -> None:
    """Keeps the line of a header in `plain_names`.

    Most headers have the same few values in every response, others a new one in each: of these,
    no more values are kept.

    Args:
        name: A name in `plain_names`.
        value: The value that was checked.
        line: The line of both, alone.
    """
    key, known = plain_names[name]
    if known is not None and len(known) < _MAX_VALUES and len(value) <= _MAX_VALUE_CHARS:
        known[value] = line
    else:
        plain_names[name] = (key, None)


def encode_value(name: str, value: str) -> bytes:
    """Returns a checked header value as bytes, without surrounding whitespace.

    Raises:
        ValueError: If it contains CR, LF, NUL or a character beyond latin-1 (WHATWG Fetch, 2.2.2).
    """
    if value.__class__ is str and value.isascii() and value.isprintable():
        return value.strip(" ").encode()  # PERF: true of nearly every value, and needs no search
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
        Whether `headers` has one of `FRAMING_NAMES`, even one with an empty list.

    Raises:
        ValueError: If a name or value is invalid.
    """
    has_framing = False
    for name, value in headers.items():
        # PERF: nearly every name and value needs no call.
        try:
            key = known_names[name]
        except KeyError:
            key = encode_name(name)
        if key in FRAMING_NAMES:
            has_framing = True
        if value.__class__ is str and value.isascii() and value.isprintable():
            line = (key, value.strip().encode())
        elif isinstance(value, str):
            line = (key, encode_value(name, value))
        else:
            lines[:] = [line for line in lines if line[0] != key]
            try:
                lines += [(key, encode_value(name, each)) for each in value]
            except TypeError:
                if hasattr(value, "__iter__"):
                    raise
                raise _no_text(name, value) from None
            continue
        for each, _ in lines:  # PERF: nearly always there is none, so set_line() isn't called
            if each == key:
                set_line(lines, line)
                break
        else:
            lines.append(line)
    return has_framing


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
