# SPDX-License-Identifier: MIT
"""Sets the defaults that msgspec doesn't set on the dataclasses it builds.

If a field of a dataclass without slots wasn't sent and has a plain default, msgspec 0.22 doesn't
set it, so only the class attribute exists. Reading the field works, but code that reads `__dict__`,
such as msgspec's own encoder, drops it. Structs, attrs classes, named tuples and dataclasses with
slots are complete.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import getitem
from typing import Any, NamedTuple, TypeAlias, TypeVar, get_origin

_T = TypeVar("_T")


class _Shape(NamedTuple):
    """What to do with the values of one class.

    Attributes:
        defaults: The defaults to set, by name.
        get: Returns a part of a value by its key.
        parts: The keys of the parts to visit, with the shapes that each may have.
        items: The shapes that all items may have.
        values: Whether the items are the values of a dict.
    """

    defaults: dict[str, Any]
    get: Callable[[Any, Any], Any]
    parts: list[tuple[Any, _Shapes]]
    items: _Shapes
    values: bool = False


# PERF: the classes of values are looked up, so a union costs no more than one type.
_Shapes: TypeAlias = "dict[type, _Shape]"


def with_defaults(load: Callable[[Any], _T], kind: Any) -> Callable[[Any], _T]:
    """Returns a decoder whose values have all defaults of their dataclasses set.

    Call this once for a type, not for each value.

    Args:
        load: Builds values of the type by msgspec, e.g. `msgspec.json.Decoder(kind).decode`.
        kind: The type, which msgspec supports.

    Returns:
        `load` itself if no value of the type contains, at any depth, a dataclass that msgspec
        leaves incomplete; otherwise a function that calls it and completes the value.

    Raises:
        TypeError: If msgspec doesn't support the type.
        NameError: If an annotation contains an undefined name.
    """
    # This package doesn't depend on msgspec, but callers that decode with it have it installed.
    from msgspec import inspect

    shapes = _Reader().read(inspect.type_info(kind))
    if not shapes:
        return load

    def load_completely(data: Any) -> _T:
        value = load(data)
        _complete(value, shapes)
        return value

    return load_completely


# APPSEC: not recursive, since clients control the depth of the value.
def _complete(value: Any, shapes: _Shapes) -> None:
    pending = [(value, shapes)]
    while pending:
        value, shapes = pending.pop()
        shape = shapes.get(type(value))
        if shape is None:
            continue
        if shape.defaults:
            own = value.__dict__  # also works for frozen dataclasses
            for name, default in shape.defaults.items():
                own.setdefault(name, default)
        for key, choices in shape.parts:
            pending.append((shape.get(value, key), choices))
        if shape.items:
            items = value.values() if shape.values else value
            pending += [(item, shape.items) for item in items]


class _Reader:
    """Reads shapes from msgspec's description of a type."""

    def __init__(self) -> None:
        # By the ids of the nodes, which the root keeps alive.
        self._read: dict[int, tuple[type, _Shape]] = {}

    def read(self, node: Any) -> _Shapes:
        """Returns the shapes to visit; empty if there is nothing to do.

        Args:
            node: A `msgspec.inspect.Type`.
        """
        root = self._shapes(node)
        every = [shape for _, shape in self._read.values()]
        used = {id(shape) for shape in every if shape.defaults}
        # A type may contain itself, so the used shapes are known only when no more are added.
        count = -1
        while count != len(used):
            count = len(used)
            used.update(
                id(shape)
                for shape in every
                for choices in (shape.items, *(choices for _, choices in shape.parts))
                if any(id(each) in used for each in choices.values())
            )
        for shape in every:
            _drop_unused(shape.items, used)
            for _, choices in shape.parts:
                _drop_unused(choices, used)
            shape.parts[:] = [part for part in shape.parts if part[1]]
        _drop_unused(root, used)
        return root

    def _shapes(self, node: Any) -> _Shapes:
        from msgspec import inspect

        while isinstance(node, inspect.Metadata):
            node = node.type
        if isinstance(node, inspect.UnionType):
            shapes: _Shapes = {}
            for each in node.types:
                shapes |= self._shapes(each)
            return shapes
        if id(node) not in self._read and not self._add(node):
            return {}
        kind, shape = self._read[id(node)]
        return {kind: shape}

    def _add(self, node: Any) -> bool:
        from msgspec import inspect

        shape = _Shape({}, _attribute, [], {})
        many = {
            inspect.ListType: list,
            inspect.SetType: set,
            inspect.FrozenSetType: frozenset,
            inspect.VarTupleType: tuple,
        }
        kind = many.get(type(node))
        if kind is not None:
            self._read[id(node)] = kind, shape
            shape.items.update(self._shapes(node.item_type))
        elif isinstance(node, inspect.DictType):
            shape = shape._replace(values=True)
            self._read[id(node)] = dict, shape
            shape.items.update(self._shapes(node.value_type))
        elif isinstance(node, inspect.TupleType):
            shape = shape._replace(get=getitem)
            self._read[id(node)] = tuple, shape
            shape.parts.extend((i, self._shapes(each)) for i, each in enumerate(node.item_types))
        elif isinstance(node, inspect.TypedDictType):
            shape = shape._replace(get=dict.get)
            self._read[id(node)] = dict, shape
            shape.parts.extend((each.name, self._shapes(each.type)) for each in node.fields)
        elif hasattr(node, "fields"):
            kind = get_origin(node.cls) or node.cls
            if isinstance(node, inspect.DataclassType):
                shape.defaults.update(_left_out(kind, node))
            self._read[id(node)] = kind, shape
            shape.parts.extend((each.name, self._shapes(each.type)) for each in node.fields)
        else:
            return False
        return True


def _drop_unused(shapes: _Shapes, used: set[int]) -> None:
    for kind in [kind for kind, shape in shapes.items() if id(shape) not in used]:
        del shapes[kind]


def _left_out(kind: type, node: Any) -> dict[str, Any]:
    """Returns the defaults of a dataclass that msgspec doesn't set."""
    from inspect import getattr_static  # here, since most programs have no such dataclass

    from msgspec import NODEFAULT

    if not hasattr(kind, "__dataclass_fields__"):
        return {}  # attrs classes, which msgspec describes as dataclasses
    return {
        each.name: each.default
        for each in node.fields
        # Slots, and other descriptors that store values elsewhere, have a __set__.
        if each.default is not NODEFAULT
        and not hasattr(getattr_static(kind, each.name, None), "__set__")
    }


def _attribute(value: Any, name: str) -> Any:
    return getattr(value, name, None)
