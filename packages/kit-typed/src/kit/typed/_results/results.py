# SPDX-License-Identifier: MIT
"""Converts results of endpoints to the declared type, so that nothing else is sent."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, Union, get_args, get_origin

import msgspec

from kit.authoring.models import find_model, summary
from kit.authoring.signatures import describe
from kit.authoring.text_values import decode_hook
from kit.interface import Codecs

from .._signature.signature import REQUIRED, Signature
from .._signature.types import aliased, allows_none, show, split
from .exactness import Exact, compile_exact, is_pydantic
from .reading import compile_reading, find_row
from .responses import find_data_type

Convert: TypeAlias = Callable[[Any], Any]

# Values of these classes are never rows.
_PLAIN = (dict, str, bytes, int, float, bool, NoneType)
_ARRAYS = (list, tuple, set, frozenset)
_DATA = frozenset({dict, list, tuple, str, int, float, bool})
_UNION = (Union, UnionType)


class ResponseValidationError(Exception):
    """The result of an endpoint doesn't have the declared type, which is an error of the server.

    The message names the endpoint, and the field that is missing or has another type.
    """


class ResultOptions(NamedTuple):
    """The options of `typed` for pydantic models in results.

    Attributes:
        by_alias: Whether fields are sent by their aliases; None if each model decides.
        exclude_unset: Whether fields that were never set are left out.
        exclude_defaults: Whether fields with their default value are left out.
        exclude_none: Whether fields with None are left out.
    """

    by_alias: bool | None = None
    exclude_unset: bool = False
    exclude_defaults: bool = False
    exclude_none: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        defaults = self._field_defaults
        return {
            name: value for name, value in self._asdict().items() if value is not defaults[name]
        }


class Result(NamedTuple):
    """How the results of an endpoint are sent.

    Attributes:
        status: Their status, or None.
        options: The options for pydantic models.
        unchanged: The classes whose instances are sent as they are.
        is_unchanged: Whether a value is sent as it is.
        convert: Returns what is sent for any other result, or None if it is the result itself.
        allows_none: Whether None is a result.
        rebind: Returns it for the encoders and decoders of an app; None if these change nothing.
    """

    status: int | None
    options: ResultOptions
    unchanged: frozenset[type]
    is_unchanged: Callable[[Any], bool]
    convert: Convert | None
    allows_none: bool
    rebind: Callable[[Codecs], Result] | None = None

    def bind(self, codecs: Codecs) -> Result:
        """Returns how the results are sent in an app.

        Args:
            codecs: The encoders and decoders of the app.
        """
        return self if self.rebind is None else self.rebind(codecs)

    def apply(self, value: Any) -> Any:
        """Returns what is sent for a value.

        Raises:
            ResponseValidationError: If it isn't of the declared type.
        """
        is_known = type(value) in self.unchanged or self.is_unchanged(value)
        if is_known or self.convert is None or (value is None and self.allows_none):
            return value
        return self.convert(value)


ANYTHING = Result(None, ResultOptions(), _DATA, Exact(), None, allows_none=True)
"""Results without a declared type, which are sent as they are."""


def compile_result(signature: Signature, status: int | None, options: ResultOptions) -> Result:
    """Compiles how the results of an endpoint are sent, before the app is known; see `bind`.

    Args:
        signature: The endpoint, with the type that it declares, or that of the items it yields.
        status: The status of its results, or None.
        options: The options for pydantic models.

    Raises:
        TypeError: If no value can be checked against the type, or an option doesn't apply to it.
    """
    stream = signature.stream
    declared = _find_awaited(signature.returns) if stream is None else stream.item
    if declared is REQUIRED or split(declared)[0] in (Any, object):
        _check_options(signature, options, None)
        return ANYTHING._replace(status=status)
    kind = find_data_type(declared)
    try:
        converter = _Converter(Exact()) if kind is None else _find_converter(kind, options)
    except TypeError as error:
        signature.refuse(f"its result can't be checked against {show(kind)}: {error}")
    if converter.exact.is_any:  # also a Response
        return ANYTHING._replace(status=status)
    _check_options(signature, options, converter)
    place, name = describe(signature.function), show(declared)

    def create(converter: _Converter) -> Result:
        def convert(value: Any) -> Any:
            try:
                return converter.convert_other(value)
            except Exception as error:  # also of properties, validators and __post_init__
                raise ResponseValidationError(
                    f"@typed {place}: a result of the class {type(value).__qualname__} isn't the "
                    f"declared {name}: {_describe_problem(error)}"
                ) from error

        exact = converter.exact
        return Result(status, options, exact.unchecked, exact, convert, allows_none(declared))

    def rebind(codecs: Codecs) -> Result:
        try:
            return create(converter.bind(codecs))
        except TypeError as error:
            signature.refuse(f"its result can't be checked against {show(kind)}: {error}")

    return create(converter)._replace(rebind=rebind)


def _find_awaited(declared: Any) -> Any:
    """Returns the type of the value that a plain function may return as an awaitable."""
    while get_origin(declared) in (Awaitable, Coroutine):
        declared = get_args(declared)[-1]
    return declared


def _check_options(
    signature: Signature, options: ResultOptions, converter: _Converter | None
) -> None:
    if options.given and not isinstance(converter, _PydanticConverter):
        signature.refuse(
            f"typed({next(iter(options.given))}=...) is only for results with pydantic models: for "
            "a Struct, write omit_defaults=True or rename=... in the class, and the default UNSET "
            "for a field that may be left out"
        )


class _Converter:
    """Converts values to a type. The base class is for responses and None, and rejects data.

    Attributes:
        exact: The values that are sent as they are.
    """

    def __init__(self, exact: Exact) -> None:
        self.exact = exact

    def convert(self, value: Any) -> Any:
        """Returns what is sent for a value.

        Raises:
            ValueError: If it isn't a value of the type.
        """
        return value if self.exact(value) else self.convert_other(value)

    def convert_other(self, value: Any) -> Any:
        """Returns what is sent for a value that isn't sent as it is.

        Raises:
            ValueError: If it isn't a value of the type.
        """
        raise ValueError("no data is declared")

    def bind(self, codecs: Codecs) -> _Converter:
        """Returns the converter for the encoders and decoders of an app.

        Raises:
            TypeError: If nothing checks a class that has no encoder.
        """
        return self


class _PydanticConverter(_Converter):
    """Converts with pydantic, which sends only the fields of the declared model."""

    def __init__(self, kind: Any, options: ResultOptions) -> None:
        super().__init__(Exact())
        if _is_flat(kind) and not options.given:
            self.exact.classes[kind] = None
        # Already imported, since the type comes from it; type checkers may not have it.
        adapter = import_module("pydantic").TypeAdapter(kind)
        self._validate = adapter.validate_python
        self._encode = adapter.dump_json
        self._options = options.given
        self._as_row = tuple if _holds_tuples(kind) else None
        # Rows have the names of the fields; pydantic reads only the aliases before version 2.11.
        can_choose = "by_name" in inspect.signature(self._validate).parameters
        self._names = {"by_alias": True, "by_name": True} if can_choose else {}

    def convert_other(self, value: Any) -> Any:
        value = self._validate(_as_input(value, self._as_row), from_attributes=True, **self._names)
        # Otherwise, a field that holds something else is sent with all its contents.
        return msgspec.Raw(self._encode(value, warnings="error", **self._options))

    def bind(self, codecs: Codecs) -> _Converter:
        bound = copy.copy(self)
        if "fallback" in inspect.signature(self._encode).parameters:  # since pydantic 2.11
            bound._options = {**self._options, "fallback": codecs.enc_hook}
        return bound


def _is_flat(kind: Any) -> bool:
    """Returns whether a type is a model whose fields hold no other models."""
    fields = getattr(kind, "model_fields", {}) if hasattr(kind, "model_validate_json") else {}
    return bool(fields) and not any(find_model(each.annotation) for each in fields.values())


class _MsgspecConverter(_Converter):
    """Converts to Structs, dataclasses, TypedDicts, attrs classes and what contains them."""

    def __init__(self, kind: Any, codecs: Codecs | None = None) -> None:
        super().__init__(compile_exact(kind, codecs))
        self._kind = kind
        self._read = compile_reading(kind)
        encode = None if codecs is None else codecs.enc_hook
        self._read_whole = compile_reading(kind, is_whole=True, encode=encode)
        hook = partial(_convert_other, decode_hook(kind, is_text=False, codecs=codecs))
        self._convert = partial(msgspec.convert, type=kind, from_attributes=True, dec_hook=hook)

    def convert_other(self, value: Any) -> Any:
        try:
            return self._convert(self._read(value))
        except msgspec.ValidationError:
            # This says why an attribute can't be read, which isn't absent. And it encodes what
            # msgspec doesn't take for a str or a datetime, such as an instance of a subclass.
            return self._convert(self._read_whole(value))

    def bind(self, codecs: Codecs) -> _Converter:
        return _MsgspecConverter(self._kind, codecs)


class _UnionConverter(_Converter):
    """Converts to the first member that fits, for unions that msgspec doesn't support."""

    def __init__(self, kinds: tuple[Any, ...], options: ResultOptions) -> None:
        super().__init__(Exact())
        self._members: list[tuple[Any, _Converter]] = []
        for each in kinds:
            converter = _find_converter(each, options)
            self.exact.add(converter.exact)
            self._members.append((get_origin(each) or each, converter))

    def bind(self, codecs: Codecs) -> _Converter:
        bound = copy.copy(self)
        bound.exact = Exact()
        bound._members = [(kind, each.bind(codecs)) for kind, each in self._members]
        for _, member in bound._members:
            bound.exact.add(member.exact)
        return bound

    def convert_other(self, value: Any) -> Any:
        problems = []
        # Otherwise, a class whose fields all have defaults would fit any object.
        for _, member in sorted(self._members, key=lambda each: not _is_of(value, each[0])):
            try:
                return member.convert(value)
            except (ValueError, TypeError) as error:
                problems.append(_describe_problem(error))
        raise ValueError("; or ".join(problems))


