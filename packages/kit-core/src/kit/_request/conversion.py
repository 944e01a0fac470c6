# SPDX-License-Identifier: MIT
"""Converts values of the path, query and headers to the requested types: ints, dates, enums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NewType, get_args

from kit.interface import FieldError, RequestValidationError

if TYPE_CHECKING:
    from kit.authoring.codecs import TypeCodecs

Part = Literal["param", "query", "header"]

# PERF: names of types in msgspec.inspect, which most apps don't need to import.
_MANY = {"FrozenSetType", "ListType", "SetType", "TupleType", "VarTupleType"}
_SINGLE = {
    "AnyType",
    "BoolType",
    "BytesType",
    "DateTimeType",
    "DateType",
    "DecimalType",
    "EnumType",
    "FloatType",
    "IntType",
    "LiteralType",
    "NoneType",
    "StrType",
    "TimeDeltaType",
    "TimeType",
    "UUIDType",
}
# An error lists at most this many, since a client decides how many values it sends.
_MOST_ERRORS = 100
_LONGEST_MESSAGE = 500

_IS_MANY = "takes several values"
_IS_NO_TYPE = "is not a type"
_IS_NO_VALUE = (
    "can't be made of one text: take a type such as int, UUID, date, an Enum or a Literal, or "
    "validate the whole part with kit.validator"
)


def convert_value(
    part: Part,
    name: str,
    value: str | None,
    type: Any,
    default: Any,
    codecs: TypeCodecs | None = None,
) -> Any:
    """Converts a value like `msgspec.convert` with `strict=False`.

    Args:
        part: The part of the request that has the value.
        name: The name of the value in this part.
        value: The decoded text; None if there is none.
        type: The type to convert to.
        default: Returned if there is no value.
        codecs: The codecs of an app with decoders.

    Returns:
        A value of the type, or the default.

    Raises:
        RequestValidationError: 400 if the value doesn't fit the type.
        TypeError: If nothing can be converted to the type.
    """
    _check_type(part, name, type, codecs)
    if value is None:
        return default
    try:
        return _loader(type, codecs)(value)
    except ValueError as error:
        raise RequestValidationError(part, [_field_error(name, type, error)]) from error


def convert_values(
    name: str, values: Sequence[str], type: Any, codecs: TypeCodecs | None = None
) -> list[Any]:
    """Converts all values that the query has for a name.

    Args:
        name: The name.
        values: The decoded texts.
        type: The type of each.
        codecs: As for `convert_value`.

    Raises:
        RequestValidationError: 400 if some of them don't fit the type.
        TypeError: If nothing can be converted to the type.
    """
    _check_type("query", name, type, codecs, call="queries")
    load = _loader(type, codecs)
    converted: list[Any] = []
    errors: list[FieldError] = []
    for index, value in enumerate(values):
        try:
            converted.append(load(value))
        except ValueError as error:
            errors.append(_field_error(f"{name}[{index}]", type, error))
            if len(errors) == _MOST_ERRORS:
                break
    if errors:
        raise RequestValidationError("query", errors)
    return converted


def check_absent_param(
    name: str,
    type: Any,
    pattern: str | None,
    found: Iterable[str],
    *,
    has_default: bool,
    codecs: TypeCodecs | None = None,
) -> None:
    """Checks that a path parameter without a value may be read.

    Args:
        name: The parameter.
        type: The type to convert it to.
        pattern: The pattern of the running route, if known.
        found: The parameters of the path.
        has_default: Whether there is a default for it.
        codecs: As for `convert_value`.

    Raises:
        LookupError: If the pattern has no such parameter, or there is no default for it.
        TypeError: If no text can be converted to the type.
    """
    _check_type("param", name, type, codecs)
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
    from kit.router.patterns import variants

    names = (segment.name for variant in variants(pattern) for segment in variant)
    return [*dict.fromkeys(name for name in names if name is not None)]


def _check_type(
    part: Part, name: str, type: Any, codecs: TypeCodecs | None, call: str | None = None
) -> None:
    """Checks that a single text can be converted to a type.

    Raises:
        TypeError: If not.
    """
    try:
        advice = _describe_mistake(type, codecs)
    except TypeError:  # metadata in Annotated may be unhashable
        advice = _describe_mistake.__wrapped__(type, codecs)
    if advice is None:
        return
    if advice is _IS_NO_VALUE:
        for each in _list_choices(type, codecs):
            if each.__class__.__name__ == "CustomType":
                kind = each.cls.__name__
                advice = f"{_IS_NO_VALUE}; or give the app a decoder, Kit(decoders={{{kind}: ...}})"
    elif advice is _IS_MANY and part != "query":
        advice = _IS_NO_VALUE
    elif advice is _IS_MANY:
        (item,) = get_args(type)[:1] or (str,)
        advice = f"takes several values: use c.req.queries({name!r}, {show_type(item)})"
    elif advice is _IS_NO_TYPE:
        advice = f"is not a type; a default is given as default={type!r:.100}, after a type"
    raise TypeError(
        f"c.req.{call or part}({name!r}, {show_type(type)}): {show_type(type)} {advice}"
    )


def _loader(type: Any, codecs: TypeCodecs | None) -> Callable[[str], Any]:
    try:
        return _new_loader(type, codecs)
    except TypeError:  # metadata in Annotated may be unhashable
        return _new_loader.__wrapped__(type, codecs)


@lru_cache(maxsize=256)
def _new_loader(type: Any, codecs: TypeCodecs | None) -> Callable[[str], Any]:
    # Here and below: most apps convert nothing.
    from kit.authoring.text_values import text_loader, with_choices

    return text_loader(with_choices(type, codecs), codecs)


@lru_cache(maxsize=256)
def _describe_mistake(type: Any, codecs: TypeCodecs | None) -> str | None:
    """Returns why no single text can be converted to a type; None if it can."""
    from kit.authoring.text_values import is_scalar

    try:
        choices = _list_choices(type, codecs)
    except TypeError:
        return _IS_NO_TYPE
    if any(each.__class__.__name__ in _SINGLE for each in choices):
        return None
    decoded = () if codecs is None else codecs.decoders
    classes = [getattr(each, "cls", None) for each in choices]
    if any(is_scalar(each) or each in decoded for each in classes):
        return None
    is_many = len(choices) == 1 and choices[0].__class__.__name__ in _MANY
    return _IS_MANY if is_many else _IS_NO_VALUE


def _list_choices(type: Any, codecs: TypeCodecs | None) -> tuple[Any, ...]:
    """Returns the members of a union, as msgspec describes them; otherwise the type."""
    from msgspec.inspect import Metadata, UnionType, type_info

    from kit.authoring.text_values import with_choices

    node = type_info(with_choices(type, codecs))
    while isinstance(node, Metadata):
        node = node.type
    return node.types if isinstance(node, UnionType) else (node,)


def _field_error(path: str, kind: Any, error: Exception) -> FieldError:
    """Returns the error that kit-validator returns for the same mistake."""
    from msgspec.inspect import type_info

    from kit.authoring.field_errors import field_error, read_message

    text = str(error)
    # All values are text, so "got `str`" adds nothing. APPSEC: it may quote the client's text.
    message = text.removesuffix(", got `str`")
    if len(message) > _LONGEST_MESSAGE:
        message = message[:_LONGEST_MESSAGE] + "..."
    return field_error(path, message, *read_message(text, type_info(kind)))


def show_type(kind: Any) -> str:
    """Shows a type roughly as in code."""
    if isinstance(kind, (type, NewType)) and not get_args(kind):
        return kind.__name__
    return f"{kind!r:.100}".replace("typing.", "")
