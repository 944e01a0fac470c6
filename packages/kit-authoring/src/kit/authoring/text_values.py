# SPDX-License-Identifier: MIT
"""Reads typed values from the text of queries, forms, headers, cookies and paths.

msgspec reads most of them. This module adds addresses, file paths and the like, the classes that
an app has decoders for, unions of which more than one member is text, such as `UUID | str`, and the
spellings of HTML forms.

msgspec isn't imported here until a function is called, since this package doesn't depend on it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Container, Iterator
from functools import cache, partial
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from kit.interface import Codecs

from ._scalar_formats import scalar_formats
from ._type_nodes import walk_nodes
from .models import check_union
from .numerals import checked

__all__ = (
    "choice_members",
    "decode_hook",
    "describe_scalar",
    "has_no_comma",
    "is_scalar",
    "scalar_hook",
    "text_loader",
    "with_choices",
)

# SPEC: HTML, sections 2.3.5.4 and 2.3.5.5: browsers leave the seconds out if they are zero.
_TIME_WITHOUT_SECONDS = re.compile(r"(?:\d{4,}-\d\d-\d\d[T ])?\d\d:\d\d", re.ASCII)
# SPEC: HTML, section 4.10.5.1.15: the value of a checkbox without one.
_CHECKED = "on"

_LISTS = (list, tuple, set, frozenset)


class _Scalar(NamedTuple):
    """How a class is read from text.

    Attributes:
        read: Builds a value from a text; raises a ValueError if it doesn't fit.
        format: Its format in JSON Schema.
        has_comma: Whether its texts may contain a comma.
    """

    read: Callable[[str], Any]
    format: str
    has_comma: bool


@cache
def _scalars() -> dict[type, _Scalar]:
    import pathlib
    from zoneinfo import ZoneInfo

    def read_zone(text: str) -> ZoneInfo:
        try:
            return ZoneInfo(text)
        except (LookupError, OSError) as error:  # an OSError for a folder of the database
            raise ValueError(str(error)) from error

    formats = scalar_formats()
    scalars = {kind: _Scalar(kind, name, has_comma=False) for kind, name in formats.items()}
    paths = (pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.Path)
    for path in paths:
        scalars[path] = _Scalar(path, formats[pathlib.PurePath], has_comma=True)
    scalars[ZoneInfo] = scalars[ZoneInfo]._replace(read=read_zone)
    return scalars


class _AnyInstance(type):
    """The class of choices: msgspec checks what a hook returns by `isinstance`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class _Choice(metaclass=_AnyInstance):
    """A union that msgspec doesn't support; each one is a subclass.

    Attributes:
        members: Its members without None, in the order in which they are tried.
        codecs: The decoders of an app for members; None if no member has one.
    """

    members: tuple[Any, ...] = ()
    codecs: Codecs | None = None

    @classmethod
    def read(cls, value: Any, *, is_text: bool) -> Any:
        """Returns a value of the first member that fits."""
        for load in _loaders(cls, is_text=is_text):
            try:
                return load(value)
            except ValueError:
                continue
        raise ValueError(f"Expected `{cls.__qualname__}`")


@cache
def _loaders(choice: type[_Choice], *, is_text: bool) -> tuple[Callable[[Any], Any], ...]:
    load = text_loader if is_text else _strict_loader
    return tuple(load(each, choice.codecs) for each in choice.members)


def _strict_loader(kind: Any, codecs: Codecs | None) -> Callable[[Any], Any]:
    import msgspec

    hook = decode_hook(kind, is_text=False, codecs=codecs)
    return checked(partial(msgspec.convert, type=kind, dec_hook=hook), kind, is_json=False)


def is_scalar(kind: Any) -> bool:
    """Returns whether a class is one that `decode_hook` adds to those of msgspec."""
    return kind in _scalars() or (isinstance(kind, type) and type(kind) is _AnyInstance)


def choice_members(kind: Any) -> tuple[Any, ...]:
    """Returns the members of a class of `with_choices`; nothing for other types."""
    return kind.members if isinstance(kind, type) and issubclass(kind, _Choice) else ()


def has_no_comma(kind: Any) -> bool:
    """Returns whether no text of a class of `is_scalar` contains a comma."""
    scalar = _scalars().get(kind)
    return scalar is not None and not scalar.has_comma


def describe_scalar(kind: Any) -> dict[str, Any] | None:
    """Returns the JSON Schema of a class of `is_scalar`; None for other types."""
    if kind in _scalars():
        return {"type": "string", "format": _scalars()[kind].format}
    if not is_scalar(kind):
        return None
    import msgspec

    return {"anyOf": [_describe_member(each, kind.codecs, msgspec) for each in kind.members]}


