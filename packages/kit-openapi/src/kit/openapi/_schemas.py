# SPDX-License-Identifier: MIT
"""The schemas of types, from msgspec and pydantic, combined into one set of components.

All types are requested first, and then described together: so a name that two classes share is
resolved once, in the same way for any order of routes.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from kit.authoring.models import check_union, find_model
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import describe_scalar
from kit.interface import Codecs

from ._completion import complete, use_docstring
from ._components import PREFIX, Components, Schema, name_of, references
from ._defaults import with_json_defaults
from ._describable import is_file
from ._formats import add_formats
from ._mixed_unions import MixedUnions, find_members
from ._sent_names import base_generator, plain_dataclasses, use_sent_tags

_TEMPLATE = PREFIX + "{name}"
_PYDANTIC_TEMPLATE = PREFIX + "{model}"
# Stands for the schema of what an encoder returns, by its number, until all are described.
_ENCODED = "x-kit-encoded"


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
        separate: Whether a type that is sent and received has two schemas if it has defaults,
            since fields with a default are always sent.

    Attributes:
        components: The shared schemas by name, after `resolve`.
        problems: The types that can't be described: by number, with the reasons.
    """

    def __init__(self, codecs: Codecs, *, separate: bool) -> None:
        self._codecs = codecs
        # The types for which classes with an encoder or decoder stand, and their numbers.
        self._encoded: list[tuple[Any, bool, int]] = []
        self._is_sent = True  # whether the types that are being described are sent
        self._asked: list[tuple[Any, Mode]] = []
        self._found: list[Schema] = []
        self._kinds: dict[int, Any] = {}
        self._unions = MixedUnions(untagged=True)
        self._replaced: dict[int, Any] = {}
        self._all = Components(separate=separate)
        self._sources = 0  # how many answers of the libraries name types by themselves
        self.components: dict[str, Schema] = {}
        self.problems: dict[int, str] = {}

    def __len__(self) -> int:
        """Returns how many types were requested: the next number."""
        return len(self._asked)

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
        asked = len(self._asked)
        self._ask_encoded()
        plain: list[int] = []
        models: list[int] = []
        for index, (kind, _) in enumerate(self._asked):  # grows by the members of unions
            self._found.append({})
            if is_file(kind):
                self._found[index] = file_schema()
            elif kind is not Any and is_model(kind):
                models.append(index)
            elif kind is not Any and self._is_supported(index):
                plain.append(index)
                self._kinds[index] = self._separate(kind)
        self._describe_plain(plain)
        # Models in Structs were requested meanwhile.
        models += range(len(self._found), len(self._asked))
        self._found += [{} for _ in range(len(self._found), len(self._asked))]
        self._describe_models(models)
        components = self._all.all()
        for schema in [*components, *self._found]:
            self._insert_encoded(schema, ())
        for schema in components:
            use_docstring(schema)
        complete([components, self._found])
        # The others stand in these, and only components that these use have names.
        self._found, self.components = self._all.name(self._found[:asked])

    def encode_default(self, default: Any) -> Any:
        """Returns a default as a JSON value.

        Raises:
            Exception: If JSON can't represent it.
        """
        return msgspec.to_builtins(default, str_keys=True, enc_hook=self._codecs.enc_hook)

    def problems_in(self, numbers: range, *, is_sent: bool | None = None) -> tuple[str, ...]:
        """Returns why some of the requested types have no schema, each reason once.

        Args:
            numbers: The numbers of the types.
            is_sent: Whether only those that are sent, or received, are meant; None for all.
        """
        found = [
            self.problems[each]
            for each in numbers
            if each in self.problems and is_sent in (None, self._asked[each][1].is_sent)
        ]
        return tuple(dict.fromkeys(found))

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
            schema = {**self.components.get(name_of(schema["$ref"]), {}), **beside}
        return schema

    def keep(self, document: Any) -> dict[str, Schema]:
        """Returns the components that a document needs, sorted by name."""
        needed: set[str] = set()
        waiting = list(references(document))
        while waiting:
            name = name_of(waiting.pop())
            if name in self.components and name not in needed:
                needed.add(name)
                waiting += references(self.components[name])
        return {name: self.components[name] for name in sorted(needed)}

    def _describe_plain(self, indices: list[int]) -> None:
        """Describes the msgspec types; a type that can't be described accepts anything."""
        while indices:
            try:
                self._describe_together(indices)
            except Exception:
                usable = [index for index in indices if self._can_describe(index)]
                if usable != indices:
                    indices = usable
                    continue
                # Only together not: two classes with the same name. Numbers tell them apart then.
                for index in sorted(indices, key=self._content):
                    self._describe_together([index])
            return

    def _describe_together(self, indices: list[int]) -> None:
        """Describes msgspec types, as received and as sent, so that both have the same names."""
        kinds = [self._kinds[index] for index in indices]
        forms = {self._asked[index][1].is_sent for index in indices}
        answers = {is_sent: self._ask_msgspec(kinds, is_sent, is_sent) for is_sent in sorted(forms)}
        self._sources += 1
        for is_sent, (schemas, components) in answers.items():
            added = self._all.add(list(schemas), components, self._sources, is_sent=is_sent)
            for index, schema in zip(indices, added, strict=True):
                if self._asked[index][1].is_sent is is_sent:
                    self._found[index] = schema
        if True in forms:
            self._all.add_common(self._ask_msgspec(kinds, True, False)[1], self._sources)

    def _ask_msgspec(
        self, kinds: list[Any], is_sent: bool, requires_defaults: bool
    ) -> tuple[Any, dict[str, Schema]]:
        """Returns the schemas of types, and their components."""
        self._is_sent = is_sent
        schemas, components = msgspec.json.schema_components(
            kinds, schema_hook=self._of_stranger, ref_template=_TEMPLATE
        )
        add_formats(
            kinds, schemas, components, is_sent=is_sent, requires_defaults=requires_defaults
        )
        return schemas, components

    def _separate(self, kind: Any) -> Any:
        """Returns the type that msgspec describes for another one; see `MixedUnions`."""
        # A type in several places is one type here, too.
        if id(kind) not in self._replaced:
            self._replaced[id(kind)] = with_json_defaults(self._unions.replace(kind))
            for member in self._unions.members:
                for mode in (REQUEST, RESPONSE):
                    self._ask_once(member, mode)
            self._unions.members.clear()
        return self._replaced[id(kind)]

    def _is_supported(self, index: int) -> bool:
        """Returns whether msgspec can inspect a type without crashing the process."""
        try:
            check_union(self._asked[index][0])
        except TypeError as error:
            self._note(index, error)
            return False
        return True

    def _can_describe(self, index: int) -> bool:
        kind = self._kinds[index]
        try:
            msgspec.json.schema_components([kind], schema_hook=self._of_stranger)
        except Exception as error:
            self._note(index, error)
            return False
        return True

    def _content(self, index: int) -> str:
        """Returns the schema of a type as text, to sort types without regard to their routes."""
        kinds = [self._kinds[index]]
        return _as_text(msgspec.json.schema_components(kinds, schema_hook=self._of_stranger))

    def _note(self, index: int, error: Exception) -> None:
        """Notes that a type can't be described."""
        reason = str(error).partition("\n")[0].rstrip(":")
        self.problems[index] = f"{self._asked[index][0]!r:.100}: {reason}"

    def _ask_once(self, kind: Any, mode: Mode) -> int:
        """Requests the schema of a type within another one, once."""
        for number, asked in enumerate(self._asked):
            if asked[0] is kind and asked[1] == mode:
                return number
        return self.ask(kind, mode)

    def _ask_encoded(self) -> None:
        """Requests the types of encoders and decoders, so that all names are resolved together."""
        for kind in {**self._codecs.encoders, **self._codecs.decoders}:
            for mode in (RESPONSE, REQUEST):
                encoded = self._codecs.find_json_type(kind, is_sent=mode.is_sent)
                self._encoded.append((encoded, mode.is_sent, self.ask(encoded, mode)))

    def _describe_models(self, indices: list[int]) -> None:
        """Describes the pydantic types, those that are received and sent by themselves."""
        groups: dict[Mode, list[int]] = {}
        for index in indices:
            mode = self._asked[index][1]._replace(is_by_pydantic=False)
            groups.setdefault(mode, []).append(index)
        self._sources += 1
        for mode in sorted(groups, key=str):
            self._describe_models_as(groups[mode], mode)
            # The first group of those that are sent pairs with those that are received.
            self._sources += mode.is_sent

    def _describe_models_as(self, indices: list[int], mode: Mode) -> None:
        name: Any = "serialization" if mode.is_sent else "validation"
        found: list[tuple[str, int, Any]] = []
        generator = self._generator(indices, mode, mode.is_sent)
        for index in indices:
            try:
                adapter = sys.modules["pydantic"].TypeAdapter(self._asked[index][0])
                alone = adapter.json_schema(mode=name, schema_generator=generator)
            except Exception as error:
                self._note(index, error)
                continue
            found.append((_as_text(alone), index, adapter))
        if not found:
            return
        # Pydantic numbers generic models of one name, in this order.
        found.sort(key=lambda each: each[0])
        inputs = [(index, name, adapter) for _, index, adapter in found]
        schemas, components = _ask_pydantic(inputs, generator)
        added = self._all.add(schemas, components, self._sources, is_sent=mode.is_sent)
        for (index, _, _), schema in zip(inputs, added, strict=True):
            self._found[index] = schema
        if mode.is_sent:
            generator = self._generator(indices, mode, False)
            self._all.add_common(_ask_pydantic(inputs, generator)[1], self._sources)

    def _generator(self, indices: list[int], mode: Mode, requires_defaults: bool) -> Any:
        """Returns pydantic's generator, with schemas for files and classes with an encoder."""

        def handle(generator: Any, schema: Any, error_info: str) -> Any:
            is_sent = generator.mode == "serialization"
            return self._describe_stranger(schema.get("cls"), is_sent=is_sent)

        asked = map(self._asked.__getitem__, indices)
        members: dict[str, Any] = {
            "handle_invalid_for_json_schema": handle,
            # Those of responses that msgspec encodes.
            "plain": plain_dataclasses(kind for kind, each in asked if each.is_plain),
            "is_by_alias": mode.by_alias,
            "omits_none": mode.omits_none,
            "omits_defaults": mode.omits_defaults,
            "requires_defaults": requires_defaults,
        }
        return type("Generator", (base_generator(),), members)

    def _of_stranger(self, kind: Any) -> Schema:
        """Describes a type that msgspec doesn't support; its schema hook."""
        return self._describe_stranger(kind, is_sent=self._is_sent)

    def _describe_stranger(self, kind: Any, *, is_sent: bool) -> Schema:
        if is_part(kind):
            return {"description": f"`{kind.__name__}` again"}
        mode = RESPONSE if is_sent else REQUEST
        if members := find_members(kind):
            choices = [{_ENCODED: self._ask_once(each, mode)} for each in members]
            return choices[0] if len(choices) == 1 else {"anyOf": choices}
        if kind is object:
            return {"description": "Any JSON value"}  # msgspec takes an empty schema for none
        if is_file(kind):
            return file_schema()
        if hasattr(kind, "__pydantic_validator__"):
            return {_ENCODED: self._ask_once(kind, mode)}
        encoded = self._codecs.find_json_type(kind, is_sent=is_sent)
        if encoded is None:
            return describe_scalar(kind) or {}
        if encoded is Any:
            return {"title": kind.__name__}
        for each, is_of_sent, number in self._encoded:
            if each == encoded and is_of_sent is is_sent:
                return {_ENCODED: number}
        return msgspec.json.schema(encoded)

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


