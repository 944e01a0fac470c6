# SPDX-License-Identifier: MIT
"""Validates types with pydantic, and unifies the errors of pydantic and msgspec.

`with_defaults` completes the dataclasses that msgspec decodes.

Neither library is imported here: if pydantic isn't loaded, no type belongs to it.
"""

from __future__ import annotations

import sys
from collections import abc, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from kit.interface import FieldError

from ._defaults import with_defaults
from ._pydantic_paths import UNKNOWN, find_path
from .field_errors import field_error
from .numerals import refuse_collisions_in_json

__all__ = (
    "Model",
    "check_applied",
    "check_union",
    "find_model",
    "is_read_by_pydantic",
    "keep_if_unsafe",
    "summary",
    "validation_errors",
    "with_defaults",
)

# Attributes of dataclasses, Structs, TypedDicts, named tuples and attrs classes.
_MARKS_OF_FIELDS = (
    "__dataclass_fields__",
    "__struct_fields__",
    "__total__",
    "_fields",
    "__attrs_attrs__",
)

# APPSEC: clients control how many errors there are. The summary contains so many; pydantic lists
# all at once or none, in a kilobyte each.
_MOST_ERRORS = 10
_MOST_LISTED = 10_000

# The types that msgspec counts as arrays and dicts.
_ARRAYS_AND_DICTS = (
    *(list, tuple, set, frozenset, deque, dict),
    *(abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set, abc.MutableSet),
    *(abc.Mapping, abc.MutableMapping),
)

# Of a `msgspec.Meta`.
_CONSTRAINTS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "tz")


class Model(NamedTuple):
    """The validators of a pydantic type.

    Attributes:
        validate: Takes Python values, and returns a value of the type.
        validate_json: Takes JSON as bytes, and returns a value of the type; raises a ValueError
            for what is no JSON.
        core_schema: How pydantic validates it; None if unknown.
    """

    validate: Callable[[Any], Any]
    validate_json: Callable[[bytes], Any]
    core_schema: Any = None


def find_model(type: Any) -> Model | None:
    """Returns the validators of a pydantic type.

    Pydantic types are models, pydantic dataclasses, classes and metadata with a schema for
    pydantic, such as `EmailStr` and `AfterValidator`, and types that contain one of these, such as
    `list[Book]`. msgspec would reject a model, and would ignore the rules of a pydantic dataclass.

    Args:
        type: Any type.

    Returns:
        Its validators; None if msgspec handles the type.
    """
    own = None
    if hasattr(type, "model_validate_json"):
        schema = getattr(type, "__pydantic_core_schema__", None)
        validate_json = _of_strict_json(type.model_validate_json, type)
        own = Model(type.model_validate, validate_json, schema)
    # Annotated has the attributes of the type it annotates, which ignore its rules.
    if "pydantic" not in sys.modules or (own is not None and get_origin(type) is not Annotated):
        return own
    try:
        return _adapted(type) or own
    except TypeError:  # the metadata in Annotated may not be hashable
        return _adapted.__wrapped__(type) or own


def is_read_by_pydantic(part: Any) -> bool:
    """Returns whether a class, or an item of metadata in `Annotated`, has a schema for pydantic.

    Those of pydantic's own that are plain rules, such as `Field(gt=0)`, don't.
    """
    return hasattr(part, "__pydantic_validator__") or hasattr(part, "__get_pydantic_core_schema__")


def check_applied(kind: Any) -> None:
    """Rejects constraints of msgspec in a type that pydantic reads, which would ignore them.

    Args:
        kind: A type for which `find_model` finds pydantic.

    Raises:
        TypeError: If a `msgspec.Meta` in the type, or in a field, has a constraint.
    """
    waiting, seen = [kind], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        is_meta = type(each).__name__ == "Meta" and type(each).__module__ == "msgspec"
        if is_meta and any(getattr(each, name) is not None for name in _CONSTRAINTS):
            raise TypeError(
                f"pydantic reads it, and would ignore {each!r:.100}: write the constraint with "
                "pydantic's Field(...), or as one of annotated_types"
            )
        waiting += _list_parts(each)


def encode_model(value: Any) -> Any:
    """Returns the data of a pydantic model for JSON: an `enc_hook` for the encoders of msgspec.

    Raises:
        TypeError: If the value isn't a model, nor another object with `model_dump`.
    """
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} can't be encoded as JSON")
    return dump(mode="json")


def validation_errors(
    error: Exception, model: Model | None = None, value: Any = UNKNOWN
) -> Iterator[FieldError]:
    """Lists the errors in a pydantic ValidationError.

    Args:
        error: The error; for any other exception, its text is yielded for the whole value.
        model: The model that raised it. Without it, and without `value`, paths contain the names of
            union members.
        value: The data that was validated: decoded, if it was JSON.

    Yields:
        For each field, its path in the data, e.g. `authors[0].name`, the message, and pydantic's
        type and context of the error, e.g. `greater_than_equal` and `{"ge": 1}`. Only the number of
        errors if there are more than 10,000.
    """
    own: Any = error
    if not hasattr(error, "error_count"):
        errors = own.errors() if hasattr(error, "errors") else ()
    elif own.error_count() > _MOST_LISTED:
        message = f"There are {own.error_count()} errors"
        yield FieldError(path="", message=message, type="too_many_errors")
        return
    else:
        errors = own.errors(include_url=False, include_input=False)
    schema = None if model is None else model.core_schema
    for each in errors:
        loc = find_path(each["loc"], each["type"], schema, value)
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc)
        path = "".join(steps).removeprefix(".")
        yield field_error(path, each["msg"], each["type"], each.get("ctx", {}))
    if not errors:
        yield FieldError(path="", message=str(error), type="value_error")