def _describe_member(kind: Any, codecs: Codecs | None, msgspec: Any) -> dict[str, Any]:
    hook = partial(_describe, codecs)
    schema: dict[str, Any] = msgspec.json.schema(kind, schema_hook=hook)
    formats = {msgspec.inspect.DateTimeType: "date-time", msgspec.inspect.TimeType: "time"}
    node = next(_alternatives(msgspec.inspect.type_info(kind)))
    # msgspec leaves it out of times that may lack an offset, which is less useful to readers.
    return schema | {"format": formats[type(node)]} if type(node) in formats else schema


def _describe(codecs: Codecs | None, kind: Any) -> dict[str, Any]:
    """The schema hook of msgspec."""
    if codecs is not None and kind in codecs.decoders:
        import msgspec

        taken = codecs.find_json_type(kind, is_sent=False)
        return {"title": kind.__name__} if taken is Any else msgspec.json.schema(taken)
    schema = describe_scalar(kind)
    if schema is None:
        raise NotImplementedError
    return schema


def decode_hook(
    kind: Any, *, is_text: bool, codecs: Codecs | None = None
) -> Callable[[Any, Any], Any] | None:
    """Returns the `dec_hook` with which msgspec reads all classes in a type that it doesn't know.

    Args:
        kind: The type, which msgspec can inspect.
        is_text: Whether numbers and the like are read from text, or else from JSON.
        codecs: The decoders of an app, which count before the classes of `is_scalar`.

    Returns:
        The hook; None if the type needs none.
    """
    from msgspec import inspect

    nodes = walk_nodes(inspect.type_info(kind))
    others = {each.cls for each in nodes if isinstance(each, inspect.CustomType)}
    if codecs is not None and codecs.decoders and others:
        return _chain(codecs, is_text=is_text)
    return scalar_hook(is_text=is_text) if any(map(is_scalar, others)) else None


def scalar_hook(*, is_text: bool) -> Callable[[Any, Any], Any]:
    """Returns the `dec_hook` for the classes of `is_scalar`, which leaves other values as they are.

    Args:
        is_text: Whether numbers and the like are read from text, or else from JSON.
    """
    return partial(_read, is_text=is_text)


def _chain(codecs: Codecs, *, is_text: bool) -> Callable[[Any, Any], Any]:
    decoders = codecs.decoders
    decode = codecs.dec_hook_of_text if is_text else codecs.dec_hook

    def read(kind: Any, value: Any) -> Any:
        return decode(kind, value) if kind in decoders else _read(kind, value, is_text=is_text)

    return read


def _read(kind: Any, value: Any, *, is_text: bool) -> Any:
    scalar = _scalars().get(kind)
    if scalar is None:
        return kind.read(value, is_text=is_text) if is_scalar(kind) else value
    if not isinstance(value, str):
        return value  # msgspec compares the types
    try:
        return scalar.read(value)
    except ValueError:
        raise ValueError(f"Expected `{kind.__name__}`") from None


def with_choices(kind: Any, codecs: Codecs | None = None) -> Any:
    """Replaces unions that msgspec doesn't support, such as `UUID | str`, by classes it can read.

    A text is read as the first member that it fits; `str` is tried last, as msgspec does.

    Args:
        kind: A type; the unions may be in a list, in another union, or in `Annotated`.
        codecs: The decoders of an app; a union may have classes that these build.

    Returns:
        The type for msgspec; `kind` itself if there is nothing to replace.
    """
    origin, held = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner = with_choices(held[0], codecs)
        return kind if inner is held[0] else Annotated[(inner, *held[1:])]
    if origin in (Union, types.UnionType):
        return _with_choice(kind, held, codecs)
    if origin in _LISTS:
        inner_types = tuple(each if each is ... else with_choices(each, codecs) for each in held)
        is_same = all(new is old for new, old in zip(inner_types, held, strict=True))
        return kind if is_same else origin[inner_types]
    return kind


def _with_choice(kind: Any, held: tuple[Any, ...], codecs: Any) -> Any:
    members = [each for each in held if each is not types.NoneType]
    decoded = () if codecs is None else codecs.decoders
    if len(members) < 2 or not all(_is_single(each, decoded) for each in members):
        return kind
    if _is_supported(kind):
        return kind
    # A str takes any text.
    members.sort(key=_takes_any_text)
    try:
        choice = _choice(tuple(members), codecs)
    except TypeError:  # metadata in Annotated may be unhashable
        choice = _choice.__wrapped__(tuple(members), codecs)
    return choice | None if types.NoneType in held else choice