def without_null(schema: Schema) -> Schema:
    """Returns the schema of a value that can't be null, such as one in a query."""
    choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == len(schema.get("anyOf", ())):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    if rest.get("default", ...) is None:
        del rest["default"]
    return {**choices[0], **rest} if len(choices) == 1 else {**rest, "anyOf": choices}


def is_model(kind: Any) -> bool:
    """Returns whether pydantic describes a type."""
    try:
        return find_model(kind) is not None
    except Exception:  # a type of msgspec with a model in it
        return False


def _as_text(schema: Any) -> str:
    """Returns a schema as text for comparisons."""
    return json.dumps(schema, sort_keys=True, default=str)


def _ask_pydantic(
    inputs: list[tuple[int, Any, Any]], generator: Any
) -> tuple[list[Schema], dict[str, Schema]]:
    """Returns the schemas of types, and their components."""
    schemas, whole = sys.modules["pydantic"].TypeAdapter.json_schemas(
        inputs, ref_template=_PYDANTIC_TEMPLATE, schema_generator=generator
    )
    found = [schemas[index, mode] for index, mode, _ in inputs]
    components = whole.get("$defs", {})
    use_sent_tags([found, components], {PREFIX + name: each for name, each in components.items()})
    return found, components


def iterate_fields(schema: Schema) -> Iterable[tuple[str, Schema, bool]]:
    """Yields the fields of the schema of an object: name, schema, and whether it is required."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        yield name, field, name in required
