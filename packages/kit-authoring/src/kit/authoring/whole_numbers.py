# SPDX-License-Identifier: MIT
"""Reads `5.0` in JSON as an integer, which msgspec refuses.

SPEC: JSON Schema 2020-12, core, section 4.2.3, and validation, section 6.1.1: a number with a zero
fractional part is an integer. Many clients have one type for all numbers, and write `5.0` or `1e2`.

msgspec isn't imported here until a function is called, since this package doesn't depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

__all__ = ("decode_again", "with_integers")

T = TypeVar("T")

# APPSEC: `1e308` would become 77 times as long.
_MOST_DIGITS = 18


def decode_again(decode: Callable[[bytes], T], data: bytes, error: Exception) -> T:
    """Decodes JSON that a decoder of msgspec refused, with whole numbers as integers.

    Args:
        decode: Decodes JSON into a value of a type.
        data: The JSON.
        error: The exception that `decode` raised for it.

    Returns:
        The value, if only such numbers were wrong.

    Raises:
        Exception: `error`, or the exception for the other errors in the data.
    """
    if "got `float`" not in str(error):
        raise error
    return decode(_encode(_read_numbers(data)))


def with_integers(value: Any) -> Any:
    """Returns decoded JSON with whole numbers as integers.

    Args:
        value: Lists, dicts and plain values.
    """
    return _decoder(_as_number)(_encode(value))


def _read_numbers(data: bytes) -> Any:
    return _decoder(_as_written)(data)


@cache
def _decoder(hook: Callable[[str], Any]) -> Callable[[bytes], Any]:
    import msgspec

    return msgspec.json.Decoder(float_hook=hook).decode


def _encode(value: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(value)


def _as_written(text: str) -> Any:
    import msgspec

    whole = _find_whole(text)
    return msgspec.Raw(text.encode()) if whole is None else whole


def _as_number(text: str) -> float | int:
    whole = _find_whole(text)
    return float(text) if whole is None else whole


def _find_whole(text: str) -> int | None:
    """Returns the integer that a number with a point or an exponent stands for, or None."""
    number = Decimal(text)
    if number.adjusted() >= _MOST_DIGITS or number != number.to_integral_value():
        return None
    return int(number)