@cache
def _choice(members: tuple[Any, ...], codecs: Codecs | None) -> Any:
    name = " | ".join(_name(each) for each in members)
    attributes = {"members": members, "codecs": codecs, "__qualname__": name}
    return _AnyInstance(name, (_Choice,), attributes)


def _name(kind: Any) -> str:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind.__name__ if isinstance(kind, type) else f"{kind!r:.100}".replace("typing.", "")


def _takes_any_text(kind: Any) -> bool:
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind is str


def _is_supported(kind: Any) -> bool:
    import msgspec

    try:
        check_union(kind)
        msgspec.json.Decoder(kind)
    except TypeError:
        return False
    return True


def _is_single(kind: Any, decoded: Container[type]) -> bool:
    """Returns whether values of a type are read from a single text, and aren't bytes or bools.

    A bool of a Literal is never read from text, and bytes may be a file.
    """
    from msgspec import inspect

    try:
        node: Any = inspect.type_info(kind)
    except Exception:  # such as a name that isn't defined, which its reader reports
        return False
    while isinstance(node, inspect.Metadata):
        node = node.type
    if isinstance(node, inspect.CustomType):
        return is_scalar(node.cls) or node.cls in decoded
    if isinstance(node, inspect.LiteralType):
        return not any(isinstance(each, bool) for each in node.values)
    return isinstance(
        node,
        (
            inspect.BoolType,
            inspect.DateTimeType,
            inspect.DateType,
            inspect.DecimalType,
            inspect.EnumType,
            inspect.FloatType,
            inspect.IntType,
            inspect.StrType,
            inspect.TimeDeltaType,
            inspect.TimeType,
            inspect.UUIDType,
        ),
    )


def text_loader(kind: Any, codecs: Codecs | None = None) -> Callable[[Any], Any]:
    """Returns a function that builds values of a type from text, and lists and dicts of text.

    Call this once for a type, not for each value. Besides the texts of JSON, it takes times without
    seconds, `10:00` or `2026-11-28T10:00`, and `on` for a bool, as browsers send them.

    Args:
        kind: A type that msgspec can read, with a `decode_hook` if necessary.
        codecs: The decoders of an app.

    Returns:
        The function; it raises a `msgspec.ValidationError` if the data don't fit.
    """
    import msgspec
    from msgspec import inspect

    hook = decode_hook(kind, is_text=True, codecs=codecs)
    options = {} if hook is None else {"dec_hook": hook}
    plain: Callable[[Any], Any] = partial(msgspec.convert, type=kind, strict=False, **options)
    load = checked(plain, kind, is_json=False)
    node = inspect.type_info(kind)
    spelled = (inspect.BoolType, inspect.TimeType, inspect.DateTimeType)
    if not any(isinstance(each, spelled) for each in walk_nodes(node)):
        return load

    def load_html(values: Any) -> Any:
        # PERF: other spellings are only looked for in what was refused.
        try:
            return load(values)
        except ValueError:
            plain_values = _respelled(node, values)
            if plain_values == values:
                raise
        return load(plain_values)

    return load_html


def _respelled(node: Any, value: Any) -> Any:
    """Returns values with the spellings of HTML forms replaced by those that msgspec reads."""
    from msgspec import inspect

    nodes = [*_alternatives(node)]
    if isinstance(value, str):
        if value == _CHECKED and any(isinstance(each, inspect.BoolType) for each in nodes):
            return "true"
        is_time = any(isinstance(each, (inspect.TimeType, inspect.DateTimeType)) for each in nodes)
        return value + ":00" if is_time and _TIME_WITHOUT_SECONDS.fullmatch(value) else value
    for each in nodes:
        if isinstance(value, list) and isinstance(each, inspect.CollectionType):
            return [_respelled(each.item_type, item) for item in value]
        if isinstance(value, list) and isinstance(each, inspect.TupleType):
            kinds = each.item_types
            if len(kinds) == len(value):
                return [_respelled(k, item) for k, item in zip(kinds, value, strict=True)]
        if isinstance(value, dict) and isinstance(each, inspect.DictType):
            return {key: _respelled(each.value_type, item) for key, item in value.items()}
        if isinstance(value, dict) and hasattr(each, "fields"):
            fields = {field.encode_name: field.type for field in each.fields}
            return {
                key: _respelled(fields[key], item) if key in fields else item
                for key, item in value.items()
            }
    return value


def _alternatives(node: Any) -> Iterator[Any]:
    """Yields a type without metadata, or the members of a union."""
    from msgspec import inspect

    while isinstance(node, inspect.Metadata):
        node = node.type
    if isinstance(node, inspect.UnionType):
        for each in node.types:
            yield from _alternatives(each)
    else:
        yield node
