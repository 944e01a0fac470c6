# SPDX-License-Identifier: MIT
"""TypeScript types for the schemas of a document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..._components import Schema
from .._names import UniqueNames, pascal
from .._schemas import (
    All,
    Array,
    Choice,
    Object,
    Reference,
    Scalar,
    Shape,
    Text,
    Tuple,
    Values,
    find_alternatives,
    find_forms,
    find_tags,
    is_nullable,
    read_schema,
)
from ._writing import (
    NULL,
    UNKNOWN,
    Field,
    ListOf,
    MapOf,
    Named,
    Record,
    TupleOf,
    Type,
    Union,
    literal,
    write_alias,
    write_comment,
    write_interface,
)

_SCALARS: Mapping[str, Type] = {
    "integer": Named("number"),
    "number": Named("number"),
    "boolean": Named("boolean"),
    "null": NULL,
    "decimal": Union([Named("string"), Named("number")]),
}
# Types that a client refers to, and names that TypeScript doesn't allow for a type.
_RESERVED = (
    "AbortSignal", "ApiError", "AsyncGenerator", "Blob", "BodyKind", "Client", "ClientOptions",
    "Errors", "FormData", "Generator", "Omit", "OperationRequest", "Partial", "Promise",
    "ReadableStream", "Record", "RequestInit", "RequestOptions", "Response", "Responses", "Secret",
    "StreamOptions", "TemplateStringsArray", "Uint8Array",
)  # fmt: skip


class Types:
    """The types of a document.

    Args:
        components: The schemas of the document, by name.
        paths: The Path Items of the document, by path.
    """

    def __init__(self, components: Mapping[str, Schema], paths: Mapping[str, Any]) -> None:
        self.names = UniqueNames(_RESERVED)
        self._components = components
        self._named = {name: self.names.free(pascal(name)) for name in components}
        self._tags = dict(find_tags(components, [*components.values(), paths]))
        self._forms = find_forms(components, paths)

    def of(self, schema: Schema | bool | None, *, is_form: bool = False) -> Type:
        """Returns the type of a schema; `is_form` if it is in a form, which has files."""
        shape = read_schema(schema)
        match shape:
            case Reference(name):
                return Named(self._named[name]) if name in self._named else UNKNOWN
            case Values(values):
                return _unite(_write_values(values))
            case Choice(schemas):
                return _unite([self.of(each, is_form=is_form) for each in schemas])
            case All(schemas):
                return Union([self.of(each, is_form=is_form) for each in schemas], "&")
            case Tuple(schemas):
                return TupleOf([self.of(each, is_form=is_form) for each in schemas])
            case Array(items):
                return ListOf(self.of(items, is_form=is_form))
            case Object(described, values):
                if described.get("properties"):
                    return self._record(described, None, is_form=is_form)
                return MapOf(UNKNOWN if values is None else self.of(values, is_form=is_form))
            case _:
                return _of_scalar(shape, is_form=is_form)

    def of_parameter(self, schema: Schema | bool | None) -> Type:
        """Returns the type of a parameter, without `null` if it can't be sent."""
        kind = self.of(schema)
        if isinstance(kind, Union) and NULL in kind.parts and not self.is_nullable(schema):
            return _unite([each for each in kind.parts if each != NULL])
        return kind

    def of_form(self, schema: Schema | bool | None, *, has_files: bool) -> Type:
        """Returns the type of a form, which is an object whatever the document says."""
        shapes = [*find_alternatives(self._components, schema)]  # none if it stands for itself
        is_object = bool(shapes) and all(isinstance(each, Object | All) for each in shapes)
        return self.of(schema, is_form=has_files) if is_object else Named("object")

    def is_nullable(self, schema: Schema | bool | None) -> bool:
        """Returns whether a schema has null, and nothing else that the text `null` could be."""
        return is_nullable(self._components, schema)

    def find_nullable(self, name: str, schema: Schema | bool | None) -> Iterator[str]:
        """Yields the names of values in a query or form for which the text `null` is sent.

        Args:
            name: The name of the value, or an empty text for the fields of a form.
            schema: Its schema.
        """
        if name and self.is_nullable(schema):
            yield name
        shape = read_schema(schema)
        if isinstance(shape, Reference):
            shape = read_schema(self._components.get(shape.name))
        if isinstance(shape, Object):
            for key, each in shape.schema.get("properties", {}).items():
                if self.is_nullable(each):
                    yield f"{name}[{key}]" if name else key

    def write(self) -> list[str]:
        """Writes the components: interfaces, and aliases for other types."""
        lines: list[str] = []
        for name, schema in self._components.items():
            shape = read_schema(schema)
            lines += ["", *write_comment(str(_field(schema, "description", "")), 0)]
            is_form = name in self._forms
            if isinstance(shape, Object) and "properties" in shape.schema:
                record = self._record(shape.schema, name, is_form=is_form)
                lines += write_interface(self._named[name], record)
                continue
            kind = UNKNOWN if self._is_circular(name, schema) else self.of(schema, is_form=is_form)
            lines += write_alias(self._named[name], kind)
        return lines

    def _record(self, schema: Schema, name: str | None, *, is_form: bool) -> Record:
        required = schema.get("required", ())
        tag = self._tags.get(name) if name is not None else None
        fields = []
        for key, each in schema["properties"].items():
            kind = self.of(each, is_form=is_form)
            is_required = key in required
            if tag is not None and tag.name == key:
                # It tells the types of a union apart only if it is always there.
                kind, is_required = Named(literal(tag.value)), True
            fields.append(Field(key, kind, is_required, describe(each)))
        return Record(fields, is_open=isinstance(schema.get("additionalProperties"), dict))

    def _is_circular(self, name: str, schema: Any) -> bool:
        """Returns whether an alias stands for itself, which TypeScript refuses."""
        seen: set[str] = set()
        waiting = [schema]
        while waiting:
            shape = read_schema(waiting.pop())
            if isinstance(shape, Choice | All):
                waiting += shape.schemas
            elif isinstance(shape, Reference) and shape.name in self._components:
                if shape.name == name:
                    return True
                if shape.name not in seen:
                    seen.add(shape.name)
                    waiting.append(self._components[shape.name])
        return False


