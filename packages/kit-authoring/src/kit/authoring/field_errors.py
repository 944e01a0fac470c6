# SPDX-License-Identifier: MIT
"""Reads the errors of msgspec and pydantic: their types and contexts, which programs translate.

Both libraries' errors have pydantic's names, whichever of them validates.
"""

from __future__ import annotations

import ast
import enum
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from kit.interface import FieldError

__all__ = ("ErrorKind", "field_error", "read_message")

# APPSEC: contexts may quote text from the client, and a validator's own context may be any object.
_LONGEST = 500
_MOST_ITEMS = 100
_DEEPEST = 4
_LARGEST = 1 << 1024

# Beginnings of msgspec messages that quote client input, which may be any text.
_ENUM = "Invalid enum value "
_TAG = "Invalid value "
# Parts of msgspec's messages with pydantic's names for the errors, and for the bounds that follow.
# The first match counts, so longer parts come first.
_TYPES_BY_TEXT = (
    ("JSON is malformed", "json_invalid", ""),
    ("data was truncated", "json_invalid", ""),
    ("issing required field", "missing", ""),
    ("nknown field", "extra_forbidden", ""),
    ("Invalid UUID", "uuid_parsing", ""),
    ("encoded datetime", "datetime_parsing", ""),
    ("epoch timestamp", "datetime_parsing", ""),
    ("encoded date", "date_parsing", ""),
    ("encoded time", "time_parsing", ""),
    ("duration", "time_delta_parsing", ""),
    ("decimal string", "decimal_parsing", ""),
    ("base64", "bytes_invalid_encoding", ""),
    ("with a timezone", "timezone_aware", ""),
    ("with no timezone", "timezone_naive", ""),
    ("out of range", "number_out_of_range", ""),
    ("a multiple of ", "multiple_of", "multiple_of"),
    ("matching regex ", "string_pattern_mismatch", "pattern"),
    ("`str` of length >= ", "string_too_short", "min_length"),
    ("`str` of length <= ", "string_too_long", "max_length"),
    ("`bytes` of length >= ", "bytes_too_short", "min_length"),
    ("`bytes` of length <= ", "bytes_too_long", "max_length"),
    ("of length >= ", "too_short", "min_length"),
    ("of at least length ", "too_short", "min_length"),
    ("of length <= ", "too_long", "max_length"),
    ("of at most length ", "too_long", "max_length"),
    ("of length ", "wrong_length", "length"),
    ("` >= ", "greater_than_equal", "ge"),
    ("` <= ", "less_than_equal", "le"),
    ("` > ", "greater_than", "gt"),
    ("` < ", "less_than", "lt"),
)
_TYPES_BY_EXPECTED = {
    "IPv4Address": "ip_v4_address",
    "IPv4Interface": "ip_v4_interface",
    "IPv4Network": "ip_v4_network",
    "IPv6Address": "ip_v6_address",
    "IPv6Interface": "ip_v6_interface",
    "IPv6Network": "ip_v6_network",
    "ZoneInfo": "zoneinfo_str",
    "array": "list_type",
    "bool": "bool_type",
    "bytes": "bytes_type",
    "date": "date_type",
    "datetime": "datetime_type",
    "decimal": "decimal_type",
    "duration": "time_delta_type",
    "float": "float_type",
    "int": "int_type",
    "null": "none_required",
    "object": "dict_type",
    "str": "string_type",
    "time": "time_type",
    "uuid": "uuid_type",
}
# kit.authoring.numerals' rules for decimals, as pydantic names them.
_DIGITS = re.compile(r"of at most (\d+) (decimal places|digits)")
_TYPES_BY_DIGITS = {
    "decimal places": ("decimal_max_places", "decimal_places"),
    "digits": ("decimal_max_digits", "max_digits"),
}
_EXPECTED = re.compile(r"Expected `([^`]*)`")
_GOT = re.compile(r", got (\d+)\Z")


class ErrorKind(NamedTuple):
    """The kind of an error, for programs.

    Attributes:
        type: One of pydantic's names, e.g. `greater_than_equal`.
        ctx: The bound and its value by pydantic's names, e.g. `{"ge": 1}`; empty if there is none.
    """

    type: str
    ctx: dict[str, Any]


