# SPDX-License-Identifier: MIT
"""Builds values of a type from parts of a request, and finds all errors in invalid data.

For packages that validate requests, such as `kit.typed`.
"""

from __future__ import annotations

from collections import abc, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from kit.interface import FieldError
from kit.interface.models import Model, model_of, validation_errors, with_defaults

from ._problems import (
    OBJECTS,
    JsonProbe,
    bare,
    errors_of_json,
    errors_of_names,
    is_object,
    is_union,
)

__all__ = ("Field", "Schema", "check_union", "read_contents", "schema_of")

_NAMED = (*OBJECTS, inspect.DictType, inspect.AnyType)
_MANY = (inspect.CollectionType, inspect.TupleType, inspect.NamedTupleType)
_BYTES = (inspect.BytesType, inspect.ByteArrayType)
_MANY_IN_PYTHON = (list, tuple, set, frozenset, deque)
_MANY_BY_NAME = (abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set)
_DROPPED = (*_MANY_IN_PYTHON, *_MANY_BY_NAME, dict, abc.Mapping, abc.MutableMapping)


class Field(NamedTuple):
    """A name in the data from which a type takes a value.

    Attributes:
        key: The name.
        header: The header that it stands for, in lower case, or None.
        takes_list: Whether the field takes all values with the name.
        takes_content: Whether it takes the content of an uploaded file: bytes, or several.
    """

    key: str
    header: str | None
    takes_list: bool
    takes_content: bool = False


class Schema(NamedTuple):
    """How a type is validated, prepared before the first request.

    Attributes:
        load: Converts JSON, or a dict of names with str, lists of str and files, to a value.
        errors: Yields all errors in data that `load` refused, given the data (decoded, if
            JSON) and the error.
        fields: The names from which the type takes values.
        takes_lists: Whether every field takes all values with its name.
    """

    load: Callable[[Any], Any]
    errors: Callable[[Any, Exception], Iterator[FieldError]]
    fields: tuple[Field, ...] = ()
    takes_lists: bool = False


def schema_of(kind: Any, *, is_json: bool) -> Schema:
    """Returns the schema of a type.

    Args:
        kind: A type that msgspec or pydantic supports.
        is_json: Whether its values are built from JSON, or else from names and values.

    Raises:
        TypeError: If the type can't be built from such data.
        NameError: If an annotation contains an undefined name.
        RuntimeError: If pydantic doesn't support the type.
    """
    model = model_of(kind)
    if model is not None:
        return _model_schema(kind, model, is_json=is_json)
    check_union(kind)
    node = bare(inspect.type_info(kind))
    if isinstance(node, inspect.CustomType):
        raise TypeError("neither msgspec nor pydantic supports it")
    if is_json:
        decode = msgspec.json.Decoder(kind).decode
        return Schema(
            with_defaults(decode, kind),
            lambda value, error: errors_of_json(node, JsonProbe(decode), value, error),
        )
    load: Callable[[Any], Any] = partial(msgspec.convert, type=kind, strict=False)
    if _is_array(node):
        node, load = _by_name(node)
    choices = [bare(each) for each in node.types] if is_union(node) else [node]
    if not any(isinstance(each, _NAMED) for each in choices):
        raise TypeError("it has no fields with names")
    return Schema(
        with_defaults(load, kind),
        partial(errors_of_names, node, load),
        tuple(field for each in choices for field in _fields(each)),
        any(isinstance(each, inspect.DictType) and _is_many(each.value_type) for each in choices),
    )


def check_union(kind: Any) -> None:
    """Rejects unions with which msgspec 0.22 would crash the process.

    These are unions of an array or a dict with a str that has a pattern: msgspec frees memory that
    it doesn't own when it drops such a type. It doesn't drop those of the fields of a class.

    Args:
        kind: A type that msgspec hasn't seen yet.

    Raises:
        TypeError: If the type is or contains such a union.
    """
    waiting, seen = [kind], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:  # of an alias in itself
            continue
        seen.add(id(each))
        waiting += [*get_args(each), getattr(each, "__value__", None)]
        members = [*_members(each, set())]
        if any(map(_is_array_or_dict, members)) and any(map(_has_pattern, members)):
            raise TypeError(
                "msgspec doesn't support a union of an array or dict with a str that has a "
                "pattern: check the pattern elsewhere, or make the union a field of a Struct"
            )


