# SPDX-License-Identifier: MIT
"""What an annotation is: which values it stands for, with which constraints."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import types
import uuid
from collections import abc
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, is_typeddict

import msgspec

_SINGLE = (
    str,
    int,
    float,
    bool,
    bytes,
    types.NoneType,
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    enum.Enum,
    uuid.UUID,
    msgspec.UnsetType,
)
_MANY = (list, tuple, set, frozenset, collections.deque)
_MANY_ABSTRACT = (abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set)
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
# What dataclasses, Structs, attrs classes, named tuples and pydantic models have.
_OBJECTS = (
    "__dataclass_fields__",
    "__struct_fields__",
    "__attrs_attrs__",
    "_fields",
    "model_validate_json",
)
_FILE = {"array_buffer", "last_modified", "name", "size"}
_CONTEXT = {"add_exit", "execution_ctx", "matched_routes", "req"}
_CONSTRAINTS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "tz")
_TOLD = ("title", "description", "examples", "extra_json_schema", "extra")

Kind = Literal["single", "many", "object", "file", "context", "unknown"]


def split(annotation: Any) -> tuple[Any, list[Any]]:
    """Splits an annotation into a type and the metadata of `Annotated`."""
    if get_origin(annotation) is Annotated:
        kind, *metadata = get_args(annotation)
        return kind, metadata
    return annotation, []


def kind_of(annotation: Any) -> Kind:
    """Tells what kind of value an annotation stands for.

    `single` is made of one text, `many` of several, `object` has named fields, or holds such
    objects.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        return kind_of(get_args(annotation)[0])
    behind = getattr(annotation, "__value__", None) or getattr(annotation, "__supertype__", None)
    if behind is not None and (isinstance(annotation, NewType) or not isinstance(annotation, type)):
        return kind_of(behind)
    if origin is Literal:
        return "single"
    if origin in (Union, types.UnionType):
        return _kind_of_union({kind_of(each) for each in get_args(annotation) if each is not None})
    kind = annotation if origin is None else origin
    if annotation is None:
        return "single"
    return _kind_of_class(kind, get_args(annotation)) if isinstance(kind, type) else "unknown"


def _kind_of_union(kinds: set[Kind]) -> Kind:
    for kind in ("unknown", "context", "file", "object", "many"):
        if kind in kinds:
            return kind
    return "single"


def _kind_of_class(kind: type, arguments: tuple[Any, ...]) -> Kind:
    if is_typeddict(kind) or any(hasattr(kind, mark) for mark in _OBJECTS):
        return "context" if _has(kind, _CONTEXT) else "object"
    if kind in _MAPPINGS or kind is msgspec.Raw:
        return "object"
    if issubclass(kind, _MANY) or kind in _MANY_ABSTRACT:
        inner = _kind_of_union({kind_of(each) for each in arguments if each is not ...})
        return "many" if inner == "single" else inner
    if issubclass(kind, _SINGLE):
        return "single"
    if _has(kind, _CONTEXT):
        return "context"
    return "file" if _has(kind, _FILE) else "unknown"


def _has(kind: type, names: set[str]) -> bool:
    return all(hasattr(kind, name) for name in names)


def takes_many(annotation: Any) -> bool:
    """Whether an annotation takes all values of a name: a list, or a union with one."""
    origin = get_origin(annotation)
    if origin in (Annotated, Union, types.UnionType):
        return any(map(takes_many, get_args(annotation)))
    behind = getattr(annotation, "__value__", None)
    if behind is not None and not isinstance(annotation, type):
        return takes_many(behind)
    kind = annotation if origin is None else origin
    if not isinstance(kind, type) or hasattr(kind, "_fields"):
        return False
    return issubclass(kind, _MANY) or kind in _MANY_ABSTRACT


def holds(annotation: Any, kind: type) -> bool:
    """Whether an annotation is a type, or has it in a union or a list."""
    if get_origin(annotation) is not None:
        return any(holds(each, kind) for each in get_args(annotation))
    return annotation is kind


def allows_none(annotation: Any) -> bool:
    """Whether None is one of the values."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return allows_none(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return any(map(allows_none, get_args(annotation)))
    return annotation is None or annotation is types.NoneType or annotation is Any


def without_none(annotation: Any) -> Any:
    """Returns a type without None and without the metadata of `Annotated`."""
    if get_origin(annotation) is Annotated:
        return without_none(get_args(annotation)[0])
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    members = [each for each in get_args(annotation) if each is not types.NoneType]
    return Union[tuple(members)]  # noqa: UP007 - of a tuple


def constrained(kind: Any, metadata: list[Any], own: msgspec.Meta | None) -> Any:
    """Returns a type with its metadata, in the form that msgspec understands.

    Constraints of `annotated_types` and of pydantic's `Field` become those of msgspec. Those of a
    union go to its members, since msgspec refuses them for the whole.

    Args:
        kind: The type.
        metadata: What stands in its `Annotated`.
        own: What a marker says.
    """
    found = [meta for each in metadata for meta in _metas(each)]
    if own is not None:
        found.append(own)
    limits = [meta for each in found for meta in _only(each, _CONSTRAINTS)]
    if get_origin(kind) in (Union, types.UnionType):
        members = [
            each if each is types.NoneType else _with(each, limits) for each in get_args(kind)
        ]
        kind = Union[tuple(members)]  # noqa: UP007 - of a tuple
    else:
        kind = _with(kind, limits)
    return _with(kind, [meta for each in found for meta in _only(each, _TOLD)])


def _with(kind: Any, metas: list[msgspec.Meta]) -> Any:
    for meta in metas:
        kind = Annotated[kind, meta]
    return kind


def _only(meta: msgspec.Meta, names: tuple[str, ...]) -> list[msgspec.Meta]:
    given: dict[str, Any] = {
        name: value for name in names if (value := getattr(meta, name)) is not None
    }
    return [msgspec.Meta(**given)] if given else []


def _metas(item: Any) -> list[msgspec.Meta]:
    """What an item of `Annotated` says, by its attributes: neither library is imported."""
    if isinstance(item, msgspec.Meta):
        return [item]
    module = type(item).__module__.partition(".")[0]
    if module == "annotated_types":
        names = [(name, name) for name in _CONSTRAINTS]
    elif type(item).__name__ == "FieldInfo" and module == "pydantic":
        inner = [meta for each in item.metadata for meta in _metas(each)]
        told = {
            name: getattr(item, name)
            for name in ("title", "description", "examples")
            if getattr(item, name) is not None
        }
        return [*inner, *([msgspec.Meta(**told)] if told else [])]
    elif module == "pydantic":  # what Field(pattern=...) leaves
        names = [("pattern", "pattern")]
    else:
        return []
    limits = {to: v for of, to in names if (v := getattr(item, of, None)) is not None}
    return [msgspec.Meta(**limits)] if limits else []
