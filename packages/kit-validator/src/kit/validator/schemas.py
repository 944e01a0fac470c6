# SPDX-License-Identifier: MIT
"""Builds values of a type from parts of a request, and finds all errors in invalid data.

For packages that validate requests, such as `kit.typed`.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections import abc, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import inspect

from kit.authoring.bodies import memory_of_text
from kit.authoring.models import (
    Model,
    check_applied,
    check_union,
    find_model,
    keep_if_unsafe,
    validation_errors,
    with_defaults,
)
from kit.authoring.numerals import checked, is_of_collisions
from kit.authoring.recursive_types import with_parts, without_recursion
from kit.authoring.text_values import decode_hook, has_no_comma, is_scalar, text_loader
from kit.authoring.whole_numbers import decode_again, with_integers
from kit.interface import Codecs, FieldError, HTTPException, ValidationTarget

from ._object_names import (
    ObjectNames,
    collect_objects,
    find_objects,
    find_objects_in_python,
    members_in_python,
)
from ._problems import (
    OBJECTS,
    JsonProbe,
    bare,
    errors_of_json,
    errors_of_names,
    is_object,
    is_union,
)
from ._unfilled import (
    drop_unfilled,
    is_json_text,
    takes_empty_text,
    takes_empty_text_in_python,
)

__all__ = (
    "Field",
    "ObjectNames",
    "Schema",
    "check_memory",
    "check_objects",
    "check_union",
    "collect_objects",
    "drop_unfilled",
    "get_schema",
    "read_contents",
    "split_values",
)

_NAMED = (*OBJECTS, inspect.DictType, inspect.AnyType)
_MANY = (inspect.CollectionType, inspect.TupleType, inspect.NamedTupleType)
_BYTES = (inspect.BytesType, inspect.ByteArrayType)
_WITHOUT_COMMA = (
    inspect.BoolType,
    inspect.DateTimeType,
    inspect.DateType,
    inspect.DecimalType,
    inspect.FloatType,
    inspect.IntType,
    inspect.NoneType,
    inspect.TimeDeltaType,
    inspect.TimeType,
    inspect.UUIDType,
)
_WITHOUT_COMMA_IN_PYTHON = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    float,
    int,
    NoneType,
    uuid.UUID,
)
_MANY_IN_PYTHON = (list, tuple, set, frozenset, deque)
_MANY_BY_NAME = (abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set)


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
        separated: The keys of fields with lists whose items can't contain a comma, such as numbers:
            in a header, commas separate them; see `split_values`.
        forbids: Whether unknown names are errors. Unknown headers are left out beforehand, since
            every request has some that no type knows, such as Host.
        takes_others: Whether names without a field reach the value, as in a dict.
        unfilled: The names whose empty texts count as absent in a form, since their types have no
            empty text; see `drop_unfilled`.
        objects: The names of a type with objects in its fields; see `collect_objects`.
    """

    load: Callable[[Any], Any]
    errors: Callable[[Any, Exception], Iterator[FieldError]]
    fields: tuple[Field, ...] = ()
    takes_lists: bool = False
    separated: frozenset[str] = frozenset()
    forbids: bool = False
    takes_others: bool = False
    unfilled: frozenset[str] = frozenset()
    objects: ObjectNames | None = None

    def load_json(self, data: bytes) -> Any:
        """Builds a value from JSON, with numbers such as `5.0` as integers.

        Args:
            data: The JSON.

        Raises:
            ValueError: If it doesn't fit.
        """
        try:
            return self.load(data)
        except ValueError as error:
            return self.load_again(data, error)

    def load_again(self, data: bytes, error: Exception) -> Any:
        """Builds a value from JSON that `load` refused, with numbers such as `5.0` as integers.

        Args:
            data: The JSON.
            error: The exception that `load` raised.

        Raises:
            Exception: `error`, or the exception for the other errors in the data.
        """
        return decode_again(self.load, data, error)

    @property
    def headers(self) -> str:
        """The headers that a value is built from, as in Vary; `*` if they may be any."""
        if self.takes_others:
            return "*"
        return ", ".join(sorted({each.header for each in self.fields if each.header}))


