# SPDX-License-Identifier: MIT
"""The schemas of types, from msgspec and pydantic, combined into one set of components.

All types are requested first, and then described together: so a name that two classes share is
resolved once, in the same way for any order of routes.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from kit.authoring.models import check_union, find_model
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import describe_scalar
from kit.interface import Codecs

from ._defaults import with_json_defaults
from ._describable import is_file
from ._docstrings import parse
from ._formats import add_formats
from ._sent_names import DECIMAL, base_generator, plain_dataclasses, use_sent_tags

Schema: TypeAlias = dict[str, Any]

PREFIX = "#/components/schemas/"
_TEMPLATE = PREFIX + "{name}"
_PYDANTIC_TEMPLATE = PREFIX + "{model}"
# Stands for the schema of what an encoder returns, by its number, until all are described.
_ENCODED = "x-kit-encoded"
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


def file_schema() -> Schema:
    """Returns the schema of an uploaded file, for OpenAPI 3.1 and for tools that support 3.0."""
    return {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"}


class Mode(NamedTuple):
    """Whether values of a type are received or sent, and how their fields are.

    Attributes:
        is_sent: Whether they are sent.
        is_by_pydantic: Whether pydantic encodes them whole, and msgspec no dataclass in them.
        by_alias: Whether fields of pydantic models are sent by their aliases; None if each model
            says so itself.
        omits_none: Whether fields with None are left out.
        omits_defaults: Whether fields that were never set, or have their default, are left out.
    """

    is_sent: bool
    is_by_pydantic: bool = False
    by_alias: bool | None = None
    omits_none: bool = False
    omits_defaults: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether msgspec encodes them."""
        return self.is_sent and not self.is_by_pydantic


REQUEST = Mode(is_sent=False)
RESPONSE = Mode(is_sent=True)


