# SPDX-License-Identifier: MIT
"""Cursors: positions in sorted results, as text that clients send back unchanged."""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import enum
import hashlib
import hmac
import math
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from kit.interface import Codecs

from ._ordering import Term

# APPSEC: databases raise errors for greater numbers.
_MOST_INT = 2**63
_SIGNATURE_BYTES = 16
# Before the name of a class that the app has a decoder for.
_OWN = "own "


class CursorError(ValueError):
    """A cursor that this app hasn't created, or that belongs to another order."""


class EnumName(str):
    """The name of a member of an enumeration; only the database knows which."""

    __slots__ = ()


class Position(NamedTuple):
    """A position in sorted results.

    Attributes:
        is_backward: Whether it selects the results before it, or else those after it.
        values: The values of the terms in the adjacent result.
    """

    is_backward: bool
    values: tuple[Any, ...]


class _Written(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    is_backward: bool
    sort: str
    values: list[tuple[str, str] | None]


_decode = msgspec.json.Decoder(_Written).decode


def encode_cursor(
    position: Position, terms: Sequence[Term], secret: bytes | None, codecs: Codecs | None
) -> str:
    """Returns the text of a position.

    Args:
        position: The position.
        terms: The order that it is in.
        secret: The key of the signature; None for no signature.
        codecs: The encoders and decoders of the app, for values of its own classes.

    Raises:
        TypeError: If the type of a value has no order.
    """
    written = _Written(
        position.is_backward,
        _describe(terms),
        [_encode_value(each, codecs) for each in position.values],
    )
    content = msgspec.json.encode(written)
    if secret is not None:
        content = _sign(content, secret) + content
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode_cursor(
    text: str, terms: Sequence[Term], secret: bytes | None, codecs: Codecs | None
) -> Position:
    """Reads the text of a position.

    Raises:
        CursorError: If the text isn't that of a position in this order, or its signature is wrong.
    """
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        if secret is not None:
            signature, content = content[:_SIGNATURE_BYTES], content[_SIGNATURE_BYTES:]
            # APPSEC: in constant time.
            if not hmac.compare_digest(signature, _sign(content, secret)):
                raise CursorError("Invalid cursor")
        written = _decode(content)
        values = tuple(
            None if each is None else _decode_value(*each, codecs) for each in written.values
        )
    except CursorError:
        raise
    except (ValueError, ArithmeticError, binascii.Error, RecursionError) as error:
        raise CursorError("Invalid cursor") from error
    if written.sort != _describe(terms) or len(values) != len(terms):
        raise CursorError("The cursor belongs to another sort")
    return Position(written.is_backward, values)


def _describe(terms: Sequence[Term]) -> str:
    return ",".join(map(str, terms))


def _sign(content: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, content, hashlib.sha256)[:_SIGNATURE_BYTES]


def _encode_value(value: Any, codecs: Codecs | None) -> tuple[str, str] | None:
    if value is None:
        return None
    for tag, (kind, encode, _) in _CODECS.items():
        if isinstance(value, kind):
            return tag, encode(value)
    name = type(value).__qualname__
    if codecs is not None and type(value) in codecs.decoders:
        return _OWN + name, codecs.encode_json(value).decode()
    raise TypeError(
        f"results can't be sorted by {value!r:.100}, a {name}: for a class of your own, give the "
        "app an encoder and a decoder, Kit(encoders=..., decoders=...)"
    )


def _decode_value(tag: str, text: str, codecs: Codecs | None) -> Any:
    if tag.startswith(_OWN) and codecs is not None:
        for kind in codecs.decoders:
            if kind.__qualname__ == tag.removeprefix(_OWN):
                return codecs.dec_hook(kind, msgspec.json.decode(text))
    if tag not in _CODECS:
        raise CursorError("Invalid cursor")
    return _CODECS[tag][2](text)


def _read_int(text: str) -> int:
    if len(text) > 20:
        raise CursorError("Invalid cursor")
    number = int(text)
    if not -_MOST_INT <= number < _MOST_INT:
        raise CursorError("Invalid cursor")
    return number


def _read_float(text: str) -> float:
    number = float.fromhex(text)
    if math.isnan(number):
        raise CursorError("Invalid cursor")
    return number


def _read_decimal(text: str) -> decimal.Decimal:
    number = decimal.Decimal(text)
    if not number.is_finite() or len(text) > 100:
        raise CursorError("Invalid cursor")
    return number


def _write_duration(value: datetime.timedelta) -> str:
    return str(value // datetime.timedelta(microseconds=1))


def _read_duration(text: str) -> datetime.timedelta:
    return datetime.timedelta(microseconds=_read_int(text))


# A subclass stands before its base class.
_CODECS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "e": (enum.Enum, lambda value: value.name, EnumName),
    "b": (bool, lambda value: str(int(value)), lambda text: bool(_read_int(text))),
    "i": (int, str, _read_int),
    "f": (float, float.hex, _read_float),
    "n": (decimal.Decimal, str, _read_decimal),
    "s": (str, str, str),
    "y": (bytes, bytes.hex, bytes.fromhex),
    "u": (uuid.UUID, str, uuid.UUID),
    "dt": (
        datetime.datetime,
        datetime.datetime.isoformat,
        datetime.datetime.fromisoformat,
    ),
    "d": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "t": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "td": (datetime.timedelta, _write_duration, _read_duration),
}
