# SPDX-License-Identifier: MIT
"""Python types for the schemas of a document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._schemas import Schema
from .._names import pascal, snake
from .._schemas import (
    Array,
    Choice,
    Object,
    Reference,
    Scalar,
    Tag,
    Text,
    Tuple,
    Values,
    find_forms,
    find_tags,
    is_nullable,
    read_schema,
)
from ._writing import WIDTH, Group, call, docstring, literal, make_names, quoted

_FORMATS = {
    "date-time": "datetime.datetime",
    "date": "datetime.date",
    "time": "datetime.time",
    "duration": "datetime.timedelta",
    "uuid": "uuid.UUID",
}
_SCALARS = {
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "decimal": "decimal.Decimal",
}
# Types that msgspec can't distinguish in a union: it supports one of each group.
_TEXTS = {"str", "bytes", "datetime.datetime", "datetime.date", "datetime.time", "uuid.UUID"}
_TEXTS |= {"decimal.Decimal", "datetime.timedelta"}
ANY = "Any"
# Characters that msgspec doesn't support in the name of a field.
_NOT_IN_FIELDS = re.compile(r'[\\"\x00-\x1f]')
_UNSET = "msgspec.UNSET"
_LONG = 40
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_RESERVED = (
    "Any", "AsyncClient", "Client", "ClientError", "File", "Literal", "Unset", "TypeAlias",
    "annotations", "datetime", "decimal", "httpx", "msgspec", "quote", "uuid", "Sequence",
    "AsyncGenerator", "AsyncIterator", "Generator", "Iterator", "Mapping", "Self", "TracebackType",
    "TypeGuard",
)  # fmt: skip


@dataclass
class Model:
    """A component.

    Attributes:
        name: Its name in Python.
        schema: Its schema.
        tag: The name and value of the field that distinguishes it in a union.
        alias: The types of the union that it stands for, unless it is a Struct.
    """

    name: str
    schema: Any
    tag: Tag | None = None
    alias: list[str] | None = None

    @property
    def text(self) -> str:
        """Its alias as an annotation."""
        return " | ".join(self.alias or ())

    @property
    def is_struct(self) -> bool:
        """Whether it becomes a Struct, which doesn't support all field names."""
        if not isinstance(self.schema, dict) or self.schema.get("type") != "object":
            return False
        properties = self.schema.get("properties")
        return properties is not None and not any(map(_NOT_IN_FIELDS.search, properties))