class Schemas:
    """The schemas of one document.

    Args:
        codecs: The encoders and decoders of the app.

    Attributes:
        components: The shared schemas by name, after `resolve`.
        notes: The types that can't be described.
    """

    def __init__(self, codecs: Codecs) -> None:
        self._codecs = codecs
        # The types for which classes with an encoder or decoder stand, and their numbers.
        self._encoded: list[tuple[Any, int]] = []
        self._has_two_forms = False  # whether some class is received in another form than sent
        self._is_sent = True  # whether the types that are being described are sent
        self._asked: list[tuple[Any, Mode]] = []
        self._found: list[Schema] = []
        self._kinds: dict[int, Any] = {}
        self.components: dict[str, Schema] = {}
        self.notes: list[str] = []

    def ask(self, kind: Any, mode: Mode) -> int:
        """Requests the schema of a type.

        Args:
            kind: The type.
            mode: How its values are transferred.

        Returns:
            A number for `get`.
        """
        self._asked.append((kind, mode))
        return len(self._asked) - 1

    def resolve(self) -> None:
        """Describes all requested types."""
        self._ask_encoded()
        self._found = [{} for _ in self._asked]
        plain: list[int] = []
        models: list[int] = []
        for index, (kind, _) in enumerate(self._asked):
            if is_file(kind):
                self._found[index] = file_schema()
            elif kind is not Any and _is_model(kind):
                models.append(index)
            elif kind is not Any and self._is_supported(kind):
                plain.append(index)
        if self._has_two_forms:
            received = [each for each in plain if not self._asked[each][1].is_sent]
            self._describe_plain([each for each in plain if each not in received])
            self._describe_received(received)
        else:
            self._describe_plain(plain)
        self._describe_models(models)
        for schema in [*self.components.values(), *self._found]:
            self._insert_encoded(schema, ())
        for schema in self.components.values():
            _use_docstring(schema)
        _complete([self.components, self._found])

    def encode_default(self, default: Any) -> Any:
        """Returns a default as a JSON value.

        Raises:
            Exception: If JSON can't represent it.
        """
        return msgspec.to_builtins(default, str_keys=True, enc_hook=self._codecs.enc_hook)

    def get(self, number: int) -> Schema:
        """Returns a requested schema; mostly a reference to a component."""
        return copy.deepcopy(self._found[number])

    def kind(self, number: int) -> Any:
        """Returns the type of a requested schema."""
        return self._asked[number][0]

    def resolved(self, schema: Schema) -> Schema:
        """Follows the references of a schema; keys next to `$ref` take precedence."""
        seen: set[str] = set()
        while "$ref" in schema and schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self.components.get(_name(schema["$ref"]), {}), **beside}
        return schema

    def keep(self, document: Any) -> dict[str, Schema]:
        """Returns the components that a document needs, sorted by name."""
        needed: set[str] = set()
        waiting = list(references(document))
        while waiting:
            name = _name(waiting.pop())
            if name in self.components and name not in needed:
                needed.add(name)
                waiting += references(self.components[name])
        return {name: self.components[name] for name in sorted(needed)}

    def _describe_plain(self, indices: list[int]) -> None:
        """Describes the msgspec types; a type that can't be described accepts anything."""
        known: dict[int, Any] = {}
        for index in indices:
            kind = self._asked[index][0]
            # A type in several places is one type here, too.
            if id(kind) not in known:
                known[id(kind)] = with_json_defaults(kind)
            self._kinds[index] = known[id(kind)]
        while indices:
            kinds = [self._kinds[index] for index in indices]
            try:
                schemas, components = msgspec.json.schema_components(
                    kinds, schema_hook=self._of_stranger, ref_template=_TEMPLATE
                )
                add_formats(kinds, schemas, components)
            except Exception:
                usable = [index for index in indices if self._can_describe(index)]
                if usable == indices:  # only together: two classes with the same name
                    self._describe_apart(indices)
                    return
                indices = usable
                continue
            for index, schema in zip(indices, schemas, strict=True):
                self._found[index] = schema
            self.components.update(components)
            return

    def _is_supported(self, kind: Any) -> bool:
        """Returns whether msgspec can inspect a type without crashing the process."""
        try:
            check_union(kind)
        except TypeError as error:
            self.notes.append(f"{kind!r:.100} has no schema: {error}")
            return False
        return True

    def _can_describe(self, index: int) -> bool:
        kind = self._kinds[index]
        try:
            msgspec.json.schema_components([kind], schema_hook=self._of_stranger)
        except Exception as error:
            self.notes.append(f"{kind!r:.100} has no schema: {error}")
            return False
        return True

    def _ask_encoded(self) -> None:
        """Requests the types of encoders and decoders, so that all names are resolved together."""
        for kind in {**self._codecs.encoders, **self._codecs.decoders}:
            sent, received = (
                self._codecs.find_json_type(kind, is_sent=is_sent) for is_sent in (True, False)
            )
            self._encoded.append((sent, self.ask(sent, RESPONSE)))
            if received != sent:
                self._has_two_forms = True
                self._encoded.append((received, self.ask(received, REQUEST)))

    def _describe_received(self, indices: list[int]) -> None:
        """Describes types that are received, whose classes may have another form than if sent."""
        self._is_sent = False
        for index in indices:
            self._kinds[index] = with_json_defaults(self._asked[index][0])
        self._describe_apart([index for index in indices if self._can_describe(index)])
        self._is_sent = True

    def _describe_apart(self, indices: list[int]) -> None:
        for index in indices:
            kind = self._kinds[index]
            (schema,), components = msgspec.json.schema_components(
                [kind], schema_hook=self._of_stranger, ref_template=_TEMPLATE
            )
            add_formats([kind], [schema], components)
            self._found[index] = self._merge(schema, components)

    def _describe_models(self, indices: list[int]) -> None:
        """Describes the pydantic types; received and sent ones separately if they differ."""
        groups: dict[Mode, list[int]] = {}
        for index in indices:
            mode = self._asked[index][1]._replace(is_sent=True, is_by_pydantic=False)
            groups.setdefault(mode, []).append(index)
        for mode in sorted(groups, key=str):
            self._describe_models_as(groups[mode], mode)

    def _describe_models_as(self, indices: list[int], sent_as: Mode) -> None:
        inputs: list[tuple[int, Any, Any]] = []
        plain = [kind for kind, mode in map(self._asked.__getitem__, indices) if mode.is_plain]
        generator = _generator(plain, sent_as, self._describe_stranger)
        for index in indices:
            kind, asked = self._asked[index]
            mode = "serialization" if asked.is_sent else "validation"
            try:
                adapter = sys.modules["pydantic"].TypeAdapter(kind)
                adapter.json_schema(mode=mode, schema_generator=generator)
            except Exception as error:
                self.notes.append(f"{kind!r:.100} has no schema: {error}")
                continue
            inputs.append((index, mode, adapter))
        if not inputs:
            return
        schemas, whole = sys.modules["pydantic"].TypeAdapter.json_schemas(
            inputs, ref_template=_PYDANTIC_TEMPLATE, schema_generator=generator
        )
        found = {"found": [schemas[index, mode] for index, mode, _ in inputs]}
        components = {PREFIX + name: each for name, each in whole.get("$defs", {}).items()}
        use_sent_tags([found, components], components)
        merged = self._merge(found, whole.get("$defs", {}))["found"]
        for (index, _, _), schema in zip(inputs, merged, strict=True):
            self._found[index] = schema

    def _of_stranger(self, kind: Any) -> Schema:
        """Describes a type that msgspec doesn't support; its schema hook."""
        return self._describe_stranger(kind, is_sent=self._is_sent)

    def _describe_stranger(self, kind: Any, *, is_sent: bool) -> Schema:
        if is_part(kind):
            return {"description": f"`{kind.__name__}` again"}
        if kind is object:
            return {"description": "Any JSON value"}  # msgspec takes an empty schema for none
        if is_file(kind):
            return file_schema()
        if hasattr(kind, "__pydantic_validator__"):
            return self._describe_model_in_plain(kind)
        encoded = self._codecs.find_json_type(kind, is_sent=is_sent)
        if encoded is None:
            return describe_scalar(kind) or {}
        if encoded is Any:
            return {"title": kind.__name__}
        for each, number in self._encoded:
            if each == encoded:
                return {_ENCODED: number}
        return msgspec.json.schema(encoded)

    def _describe_model_in_plain(self, kind: Any) -> Schema:
        """Describes a pydantic model in a Struct."""
        adapter: Any = sys.modules["pydantic"].TypeAdapter
        found, whole = adapter.json_schemas(
            [(kind, "serialization", adapter(kind))],
            ref_template=_PYDANTIC_TEMPLATE,
            schema_generator=_generator([kind], RESPONSE, self._describe_stranger),
        )
        merged: Schema = self._merge(found[kind, "serialization"], whole.get("$defs", {}))
        return merged

    def _insert_encoded(self, value: Any, within: tuple[int, ...]) -> None:
        """Inserts the schemas of what encoders return."""
        if isinstance(value, dict):
            number = value.pop(_ENCODED, None)
            if number is not None and number not in within:
                schema = self.get(number)
                self._insert_encoded(schema, (*within, number))
                value.update({**schema, **value})
            value = [*value.values()]
        if isinstance(value, (list, tuple)):
            for each in value:
                self._insert_encoded(each, within)

    def _merge(self, schema: Any, components: dict[str, Schema]) -> Any:
        """Adds components; one with a name taken by another schema gets a number."""
        names: dict[str, str] = {}
        added: set[str] = set()
        for name, component in components.items():
            free = name
            number = 1
            while free in added or (
                free in self.components
                and not _is_same(component, self.components[free], components, self.components)
            ):
                number += 1
                free = f"{name}_{number}"
            names[name] = free
            if free not in self.components:
                added.add(free)
        for name in components:
            if names[name] in added:
                self.components[names[name]] = _renamed(components[name], names)
        return _renamed(schema, names)


