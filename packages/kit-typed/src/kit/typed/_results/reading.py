# SPDX-License-Identifier: MIT
"""Reads from any object what a declared type holds: the data that msgspec then converts to it.

msgspec reads attributes itself, too. But it takes one that raises for one that is absent, so that
a lazy relationship without its session would be sent as the default of the field. And it keeps an
instance of the declared class whose fields hold instances of subclasses.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from operator import attrgetter
from types import NoneType
from typing import Any, TypeAlias

from msgspec import UNSET, inspect

from .exactness import OBJECTS, find_class, is_pydantic, without_metadata

Read: TypeAlias = Callable[[Any], Any]

_ARRAYS = (list, tuple, set, frozenset)
# Values that are neither objects with attributes nor arrays.
_SCALARS = (
    *(str, bytes, bytearray, memoryview, int, float, NoneType, enum.Enum),
    *(datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, uuid.UUID),
)

_WITH_SUBCLASSES = (
    *(str, bytes, int, float, decimal.Decimal),
    *(datetime.date, datetime.time, datetime.timedelta),
)
_EXACT = frozenset({*_WITH_SUBCLASSES, bool, datetime.datetime})


def compile_reading(kind: Any, *, is_whole: bool = False, encode: Read | None = None) -> Read:
    """Compiles the reading for a type.

    Args:
        kind: A type that msgspec supports.
        is_whole: Whether no attribute is left for msgspec to read.
        encode: Encodes instances of subclasses of str and the like; None to leave them as they are.

    Returns:
        Returns the data of a value by the names in JSON, for `msgspec.convert` with
        `from_attributes`. A value that can't be of the type is left as it is, so that msgspec says
        what it expected.
    """
    read_plain = _keep if encode is None else partial(_read_plain, encode)
    return _Compiler(is_whole, read_plain).compile(inspect.type_info(kind)) or _keep


@lru_cache(maxsize=1024)
def find_row(kind: Any) -> Callable[[Any], dict[str, Any]] | None:
    """Returns what makes a dict of a row of a database or a named tuple; None for other classes."""
    if hasattr(kind, "_mapping") or (hasattr(kind, "_fields") and hasattr(kind, "_asdict")):
        return lambda row: row._asdict()
    if hasattr(kind, "keys") and hasattr(kind, "__getitem__") and not issubclass(kind, Mapping):
        return lambda row: {key: row[key] for key in tuple(row.keys())}
    return None


class _Compiler:
    def __init__(self, is_whole: bool, read_plain: Read) -> None:
        self._is_whole = is_whole
        self._read_plain = read_plain
        self._known: dict[int, list[Read | None]] = {}  # a type may contain itself

    def compile(self, node: Any) -> Read | None:
        """Returns the reading for a type, or None if its values are data already."""
        node = without_metadata(node)
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = []
            found.append(self._compile(node))
        if found:
            return found[0]
        return lambda value: found[0](value)  # type: ignore[misc]  # it contains an object

    def _compile(self, node: Any) -> Read | None:
        if isinstance(node, OBJECTS):
            return self._compile_object(node).read
        if isinstance(node, inspect.TypedDictType):
            return partial(_read_dict, self._compile_fields(node), {}, None)
        if isinstance(node, inspect.DictType):
            return partial(_read_dict, {}, {}, self.compile(node.value_type))
        if isinstance(node, inspect.UnionType):
            return self._compile_union([*map(without_metadata, node.types)])
        if isinstance(node, inspect.TupleType):
            return partial(_read_parts, [*map(self.compile, node.item_types)])
        if isinstance(node, inspect.NamedTupleType):
            return partial(_read_parts, [self.compile(each.type) for each in node.fields])
        if hasattr(node, "item_type"):
            return partial(_read_array, self._compile_items(node.item_type))
        return self._plain_reading

    def _compile_items(self, node: Any) -> Read | None:
        """Returns the reading for all items of an array, or None if they are data already."""
        read = self.compile(node)
        if read is None:
            return None
        owner = getattr(read, "__self__", None)
        if isinstance(owner, _Object):
            return owner.read_all
        return lambda values: [*map(read, values)]

    @property
    def _plain_reading(self) -> Read | None:
        """The reading of values that are neither objects nor arrays; None to leave them."""
        return None if self._read_plain is _keep else self._read_plain

    def _compile_fields(self, node: Any) -> dict[str, Read]:
        """Returns the readings of fields by their names in JSON, where there is one."""
        found = {each.encode_name: self.compile(each.type) for each in node.fields}
        return {name: read for name, read in found.items() if read is not None}

    def _compile_object(self, node: Any) -> _Object:
        readings = self._compile_fields(node)
        sent = {each.encode_name for each in node.fields}
        names = {each.name: each.encode_name for each in node.fields if each.name not in sent}
        read_dict = partial(_read_dict, readings, names, None)
        return _Object(node, readings, read_dict, is_whole=self._is_whole)

    def _compile_union(self, members: list[Any]) -> Read | None:
        objects = [self._compile_object(each) for each in members if isinstance(each, OBJECTS)]
        dicts = [
            self.compile(each)
            for each in members
            if isinstance(each, (inspect.DictType, inspect.TypedDictType))
        ]
        arrays = [
            self.compile(each)
            for each in members
            if hasattr(each, "item_type") or isinstance(each, _OF_PARTS)
        ]
        if not (objects or dicts or arrays):
            return self._plain_reading
        return partial(
            _read_member, objects, [*dicts, None][0], [*arrays, None][0], self._read_plain
        )


_OF_PARTS = (inspect.TupleType, inspect.NamedTupleType)


class _Object:
    """Reads objects for a Struct, a dataclass or an attrs class.

    Args:
        node: The class.
        readings: The readings of its fields by their names in JSON, where there is one.
        read_dict: Reads a dict.
        is_whole: Whether no attribute is left for msgspec to read.

    Attributes:
        kind: The class.
    """

    def __init__(
        self, node: Any, readings: dict[str, Read], read_dict: Read, *, is_whole: bool
    ) -> None:
        self.kind: Any = find_class(node)
        self._fields = [(each.name, each.encode_name) for each in node.fields]
        self._readings = readings
        self._read_dict = read_dict
        self._is_array = getattr(node, "array_like", False)
        tag = getattr(node, "tag", None)
        self._tag = {} if tag is None else {node.tag_field: tag}
        self._keys = [*self._tag, *(key for _, key in self._fields)]
        optional = [each for each in node.fields if not each.required]
        may_be_unset = any(each.default is each.default_factory for each in optional)
        # PERF: msgspec reads an object faster. It has to find the fields that may be absent,
        # since it takes one that raises for an absent one.
        self._is_flat = not (is_whole or readings or self._tag or self._is_array or may_be_unset)
        self._get_optional = attrgetter(*(each.name for each in optional)) if optional else None
        # PERF: a class in one look-up.
        self._find_reading = lru_cache(maxsize=256)(self._choose_reading)

    def read(self, value: Any) -> Any:
        """Returns the data of an object, a dict or a row, or an object that msgspec can read."""
        kind: Any = type(value)
        return self._find_reading(kind)(value)

    def read_all(self, values: Any) -> Any:
        """Returns the data of several objects, or the objects if msgspec can read them."""
        # PERF: in C where possible, since pages have many rows.
        readings = {self._find_reading(kind) for kind in {*map(type, values)}}
        if readings == {_keep}:
            return values
        if self._get_optional is not None and readings == {self._read_flat}:
            try:
                deque(map(self._get_optional, values), maxlen=0)
            except Exception:  # one is absent, or can't be read
                return [*map(self.read, values)]
            return values
        return [*map(self.read, values)]

    def has_tag(self, value: Any) -> bool:
        """Returns whether a value has the tag of this class, if there is one."""
        get = value.get if isinstance(value, Mapping) else partial(getattr, value)
        return all(get(name, None) == tag for name, tag in self._tag.items())

    def _choose_reading(self, kind: Any) -> Read:
        """Returns the reading for the instances of a class."""
        if not issubclass(kind, self.kind):
            if find_row(kind) is not None or issubclass(kind, Mapping):
                return self._read_dict
            if issubclass(kind, _ARRAYS):
                return self._read_array if self._is_array else _keep
            if issubclass(kind, _SCALARS):
                return _keep
        if self._is_flat and kind is not self.kind:
            return _keep if self._get_optional is None else self._read_flat
        return self._read_each

    def _read_flat(self, value: Any) -> Any:
        """Returns an object that msgspec can read, or its data."""
        try:
            self._get_optional(value)  # type: ignore[misc]  # chosen if there is one
        except Exception:  # absent, or it can't be read
            return self._read_each(value)
        return value

    def _read_each(self, value: Any) -> Any:
        """Reads an object that may lack attributes."""
        found = dict(self._tag)
        for name, key in self._fields:
            try:
                part = getattr(value, name, UNSET)
            except Exception as error:
                raise ValueError(f"`{name}` can't be read: {_describe(error)}") from error
            if part is not UNSET:
                found[key] = self._readings.get(key, _keep)(part)
            elif self._is_array:
                break
        return [*found.values()] if self._is_array else found

    def _read_array(self, value: Any) -> Any:
        readings = [self._readings.get(key) for key in self._keys]
        return _read_parts(readings, [*value][: len(readings)])


def _keep(value: Any) -> Any:
    return value


def _read_plain(encode: Read, value: Any) -> Any:
    """Returns a value of a class that msgspec knows in place of an instance of a subclass."""
    kind = type(value)
    if kind in _EXACT or not isinstance(value, _WITH_SUBCLASSES):
        return value
    return value.value if isinstance(value, enum.Enum) else encode(value)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _read_dict(
    readings: Mapping[str, Read], names: Mapping[str, str], read: Read | None, value: Any
) -> Any:
    """Reads a dict or a row.

    Args:
        readings: The readings for its items, by their names in JSON.
        names: The names in JSON by the names of fields.
        read: The reading for other items, or None.
        value: The dict.
    """
    kind: Any = type(value)
    if kind is not dict:
        if (as_dict := find_row(kind)) is not None:
            value = as_dict(value)
        if not isinstance(value, Mapping):
            return value
    if not names and not readings and read is None:
        return value if type(value) is dict else dict(value)
    found = {}
    for key, part in value.items():
        name = names.get(key, key)
        read_part = readings.get(name, read)
        found[name] = part if read_part is None else read_part(part)
    return found


def _read_array(read_all: Read | None, value: Any) -> Any:
    if not isinstance(value, _ARRAYS):
        if not _has_items(value):
            return value
        value = [*value]
    return value if read_all is None else read_all(value)


def _has_items(value: Any) -> bool:
    """Returns whether a value is iterated over, as arrays are; a model has its fields as items."""
    if isinstance(value, (*_SCALARS, Mapping)) or is_pydantic(type(value)):
        return False
    return isinstance(value, Iterable)


def _read_parts(readings: list[Read | None], value: Any) -> Any:
    parts = _read_array(None, value)
    if not isinstance(parts, _ARRAYS) or len(parts) > len(readings):
        return parts
    return tuple(
        part if read is None else read(part) for read, part in zip(readings, parts, strict=False)
    )


def _read_member(
    objects: list[_Object],
    read_dict: Read | None,
    read_array: Read | None,
    read_plain: Read,
    value: Any,
) -> Any:
    """Reads a value of a union: an instance of a member as this member, others by their kind."""
    if isinstance(value, _SCALARS):
        return read_plain(value)
    kind: Any = type(value)
    matching = [each for each in objects if isinstance(value, each.kind)]
    if matching:
        exact = [each for each in matching if each.kind is kind]
        return [*exact, *matching][0].read(value)
    as_dict = find_row(kind)
    is_read_by_names = as_dict is not None and (objects or read_dict is not None)
    if read_array is not None and not is_read_by_names and _has_items(value):
        return read_array(value)
    if as_dict is not None:
        value = as_dict(value)
    matching = [each for each in objects if each.has_tag(value)]
    if matching and not isinstance(value, _ARRAYS):
        return matching[0].read(value)
    return value if read_dict is None else read_dict(value)