def summary(error: Exception, model: Model | None = None) -> str:
    """Summarizes a pydantic ValidationError in one line, in msgspec's format.

    Args:
        error: The error.
        model: What raised it; see `validation_errors`.

    Returns:
        The first ten messages with their paths, e.g. ``Field required - at `$.title` ``.
    """
    told = islice(validation_errors(error, model), _MOST_ERRORS)
    return "; ".join(each["message"] + _place(each["path"]) for each in told)


def check_union(kind: Any) -> None:
    """Rejects unions with which msgspec 0.22 would crash the process.

    These are unions of an array or a dict with a str that has a pattern: msgspec frees memory that
    it doesn't own when it drops such a type. It drops the types of a class's fields only with the
    class, at the latest when the process exits.

    Args:
        kind: A type that msgspec hasn't seen yet.

    Raises:
        TypeError: If the type is or contains such a union.
    """
    waiting, seen = [kind], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:  # an alias may contain itself
            continue
        seen.add(id(each))
        waiting += [*get_args(each), _behind(each)]
        members = [*_members(each, set())]
        if any(map(_is_array_or_dict, members)) and any(map(_has_pattern, members)):
            raise TypeError(
                "msgspec doesn't support a union of an array or dict with a str that has a "
                "pattern: check the pattern elsewhere"
            )


def keep_if_unsafe(generated: type, kinds: Iterable[Any]) -> None:
    """Keeps a generated class forever if dropping it would crash the process; see `check_union`.

    It isn't dropped when the process exits, either.

    Args:
        generated: A class that msgspec builds or describes.
        kinds: The types of its fields.
    """
    try:
        for kind in kinds:
            check_union(kind)
    except TypeError:
        from ctypes import py_object, pythonapi

        # A list of a module would be dropped when the process exits, and crash it then.
        pythonapi.Py_IncRef(py_object(generated))


@lru_cache(maxsize=256)
def _adapted(type: Any) -> Model | None:
    if not _holds_model(type, set()):
        return None
    adapter = sys.modules["pydantic"].TypeAdapter(type)
    validate_json = _of_strict_json(adapter.validate_json, type)
    return Model(adapter.validate_python, validate_json, adapter.core_schema)


def _of_strict_json(validate: Callable[[bytes], Any], kind: Any) -> Callable[[bytes], Any]:
    """Lets pydantic validate only JSON: its parser takes `NaN` and `Infinity` too (RFC 8259).

    Sets and dicts get no keys that were made to collide.
    """
    has_keys = _holds_keys(kind, set())

    def validate_json(data: bytes) -> Any:
        if has_keys:
            refuse_collisions_in_json(data)
        if b"NaN" in data or b"Infinity" in data:
            import msgspec

            msgspec.json.decode(data, type=msgspec.Raw)
        return validate(data)

    return validate_json


def _holds_model(kind: Any, seen: set[int]) -> bool:
    if is_read_by_pydantic(kind):
        return True
    if id(kind) in seen:
        return False
    seen.add(id(kind))
    return any(_holds_model(part, seen) for part in _list_parts(kind))


def _holds_keys(kind: Any, seen: set[int]) -> bool:
    """Returns whether a type contains a set, or a dict, whose keys a client can make collide."""
    if id(kind) in seen:
        return False
    seen.add(id(kind))
    arguments = get_args(kind)
    origin = get_origin(kind) or kind
    is_hashed = isinstance(origin, type) and issubclass(origin, (abc.Set, abc.Mapping))
    has_safe_keys = is_typeddict(origin) or (arguments and arguments[0] in (str, bytes, bool))
    if is_hashed and not has_safe_keys:
        return True
    return any(_holds_keys(part, seen) for part in _list_parts(kind))


def _list_parts(kind: Any) -> list[Any]:
    """Returns the types within a type: arguments, members, and those of fields."""
    # The result of `type X = ...` has a __value__.
    parts = [getattr(kind, "__value__", None), *get_args(kind)]
    marks = (*_MARKS_OF_FIELDS, "__pydantic_validator__")
    if isinstance(kind, type) and any(hasattr(kind, mark) for mark in marks):
        # msgspec reports names that can't be resolved.
        with suppress(Exception):
            parts += get_type_hints(kind, include_extras=True).values()
    return [part for part in parts if part is not None and get_origin(part) is not ClassVar]


def _place(path: str) -> str:
    if not path:
        return ""
    return f" - at `${path}`" if path.startswith("[") else f" - at `$.{path}`"


def _members(kind: Any, seen: set[int]) -> Iterator[Any]:
    """Yields the members of a union, also of the unions and aliases in it; else the type."""
    inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if get_origin(inner) in (Union, UnionType):
        parts = get_args(inner)
    elif (behind := _behind(inner)) is not None:
        parts = (behind,)
    else:
        yield kind
        return
    if id(inner) not in seen:
        seen.add(id(inner))
        for each in parts:
            yield from _members(each, seen)


def _behind(kind: Any) -> Any:
    """Returns the type behind one created by `type X = ...` or NewType, or None."""
    if isinstance(kind, type):
        return None
    return getattr(kind, "__value__", None) or getattr(kind, "__supertype__", None)


def _is_array_or_dict(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    origin = get_origin(kind) or kind
    if origin is tuple:  # msgspec counts those of a fixed length as something else
        return not get_args(kind) or ... in get_args(kind)
    return origin in _ARRAYS_AND_DICTS


def _has_pattern(kind: Any) -> bool:
    metadata = getattr(kind, "__metadata__", ())
    return any(getattr(each, "pattern", None) is not None for each in metadata)