def references(value: Any) -> Iterator[str]:
    """Yields the references to components in a part of a document."""
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, str):
                if key == "$ref" or each.startswith(PREFIX):
                    yield each
            else:
                yield from references(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from references(each)


def without_null(schema: Schema) -> Schema:
    """Returns the schema of a value that can't be null, such as one in a query."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == len(schema.get("anyOf", ())):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    return {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}


def _is_model(kind: Any) -> bool:
    """Returns whether pydantic describes a type."""
    try:
        return find_model(kind) is not None
    except Exception:  # a type of msgspec with a model in it
        return False


def _name(reference: str) -> str:
    return reference.removeprefix(PREFIX)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: PREFIX + names.get(_name(each), _name(each))
            if isinstance(each, str) and each.startswith(PREFIX)
            else _renamed(each, names)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    return value


def _is_same(
    one: Any,
    other: Any,
    ones: Mapping[str, Schema],
    others: Mapping[str, Schema],
    assumed: frozenset[tuple[str, str]] = frozenset(),
) -> bool:
    """Returns whether two schemas are the same once all references are followed.

    Args:
        one: A schema, or a part of it.
        other: The other one.
        ones: The components to which the first refers.
        others: Those to which the second refers.
        assumed: The names of components being compared, since a type may contain itself.
    """
    if type(one) is not type(other):  # 1 and True, too
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            _is_same(one[key], other[key], ones, others, assumed) for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(
            _is_same(*pair, ones, others, assumed) for pair in zip(one, other, strict=True)
        )
    if isinstance(one, str) and one.startswith(PREFIX) and other.startswith(PREFIX):
        pair = _name(one), _name(other)
        if pair[0] in ones and pair[1] in others:
            return pair in assumed or _is_same(
                ones[pair[0]], others[pair[1]], ones, others, assumed | {pair}
            )
    return bool(one == other)


def _generator(plain: Iterable[Any], mode: Mode, describe: Callable[..., Schema]) -> Any:
    """Returns pydantic's generator, with schemas for uploaded files and classes with an encoder.

    Args:
        plain: The types of responses that msgspec encodes.
        mode: How responses are sent.
        describe: Describes a class that pydantic doesn't know.
    """

    def handle(self: Any, schema: Any, error_info: str) -> Any:
        return describe(schema.get("cls"), is_sent=self.mode == "serialization")

    members: dict[str, Any] = {
        "handle_invalid_for_json_schema": handle,
        "plain": plain_dataclasses(plain),
        "is_by_alias": mode.by_alias,
        "omits_none": mode.omits_none,
        "omits_defaults": mode.omits_defaults,
    }
    return type("Generator", (base_generator(),), members)


def _use_docstring(schema: Schema) -> None:
    """Adds the descriptions of fields from a docstring to the fields."""
    text = schema.get("description")
    if not text:
        return
    said = parse(text)
    schema["description"] = said.prose
    for name, field in schema.get("properties", {}).items():
        if name in said.attributes:
            field.setdefault("description", said.attributes[name])


def _complete(value: Any) -> None:
    """Adds what msgspec leaves out: types of enumerations, and the form of a decimal number.

    Removes defaults and examples that JSON can't represent, and None as a default of other types.
    """
    if isinstance(value, dict):
        if "default" in value and not _is_usable(value["default"], value.get("type")):
            del value["default"]
        if isinstance(value.get("examples"), list):
            value["examples"] = [each for each in value["examples"] if is_json(each)]
        if value.get("format") == "decimal" and value.get("type") == "string":
            value |= {"type": ["string", "number"], "pattern": value.get("pattern", DECIMAL)}
        enum = value.get("enum")
        if isinstance(enum, list) and enum and "type" not in value:
            kinds = {_JSON_TYPES.get(type(each)) for each in enum}
            if len(kinds) == 1 and None not in kinds:
                value["type"] = kinds.pop()
        value = value.values()
    if not isinstance(value, str):
        for each in value:
            if isinstance(each, (dict, list)):
                _complete(each)


def _is_usable(default: Any, kind: Any) -> bool:
    return is_json(default) and (default is not None or kind is None or "null" in kind)


def is_json(value: Any) -> bool:
    """Returns whether JSON can represent a value, which excludes infinity and NaN."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    return not isinstance(value, float) or math.isfinite(value)


def iterate_fields(schema: Schema) -> Iterable[tuple[str, Schema, bool]]:
    """Yields the fields of the schema of an object: name, schema, and whether it is required."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield name, field, name in required
