# SPDX-License-Identifier: MIT
"""The fields of types whose values are sent with names: in a query, a path, headers or a form."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from ._components import Schema
from ._schemas import Schemas, is_model, iterate_fields

_OF_TAGS = {"const", "enum"}


def by_name(number: int, schemas: Schemas) -> Schema:
    """Returns the schema of values with names, for a type of which JSON may have an array."""
    schema = schemas.get(number)
    names = getattr(_plain(schemas.kind(number)), "_fields", None)  # of a NamedTuple
    whole = schemas.resolved(schema)
    if names is None or whole.get("type") != "array":
        return schema
    items = whole.get("prefixItems", ())
    rest = {key: value for key, value in whole.items() if key in ("title", "description")}
    required = [*names[: whole.get("minItems", 0)]]
    written = {**rest, "type": "object", "properties": dict(zip(names, items, strict=True))}
    return {**written, "required": required} if required else written


def _plain(kind: Any) -> Any:
    """Returns a type without metadata and arguments."""
    while (inner := get_origin(kind)) is not None:
        kind = get_args(kind)[0] if inner is Annotated else inner
    return kind


def named_fields(schema: Schema, schemas: Schemas) -> Iterator[tuple[str, Schema, bool]]:
    """Yields the fields of an object, or of all objects of a union.

    A field of a union is required if all its objects require it: null can't be sent by name.
    """
    whole = schemas.resolved(schema)
    choices = whole.get("anyOf") or whole.get("oneOf")
    if not choices:
        yield from iterate_fields(whole)
        return
    found: dict[str, list[Schema]] = {}
    required: list[set[str]] = []
    for each in choices:
        inner = schemas.resolved(each)
        if inner.get("type", "object") != "object":
            continue
        fields = [*named_fields(inner, schemas)]
        required.append({name for name, _, is_required in fields if is_required})
        for name, field_schema, _ in fields:
            kinds = found.setdefault(name, [])
            if field_schema not in kinds:
                kinds.append(field_schema)
    always = set.intersection(*required) if required else set()
    for name, kinds in found.items():
        yield name, _unite(kinds), name in always


def _unite(kinds: list[Schema]) -> Schema:
    """Returns the schema of values that fit one of several; of tags, an enumeration."""
    if len(kinds) == 1:
        return kinds[0]
    bare = [
        {name: kind[name] for name in kind if name not in ("title", "default")} for kind in kinds
    ]
    values = [kind.get("enum") or [kind["const"]] for kind in bare if kind.keys() & _OF_TAGS]
    if len(values) == len(bare) and all(kind.keys() <= {"type", *_OF_TAGS} for kind in bare):
        types = {kind.get("type") for kind in bare}
        enum = {"enum": sorted({each for some in values for each in some}, key=str)}
        return {**enum, "type": types.pop()} if len(types) == 1 else enum
    return {"anyOf": kinds}


def header_names(kind: Any) -> dict[str, str]:
    """Returns the headers for fields; a name chosen for the data is used unchanged."""
    if get_origin(kind) is Annotated:
        return header_names(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return {key: name for each in get_args(kind) for key, name in header_names(each).items()}
    behind = getattr(kind, "__value__", None) or getattr(kind, "__supertype__", None)
    if behind is not None and not isinstance(kind, type):  # an alias or a NewType
        return header_names(behind)
    if is_model(kind):
        fields = getattr(get_origin(kind) or kind, "__pydantic_fields__", {})
        chosen = {name for name, field in fields.items() if field.validation_alias or field.alias}
        return {name: name.replace("_", "-") for name in fields if name not in chosen}
    try:
        node: Any = msgspec.inspect.type_info(kind)
    except Exception:
        return {}
    return {
        field.name: field.name.replace("_", "-")
        for field in getattr(node, "fields", ())
        if field.name == field.encode_name
    }
