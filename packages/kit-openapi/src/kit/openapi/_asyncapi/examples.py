# SPDX-License-Identifier: MIT
"""Makes an example of a message from its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 6
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "duration": "PT1H",
    "email": "ada@example.com",
    "time": "12:00:00Z",
    "uri": "https://example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}


def make_example(schema: Any, components: Mapping[str, Any], depth: int = 0) -> Any:
    """Returns a value that a schema describes; at best it also satisfies patterns and rules.

    Args:
        schema: A Schema Object of AsyncAPI.
        components: The schemas to which it refers, by name.
        depth: How deep it is within another.
    """
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return make_example(components.get(name), components, depth + 1)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        if schema.get(key):
            return make_example(schema[key][0], components, depth + 1)
    return _make_by_type(schema, components, depth)


def _make_by_type(schema: Mapping[str, Any], components: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return {
            name: make_example(each, components, depth + 1)
            for name, each in schema.get("properties", {}).items()
        }
    if kind == "array":
        items = schema.get("items")
        held = items if isinstance(items, list) else [items] if items else []
        return [make_example(each, components, depth + 1) for each in held]
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), "text".ljust(schema.get("minLength", 0), "."))
    if kind in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        return min(least, schema["maximum"]) if "maximum" in schema else least
    return True if kind == "boolean" else None
