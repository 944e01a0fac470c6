# SPDX-License-Identifier: MIT
"""Adds what msgspec leaves out of schemas: some formats and defaults, and the names of keys.

msgspec sets the format only for datetimes with an offset, as required by RFC 3339. An unconstrained
`datetime` accepts both forms; the format is more useful to readers and authors of clients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import inspect

from ._defaults import find_made_default
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
    kinds: Iterable[Any],
    schemas: Iterable[dict[str, Any]],
    components: dict[str, dict[str, Any]],
    *,
    is_sent: bool = False,
    requires_defaults: bool = False,
) -> None:
    """Adds formats, names and defaults, and says which fields are sent.

    Args:
        kinds: The types.
        schemas: Their schemas, in the same order; changed in place.
        components: The components that the schemas refer to; also changed in place.
        is_sent: Whether the values are sent.
        requires_defaults: Whether fields that are always sent are required, although they have a
            default.
    """
    adding = _Adding(components, is_sent, requires_defaults)
    for node, schema in zip(inspect.multi_type_info(kinds), schemas, strict=True):
        adding.add(node, schema)


class _Adding:
    """Adds to schemas; see `add_formats`."""

    def __init__(self, components: dict[str, Any], is_sent: bool, requires_defaults: bool) -> None:
        self._components = components
        self._is_sent = is_sent
        self._requires_defaults = requires_defaults
        self._seen: set[str] = set()

    def add(self, node: Any, schema: Any) -> None:
        """Adds to the schema of a type."""
        while isinstance(node, inspect.Metadata):
            node = node.type
        if not isinstance(schema, dict):
            return
        reference = schema.get("$ref")
        if reference is not None:
            name = reference.removeprefix(_PREFIX)
            if name not in self._seen:
                self._seen.add(name)
                self.add(node, self._components.get(name))
            return
        self._add_own(node, schema)
        for part, inner in _parts(node, schema):
            self.add(part, inner)

    def _add_own(self, node: Any, schema: dict[str, Any]) -> None:
        for kind, name in _OF_TIMES:
            if isinstance(node, kind) and node.tz is None:
                schema["format"] = name
        if isinstance(node, inspect.DictType):
            add_names(node, schema)
        if isinstance(node, _FIELDS):
            _add_defaults(node, schema)
            if self._is_sent:
                self._show_sent(node, schema)

    def _show_sent(self, node: Any, schema: dict[str, Any]) -> None:
        """Shows the fields that are sent, and requires those that always are."""
        fields = schema.get("properties")
        if isinstance(node, inspect.DataclassType) and fields is not None:
            # msgspec doesn't encode these fields of dataclasses and attrs classes.
            for each in node.fields:
                if each.encode_name.startswith("_"):
                    fields.pop(each.encode_name, None)
            schema["required"] = [each for each in schema["required"] if each in fields]
        if not self._requires_defaults:
            return
        if fields is None:
            # Arrays have all fields, also those that objects omit.
            schema["minItems"] = len(schema.get("prefixItems", ()))
        elif not isinstance(node, inspect.TypedDictType):
            own = {each.encode_name: each for each in node.fields}
            schema["required"] = [
                name for name in fields if name not in own or _is_always_sent(node, own[name])
            ]


def _is_always_sent(node: Any, field: Any) -> bool:
    """Returns whether a field of a class is sent, whatever its value."""
    if field.required:
        return True
    config = getattr(node.cls, "__struct_config__", None)
    may_be_unset = field.default is field.default_factory  # UNSET is shown as no default
    return not may_be_unset and not (config is not None and config.omit_defaults)


def _add_defaults(node: Any, schema: dict[str, Any]) -> None:
    """Adds the defaults that functions such as `list` make."""
    properties = schema.get("properties") or {}
    for each in node.fields:
        field = properties.get(each.encode_name)
        if isinstance(field, dict) and "default" not in field:
            default = find_made_default(each.default_factory)
            if default is not None:
                field["default"] = default


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