def get_schema(kind: Any, *, is_json: bool, codecs: Codecs | None = None) -> Schema:
    """Returns the schema of a type.

    Args:
        kind: A type that msgspec or pydantic supports.
        is_json: Whether its values are built from JSON, or else from names and values.
        codecs: The decoders of an app, for classes that msgspec doesn't know.

    Raises:
        TypeError: If the type can't be built from such data.
        NameError: If an annotation contains an undefined name.
        RuntimeError: If pydantic doesn't support the type.
    """
    model = find_model(kind)
    if model is not None:
        check_applied(kind)
        return _model_schema(kind, model, is_json=is_json)
    kind = without_recursion(kind)
    check_union(kind)
    node = bare(inspect.type_info(kind))
    if isinstance(node, inspect.CustomType) and not _is_known(node.cls, codecs):
        raise TypeError("neither msgspec nor pydantic supports it")
    if is_json:
        hook = with_parts(decode_hook(kind, is_text=False, codecs=codecs))
        decoder = msgspec.json.Decoder(kind, dec_hook=hook)
        decode = checked(decoder.decode, kind, is_json=True)
        return Schema(
            with_defaults(decode, kind),
            lambda value, error: (
                validation_errors(error)
                if is_of_collisions(error)
                else errors_of_json(node, JsonProbe(decode), with_integers(value), error)
            ),
        )
    if _is_array(node):
        node, load = _by_name(node, codecs)
        load = checked(load, kind, is_json=False)
    else:
        load = text_loader(kind, codecs)
    choices = [bare(each) for each in node.types] if is_union(node) else [node]
    if not any(isinstance(each, _NAMED) for each in choices):
        raise TypeError("it has no fields with names")
    return Schema(
        with_defaults(load, kind),
        partial(errors_of_names, node, load),
        tuple(field for each in choices for field in _fields(each)),
        any(isinstance(each, inspect.DictType) and _is_many(each.value_type) for each in choices),
        frozenset(
            field.encode_name
            for each in choices
            for field in getattr(each, "fields", ())
            if _is_separated(field.type)
        ),
        any(getattr(each, "forbid_unknown_fields", False) for each in choices),
        any(isinstance(each, (inspect.DictType, inspect.AnyType)) for each in choices),
        frozenset(
            field.encode_name
            for each in choices
            for field in getattr(each, "fields", ())
            if not takes_empty_text(field.type)
        ),
        find_objects(node),
    )


def _is_known(kind: type, codecs: Codecs | None) -> bool:
    is_decoded = codecs is not None and kind in codecs.decoders
    return is_decoded or kind is object or is_scalar(kind)


def check_objects(schema: Schema, target: ValidationTarget) -> None:
    """Rejects fields that take an object if that part of a request can't contain objects.

    Args:
        schema: The schema of the part.
        target: The part.

    Raises:
        TypeError: If no client could send values of a field.
    """
    if schema.objects is None or schema.takes_others:  # code of the type may read them
        return
    for name, names in schema.objects.objects.items():
        if not names.takes_text and target not in ("query", "form"):
            what = "a list of objects" if names.is_list else "an object"
            raise TypeError(
                f"its field {name!r} takes {what}, which is read from JSON, a query or a form, not "
                f"from a {target}"
            )


def split_values(values: Iterable[str]) -> list[str]:
    """Splits the values of a header at commas, and drops empty ones (RFC 9110, section 5.6.1.2).

    Several lines with the same name mean the same as one line with commas, and proxies may combine
    them (section 5.3).

    Args:
        values: The values of all lines.
    """
    parts = (part.strip(" \t") for value in values for part in value.split(","))
    return [part for part in parts if part]


def check_memory(values: dict[str, Any], names: Iterable[str], most: int | None) -> None:
    """Checks that the texts of a form and files that are to be read fit into memory, together.

    Args:
        values: The values of the form by name: str, files, and lists of both.
        names: Whose files are to be read.
        most: The number of bytes that all may take; None for no limit.

    Raises:
        HTTPException: 413 if they take more.
    """
    if most is None:
        return
    size = sum(_file_sizes(values.get(name)) for name in names)
    if size:  # without files, the form has been checked as it was parsed
        size += sum(_text_sizes(value) for value in values.values())
    if size > most:
        raise HTTPException(
            413,
            f"The form takes more than {most} bytes of memory, as its files are read into memory",
        )


def _file_sizes(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_file_sizes, value))
    return 0 if value is None or isinstance(value, str) else int(value.size)


def _text_sizes(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_text_sizes, value))
    return memory_of_text(value) if isinstance(value, str) else 0


async def read_contents(
    values: dict[str, Any], names: Collection[str], most: int | None = None
) -> None:
    """Replaces uploaded files by their contents.

    Args:
        values: The values of a form by name: str, files, and lists of both. The dict is changed.
        names: Which of them, if they are there.
        most: The number of bytes that they and the texts of the form may take; None for no limit.

    Raises:
        HTTPException: 413 if they take more.
    """
    check_memory(values, names, most)
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


def _is_separated(node: Any) -> bool:
    """Returns whether a type takes a list whose items have no comma."""
    node = bare(node)
    if is_union(node):
        lists = [each for each in node.types if _is_many(each)]  # the others are never used
        return bool(lists) and all(map(_is_separated, lists))
    if isinstance(node, inspect.TupleType):
        return all(map(_has_no_comma, node.item_types))
    return isinstance(node, inspect.CollectionType) and _has_no_comma(node.item_type)


def _has_no_comma(node: Any) -> bool:
    node = bare(node)
    if is_union(node):
        return all(map(_has_no_comma, node.types))
    if isinstance(node, inspect.EnumType):
        return all("," not in str(each.value) for each in node.cls)
    if isinstance(node, inspect.LiteralType):
        return all("," not in str(each) for each in node.values)
    if isinstance(node, inspect.CustomType):
        return has_no_comma(node.cls)
    return isinstance(node, _WITHOUT_COMMA)


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


