# SPDX-License-Identifier: MIT
"""Self-contained JSON Schemas from an OpenAPI document.

SPEC: JSON Schema 2020-12, section 8.2.4 (`$defs`); OpenAPI 3.1.1, section 4.8.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ("is_plain_object", "resolve", "standalone")

_COMPONENTS = "#/components/schemas/"
# Their values are data, not schemas, so they don't contain references.
_DATA = frozenset({"const", "default", "enum", "examples"})
_MAPS = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
# Keywords of OpenAPI; `discriminator` has references, but is redundant.
_DROPPED = frozenset({"discriminator", "example", "externalDocs", "xml"})
_PLAIN = frozenset({"additionalProperties", "description", "properties", "required", "title"})


def resolve(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    """Resolves a schema if it is a reference.

    Args:
        schema: The schema.
        components: The schemas of the document by name.
    """
    seen = set()
    while "$ref" in schema and schema["$ref"] not in seen:
        seen.add(schema["$ref"])
        schema = components[_name(schema["$ref"])]
    return schema


def is_plain_object(schema: Mapping[str, Any]) -> bool:
    """Returns whether a schema only lists the fields of an object."""
    return (
        schema.get("type") == "object"
        and "properties" in schema
        and schema.get("additionalProperties", False) is False
        and schema.keys() <= _PLAIN | {"type"}
    )


def standalone(schema: Mapping[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a self-contained schema, with all referenced schemas in its `$defs`.

    Args:
        schema: The schema; it isn't changed.
        components: The schemas of the document by name.
    """
    found: dict[str, Any] = {}
    wanted: list[str] = []
    written: dict[str, Any] = _localized(schema, wanted)
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = _localized(components[name], wanted)
    if found:
        written["$defs"] = {**written.get("$defs", {}), **dict(sorted(found.items()))}
    return written


def _localized(schema: Any, wanted: list[str]) -> Any:
    """Copies a schema, changes its references to `$defs`, and adds their names to `wanted`."""
    if isinstance(schema, list):
        return [_localized(each, wanted) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    copied: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str) and value.startswith(_COMPONENTS):
            wanted.append(_name(value))
            copied[key] = "#/$defs/" + value.removeprefix(_COMPONENTS)
        elif key in _MAPS and isinstance(value, Mapping):
            copied[key] = {name: _localized(each, wanted) for name, each in value.items()}
        elif key not in _DROPPED:
            copied[key] = value if key in _DATA else _localized(value, wanted)
    return copied


def _name(reference: str) -> str:
    """Returns the name of the component that a JSON pointer refers to (RFC 6901, section 4)."""
    return reference.removeprefix(_COMPONENTS).replace("~1", "/").replace("~0", "~")
