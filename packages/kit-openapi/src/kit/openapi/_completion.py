# SPDX-License-Identifier: MIT
"""Completes schemas from both libraries: descriptions, types, and values that JSON has."""

from __future__ import annotations

import math
from typing import Any

from ._components import Schema
from ._docstrings import parse
from ._sent_names import DECIMAL

# The items after those of a tuple. Generators of TypeScript take a plain schema for one more item,
# and a union of types for a type that isn't an array.
_NO_FURTHER: Schema = {"anyOf": [{}, {}]}
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


def use_docstring(schema: Schema) -> None:
    """Adds the descriptions of fields from a docstring to the fields."""
    text = schema.get("description")
    if not text:
        return
    said = parse(text)
    schema["description"] = said.prose
    for name, field in schema.get("properties", {}).items():
        if name in said.attributes:
            field.setdefault("description", said.attributes[name])


def complete(value: Any) -> None:
    """Adds what msgspec leaves out: types of enumerations, and the form of a decimal number.

    Removes defaults and examples that JSON can't represent, and null as a default: it says nothing
    that an optional field doesn't say, but openapi-typescript takes each field with a default for
    a required one. Gives every array an object as `items`, which some tools need, while others
    don't take `false`; that a tuple has no further items is what its `maxItems` says.
    """
    if isinstance(value, dict):
        if "default" in value and (value["default"] is None or not is_json(value["default"])):
            del value["default"]
        if value.get("type") == "array" and _lacks_items(value):
            value["items"] = dict(_NO_FURTHER if value.get("prefixItems") else {})
        if isinstance(value.get("examples"), list):
            value["examples"] = [each for each in value["examples"] if is_json(each)]
        _add_type(value)
        value = value.values()
    if not isinstance(value, str):
        for each in value:
            if isinstance(each, (dict, list)):
                complete(each)


def _lacks_items(schema: Schema) -> bool:
    """Returns whether an array has no schema of its items, or only one that a bound repeats."""
    items = schema.get("items")
    return items is None or (items is False and "maxItems" in schema)


def _add_type(schema: Schema) -> None:
    """Adds the types of decimal numbers, and of enumerations whose values all have the same."""
    if schema.get("format") == "decimal" and schema.get("type") == "string":
        schema |= {"type": ["string", "number"], "pattern": schema.get("pattern", DECIMAL)}
    enum = schema.get("enum")
    if isinstance(enum, list) and enum and "type" not in schema:
        kinds = {_JSON_TYPES.get(type(each)) for each in enum}
        if len(kinds) == 1 and None not in kinds:
            schema["type"] = kinds.pop()


def is_json(value: Any) -> bool:
    """Returns whether JSON can represent a value, which excludes infinity and NaN."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    return not isinstance(value, float) or math.isfinite(value)