def _of_scalar(shape: Shape, *, is_form: bool) -> Type:
    match shape:
        case Text():
            return Named("Blob" if shape.is_octets or (is_form and shape.is_file) else "string")
        case Scalar(kind):
            return _SCALARS[kind]
        case _:
            return UNKNOWN


def describe(schema: Any) -> str:
    """Returns the comment for a property: its description, default and deprecation."""
    lines = [str(_field(schema, "description", ""))]
    if isinstance(schema, dict) and schema.get("default") not in (None, [], {}, ""):
        lines.append(f"@default {json.dumps(schema['default'], ensure_ascii=False)}")
    if _field(schema, "deprecated", False):
        lines.append("@deprecated")
    return "\n".join(filter(None, lines))


def _field(schema: Any, name: str, default: Any) -> Any:
    return schema.get(name, default) if isinstance(schema, dict) else default


def _write_values(values: list[Any]) -> list[Type]:
    is_plain = all(isinstance(each, str | int | float | None) for each in values)
    return [Named(literal(each)) for each in values] if is_plain else [UNKNOWN]


def _unite(kinds: list[Type]) -> Type:
    """Returns the union of types, without what is in it twice."""
    parts: list[Type] = []
    for kind in kinds:
        inner = kind.parts if isinstance(kind, Union) and kind.sign == "|" else [kind]
        parts += [each for each in inner if each not in parts]
    if UNKNOWN in parts or not parts:
        return UNKNOWN
    return parts[0] if len(parts) == 1 else Union(parts)