def _is_of(value: Any, kind: Any) -> bool:
    return isinstance(kind, type) and isinstance(value, kind)


class _ItemsConverter(_Converter):
    """Converts the items of an array or the values of a dict that msgspec doesn't support."""

    def __init__(self, item: _Converter, *, is_dict: bool) -> None:
        super().__init__(Exact())
        self._item = item
        self._is_dict = is_dict

    def bind(self, codecs: Codecs) -> _Converter:
        return _ItemsConverter(self._item.bind(codecs), is_dict=self._is_dict)

    def convert_other(self, value: Any) -> Any:
        convert = self._item.convert
        if self._is_dict:
            if not isinstance(value, Mapping):
                raise ValueError("Expected `object`")
            return {key: convert(each) for key, each in value.items()}
        if not isinstance(value, Iterable) or isinstance(value, (*_PLAIN, Mapping)):
            raise ValueError("Expected `array`")
        return [convert(each) for each in value]


def _find_converter(kind: Any, options: ResultOptions) -> _Converter:
    """Returns the converter to a type.

    Raises:
        TypeError: If neither msgspec nor pydantic supports it.
    """
    # A Struct with a model in it is a type that pydantic can't validate.
    with suppress(Exception):
        if find_model(kind) is not None:
            return _PydanticConverter(kind, options)
    try:
        return _MsgspecConverter(kind)
    except TypeError:
        inner = split(kind)[0]
        if (behind := aliased(inner)) is not None:
            return _find_converter(behind, options)
        origin, arguments = get_origin(inner), get_args(inner)
        if origin in _UNION:
            return _UnionConverter(arguments, options)
        if len(arguments) == 2 and isinstance(origin, type) and issubclass(origin, Mapping):
            return _ItemsConverter(_find_converter(arguments[1], options), is_dict=True)
        if _holds_items(origin, arguments):
            return _ItemsConverter(_find_converter(arguments[0], options), is_dict=False)
        raise