def _members(kind: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the members of a union, also of the unions and aliases in it; else the type."""
    inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(inner) in (Union, UnionType):
        parts = get_args(inner)
    elif hasattr(inner, "__value__") and not isinstance(inner, type):  # created by `type X = ...`
        parts = (inner.__value__,)
    else:
        yield kind
        return
    if id(inner) not in seen:
        seen.add(id(inner))
        for each in parts:
            yield from _members(each, seen)


def _is_array_or_dict(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind) or kind
    if origin is tuple:  # msgspec counts those of a fixed length as something else
        return not get_args(kind) or ... in get_args(kind)
    return origin in _DROPPED


def _has_pattern(kind: Any) -> bool:
    metadata = getattr(kind, "__metadata__", ())
    return any(getattr(each, "pattern", None) is not None for each in metadata)


async def read_contents(values: dict[str, Any], names: Iterable[str]) -> None:
    """Replaces uploaded files by their contents.

    Args:
        values: The values of a form by name: str, files, and lists of both. The dict is changed.
        names: Which of them, if they are there.
    """
    for name in names:
        value = values.get(name)
        if isinstance(value, list):
            values[name] = [await _content(each) for each in value]
        elif value is not None:
            values[name] = await _content(value)


async def _content(value: Any) -> Any:
    return value if isinstance(value, str) else await value.bytes()


def _is_many(node: Any) -> bool:
    node = bare(node)
    return any(map(_is_many, node.types)) if is_union(node) else isinstance(node, _MANY)


def _fields(node: Any) -> Iterator[Field]:
    for field in getattr(node, "fields", ()):
        key = field.encode_name
        # A name chosen explicitly for the data is used unchanged.
        header = key if key != field.name else key.replace("_", "-")
        yield Field(key, header.lower(), _is_many(field.type), _has_bytes(field.type))


def _has_bytes(node: Any) -> bool:
    node = bare(node)
    if is_union(node):
        return any(map(_has_bytes, node.types))
    item = getattr(node, "item_type", None)
    return isinstance(node, _BYTES) if item is None else _has_bytes(item)


def _is_array(node: Any) -> bool:
    kinds = (inspect.NamedTupleType, inspect.StructType)
    return isinstance(node, kinds) and not is_object(node)


def _by_name(node: Any) -> tuple[inspect.Type, Callable[[Any], Any]]:
    """Builds named tuples and array-like Structs from names, which msgspec doesn't support.

    Returns:
        The type of the data, and a function that builds a value from them.
    """
    kind = get_origin(node.cls) or node.cls
    hints = get_type_hints(kind, include_extras=True)
    twin = msgspec.defstruct(
        kind.__name__,
        [(field.name, hints[field.name], _default(field)) for field in node.fields],
        kw_only=True,
    )

    def load(values: Mapping[str, Any]) -> Any:
        return kind(**msgspec.structs.asdict(msgspec.convert(values, twin, strict=False)))

    return inspect.type_info(twin), load


def _default(field: inspect.Field) -> Any:
    if field.required:
        return msgspec.field()
    if field.default is msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.field(default_factory=lambda: field.default)


def _model_schema(kind: Any, model: Model, *, is_json: bool) -> Schema:
    def errors(value: Any, error: Exception) -> Iterator[FieldError]:
        return validation_errors(error)

    if is_json:
        return Schema(model.validate_json, errors)
    return Schema(model.validate, errors, tuple(_model_fields(kind)))


def _model_fields(kind: Any) -> Iterator[Field]:
    fields = getattr(kind, "model_fields", None) or getattr(kind, "__pydantic_fields__", {})
    for name, field in fields.items():
        takes = _is_many_in_python(field.annotation), _has_bytes_in_python(field.annotation)
        alias = field.validation_alias or field.alias
        yield Field(name, None if alias else name.replace("_", "-").lower(), *takes)
        for choice in getattr(alias, "choices", [alias]):
            if isinstance(choice, str):
                yield Field(choice, choice.lower(), *takes)
    for part in get_args(kind):
        yield from _model_fields(part)


def _has_bytes_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)
    return kind is bytes or any(map(_has_bytes_in_python, get_args(kind)))


def _is_many_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)  # an alias created by `type X = ...`
    origin = get_origin(kind) or kind
    if origin in (Annotated, Union, UnionType):
        return any(map(_is_many_in_python, get_args(kind)))
    if isinstance(origin, type) and issubclass(origin, _MANY_IN_PYTHON):
        return True
    return origin in _MANY_BY_NAME