class Types:
    """The types of a document.

    Args:
        components: The schemas of the document, by name.
        paths: The Path Items of the document, by path.
    """

    def __init__(self, components: Mapping[str, Schema], paths: Mapping[str, Any]) -> None:
        self._components = components
        self.names = names = make_names(_RESERVED)
        self._literals: dict[str, str] = {}
        self._values: dict[str, list[str]] = {}
        self.models = {
            name: Model(names.free(pascal(name)), schema) for name, schema in components.items()
        }
        self._open: set[str] = set()
        for name, tag in find_tags(components, [*components.values(), paths]):
            self.models[name].tag = tag
        self._only_forms = find_forms(components, paths)
        self._is_in_form = False

    def of(self, schema: Schema | bool | None) -> str:
        """Returns the type of a schema, as an annotation."""
        return " | ".join(self._parts(schema))

    def is_nullable(self, schema: Schema | bool | None) -> bool:
        """Returns whether a schema has null, and nothing else that the text `null` could be."""
        return is_nullable(self._components, schema)

    def _parts(self, schema: Schema | bool | None) -> list[str]:
        """Returns the types of a union, or the only type."""
        shape = read_schema(schema)
        match shape:
            case Reference(name):
                return [self._referred(name)]
            case Values(values):
                return [self._literal(values)]
            case Choice(schemas):
                return self._union([part for each in schemas for part in self._parts(each)])
            case Tuple(schemas):
                return [f"tuple[{', '.join(map(self.of, schemas))}]"]
            case Array(items):
                return [f"list[{self.of(items)}]"]
            case Object(values=values):
                return [f"dict[str, {self.of(values)}]"]
            case Text():
                is_file = shape.is_octets or (self._is_in_form and shape.is_file)
                is_bytes = is_file or shape.is_base64
                return ["bytes" if is_bytes else _FORMATS.get(shape.format, "str")]
            case Scalar(kind):
                return [_SCALARS[kind]]
            case _:  # All: Python has no intersections
                return [ANY]

    def _referred(self, name: str) -> str:
        model = self.models.get(name)
        if model is None:
            return ANY
        if model.is_struct:
            return model.name
        if name in self._open:  # an alias of itself, which Python doesn't support
            return ANY
        if model.alias is None:
            self._open.add(name)
            model.alias = self._parts(model.schema)
            self._open.discard(name)
        return ANY if model.alias == [ANY] else model.name

    def _literal(self, values: list[Any]) -> str:
        if not all(isinstance(each, (str, int, bool)) or each is None for each in values):
            return ANY
        written = [literal(each) for each in values]
        kind = f"Literal[{', '.join(written)}]"
        self._values[kind] = written
        return kind

    def _union(self, kinds: list[str]) -> list[str]:
        kinds = list(dict.fromkeys(kinds))
        return [ANY] if ANY in kinds or not self._can_be_told_apart(kinds) else kinds

    def _can_be_told_apart(self, kinds: list[str]) -> bool:
        """Returns whether msgspec supports a union of these types."""
        models = {model.name: model for model in self.models.values()}
        structs = [models[kind] for kind in kinds if kind in models and models[kind].is_struct]
        aliases = [kind for kind in kinds if kind in models and not models[kind].is_struct]
        texts = [kind for kind in kinds if kind in _TEXTS or kind.startswith("Literal")]
        objects = [kind for kind in kinds if kind.startswith("dict")]
        arrays = [kind for kind in kinds if kind.startswith(("list", "tuple"))]
        tags = {model.tag for model in structs}
        return (
            len(texts) + len(aliases) <= 1
            and len(arrays) <= 1
            and len(objects) + min(len(structs), 1) <= 1
            and (len(structs) <= 1 or (None not in tags and len(tags) == len(structs)))
        )

    def write(self) -> tuple[list[str], list[str]]:
        """Generates the models: structs, and aliases for other shared types."""
        for name in self.models:
            self._referred(name)
        structs: list[str] = []
        for name, model in self.models.items():
            if model.is_struct:
                self._is_in_form = name in self._only_forms
                structs += ["", "", *self._struct(model)]
                self._is_in_form = False
        return structs, self._aliases()

    def _aliases(self) -> list[str]:
        pairs = [*self._literals.items()]
        pairs += [(model.name, model.text) for model in self._in_order()]
        lines: list[str] = []
        for name, kind in pairs:
            if kind in self._values:
                lines += call(f"{name}: TypeAlias = Literal[", self._values[kind], "]", 0)
            else:
                lines.append(f"{name}: TypeAlias = {kind}")
        return ["", "", *lines] if lines else []

    def _in_order(self) -> list[Model]:
        """The aliases, each after those that it uses."""
        waiting = [m for m in self.models.values() if m.alias is not None and m.alias != [ANY]]
        ordered: list[Model] = []
        while waiting:
            names = {model.name for model in waiting}
            ready = [m for m in waiting if not names & _words(m.text) - {m.name}]
            ordered += ready or waiting
            waiting = [model for model in waiting if model not in ordered]
        return ordered

    def _struct(self, model: Model) -> list[str]:
        options = ["msgspec.Struct", "kw_only=True"]
        if model.tag is not None:
            options += [f"tag_field={quoted(model.tag[0])}", f"tag={literal(model.tag[1])}"]
        lines = call(f"class {model.name}(", options, "):", 0)
        body = docstring(str(model.schema.get("description") or ""), 1)
        required = model.schema.get("required", ())
        names = make_names()
        fields: list[str] = []
        for key, schema in model.schema["properties"].items():
            if model.tag is not None and key == model.tag[0]:
                continue
            name = names.free(snake(key))
            fields += self._field(name, key, schema, model.name, required=key in required)
        if body and fields:
            body.append("")
        return [*lines, *(body + fields or ["    pass"])]

    def _field(self, name: str, key: str, schema: Any, owner: str, *, required: bool) -> list[str]:
        kinds = self._shortened(self._parts(schema), f"{owner} {key}")
        aliases = {each.name: each.alias for each in self.models.values() if each.alias}
        resolved = aliases.get(kinds[0], kinds) if len(kinds) == 1 else kinds
        default = None if required else _default(schema, resolved)
        if default == _UNSET and kinds != [ANY]:
            kinds = [*kinds, "msgspec.UnsetType"]
        if name == key:
            end = "" if default is None else f" = {default}"
            return _annotated(name, kinds, end)
        arguments = [] if default is None else [f"default={default}"]
        arguments.append(f"name={quoted(key)}")
        return _annotated(name, kinds, Group(" = msgspec.field(", arguments, ")").flat)

    def _shortened(self, kinds: list[str], name: str) -> list[str]:
        """Replaces long lists of values by names."""
        parts = [*kinds]
        for index, part in enumerate(parts):
            if part in self._values and len(part) > _LONG:
                found = next((each for each, value in self._literals.items() if value == part), "")
                if not found:
                    found = self.names.free(pascal(name))
                    self._literals[found] = part
                parts[index] = found
        return parts


def _annotated(name: str, parts: list[str], end: str) -> list[str]:
    line = f"    {name}: {' | '.join(parts)}{end}"
    if len(line) <= WIDTH or len(parts) == 1:
        return [line]
    first, *rest = parts
    inner = [f"        {first}", *(f"        | {each}" for each in rest)]
    return [f"    {name}: (", *inner, f"    ){end}"]


def _default(schema: Any, kinds: list[str]) -> str:
    """Returns the default of an optional field."""
    if not isinstance(schema, dict) or "default" not in schema:
        return _UNSET
    value = schema["default"]
    kind = kinds[0]
    is_plain = kind.startswith(("str", "int", "float", "bool", "Literal"))
    if value is None:
        return "None" if "None" in kinds or kind == ANY else _UNSET
    if value in ([], {}) and kind.startswith(("list", "dict")):
        return repr(value)
    if isinstance(value, (str, int, float)) and is_plain:
        return literal(value)
    return _UNSET


def _words(text: str) -> set[str]:
    """Returns the names in an annotation, without the values of literals."""
    return set(_STRINGS.sub("", text).replace("[", " ").replace("]", " ").replace(",", " ").split())
