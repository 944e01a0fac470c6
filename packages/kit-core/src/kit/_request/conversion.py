# SPDX-License-Identifier: MIT
"""Converts values of the path, query and headers to the requested types: ints, dates, enums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Flag
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Literal, NewType, get_args

from msgspec import convert, inspect

from kit.authoring.models import error_type
from kit.authoring.numerals import checked
from kit.interface import FieldError, HTTPException, ProblemError, RequestValidationError
from kit.router.patterns import variants

Part = Literal["param", "query", "header"]

_MANY = (inspect.CollectionType, inspect.TupleType)
_SINGLE = (
    inspect.AnyType,
    inspect.BoolType,
    inspect.BytesType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.DecimalType,
    inspect.EnumType,
    inspect.FloatType,
    inspect.IntType,
    inspect.LiteralType,
    inspect.NoneType,
    inspect.StrType,
    inspect.TimeDeltaType,
    inspect.TimeType,
    inspect.UUIDType,
)
# What an error lists at most, since a client decides how many values it sends.
_MOST_ERRORS = 100
_MOST_CHOICES = 20
_LONGEST_VALUE = 100

_IS_MANY = "takes several values"
_IS_NO_TYPE = "is not a type"
_IS_NO_VALUE = (
    "can't be made of one text: take a type such as int, UUID, date, an Enum or a Literal, or "
    "validate the whole part with kit.validator"
)


def convert_value(part: Part, name: str, value: str | None, type: Any, default: Any) -> Any:
    """Converts a value, as `msgspec.convert` does with `strict=False`.

    Args:
        part: The part of the request that has the value.
        name: The name it has there.
        value: The decoded text; None if there is none.
        type: The type to convert to.
        default: Returned if there is no value.

    Returns:
        A value of the type, or the default.

    Raises:
        HTTPException: If the value doesn't fit the type: 404 for a parameter of the path, 400 for
            the others.
        TypeError: If nothing can be converted to the type.
    """
    node = _node_for(part, name, type)
    if value is None:
        return default
    try:
        return _loader(type)(value)
    except ValueError as error:
        raise _refusal(part, [_field_error(name, value, node, error)]) from error


def convert_values(name: str, values: Sequence[str], type: Any) -> list[Any]:
    """Converts all values that the query has for a name.

    Args:
        name: The name.
        values: The decoded texts.
        type: The type of each.

    Raises:
        HTTPException: 400 if some of them don't fit the type.
        TypeError: If nothing can be converted to the type.
    """
    node = _node_for("query", name, type, call="queries")
    load = _loader(type)
    converted: list[Any] = []
    errors: list[FieldError] = []
    for index, value in enumerate(values):
        try:
            converted.append(load(value))
        except ValueError as error:
            errors.append(_field_error(f"{name}[{index}]", value, node, error))
            if len(errors) == _MOST_ERRORS:
                break
    if errors:
        raise _refusal("query", errors)
    return converted


def check_absent_param(
    name: str, type: Any, pattern: str | None, found: Iterable[str], *, has_default: bool
) -> None:
    """Checks that a path parameter without a value may be read.

    Args:
        name: The parameter.
        type: The type to convert it to.
        pattern: The pattern of the running route, if known.
        found: The parameters of the path.
        has_default: Whether there is a default for it.

    Raises:
        LookupError: If the pattern has no such parameter, or there is no default for it.
        TypeError: If no text can be converted to the type.
    """
    _node_for("param", name, type)
    names = [*found] if pattern is None else parameter_names(pattern)
    call = f"c.req.param({name!r}, {show_type(type)})"
    if name not in names:
        route = "the running route" if pattern is None else f"the running route {pattern!r}"
        known = f"has {', '.join(map(repr, names))}" if names else "has no parameters"
        raise LookupError(f"{call}: {route} has no parameter {name!r}; it {known}")
    if not has_default:
        raise LookupError(
            f"{call}: the path has no value for this optional parameter of {pattern!r}; give a "
            "default, e.g. default=None"
        )


def parameter_names(pattern: str) -> list[str]:
    """Lists the parameters of a pattern in order, optional ones included."""
    names = (segment.name for variant in variants(pattern) for segment in variant)
    return [*dict.fromkeys(name for name in names if name is not None)]


def _node_for(part: Part, name: str, type: Any, call: str | None = None) -> inspect.Type:
    """Returns msgspec's description of a type.

    Raises:
        TypeError: If no single text can be converted to it.
    """
    try:
        node = _inspected(type)
    except TypeError:  # metadata in Annotated may be unhashable
        node = _inspected.__wrapped__(type)
    if not isinstance(node, str):
        return node
    advice = node
    if node is _IS_MANY and part != "query":
        advice = _IS_NO_VALUE
    elif node is _IS_MANY:
        (item,) = get_args(type)[:1] or (str,)
        advice = f"takes several values: use c.req.queries({name!r}, {show_type(item)})"
    elif node is _IS_NO_TYPE:
        advice = f"is not a type; a default is given as default={type!r:.100}, after a type"
    raise TypeError(
        f"c.req.{call or part}({name!r}, {show_type(type)}): {show_type(type)} {advice}"
    )


def _loader(type: Any) -> Callable[[str], Any]:
    try:
        return _new_loader(type)
    except TypeError:  # metadata in Annotated may be unhashable
        return _new_loader.__wrapped__(type)


@lru_cache(maxsize=256)
def _new_loader(type: Any) -> Callable[[str], Any]:
    return checked(partial(convert, type=type, strict=False), type, is_json=False)


@lru_cache(maxsize=256)
def _inspected(type: Any) -> inspect.Type | str:
    """Returns msgspec's description of a type, or what is wrong with it."""
    try:
        node = inspect.type_info(type)
    except TypeError:
        return _IS_NO_TYPE
    while isinstance(node, inspect.Metadata):
        node = node.type
    choices = node.types if isinstance(node, inspect.UnionType) else (node,)
    if any(isinstance(each, _SINGLE) for each in choices):
        return node
    return _IS_MANY if isinstance(node, _MANY) else _IS_NO_VALUE


