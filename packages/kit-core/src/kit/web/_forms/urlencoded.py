# SPDX-License-Identifier: MIT
"""Parses application/x-www-form-urlencoded (WHATWG URL, section 5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kit.authoring.bodies import memory_of_text
from kit.web._limits import (
    Limits,
    field_name_too_large,
    field_too_large,
    form_too_large,
    form_too_large_for_memory,
)

from .form_data import FormData, FormValue, create_form

_PLUS = ord("+")
_PERCENT = ord("%")
# The most memory that a byte can take as decoded text.
_MOST_MEMORY_BYTES = memory_of_text("\U0001f600")
_PIECE_BYTES = 8 * 1024
_FEW_ESCAPES = 6
"""How many distinct escapes are replaced in turn; each takes a pass over the whole text."""
_DIGITS = "0123456789abcdefABCDEF"
_BYTES = {(high + low).encode(): bytes.fromhex(high + low) for high in _DIGITS for low in _DIGITS}
"""The byte for the two digits of an escape."""
_BYTES_INSIDE = {digits: byte for digits, byte in _BYTES.items() if byte not in b"&="}
"""The same for bytes that can only occur inside a name or a value."""
_CHARACTERS = {
    "%" + digits.decode(): byte.decode()
    for digits, byte in _BYTES_INSIDE.items()
    if byte.isascii() and byte not in b"%" + _DIGITS.encode()
}
"""The character for an escape, if it can't become part of another escape."""


def decode_urlencoded(data: bytes, limits: Limits) -> FormData:
    """Parses an urlencoded form (WHATWG URL section 5.1); raises a 413 if it exceeds a limit."""
    most = limits.max_field_size_bytes
    if _is_within(data, limits):
        return create_form(parse_urlencoded(data))  # type: ignore[arg-type]  # texts are FormValues
    in_memory = limits.max_memory_size_bytes
    text_bytes = 0
    entries: list[tuple[str, FormValue]] = []
    for count, part in enumerate(re.finditer(rb"[^&]+", data), 1):
        if count > limits.max_fields:
            raise form_too_large("fields", limits.max_fields)
        name, _, value = part[0].partition(b"=")
        # Decoding never makes names longer.
        if len(name) > most and len(_plain(name)) > most:
            raise field_name_too_large(most)
        if len(value) > most and len(_plain(value)) > most:
            raise field_too_large(decoded(name), most)
        entry = decoded(name), decoded(value)
        text_bytes += memory_of_text(entry[0]) + memory_of_text(entry[1])
        if in_memory is not None and text_bytes > in_memory:
            raise form_too_large_for_memory(in_memory)
        entries.append(entry)
    return create_form(entries)


def _is_within(data: bytes, limits: Limits) -> bool:
    """Returns whether total size and number of `&` prove that a form is within its limits."""
    size = len(data)
    most = limits.max_fields
    in_memory = limits.max_memory_size_bytes
    if in_memory is not None and size * _MOST_MEMORY_BYTES > in_memory:
        return False
    # PERF: a short form needs no count.
    return size <= limits.max_field_size_bytes and (size < most or data.count(b"&") < most)


def last_values(data: bytes, limits: Limits) -> dict[str, str] | None:
    """Returns the last value of each name of an urlencoded form.

    Returns None if the form may exceed a limit, or a name ends in `[]`.
    """
    if not _is_within(data, limits):
        return None
    text = _decoded_at_once(data)
    if text is None or "[" in text:  # PERF: four times as fast as "[]", which is as rare
        return None
    values = {}
    for field in text.split("&"):
        if field:
            name, _, value = field.partition("=")
            values[name] = value
    return values


def parse_urlencoded(data: bytes) -> list[tuple[str, str]]:
    """Returns the names and values of a query (WHATWG URL section 5.1)."""
    text = _decoded_at_once(data)
    pairs = []
    if text is None:
        for part in data.split(b"&"):
            if part:
                name, _, value = part.partition(b"=")
                pairs.append((decoded(name), decoded(value)))
    else:
        for field in text.split("&"):
            if field:
                key, _, content = field.partition("=")
                pairs.append((key, content))
    return pairs


def _decoded_at_once(data: bytes) -> str | None:
    """Decodes a whole form before it is split; returns None if that could change the splitting.

    PERF: decoding names and values one by one takes twice as long, and is rarely necessary.
    """
    try:
        text = data.decode()  # PERF: naming an error handler takes twice as long
    except UnicodeDecodeError:
        return _bytes_decoded_at_once(data)
    if "+" in text:
        text = text.replace("+", " ")
    if "%" not in text:
        return text
    if len(data) > _PIECE_BYTES:
        return None
    # PERF: replacing all escapes of one character at once takes half the time of one by one. This
    # is enough if the only escapes are ASCII punctuation, as in most English forms. No result can
    # become part of another escape, so anything that looks like an escape is one.
    for _ in range(_FEW_ESCAPES):
        place = text.find("%")
        escape = text[place : place + 3]
        character = _CHARACTERS.get(escape)
        if character is None:
            break
        text = text.replace(escape, character)
        if "%" not in text:
            return text
    return _bytes_decoded_at_once(data)


def _bytes_decoded_at_once(data: bytes) -> str | None:
    """Does the same for a form with any escapes, or with bytes that aren't UTF-8."""
    if len(data) > _PIECE_BYTES:
        return None
    first, *rest = data.replace(b"+", b" ").split(b"%")
    pieces = [first]
    for piece in rest:
        byte = _BYTES_INSIDE.get(piece[:2])
        if byte is None:
            return None
        pieces.append(byte + piece[2:])
    return _text(b"".join(pieces))


def decoded(text: bytes) -> str:
    """Returns a decoded name or value of an urlencoded form."""
    return _text(_plain(text))


def _text(data: bytes) -> str:
    try:
        return data.decode()  # PERF: naming an error handler takes twice as long
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _plain(text: bytes) -> bytes:
    # PERF: search for ints; `bytes in bytes` raises and catches an exception first.
    if _PLUS in text:
        text = text.replace(b"+", b" ")
    if _PERCENT in text:
        if len(text) <= _PIECE_BYTES:
            return _without_escapes(text)
        # Decoding splits the text at each `%`: the whole at once would take many times the memory.
        return b"".join(map(_without_escapes, _pieces(text)))
    return text


def _without_escapes(text: bytes) -> bytes:
    """SPEC: WHATWG URL section 1.3, "percent-decode"."""
    first, *rest = text.split(b"%")
    pieces = [first]
    for piece in rest:
        byte = _BYTES.get(piece[:2])
        pieces.append(b"%" + piece if byte is None else byte + piece[2:])
    return b"".join(pieces)


def _pieces(text: bytes) -> Iterator[bytes]:
    """Cuts text into pieces, but never within an escape."""
    start = 0
    while start < len(text):
        end = start + _PIECE_BYTES
        escape = text.find(b"%", end - 2, end)
        end = end if escape < 0 else escape
        yield text[start:end]
        start = end
