# SPDX-License-Identifier: MIT
"""Finds values that consist of exactly the declared classes, which need no conversion.

The fields of an instance of a declared class aren't validated again, as in pydantic. Only the
classes of the objects in them count, since an instance of a subclass has fields that aren't
declared.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Set
from functools import cached_property
from operator import attrgetter
from types import NoneType
from typing import Any, TypeAlias, get_origin

from msgspec import inspect

from kit.interface import Codecs

Check: TypeAlias = Callable[[Any], bool]

_CLASSES: dict[type, tuple[type, ...]] = {
    inspect.BoolType: (bool,),
    inspect.ByteArrayType: (bytearray,),
    inspect.BytesType: (bytes,),
    inspect.CollectionType: (list, tuple, set, frozenset),
    inspect.DateTimeType: (datetime.datetime,),
    inspect.DateType: (datetime.date,),
    inspect.DecimalType: (decimal.Decimal,),
    inspect.DictType: (dict,),
    inspect.FloatType: (float,),
    inspect.FrozenSetType: (frozenset,),
    inspect.IntType: (int,),
    inspect.ListType: (list,),
    inspect.NoneType: (NoneType,),
    inspect.SetType: (set,),
    inspect.StrType: (str,),
    inspect.TimeDeltaType: (datetime.timedelta,),
    inspect.TimeType: (datetime.time,),
    inspect.TupleType: (tuple,),
    inspect.TypedDictType: (dict,),
    inspect.UUIDType: (uuid.UUID,),
    inspect.VarTupleType: (tuple,),
}
# Attrs classes are dataclasses to msgspec.
OBJECTS = (inspect.StructType, inspect.DataclassType)
_ANY = (inspect.AnyType, inspect.RawType)
# Generic classes that msgspec doesn't know. It doesn't say what they are declared to hold.
_CONTAINERS = (Mapping, MutableSequence, Set, Iterator)
_LIMITS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "tz")


class Exact:
    """The values of a type that can be sent as they are.

    Attributes:
        classes: Their classes, each with the check of the parts of its instances, or None if there
            is nothing to check.
        others: Classes that msgspec doesn't know, whose subclasses count as well.
        is_any: Whether any value can be sent as it is.
    """

    def __init__(self, *, is_any: bool = False) -> None:
        self.classes: dict[type, Check | None] = {}
        self.others: tuple[type, ...] = ()
        self.is_any = is_any

    def add(self, other: Exact) -> None:
        """Adds the values of another type."""
        self.classes.update(other.classes)
        self.others += other.others
        self.is_any = self.is_any or other.is_any

    @cached_property
    def unchecked(self) -> frozenset[type]:
        """The classes whose instances need no check of their parts."""
        return frozenset(kind for kind, check in self.classes.items() if check is None)

    @cached_property
    def _is_flat(self) -> bool:
        return len(self.unchecked) == len(self.classes)

    def __call__(self, value: Any) -> bool:
        """Returns whether a value can be sent as it is."""
        if self.is_any:
            return True
        kind = type(value)
        if kind in self.classes:
            check = self.classes[kind]
            return check is None or check(value)
        return isinstance(value, self.others)

    def has_all(self, values: Any) -> bool:
        """Returns whether all of several values can be sent as they are."""
        # PERF: in C where only the classes count, since lists of rows are long.
        if self._is_flat and self.unchecked.issuperset(map(type, values)):
            return True
        return all(map(self, values))


def compile_exact(kind: Any, codecs: Codecs | None = None) -> Exact:
    """Compiles the check for a type.

    Args:
        kind: A type that msgspec supports.
        codecs: The encoders of the app; None if the app isn't known yet, which may have an encoder
            for any class of its own.

    Raises:
        TypeError: If msgspec doesn't support it, or takes any items in a part of it.
    """
    return _Compiler(codecs).compile(inspect.type_info(kind))


def find_class(node: Any) -> Any:
    """Returns the class of the instances of a type; None if there is none."""
    kind = getattr(node, "cls", None)
    return get_origin(kind) or kind


def without_metadata(node: Any) -> Any:
    """Returns the type that is annotated with metadata, or the type itself."""
    while isinstance(node, inspect.Metadata):
        node = node.type
    return node


class _Compiler:
    def __init__(self, codecs: Codecs | None) -> None:
        self._codecs = codecs
        self._known: dict[int, Exact] = {}  # a type may contain itself

    def compile(self, node: Any) -> Exact:
        node = without_metadata(node)
        known = self._known.get(id(node))
        if known is not None:
            return known
        if hasattr(find_class(node), "__mapper__"):  # its fields have the types of descriptors
            raise TypeError(
                f"SQLAlchemy maps {find_class(node).__name__}: declare a class with the fields "
                "that are sent"
            )
        exact = self._known[id(node)] = Exact(is_any=_is_any(node))
        if isinstance(node, inspect.UnionType):
            for each in node.types:
                exact.add(self.compile(each))
        elif isinstance(node, inspect.CustomType):
            _add_custom(exact, node.cls, self._codecs)
        elif isinstance(node, inspect.LiteralType):
            is_value = frozenset(node.values).__contains__
            exact.classes.update((type(value), is_value) for value in node.values)
        elif all(getattr(node, name, None) is None for name in _LIMITS):
            check = self._check_parts(node)
            classes = _CLASSES.get(type(node)) or (find_class(node),)
            exact.classes.update((each, check) for each in classes if each is not None)
        return exact

    def _check_parts(self, node: Any) -> Check | None:
        """Returns the check of the parts of an instance, or None if no part needs one."""
        if isinstance(node, OBJECTS):
            return self._check_fields(node)
        if isinstance(node, inspect.TypedDictType):
            return self._check_items(node)
        if isinstance(node, inspect.DictType):
            key, item = self.compile(node.key_type), self.compile(node.value_type)
            if item.is_any:
                return None
            if isinstance(node.key_type, inspect.StrType):  # all keys are sent as text
                return lambda value: item.has_all(value.values())
            return lambda value: key.has_all(value) and item.has_all(value.values())
        if isinstance(node, inspect.TupleType):
            parts = tuple(map(self.compile, node.item_types))
            return lambda value: (
                len(value) == len(parts)
                and all(part(each) for part, each in zip(parts, value, strict=True))
            )
        if hasattr(node, "item_type"):
            item = self.compile(node.item_type)
            return None if item.is_any else item.has_all
        if isinstance(node, inspect.NamedTupleType):
            fields = [self.compile(each.type) for each in node.fields]
            return lambda value: all(part(each) for part, each in zip(fields, value, strict=True))
        return None

    def _check_fields(self, node: Any) -> Check | None:
        fields = [
            (attrgetter(each.name), self.compile(each.type))
            for each in node.fields
            if _holds_objects(each.type, set())
        ]
        names = _names_of_open_instances(node)
        if names:
            return lambda value: (
                names.issuperset(value.__dict__) and all(exact(get(value)) for get, exact in fields)
            )
        return (lambda value: all(exact(get(value)) for get, exact in fields)) if fields else None

    def _check_items(self, node: Any) -> Check:
        required = {each.encode_name for each in node.fields if each.required}
        kinds: Mapping[str, Exact] = {
            each.encode_name: self.compile(each.type) for each in node.fields
        }

        def check(value: dict[Any, Any]) -> bool:
            return required <= value.keys() <= kinds.keys() and all(
                kinds[name](each) for name, each in value.items()
            )

        return check


def _names_of_open_instances(node: Any) -> frozenset[str]:
    """Returns the fields of an attrs class without slots: msgspec sends all its attributes."""
    kind = find_class(node)
    if hasattr(kind, "__attrs_attrs__") and kind.__dictoffset__:
        return frozenset(each.name for each in node.fields)
    return frozenset()


def _add_custom(exact: Exact, kind: type, codecs: Codecs | None) -> None:
    """Adds the values of a class that msgspec doesn't know."""
    if exact.is_any:
        return
    is_container = issubclass(list, kind) or issubclass(dict, kind) or issubclass(kind, _CONTAINERS)
    if is_container and not _may_have_encoder(kind, codecs):
        raise TypeError(f"nothing checks the items of {kind.__name__}: write list or dict")
    if is_pydantic(kind):
        exact.classes[kind] = None
    else:
        exact.others = (kind,)


def _may_have_encoder(kind: type, codecs: Codecs | None) -> bool:
    """Returns whether an app encodes a class by a function of its own."""
    if codecs is None:
        return kind.__module__ not in ("collections", "collections.abc")
    return any(each is not object and issubclass(kind, each) for each in codecs.encoders)


def _is_any(node: Any) -> bool:
    return isinstance(node, _ANY) or getattr(node, "cls", None) is object


def is_pydantic(kind: type) -> bool:
    """Returns whether a class is a model or a dataclass of pydantic."""
    return hasattr(kind, "__pydantic_validator__")


def _holds_objects(node: Any, seen: set[int]) -> bool:
    """Returns whether values of a type may contain objects, which may be of subclasses."""
    node = without_metadata(node)
    if id(node) in seen:
        return False
    seen.add(id(node))
    if isinstance(node, (*OBJECTS, inspect.TypedDictType, inspect.CustomType)):
        return True
    parts = [
        *getattr(node, "types", ()),
        *getattr(node, "item_types", ()),
        *(getattr(node, name, None) for name in ("item_type", "key_type", "value_type")),
        *(each.type for each in getattr(node, "fields", ())),
    ]
    return any(_holds_objects(each, seen) for each in parts if each is not None)