def _field_error(path: str, value: str, node: inspect.Type, error: Exception) -> FieldError:
    text = str(error)
    shown = repr(value)
    if len(shown) > _LONGEST_VALUE:
        shown = f"{shown[:_LONGEST_VALUE]}..."
    choices = _choices(node)
    if choices:
        some = ", ".join(map(repr, islice(choices, _MOST_CHOICES)))
        more = ", ..." if len(choices) > _MOST_CHOICES else ""
        message = f"Expected one of {some}{more}, got {shown}"
        return FieldError(path=path, message=message, type="enum")
    if text.startswith("Expected "):
        message = f"{text.removesuffix(', got `str`')}, got {shown}"
    else:
        message = f"{text.strip()}: {shown}"
    return FieldError(path=path, message=message, type=error_type(text))


def _choices(node: inspect.Type) -> Sequence[Any]:
    if isinstance(node, inspect.LiteralType):
        return node.values
    if isinstance(node, inspect.EnumType) and not issubclass(node.cls, Flag):
        return [member.value for member in node.cls]
    return ()


def _refusal(part: Part, errors: list[FieldError]) -> HTTPException:
    if part != "param":
        return RequestValidationError(part, errors)
    detail = "The path parameters are invalid"
    message = f"{detail}: {errors[0]['path']}: {errors[0]['message']}"
    return ProblemError(404, detail=detail, message=message, target=part, errors=errors)


def show_type(kind: Any) -> str:
    """Shows a type as code does, nearly."""
    if isinstance(kind, (type, NewType)) and not get_args(kind):
        return kind.__name__
    return f"{kind!r:.100}".replace("typing.", "")
