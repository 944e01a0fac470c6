# SPDX-License-Identifier: MIT
"""The sources of values in a request: its parts, and its JSON body, each with its type."""

from __future__ import annotations

import copy
import datetime
import decimal
import enum
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, NoReturn, get_args

import msgspec
from msgspec import inspect

from kit.authoring.models import check_union, find_model
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import is_scalar, text_loader
from kit.http.media_types import is_json, media_type
from kit.interface import Codecs, ValidationTarget
from kit.validator.schemas import ObjectNames, Schema, check_objects, get_schema

from .._partial.partial import MEDIA_TYPES, is_partial
from .._signature.markers import Dependency, Env, Marker, Var
from .._signature.signature import REQUIRED, Made, Signature
from .._signature.types import (
    aliased,
    allows_none,
    classify,
    find_hints,
    for_pydantic,
    holds,
    inner_metadata,
    is_object,
    split,
    without_none,
)

# All requests can share defaults of these types.
IMMUTABLE = (
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

# The parts with one text for a name. A header may have several lines.
_OF_SINGLE_TEXTS = ("param", "query", "cookie")


class Field:
    """A value in a source.

    Attributes:
        name: The name of the parameter.
        key: The name in the request.
        annotation: The type.
        default: The default, a `Made` one, or `REQUIRED`.
        takes_list: Whether it takes all values with the name.
        signature: The function with the parameter.
        local: The name of its value while the endpoint runs; see `Resolution`.
        attribute: Its name in an object with all values of the source.
    """

    local: str
    attribute: str

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
        return classify(self.annotation) == "file"

    @property
    def is_bytes(self) -> bool:
        """Whether it is the content of an uploaded file."""
        return holds(self.annotation, bytes)

    @property
    def is_read_by_pydantic(self) -> bool:
        """Whether pydantic reads it, and not msgspec."""
        return find_model(self.annotation) is not None

    @property
    def is_immutable(self) -> bool:
        """Whether all requests can share its default."""
        default = self.default
        return default is REQUIRED or (
            isinstance(default, IMMUTABLE) and not isinstance(default, Made)
        )

    def create_default(self) -> Any:
        """Returns a default for one request."""
        return self.default if self.is_immutable else self.default_factory()

    @property
    def default_factory(self) -> Callable[[], Any]:
        """What makes its default for each request; the documentation knows copies, too."""
        default = self.default
        return default.factory if isinstance(default, Made) else partial(copy.deepcopy, default)

    def is_like(self, other: Field) -> bool:
        """Returns whether two parameters with the same name are equivalent."""
        same = self.default is other.default or (
            type(self.default) is type(other.default) and self.default == other.default
        )
        return bool(same and self.annotation == other.annotation)

    def for_struct(self) -> Any:
        """The `msgspec.field` for it."""
        default = self.default
        if default is REQUIRED:
            return msgspec.field(name=self.key)
        if self.is_immutable:
            return msgspec.field(name=self.key, default=default)
        return msgspec.field(name=self.key, default_factory=self.default_factory)


class Source:
    """The values read together from one part of the request.

    Args:
        target: The part.
        fields: Its values; with `is_model` a single one.
        signature: The first function that needs them.
        is_model: Whether the only field has a type with all names.

    Attributes:
        type: The type of the whole: a Struct with the fields, or the type of the model.
        schema: How it is validated.
        lists: The names in the request whose values are all used.
        contents: The names in a form whose files are read.
        headers: For headers: each key, the header, and whether all of its lines are used.
        vary: The headers in Vary.
        others: Names used by other parameters. A model doesn't get them, since it may reject
            unknown names.
        objects: The names of objects in a query or form.
        load_single: Builds the value of the only field from its text; None if it takes a part with
            several fields, a whole part, or more than a text.
    """

    type: Any
    schema: Schema
    load_single: Callable[[str], Any] | None = None
    lists: frozenset[str]
    contents: frozenset[str]
    headers: tuple[tuple[str, str, bool], ...]
    vary: str
    others: frozenset[str] = frozenset()
    objects: ObjectNames | None = None

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

    def takes(self, field: Field, target: ValidationTarget) -> bool:
        """Returns whether a value can be read together with those of the source."""
        if self.target != target or self.is_model:
            return False
        return self.fields[0].is_read_by_pydantic == field.is_read_by_pydantic

    @property
    def names(self) -> frozenset[str]:
        """The names in the request that it takes."""
        if not self.is_model:
            return frozenset(field.key for field in self.fields)
        names = (name for field in self.schema.fields for name in field[:2])
        return frozenset(name for name in names if name is not None)

    def finish(self, codecs: Codecs) -> None:
        """Creates the type, now that all fields are known."""
        for field in self.fields:
            kind = field.annotation
            if self.is_model and field.default is not REQUIRED:
                kind = without_none(kind)
            _check_decodable(field, kind, codecs)
        if self.is_model:
            self.type = kind
        elif self.fields[0].is_read_by_pydantic:  # then all are; see `takes`
            self.type = _pydantic_model(self.target, self.fields, self.signature)
        else:
            self.type = _struct(self.target, self.fields, self.signature)
        self.schema = _schema(self.fields[0], self.type, codecs, is_json=False)
        self.objects = self.schema.objects if self.target in ("query", "form") else None
        try:
            check_objects(self.schema, self.target)
        except TypeError as error:
            _refuse(self.fields[0], error)
        fields = self.schema.fields
        self.lists = frozenset(each.key for each in fields if each.takes_list)
        self.contents = frozenset(each.key for each in fields if each.takes_content)
        self.headers = tuple(
            (each.key, each.header, each.takes_list) for each in fields if each.header is not None
        )
        self.vary = self.schema.headers if self.is_model else ", ".join(sorted(self.names))
        if self._has_single_text:
            self.load_single = text_loader(self.fields[0].annotation, codecs)

    @property
    def _has_single_text(self) -> bool:
        if self.is_model or len(self.fields) > 1 or self.target not in _OF_SINGLE_TEXTS:
            return False
        field = self.fields[0]
        return classify(field.annotation) == "single" and not field.is_read_by_pydantic

    def load(self, values: dict[str, Any]) -> Any:
        """Builds a value of the type; the default of a model if none of its names was sent.

        Raises:
            ValueError: If the values don't fit.
        """
        if self.is_model and self.fields[0].default is not REQUIRED and not self._is_given(values):
            return self.fields[0].create_default()
        return self.schema.load(values)

    def _is_given(self, values: dict[str, Any]) -> bool:
        names = self.names
        return bool(names & values.keys() if names else values)

    def load_into(self, values: dict[str, Any], given: dict[str, Any]) -> None:
        """Builds a value like `load`, and adds it to the endpoint's values, by local names.

        Raises:
            ValueError: If the given values don't fit.
        """
        loaded = self.load(given)
        if self.is_model:
            values[self.fields[0].local] = loaded
            return
        for field in self.fields:
            values[field.local] = getattr(loaded, field.attribute)


class JsonBody:
    """The JSON body.

    Args:
        signature: The first function that needs it.
        fields: The parameters: one, or several with `embed`.
        embed: Whether it is an object with the parameters by name.

    Attributes:
        default: The default for an absent body; `REQUIRED` if there must be one.
        type: The type of the whole body.
        schema: How it is validated.
        is_absent_if_null: Whether `null` stands for an absent body: if there is a default, and the
            type doesn't include None.
        media_types: The media types that it may have; empty for all types of JSON.
        accepts: Whether a Content-Type is one of them.
    """

    default: Any
    type: Any
    schema: Schema
    is_absent_if_null: bool
    media_types: tuple[str, ...] = ()
    accepts: Callable[[str | None], bool] = staticmethod(is_json)

    def __init__(self, signature: Signature, fields: list[Field], *, embed: bool) -> None:
        self.signature = signature
        self.fields = fields
        self.embed = embed

    @property
    def documented_type(self) -> Any:
        """The type for the documentation: with None if the body is optional."""
        return self.type if self.default is REQUIRED else self.type | None

    def finish(self, codecs: Codecs) -> None:
        """Creates the type, now that all fields are known."""
        for field in self.fields:
            _check_decodable(field, field.annotation, codecs)
        self.default = REQUIRED if self.embed else self.fields[0].default
        if self.embed and any(field.is_read_by_pydantic for field in self.fields):
            self.type = _pydantic_model("json", self.fields, self.signature)
        elif self.embed:
            self.type = _struct("json", self.fields, self.signature)
        else:
            self.type = self.fields[0].annotation
        self.is_absent_if_null = self.default is not REQUIRED and not allows_none(self.type)
        self.schema = _schema(self.fields[0], self.type, codecs, is_json=True)
        if not self.embed and is_partial(self.type):
            self.media_types = MEDIA_TYPES
            self.accepts = lambda content_type: media_type(content_type) in MEDIA_TYPES

    def is_absent(self, content: bytes) -> bool:
        """Returns whether JSON stands for an absent body, which has a default."""
        if self.default is REQUIRED:
            return False
        return not content or (self.is_absent_if_null and content.strip() == b"null")

    def create_default(self) -> Any:
        """Returns the default for one request."""
        return self.fields[0].create_default()

    def add_to(self, values: dict[str, Any], loaded: Any) -> None:
        """Adds the loaded values to the endpoint's values, by their local names."""
        if not self.embed:
            values[self.fields[0].local] = loaded
            return
        for field in self.fields:
            values[field.local] = getattr(loaded, field.attribute)


def _struct(target: str, fields: list[Field], signature: Signature) -> Any:
    for number, field in enumerate(fields):
        field.attribute = f"field_{number}"
    try:
        return msgspec.defstruct(
            struct_name(target, signature),
            [(field.attribute, field.annotation, field.for_struct()) for field in fields],
            kw_only=True,
            module=getattr(signature.function, "__module__", None),
        )
    except (TypeError, ValueError) as error:
        signature.refuse(f"its {target} parameters can't be read: {error}")


def _pydantic_model(target: str, fields: list[Field], signature: Signature) -> Any:
    # Already imported, since a type comes from it; type checkers may not have it.
    pydantic: Any = import_module("pydantic")

    entries: dict[str, Any] = {}
    for number, field in enumerate(fields):
        field.attribute = f"field_{number}"
        options: dict[str, Any] = {"alias": field.key, **_describe_for_pydantic(field)}
        if field.default is not REQUIRED and field.is_immutable:
            options["default"] = field.default
        elif field.default is not REQUIRED:
            options["default_factory"] = field.default_factory
        kind = for_pydantic(field.annotation)
        entries[field.attribute] = (kind, pydantic.Field(**options))
    try:
        return pydantic.create_model(struct_name(target, signature), **entries)
    except Exception as error:
        line = str(error).partition("\n")[0].partition(". ")[0]
        what = "JSON body" if target == "json" else target
        signature.refuse(
            f"pydantic reads parameters of its {what}, so it has to know the types of all that are "
            f"read together: {line}"
        )


def _describe_for_pydantic(field: Field) -> dict[str, Any]:
    """Returns the texts for the documentation, which pydantic doesn't find in `msgspec.Meta`."""
    found: dict[str, Any] = {}
    for meta in split(field.annotation)[1]:
        if isinstance(meta, msgspec.Meta):
            named = {name: getattr(meta, name) for name in ("title", "description", "examples")}
            found |= {name: value for name, value in named.items() if value is not None}
            found |= meta.extra_json_schema or {}  # only `deprecated`, of a marker
    return found


def struct_name(target: str, signature: Signature) -> str:
    """Returns a name for the type of a part of the request."""
    name = getattr(signature.function, "__name__", type(signature.function).__name__)
    words = [word.capitalize() for word in f"{name}_{target}".split("_") if word.isidentifier()]
    return "".join(words) or "Values"


def _schema(field: Field, kind: Any, codecs: Codecs, *, is_json: bool) -> Schema:
    try:
        return get_schema(kind, is_json=is_json, codecs=codecs)
    except Exception as error:
        _refuse(field, error)


def _check_decodable(field: Field, kind: Any, codecs: Codecs) -> None:
    """Rejects a type that can't be built from text or JSON, with the name of the parameter."""
    _check_fields(field, kind)
    try:
        if find_model(kind) is not None:
            return
        check_union(kind)
        node = inspect.type_info(kind)
        msgspec.json.Decoder(kind)
    except Exception as error:
        _refuse(field, error)
    if not field.is_file:
        for each in _unknown(node, set()):
            if each in codecs.decoders:
                continue
            name = each.__qualname__
            _refuse(
                field,
                f"neither msgspec nor pydantic can decode {name}: give the app a decoder, "
                f"Kit(decoders={{{name}: function}})",
            )


def _check_fields(field: Field, kind: Any) -> None:
    """Rejects markers in the fields of a model, where they would have no effect."""
    for name, each in _markers_in_fields(kind):
        field.signature.refuse(
            f"the parameter {field.name!r} takes all fields of a model, so {each!r:.100} of its "
            f"field {name!r} has no effect: write msgspec.Meta(...) or pydantic's Field(...) for "
            f"constraints and names; or Annotated[..., Depends()], which reads each field by itself"
        )


def _markers_in_fields(kind: Any) -> Iterator[tuple[str, Any]]:
    kind, _ = split(kind)
    value = aliased(kind)
    if value is not None:
        yield from _markers_in_fields(value)
    elif not is_object(kind):
        for each in get_args(kind):
            yield from _markers_in_fields(each)
    else:
        with suppress(Exception):  # names that can't be resolved are reported by the libraries
            for name, hint in find_hints(kind).items():
                inner, metadata = split(hint)
                for each in (*metadata, *inner_metadata(inner)):
                    if isinstance(each, (Marker, Env, Var, Dependency)):
                        yield name, each


def _refuse(field: Field, problem: object) -> NoReturn:
    if isinstance(problem, NameError):
        problem = f"{problem}; define it at the top of the module, above the function"
    line = str(problem).partition("\n")[0]
    field.signature.refuse(f"the parameter {field.name!r} can't be read: {line}")


def _unknown(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the classes in a type that neither msgspec nor pydantic can build."""
    if isinstance(node, inspect.CustomType):
        is_known = node.cls is object or is_part(node.cls) or is_scalar(node.cls)
        if not is_known and classify(node.cls) != "file":
            yield node.cls
        return
    if id(node) in seen or not isinstance(node, (inspect.Type, inspect.Field)):
        return
    seen.add(id(node))
    for name in getattr(node, "__struct_fields__", ()):
        value = getattr(node, name)
        for each in value if isinstance(value, tuple) else (value,):
            yield from _unknown(each, seen)
