# SPDX-License-Identifier: MIT
"""Python types for the schemas of a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._components import PREFIX, Schema
from .._methods import iterate_operations
from ._writing import WIDTH, Group, Names, call, docstring, literal, pascal, quoted, snake

_FORMATS = {
    "date-time": "datetime.datetime",
    "date": "datetime.date",
    "time": "datetime.time",
    "duration": "datetime.timedelta",
    "uuid": "uuid.UUID",
    "decimal": "decimal.Decimal",
}
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# Types that msgspec can't distinguish in a union: it supports one of each group.
_TEXTS = {"str", "bytes", "datetime.datetime", "datetime.date", "datetime.time", "uuid.UUID"}
_TEXTS |= {"decimal.Decimal", "datetime.timedelta"}
ANY = "Any"
# Characters that msgspec doesn't support in the name of a field.
_NOT_IN_FIELDS = re.compile(r'[\\"\x00-\x1f]')
_UNSET = "msgspec.UNSET"
_LONG = 40
_MULTIPART = "multipart/form-data"
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_RESERVED = (
    "Any", "AsyncClient", "Client", "ClientError", "File", "Literal", "Unset", "TypeAlias",
    "annotations", "datetime", "decimal", "httpx", "msgspec", "quote", "uuid", "Sequence",
    "AsyncIterator", "Mapping", "TracebackType", "Self",
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
    tag: tuple[str, str | int] | None = None
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
        self._names = names = Names(_RESERVED)
        self._literals: dict[str, str] = {}
        self._values: dict[str, list[str]] = {}
        self.models = {
            name: Model(names.free(pascal(name)), schema) for name, schema in components.items()
        }
        self._open: set[str] = set()
        self._find_tags([*components.values(), paths])
        used = Counter(_references([*components.values(), paths]))
        forms = Counter(_forms(paths))
        self._only_forms = {name for name, count in forms.items() if used[name] == count}
        self._is_in_form = False
        self._sent = _find_sent(components, paths)
        self._is_sent = False

    def of(self, schema: Schema | bool | None) -> str:
        """Returns the type of a schema, as an annotation."""
        return " | ".join(self._parts(schema))

    def is_nullable(self, schema: Schema | bool | None) -> bool:
        """Returns whether a schema has null, and nothing else that the text `null` could be."""
        kinds = {kind.partition("[")[0] for kind in self._resolved(schema, set())}
        return "None" in kinds and not kinds & {ANY, "str", "bytes", "list", "tuple", "dict"}

    def _resolved(self, schema: Any, seen: set[str]) -> Iterator[str]:
        """Yields the types of a schema, also those that msgspec can't distinguish."""
        if not isinstance(schema, dict):
            yield ANY
        elif "$ref" in schema:
            name = schema["$ref"].removeprefix(PREFIX)
            if name in self.models and name not in seen:
                yield from self._resolved(self.models[name].schema, {*seen, name})
        elif "anyOf" in schema or "oneOf" in schema:
            for each in schema.get("anyOf") or schema["oneOf"]:
                yield from self._resolved(each, seen)
        elif isinstance(schema.get("type"), list):
            for each in schema["type"]:
                yield from self._parts({**schema, "type": each})
        elif None in schema.get("enum", ()):
            yield "None"
        else:
            yield from self._parts(schema)

    def _parts(self, schema: Schema | bool | None) -> list[str]:
        """Returns the types of a union, or the only type."""
        if not isinstance(schema, dict):
            return [ANY]
        if "$ref" in schema:
            return [self._referred(schema["$ref"])]
        if "const" in schema:
            return [self._literal([schema["const"]])]
        if "enum" in schema:
            return [self._literal(schema["enum"])]
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                choices = schema[key]
                if key == "allOf" and len(choices) != 1:
                    return [ANY]
                return self._union([part for each in choices for part in self._parts(each)])
        kind = schema.get("type")
        if isinstance(kind, list) and schema.get("format") != "decimal":
            return self._union([self._plain({**schema, "type": each}) for each in kind])
        return [self._plain(schema)]

    def _find_tags(self, value: Any) -> None:
        if isinstance(value, list):
            for each in value:
                self._find_tags(each)
        if not isinstance(value, dict):
            return
        discriminator = value.get("discriminator")
        if isinstance(discriminator, dict) and isinstance(discriminator.get("mapping"), dict):
            for tag, reference in discriminator["mapping"].items():
                model = self.models.get(str(reference).removeprefix(PREFIX))
                if model is not None:
                    name = discriminator["propertyName"]
                    model.tag = name, _tag(model.schema, name, tag)
        for each in value.values():
            self._find_tags(each)

    def _referred(self, reference: str) -> str:
        name = reference.removeprefix(PREFIX)
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

    def _plain(self, schema: Schema) -> str:
        kind = schema.get("type")
        if schema.get("format") == "decimal":
            return "decimal.Decimal"
        if kind == "array":
            return self._array(schema)
        if kind == "object":
            extra = schema.get("additionalProperties")
            value = self.of(extra) if isinstance(extra, dict) else ANY
            return f"dict[str, {value}]"
        if kind == "string":
            if schema.get("contentEncoding") == "base64" or self._is_file(schema):
                return "bytes"
            return _FORMATS.get(schema.get("format", ""), "str")
        return _SCALARS.get(str(kind), ANY)

    def _is_file(self, schema: Schema) -> bool:
        """Returns whether it is a file. Otherwise `binary` is text: pydantic's bytes in UTF-8."""
        is_file = self._is_in_form or schema.get("contentMediaType") == "application/octet-stream"
        return is_file and schema.get("format") == "binary"

    def _array(self, schema: Schema) -> str:
        first = schema.get("prefixItems")
        if first and schema.get("minItems") == len(first) == schema.get("maxItems"):
            return f"tuple[{', '.join(self.of(each) for each in first)}]"
        return f"list[{self.of(schema.get('items')) if not first else ANY}]"

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
            self._referred(PREFIX + name)
        structs: list[str] = []
        for name, model in self.models.items():
            if model.is_struct:
                self._is_in_form = PREFIX + name in self._only_forms
                self._is_sent = PREFIX + name in self._sent
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
        names = Names()
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
        if default == _UNSET and self._is_sent and "None" in resolved:
            default = "None"  # what a response lacks is read as null
        if default == _UNSET and kinds != [ANY]:
            kinds = [*kinds, "msgspec.UnsetType"]
        if name == key:
            end = "" if default is None else f" = {default}"
            return _annotated(name, kinds, end)
        arguments = [] if default is None else [f"default={default}"]
        if default in ("[]", "{}"):
            arguments = [f"default_factory={'list' if default == '[]' else 'dict'}"]
        arguments.append(f"name={quoted(key)}")
        return _annotated(name, kinds, Group(" = msgspec.field(", arguments, ")").flat)

    def _shortened(self, kinds: list[str], name: str) -> list[str]:
        """Replaces long lists of values by names."""
        parts = [*kinds]
        for index, part in enumerate(parts):
            if part in self._values and len(part) > _LONG:
                found = next((each for each, value in self._literals.items() if value == part), "")
                if not found:
                    found = self._names.free(pascal(name))
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


