# SPDX-License-Identifier: MIT
"""Adds what msgspec leaves out of schemas: some formats, and the names of keys.

msgspec sets the format only for datetimes with an offset, as required by RFC 3339. An unconstrained
`datetime` accepts both forms; the format is more useful to readers and authors of clients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import inspect

from ._keys import add_names

_PREFIX = "#/components/schemas/"
_OF_TIMES = ((inspect.DateTimeType, "date-time"), (inspect.TimeType, "time"))
_FIELDS = (
    inspect.StructType,
    inspect.DataclassType,
    inspect.TypedDictType,
    inspect.NamedTupleType,
)


def add_formats(
    kinds: Iterable[Any], schemas: Iterable[dict[str, Any]], components: dict[str, dict[str, Any]]
) -> None:
    """Adds formats and names.

    Args:
        kinds: The types.
        schemas: Their schemas, in the same order; changed in place.
        components: The components that the schemas refer to; also changed in place.
    """
    seen: set[str] = set()
    for node, schema in zip(inspect.multi_type_info(kinds), schemas, strict=True):
        _add(node, schema, components, seen)


def _add(node: Any, schema: Any, components: dict[str, Any], seen: set[str]) -> None:
    while isinstance(node, inspect.Metadata):
        node = node.type
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix(_PREFIX)
        if name not in seen:
            seen.add(name)
            _add(node, components.get(name), components, seen)
        return
    for kind, name in _OF_TIMES:
        if isinstance(node, kind) and node.tz is None:
            schema["format"] = name
    if isinstance(node, inspect.DictType):
        add_names(node, schema)
    for part, inner in _parts(node, schema):
        _add(part, inner, components, seen)


def _parts(node: Any, schema: dict[str, Any]) -> Iterable[tuple[Any, Any]]:
    """Pairs the parts of a type with their schemas."""
    if isinstance(node, _FIELDS):
        properties = schema.get("properties")
        if properties is not None:
            return [(each.type, properties.get(each.encode_name)) for each in node.fields]
        return zip((each.type for each in node.fields), schema.get("prefixItems", ()), strict=False)
    if isinstance(node, inspect.CollectionType):
        return [(node.item_type, schema.get("items"))]
    if isinstance(node, inspect.TupleType):
        return zip(node.item_types, schema.get("prefixItems", ()), strict=False)
    if isinstance(node, inspect.DictType):
        return [(node.value_type, schema.get("additionalProperties"))]
    if isinstance(node, inspect.UnionType):
        return _choices(node, schema)
    return []


def _choices(node: inspect.UnionType, schema: dict[str, Any]) -> list[tuple[Any, Any]]:
    structs, others = [], []
    for each in node.types:
        bare: Any = each
        while isinstance(bare, inspect.Metadata):
            bare = bare.type
        if isinstance(bare, inspect.StructType) and not bare.array_like:
            structs.append(each)
        elif not isinstance(bare, inspect.NoneType):
            others.append(each)
    choices = schema.get("anyOf", [])
    if len(structs) > 1 and "discriminator" not in schema:  # these are a union within the union
        inner: dict[str, Any] = next((each for each in choices if "discriminator" in each), {})
        inside = zip(structs, inner.get("anyOf", ()), strict=False)
        return [*zip(others, choices, strict=False), *inside]
    return [*zip([*others, *structs], choices, strict=False)]
