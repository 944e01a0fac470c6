# SPDX-License-Identifier: MIT
"""The schemas of the names in objects whose keys aren't plain strings, which msgspec leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import inspect

Schema = dict[str, Any]

_INTEGER = r"^-?(?:0|[1-9][0-9]*)$"
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
# The lower bounds of integers that a pattern can express.
_LEAST = {0: r"^(?:0|[1-9][0-9]*)$", 1: r"^[1-9][0-9]*$"}
_FORMATS: dict[type[Any], str] = {
    inspect.DateType: "date",
    inspect.DateTimeType: "date-time",
    inspect.TimeDeltaType: "duration",
    inspect.TimeType: "time",
    inspect.UUIDType: "uuid",
}


def add_names(node: inspect.DictType, schema: Schema) -> None:
    """Adds `propertyNames` to the schema of a dict (JSON Schema 2020-12, section 10.3.2.4).

    Args:
        node: The type of the dict.
        schema: Its schema; unchanged if it has them already, as for some keys that are strings.
    """
    if "propertyNames" not in schema:
        names = _names(node.key_type)
        if names:
            schema["propertyNames"] = names


def _names(node: Any) -> Schema:
    """Returns the schema of keys; empty if any string may be one."""
    while isinstance(node, inspect.Metadata):
        node = node.type
    if isinstance(node, inspect.StrType):
        given = {
            "minLength": node.min_length,
            "maxLength": node.max_length,
            "pattern": node.pattern,
        }
        return {name: value for name, value in given.items() if value is not None}
    if isinstance(node, inspect.EnumType):
        return _enum(each.value for each in node.cls)
    if isinstance(node, inspect.LiteralType):
        return _enum(node.values)
    if isinstance(node, inspect.IntType):
        least = node.ge if node.gt is None else node.gt + 1
        return {"pattern": _INTEGER if least is None else _LEAST.get(min(least, 1), _INTEGER)}
    if isinstance(node, (inspect.FloatType, inspect.DecimalType)):
        return {"pattern": _NUMBER}
    if isinstance(node, inspect.UnionType):
        choices = [_names(each) for each in node.types if not isinstance(each, inspect.NoneType)]
        if len(choices) == 1:
            return choices[0]
        return {"anyOf": choices} if all(choices) else {}
    found = _FORMATS.get(type(node))
    return {} if found is None else {"format": found}


def _enum(values: Iterable[Any]) -> Schema:
    return {"enum": [str(each) for each in values if each is not None]}