def _tag(schema: Any, name: str, text: str) -> str | int:
    """Returns the value of a tag, of which the mapping of a discriminator has the text."""
    field = schema.get("properties", {}).get(name, {}) if isinstance(schema, dict) else {}
    values = [field.get("const"), *field.get("enum", ())]
    return next((each for each in values if isinstance(each, int) and str(each) == text), text)


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


def _find_sent(components: Mapping[str, Any], paths: Mapping[str, Any]) -> set[str]:
    """Returns the references to all schemas in responses."""
    operations = [each for item in paths.values() for each in item.values()]
    waiting = [each.get("responses") for each in operations if isinstance(each, dict)]
    found: set[str] = set()
    while waiting:
        for reference in _references(waiting.pop()):
            if reference not in found:
                found.add(reference)
                waiting.append(components.get(reference.removeprefix(PREFIX)))
    return found


def _forms(paths: Mapping[str, Any]) -> Iterator[str]:
    """Yields the references to the schemas of forms that are always multipart."""
    for item in paths.values():
        for _, operation in iterate_operations(item):
            content = operation.get("requestBody", {}).get("content", {})
            schema = content[_MULTIPART].get("schema") if [*content] == [_MULTIPART] else None
            if isinstance(schema, dict) and "$ref" in schema:
                yield schema["$ref"]


def _words(text: str) -> set[str]:
    """Returns the names in an annotation, without the values of literals."""
    return set(_STRINGS.sub("", text).replace("[", " ").replace("]", " ").replace(",", " ").split())