def _holds_items(origin: Any, arguments: tuple[Any, ...]) -> bool:
    """Returns whether a type is an array whose items are all of its first argument."""
    if origin is tuple:
        return ... in arguments
    if len(arguments) != 1 or not isinstance(origin, type):
        return False
    return issubclass(origin, Iterable) and not issubclass(origin, Mapping)


def _holds_tuples(kind: Any) -> bool:
    """Returns whether the values of a type are tuples, or arrays of tuples."""
    inner = split(kind)[0]
    origin, arguments = get_origin(inner) or inner, get_args(inner)
    if _holds_items(origin, arguments):
        return _holds_tuples(arguments[0])
    return isinstance(origin, type) and issubclass(origin, tuple)


def _as_input(value: Any, as_row: Convert | None) -> Any:
    """Returns a value with rows as dicts, or as `as_row` returns them, also in an array."""
    kind: Any = type(value)
    as_dict = find_row(kind)
    if as_dict is not None:
        return (as_row or as_dict)(value)
    # PERF: most arrays have items of one class.
    if isinstance(value, _ARRAYS) and any(map(find_row, {*map(type, value)})):
        return [_as_input(each, as_row) for each in value]
    return value


def _convert_other(decode: Callable[[Any, Any], Any] | None, kind: type, value: Any) -> Any:
    """Converts to a class that msgspec doesn't support: a `dec_hook`."""
    if not is_pydantic(kind):
        # msgspec checks its class.
        return value if decode is None or isinstance(value, kind) else decode(kind, value)
    adapter = import_module("pydantic").TypeAdapter(kind)
    value = adapter.validate_python(value, from_attributes=True)
    if type(value) is kind:
        return value
    data = adapter.dump_python(value, by_alias=False, warnings="error")
    return adapter.validate_python(data, by_alias=False, by_name=True)


def _describe_problem(error: Exception) -> str:
    if hasattr(error, "error_count"):
        return summary(error)
    text = " ".join(str(error).split())
    return text if isinstance(error, (ValueError, TypeError)) else f"{type(error).__name__}: {text}"
