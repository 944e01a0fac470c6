# SPDX-License-Identifier: MIT
"""Checks encoders and decoders, and finds the types that they declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType, NoneType
from typing import Any, TypeAlias

from ._type_nodes import walk_nodes

Convert: TypeAlias = Callable[[Any], Any]

# Attributes of classes whose instances msgspec encodes by their fields.
_MARKS_OF_ENCODED = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__")


def list_items(factory: str, name: str, table: Any) -> Iterator[tuple[type, Convert]]:
    """Yields the items of an option, after checking that the keys are classes."""
    from .options import OptionChecks

    if not isinstance(table, Mapping):
        OptionChecks(factory).wrong_type(name, table, "a mapping of classes to functions")
    for kind, function in table.items():
        if not isinstance(kind, type):
            raise TypeError(f"{factory}({name}=...) has the key {kind!r:.100}, which isn't a class")
        yield kind, function


def check_function(factory: str, name: str, kind: type, function: Any) -> None:
    """Rejects what can't be called with a value, or is async."""
    from .options import OptionChecks

    try:
        OptionChecks(factory).function(name, function, "(value)", plain=True)
    except TypeError as error:
        raise TypeError(f"{error}, for {kind.__qualname__}") from None


def check_encoder(factory: str, kind: type) -> None:
    """Rejects a class whose instances are encoded without asking an encoder."""
    import datetime
    import decimal
    import enum
    import uuid

    import msgspec

    exact = (
        *(str, int, float, bool, NoneType, bytes, bytearray, memoryview, decimal.Decimal),
        *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
    )
    with_subclasses = (enum.Enum, uuid.UUID, dict, list, tuple, set, frozenset, msgspec.Raw)
    name = kind.__qualname__
    place = f"{factory}(encoders=...) has {name}, which"
    if kind in exact:
        raise TypeError(
            f"{place} is always encoded as msgspec does, so the encoder would never run: convert "
            f"such values before you send them, or derive a class from {name}, and register that"
        )
    has_fields = any(hasattr(kind, mark) for mark in _MARKS_OF_ENCODED)
    if issubclass(kind, with_subclasses) or has_fields:
        what = "value" if issubclass(kind, (enum.Enum, uuid.UUID)) else "items or fields"
        raise TypeError(
            f"{place} is always encoded by its {what}, so the encoder would never run: convert "
            "such values before you send them"
        )
    try:
        isinstance(None, kind)
        issubclass(object, kind)
    except TypeError as error:
        raise TypeError(f"{place} has no instances that can be recognized: {error}") from None


def check_decoder(factory: str, kind: type, function: Convert) -> Any:
    """Returns the type of the value that a decoder takes.

    Raises:
        TypeError: If the decoder would never run, or takes a value that isn't in JSON.
    """
    import msgspec
    from msgspec import inspect

    from .models import find_model
    from .signatures import parameter_names

    name = kind.__qualname__
    place = f"{factory}(decoders=...) has {name}, which"
    if find_model(kind) is not None:
        raise TypeError(f"{place} pydantic builds itself: write a validator in the class")
    try:
        node = inspect.type_info(kind)
    except TypeError as error:
        raise TypeError(f"{place} msgspec can't build: {error}") from None
    if not isinstance(node, inspect.CustomType):
        raise TypeError(
            f"{place} msgspec builds itself, so the decoder would never run: derive a class from "
            f"{name}, or write another one"
        )
    check_function(factory, "decoders", kind, function)
    taken: Any = str
    try:
        if not isinstance(function, type):
            taken = next(
                (_find_hint(function, each, str) for each in parameter_names(function)), str
            )
        msgspec.json.Decoder(taken)
        if find_unknown(taken):
            raise TypeError("msgspec doesn't know it")
    except Exception as error:
        raise TypeError(
            f"{factory}(decoders=...) has a function for {name} that takes {taken!r:.100}, which "
            f"can't be read from JSON: {error}"
        ) from None
    return taken


def find_result_type(function: Convert) -> Any:
    """Returns the type of a function's results; Any if it isn't known."""
    if isinstance(function, type):
        return function
    try:
        return _find_hint(function, "return", Any)
    except NameError:  # only imported for type checkers, for instance
        return Any


def _find_hint(function: Any, name: str, default: Any) -> Any:
    """Returns the annotation of a parameter, or of the result.

    Raises:
        NameError: If a name in it isn't defined.
    """
    from typing import get_type_hints

    from .signatures import behind_wrappers

    while isinstance(function, partial):
        function = function.func
    plain = behind_wrappers(function)
    if not isinstance(plain, (FunctionType, MethodType)):
        plain = type(plain).__call__
    annotations = getattr(plain, "__annotations__", {})
    if name not in annotations:
        return default

    def only() -> None: ...

    # The other annotations may have names that are only imported for type checkers.
    only.__annotations__ = {name: annotations[name]}
    names = getattr(plain, "__globals__", {})
    return get_type_hints(only, globalns=names, include_extras=True)[name]


def find_unknown(kind: Any) -> list[type]:
    """Returns the classes in a type that only a decoder can build.

    Args:
        kind: The type. pydantic builds the classes in its own types itself.

    Returns:
        The classes; none if msgspec can't describe the type, which it reports when it decodes.
    """
    from .text_values import is_scalar

    return [each for each in find_decodable(kind) if not is_scalar(each)]


def find_decodable(kind: Any) -> list[type]:
    """Returns the classes in a type that a decoder may build: those of `find_unknown`, and scalars.

    Args:
        kind: The type.
    """
    from msgspec import inspect

    from .models import check_union, find_model
    from .recursive_types import is_part, without_recursion

    try:
        if find_model(kind) is not None:
            return []
        kind = without_recursion(kind)
        check_union(kind)
        nodes = [*walk_nodes(inspect.type_info(kind))]
    except Exception:
        return []
    others = dict.fromkeys(each.cls for each in nodes if isinstance(each, inspect.CustomType))
    return [each for each in others if each is not object and not is_part(each)]
