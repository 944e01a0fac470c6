# SPDX-License-Identifier: MIT
"""Reads the schemas of a document, for clients of any language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from .._methods import iterate_operations
from .._schemas import PREFIX, Schema

_MULTIPART = "multipart/form-data"
_OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Reference:
    """A component, by its name in the document."""

    name: str


@dataclass(frozen=True)
class Values:
    """An enumeration of JSON values."""

    values: list[Any]


@dataclass(frozen=True)
class Choice:
    """One of several schemas."""

    schemas: list[Schema]


@dataclass(frozen=True)
class All:
    """All of several schemas."""

    schemas: list[Schema]


@dataclass(frozen=True)
class Tuple:
    """An array of a fixed length, with a schema for each item."""

    schemas: list[Schema]


@dataclass(frozen=True)
class Array:
    """An array with one schema for all items, or None."""

    schema: Schema | bool | None


@dataclass(frozen=True)
class Object:
    """An object: its schema, and the schema of further values, or None if any is allowed."""

    schema: Schema
    values: Schema | None


@dataclass(frozen=True)
class Text:
    """A string.

    Attributes:
        format: Its format, or an empty text.
        is_base64: Whether it is bytes in Base64.
        is_file: Whether it is a file where it is part of a form, `binary` otherwise being text.
        is_octets: Whether it is a file everywhere.
    """

    format: str
    is_base64: bool
    is_file: bool
    is_octets: bool


@dataclass(frozen=True)
class Scalar:
    """`integer`, `number`, `boolean`, `null` or `decimal`."""

    kind: str


@dataclass(frozen=True)
class Anything:
    """Any JSON value."""


Shape: TypeAlias = (
    Reference | Values | Choice | All | Tuple | Array | Object | Text | Scalar | Anything
)


def read_schema(schema: Schema | bool | None) -> Shape:
    """Returns what a schema describes."""
    if not isinstance(schema, dict):
        return Anything()
    if "$ref" in schema:
        return Reference(schema["$ref"].removeprefix(PREFIX))
    if "const" in schema:
        return Values([schema["const"]])
    if "enum" in schema:
        return Values(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return Choice(schema[key])
    if "allOf" in schema:
        choices = schema["allOf"]
        return read_schema(choices[0]) if len(choices) == 1 else All(choices)
    if schema.get("format") == "decimal":
        return Scalar("decimal")
    kind = schema.get("type")
    if isinstance(kind, list):
        return Choice([{**schema, "type": each} for each in kind])
    return _read_type(kind, schema)


def _read_type(kind: Any, schema: Schema) -> Shape:
    if kind == "array":
        first = schema.get("prefixItems")
        if first and schema.get("minItems") == len(first) == schema.get("maxItems"):
            return Tuple(first)
        return Array(None if first else schema.get("items"))
    if kind == "object":
        extra = schema.get("additionalProperties")
        return Object(schema, extra if isinstance(extra, dict) else None)
    is_octets = schema.get("contentMediaType") == _OCTETS
    if kind == "string" or (kind is None and is_octets):
        is_binary = schema.get("format") == "binary"
        return Text(
            str(schema.get("format", "")),
            schema.get("contentEncoding") == "base64",
            is_binary or is_octets,
            is_octets and (is_binary or kind is None),
        )
    if kind in ("integer", "number", "boolean", "null"):
        return Scalar(kind)
    return Anything()


class Tag(NamedTuple):
    """The field of an object that distinguishes it in a union, and its value."""

    name: str
    value: str | int


def find_tags(components: Mapping[str, Schema], value: Any) -> Iterator[tuple[str, Tag]]:
    """Yields the names of components that a discriminator distinguishes, with their tags."""
    if isinstance(value, list):
        for each in value:
            yield from find_tags(components, each)
    if not isinstance(value, dict):
        return
    discriminator = value.get("discriminator")
    if isinstance(discriminator, dict) and isinstance(discriminator.get("mapping"), dict):
        for tag, reference in discriminator["mapping"].items():
            name = str(reference).removeprefix(PREFIX)
            if name in components:
                field = discriminator["propertyName"]
                yield name, Tag(field, _tag(components[name], field, tag))
    for each in value.values():
        yield from find_tags(components, each)


def _tag(schema: Any, name: str, text: str) -> str | int:
    """Returns the value of a tag, of which the mapping of a discriminator has the text."""
    field = schema.get("properties", {}).get(name, {}) if isinstance(schema, dict) else {}
    values = [field.get("const"), *field.get("enum", ())]
    return next((each for each in values if isinstance(each, int) and str(each) == text), text)


def find_forms(components: Mapping[str, Schema], paths: Mapping[str, Any]) -> set[str]:
    """Returns the names of components that only forms with files refer to."""
    used = Counter(_references([*components.values(), paths]))
    forms = Counter(_forms(paths))
    return {name.removeprefix(PREFIX) for name, count in forms.items() if used[name] == count}


def _references(value: Any) -> Iterator[str]:
    """Yields the references in a part of the document."""
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _references(each)


def _forms(paths: Mapping[str, Any]) -> Iterator[str]:
    """Yields the references to the schemas of forms that are always multipart."""
    for item in paths.values():
        for _, operation in iterate_operations(item):
            content = operation.get("requestBody", {}).get("content", {})
            schema = content[_MULTIPART].get("schema") if [*content] == [_MULTIPART] else None
            if isinstance(schema, dict) and "$ref" in schema:
                yield schema["$ref"]


def is_nullable(components: Mapping[str, Schema], schema: Schema | bool | None) -> bool:
    """Returns whether a schema has null, and nothing else that the text `null` could be."""
    shapes = [*find_alternatives(components, schema)]
    has_null = any(
        shape == Scalar("null") or (isinstance(shape, Values) and None in shape.values)
        for shape in shapes
    )
    return has_null and not any(map(_could_be_null_text, shapes))


def _could_be_null_text(shape: Shape) -> bool:
    if isinstance(shape, Text):
        return shape.format not in _PARSED or shape.is_base64
    if isinstance(shape, Values):
        return "null" in shape.values
    return isinstance(shape, (Anything, All, Array, Tuple, Object))


# Formats of which `null` isn't a value.
_PARSED = {"date-time", "date", "time", "duration", "uuid"}


def find_alternatives(
    components: Mapping[str, Schema], schema: Any, seen: frozenset[str] = frozenset()
) -> Iterator[Shape]:
    """Yields the alternatives of a schema, those of components as well."""
    shape = read_schema(schema)
    if isinstance(shape, Reference):
        if shape.name in components and shape.name not in seen:
            yield from find_alternatives(components, components[shape.name], seen | {shape.name})
    elif isinstance(shape, Choice):
        for each in shape.schemas:
            yield from find_alternatives(components, each, seen)
    else:
        yield shape