def read_message(message: str, node: Any = None) -> ErrorKind:
    """Returns the error that a msgspec message describes.

    Args:
        message: The text of a `msgspec.ValidationError` without the path, e.g. ``Expected `int` >=
            1``.
        node: The `msgspec.inspect` type that the value should have, if known: the values of an
            enum, a Literal, and the tags of a union are only there.

    Returns:
        The error. Its type is `type_error` if one of several types was expected, and `value_error`
        for messages that aren't msgspec's own.
    """
    if message.startswith(_ENUM):
        return ErrorKind("enum", _expected("expected", _choices(node), " or "))
    if message.startswith(_TAG):
        return ErrorKind("union_tag_invalid", _tag_context(message.removeprefix(_TAG), node))
    digits = _DIGITS.search(message)
    if digits is not None and "decimal" in message:
        name, bound = _TYPES_BY_DIGITS[digits[2]]
        return ErrorKind(name, {bound: int(digits[1])})
    for text, name, bound in _TYPES_BY_TEXT:
        _, found, rest = message.partition(text)
        if found:
            return ErrorKind(name, _bound(bound, rest) if bound else {})
    expected = _EXPECTED.match(message)
    if expected is None:
        return ErrorKind("value_error", {})
    known = _TYPES_BY_EXPECTED.get(expected[1])
    return ErrorKind("type_error", {"expected": expected[1]}) if not known else ErrorKind(known, {})


def field_error(path: str, message: str, kind: str, ctx: Mapping[str, Any]) -> FieldError:
    """Returns the error of a field, with a context that fits into JSON.

    Args:
        path: The path of the field; see `FieldError`.
        message: The error, for people.
        kind: The type of the error.
        ctx: Its context: long texts are cut, exceptions and other objects become their text.
            Left out of the error if empty.
    """
    error = FieldError(path=path, message=message, type=kind)
    if ctx:
        error["ctx"] = _encodable(ctx, 0)
    return error


def _bound(name: str, rest: str) -> dict[str, Any]:
    """Returns the bound at the beginning of the rest of a message."""
    if name == "pattern":
        return {name: _read_pattern(rest)}
    got = _GOT.search(rest)
    text = rest[: got.start()] if got is not None else rest
    names = ("min_length", "max_length") if name == "length" else (name,)
    first, _, last = text.partition(" to ")
    bounds = zip(names, (first, last or first), strict=False)
    ctx: dict[str, Any] = {each: _number(value) for each, value in bounds}
    if got is not None:
        ctx["actual_length"] = int(got[1])
    return ctx


def _number(text: str) -> Any:
    text = text.partition(",")[0].strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_pattern(rest: str) -> str:
    try:
        return str(ast.literal_eval(rest))
    except (ValueError, SyntaxError):
        return rest


def _tag_context(sent: str, node: Any) -> dict[str, Any]:
    structs = [each for each in _members(node) if getattr(each, "tag_field", None) is not None]
    if not structs:
        return {}
    tags = [each.tag for each in structs]
    return {
        "discriminator": repr(structs[0].tag_field),
        "tag": sent[1:-1] if sent[:1] == "'" == sent[-1:] else sent,
        **_expected("expected_tags", tags, ", "),
    }


def _choices(node: Any) -> list[Any]:
    """Returns the values of the enums and Literals in a type."""
    found: list[Any] = []
    for each in _members(node):
        cls = getattr(each, "cls", None)
        if isinstance(cls, type) and issubclass(cls, enum.Enum):
            found += [member.value for member in cls]
        elif isinstance(getattr(each, "values", None), tuple):
            found += each.values
    return found


def _members(node: Any) -> Iterator[Any]:
    while type(node).__name__ == "Metadata":
        node = node.type
    if type(node).__name__ == "UnionType":
        for each in node.types:
            yield from _members(each)
    elif node is not None:
        yield node


def _expected(name: str, values: Iterable[Any], last: str) -> dict[str, str]:
    """Returns choices as pydantic shows them: `'a', 'b' or 'c'`."""
    shown = [repr(each) for each in islice(values, _MOST_ITEMS)]
    if not shown:
        return {}
    *others, end = shown
    return {name: f"{', '.join(others)}{last}{end}" if others else end}


def _encodable(value: Any, depth: int) -> Any:
    """Returns a value as JSON can have it, and not longer than an error may be."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return _encodable(value.value, depth + 1) if depth < _DEEPEST else _cut(str(value))
    if isinstance(value, int) and abs(value) < _LARGEST:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {
            _cut(str(key)): _encodable(each, depth + 1)
            for key, each in islice(value.items(), _MOST_ITEMS)
        }
    if depth < _DEEPEST and isinstance(value, (list, tuple, set, frozenset)):
        return [_encodable(each, depth + 1) for each in islice(value, _MOST_ITEMS)]
    if isinstance(value, int):
        return hex(value)[:_LONGEST]
    return _cut(str(value) if not hasattr(value, "isoformat") else value.isoformat())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