def _by_name(node: Any, codecs: Codecs | None) -> tuple[inspect.Type, Callable[[Any], Any]]:
    """Builds named tuples and array-like Structs from names, which msgspec doesn't support.

    Args:
        node: The type.
        codecs: The decoders of an app.

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
    keep_if_unsafe(twin, hints.values())
    load_twin = text_loader(twin, codecs)

    def load(values: Mapping[str, Any]) -> Any:
        return kind(**msgspec.structs.asdict(load_twin(values)))

    return inspect.type_info(twin), load


def _default(field: inspect.Field) -> Any:
    if field.required:
        return msgspec.field()
    if field.default is msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.field(default_factory=lambda: field.default)


def _model_schema(kind: Any, model: Model, *, is_json: bool) -> Schema:
    def errors(value: Any, error: Exception) -> Iterator[FieldError]:
        return validation_errors(error, model, value)

    if is_json:
        return Schema(model.validate_json, errors)
    fields = tuple(_model_fields(kind))
    separated = frozenset(_separated_in_python(kind))
    takes_others = not fields or _takes_others(kind)
    objects = find_objects_in_python(kind)
    if objects is not None:
        for name in _validated_before(kind) & objects.objects.keys():
            objects.objects[name].takes_text = True
    return Schema(
        model.validate,
        errors,
        fields,
        False,
        separated,
        _forbids(kind),
        takes_others,
        frozenset(_unfilled_in_python(kind)),
        objects,
    )


def _unfilled_in_python(kind: Any) -> Iterator[str]:
    validated = _validated_before(kind)
    for member in members_in_python(kind):
        if member.names[0] not in validated and not takes_empty_text_in_python(member.kind):
            yield from member.names
    for part in get_args(kind):
        yield from _unfilled_in_python(part)


def _validated_before(kind: Any) -> set[str]:
    """Returns the fields with validators that see what was sent."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    decorators = getattr(kind, "__pydantic_decorators__", None)
    validators = () if decorators is None else decorators.field_validators.values()
    return {name for each in validators if each.info.mode != "after" for name in each.info.fields}


def _takes_others(kind: Any) -> bool:
    """Returns whether a model keeps names without a field, or has code that sees them."""
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None) or {}
    decorators = getattr(kind, "__pydantic_decorators__", None)
    validators = decorators.model_validators.values() if decorators is not None else ()
    return (
        config.get("extra") == "allow"
        or any(each.info.mode != "after" for each in validators)
        or any(map(_takes_others, get_args(kind)))
    )


def _forbids(kind: Any) -> bool:
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None) or {}
    return config.get("extra") == "forbid" or any(map(_forbids, get_args(kind)))


def _model_fields(kind: Any) -> Iterator[Field]:
    for member in members_in_python(kind):
        name, *aliases = member.names
        takes = _is_many_in_python(member.kind), _has_bytes_in_python(member.kind)
        yield Field(name, None if aliases else name.replace("_", "-").lower(), *takes)
        for alias in aliases:
            yield Field(alias, alias.lower(), *takes)
    for part in get_args(kind):
        yield from _model_fields(part)


def _separated_in_python(kind: Any) -> Iterator[str]:
    for member in members_in_python(kind):
        if _is_separated_in_python(member.kind):
            yield from member.names
    for part in get_args(kind):
        yield from _separated_in_python(part)


def _is_separated_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)
    origin, held = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _is_separated_in_python(held[0])
    if origin in (Union, UnionType):
        lists = [each for each in held if _is_many_in_python(each)]
        return bool(lists) and all(map(_is_separated_in_python, lists))
    items = [each for each in held if each is not ...]
    return _is_many_in_python(kind) and bool(items) and all(map(_has_no_comma_in_python, items))


def _has_no_comma_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)
    origin, held = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _has_no_comma_in_python(held[0])
    if origin in (Union, UnionType):
        return all(map(_has_no_comma_in_python, held))
    if origin is Literal:
        return all("," not in str(each) for each in held)
    if not isinstance(kind, type):
        return False
    if issubclass(kind, Enum):
        return all("," not in str(each.value) for each in kind)
    return issubclass(kind, _WITHOUT_COMMA_IN_PYTHON) or has_no_comma(kind)


def _has_bytes_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)
    return kind is bytes or any(map(_has_bytes_in_python, get_args(kind)))


def _is_many_in_python(kind: Any) -> bool:
    kind = getattr(kind, "__value__", kind)  # an alias created by `type X = ...`
    origin = get_origin(kind) or kind
    if is_json_text(kind):
        return False
    if origin in (Annotated, Union, UnionType):
        return any(map(_is_many_in_python, get_args(kind)))
    if isinstance(origin, type) and issubclass(origin, _MANY_IN_PYTHON):
        return True
    return origin in _MANY_BY_NAME
