# SPDX-License-Identifier: MIT
"""The parts of a request that an endpoint reads, each with the type that validates it."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, NoReturn, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from kit.interface import ValidationTarget
from kit.interface.models import model_of
from kit.validator.schemas import Schema, schema_of

from ._signature import REQUIRED, Signature
from ._types import holds, kind_of, without_none

# Defaults of these types can be shared by all requests.
_IMMUTABLE = (
    type(None),
    str,
    int,
    float,
    bytes,
    tuple,
    frozenset,
    enum.Enum,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    uuid.UUID,
)


class Field:
    """A value in a part of the request.

    Attributes:
        name: The name of the parameter.
        key: The name in the request.
        annotation: The type.
        default: The default, or `REQUIRED`.
        takes_list: Whether it takes all values of the name.
        signature: The function whose parameter it is.
        local: Its local name in the generated code.
    """

    local: str

    def __init__(
        self,
        name: str,
        key: str,
        annotation: Any,
        default: Any,
        *,
        takes_list: bool,
        signature: Signature,
    ) -> None:
        self.name = name
        self.key = key
        self.annotation = annotation
        self.default = default
        self.takes_list = takes_list
        self.signature = signature

    @property
    def is_file(self) -> bool:
        """Whether it is an uploaded file."""
        return kind_of(self.annotation) == "file"

    @property
    def is_bytes(self) -> bool:
        """Whether it is the content of an uploaded file."""
        return holds(self.annotation, bytes)

    @property
    def is_immutable(self) -> bool:
        """Whether its default can be shared by all requests."""
        return self.default is REQUIRED or isinstance(self.default, _IMMUTABLE)

    def is_like(self, other: Field) -> bool:
        """Whether two parameters of a name ask for the same."""
        same = self.default is other.default or (
            type(self.default) is type(other.default) and self.default == other.default
        )
        return bool(same and self.annotation == other.annotation)

    def of_struct(self) -> Any:
        """What `msgspec.field` makes for it."""
        default = self.default
        if default is REQUIRED:
            return msgspec.field(name=self.key)
        if self.is_immutable:
            return msgspec.field(name=self.key, default=default)
        return msgspec.field(name=self.key, default_factory=lambda: copy.deepcopy(default))


class Part:
    """What is read from one part of the request at once.

    Args:
        target: The part.
        fields: Its values; with `is_model` a single one.
        signature: The function that asks for them first.
        is_model: Whether the only field has a type with all names.

    Attributes:
        type: The type of the whole: a Struct with the fields, or the type of the model.
        schema: How it is validated.
    """

    type: Any
    schema: Schema

    def __init__(
        self,
        target: ValidationTarget,
        fields: list[Field],
        signature: Signature,
        *,
        is_model: bool,
    ) -> None:
        self.target = target
        self.fields = fields
        self.signature = signature
        self.is_model = is_model

    @property
    def has_lists(self) -> bool:
        """Whether a field takes all values of its name."""
        return any(field.takes_list for field in self.fields)

    def load_model(self, values: dict[str, Any]) -> Any:
        """Builds the model; its default where none of its names was sent.

        Raises:
            ValueError: If the values don't fit.
        """
        default = self.fields[0].default
        if default is REQUIRED or self._is_given(values):
            return self.schema.load(values)
        return copy.deepcopy(default)

    def _is_given(self, values: dict[str, Any]) -> bool:
        names = {name for field in self.schema.fields for name in (field.key, field.header)}
        return bool(names & values.keys() if names else values)

    def load(self, values: dict[str, Any]) -> Any:
        """Builds the whole, to find out what is wrong with it.

        Raises:
            ValueError: If the values don't fit.
        """
        return self.load_model(values) if self.is_model else self.schema.load(values)

    def finish(self) -> None:
        """Makes the type, now that all fields are known."""
        if self.is_model:
            (field,) = self.fields
            self.type = field.annotation
            if field.default is not REQUIRED:
                self.type = without_none(field.annotation)
            self.schema = _schema(field, self.type, is_json=False)
        else:
            for field in self.fields:
                _check_decodable(field, field.annotation)
            self.type = _struct(self.target, self.fields, self.signature)
            self.schema = _schema(self.fields[0], self.type, is_json=False)


class JsonBody:
    """The JSON body.

    Args:
        signature: The function that asks for it first.
        fields: The parameters: one, or several with `embed`.
        embed: Whether it is an object that has the parameters by their names.

    Attributes:
        type: The type of the whole body.
        schema: How it is validated.
    """

    type: Any
    schema: Schema

    def __init__(self, signature: Signature, fields: list[Field], *, embed: bool) -> None:
        self.signature = signature
        self.fields = fields
        self.embed = embed

    @property
    def default(self) -> Any:
        """What stands for an absent body; `REQUIRED` if there has to be one."""
        return REQUIRED if self.embed else self.fields[0].default

    @property
    def shown_type(self) -> Any:
        """The type for the documentation: with None if the body may be left out."""
        return self.type if self.default is REQUIRED else self.type | None

    def finish(self) -> None:
        """Makes the type, now that all fields are known."""
        for field in self.fields:
            _check_decodable(field, field.annotation)
        if self.embed:
            self.type = _struct("json", self.fields, self.signature)
        else:
            self.type = self.fields[0].annotation
        self.schema = _schema(self.fields[0], self.type, is_json=True)


def merged_type(parts: list[Part]) -> Any:
    """Returns one type for all that is read from a part of the request."""
    if len(parts) == 1:
        return parts[0].type
    fields: dict[str, tuple[str, Any, Any]] = {}
    for part in parts:
        for key, entry in _entries(part):
            fields.setdefault(key, entry)
    entries = [(f"field_{number}", *entry[1:]) for number, entry in enumerate(fields.values())]
    first = parts[0]
    return msgspec.defstruct(
        _struct_name(first.target, first.signature),
        entries,
        kw_only=True,
        rename=dict(zip((entry[0] for entry in entries), fields, strict=True)),
    )


def _entries(part: Part) -> Iterator[tuple[str, tuple[str, Any, Any]]]:
    if not part.is_model:
        for field in part.fields:
            yield field.key, (field.name, field.annotation, field.of_struct())
        return
    kind = without_none(part.type)
    if hasattr(kind, "model_fields"):
        for name, each in kind.model_fields.items():
            default = msgspec.field() if each.is_required() else each.get_default()
            yield each.alias or name, (name, _annotated(each.annotation, each.metadata), default)
        return
    hints = get_type_hints(get_origin(kind) or kind, include_extras=True)
    for each in getattr(inspect.type_info(kind), "fields", ()):
        key = each.encode_name
        if part.target == "header" and key == each.name:
            key = key.replace("_", "-")
        yield key, (each.name, hints[each.name], _default_of(each))


def _annotated(kind: Any, metadata: list[Any]) -> Any:
    for each in metadata:
        kind = Annotated[kind, each]
    return kind


def _default_of(field: inspect.Field) -> Any:
    if field.required:
        return msgspec.field()
    if field.default is msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


def _struct(target: str, fields: list[Field], signature: Signature) -> Any:
    try:
        return msgspec.defstruct(
            _struct_name(target, signature),
            [(field.local, field.annotation, field.of_struct()) for field in fields],
            kw_only=True,
            module=getattr(signature.function, "__module__", None),
        )
    except (TypeError, ValueError) as error:
        signature.refuse(f"its parameters of the {target} can't be read: {error}")


def _struct_name(target: str, signature: Signature) -> str:
    name = getattr(signature.function, "__name__", type(signature.function).__name__)
    words = [word.capitalize() for word in f"{name}_{target}".split("_") if word.isidentifier()]
    return "".join(words) or "Values"


def _schema(field: Field, kind: Any, *, is_json: bool) -> Schema:
    try:
        return schema_of(kind, is_json=is_json)
    except Exception as error:
        _refuse(field, error)


def _check_decodable(field: Field, kind: Any) -> None:
    """Refuses a type that can't be built from text or JSON, naming the parameter."""
    try:
        if model_of(kind) is not None:
            return
        node = inspect.type_info(kind)
        msgspec.json.Decoder(kind)
    except Exception as error:
        _refuse(field, error)
    if not field.is_file:
        unknown = next(_unknown(node, set()), None)
        if unknown is not None:
            _refuse(field, f"nothing knows how to decode {unknown.__qualname__}")


def _refuse(field: Field, problem: object) -> NoReturn:
    if isinstance(problem, NameError):
        problem = f"{problem}; what its annotations name has to be defined before the function"
    line = str(problem).partition("\n")[0]
    field.signature.refuse(f"the parameter {field.name!r} can't be read: {line}")


def _unknown(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the classes in a type that neither msgspec nor pydantic builds."""
    if isinstance(node, inspect.CustomType):
        if kind_of(node.cls) != "file":
            yield node.cls
        return
    if id(node) in seen or not isinstance(node, (inspect.Type, inspect.Field)):
        return
    seen.add(id(node))
    for name in getattr(node, "__struct_fields__", ()):
        value = getattr(node, name)
        for each in value if isinstance(value, tuple) else (value,):
            yield from _unknown(each, seen)
