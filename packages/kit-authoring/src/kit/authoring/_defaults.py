# SPDX-License-Identifier: MIT
"""Sets the defaults that msgspec doesn't set on the dataclasses it builds.

If a field of a dataclass without slots wasn't sent and has a plain default, msgspec 0.22 doesn't
set it, so only the class attribute exists. Reading the field works, but code that reads `__dict__`,
such as msgspec's own encoder, drops it. Structs, attrs classes, named tuples and dataclasses with
slots are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar, get_origin

from ._type_nodes import walk_nodes

_T = TypeVar("_T")
_CONTAINERS = (dict, list, set, frozenset, tuple)


class _Class(NamedTuple):
    """The defaults to set on values of a class, and the fields that may hold more such values."""

    defaults: dict[str, Any]
    fields: set[str]


def with_defaults(load: Callable[[Any], _T], kind: Any) -> Callable[[Any], _T]:
    """Returns a decoder whose values have all defaults of their dataclasses set.

    Call this once for a type, not for each value.

    Args:
        load: Builds values of the type by msgspec, e.g. `msgspec.json.Decoder(kind).decode`.
        kind: The type, which msgspec supports.

    Returns:
        `load` itself if msgspec leaves no dataclass in the type incomplete.

    Raises:
        TypeError: If msgspec doesn't support the type.
        NameError: If an annotation contains an undefined name.
    """
    # This package doesn't depend on msgspec, but callers that decode with it have it installed.
    from msgspec import inspect

    nodes = [*walk_nodes(inspect.type_info(kind))]
    defaults = {id(node): _left_out(node) for node in nodes}
    if not any(defaults.values()):
        return load
    classes: dict[type, _Class] = {}
    for node in nodes:
        if hasattr(node, "fields") and not isinstance(node, inspect.TypedDictType):
            found = classes.setdefault(get_origin(node.cls) or node.cls, _Class({}, set()))
            found.defaults.update(defaults[id(node)])
            found.fields.update(
                field.name
                for field in node.fields
                if any(defaults[id(each)] for each in walk_nodes(field.type))
            )

    visited = frozenset((*_CONTAINERS, *classes))

    def load_completely(data: Any) -> _T:
        value = load(data)
        _complete(value, classes, visited)
        return value

    return load_completely


# APPSEC: not recursive, since clients control the depth of the value.
def _complete(value: Any, classes: dict[type, _Class], visited: frozenset[type]) -> None:
    pending = [value]
    while pending:
        value = pending.pop()
        found = classes.get(type(value))
        parts: Iterable[Any] = ()
        if found is not None:
            if found.defaults:
                own = value.__dict__  # also works for frozen dataclasses
                for name, default in found.defaults.items():
                    own.setdefault(name, default)
            parts = [getattr(value, name, None) for name in found.fields]
        elif isinstance(value, _CONTAINERS):
            parts = value.values() if isinstance(value, dict) else value
        pending += [part for part in parts if type(part) in visited]


def _left_out(node: Any) -> dict[str, Any]:
    """Returns the defaults that msgspec doesn't set, if a type is a dataclass."""
    from msgspec import NODEFAULT, inspect

    if not isinstance(node, inspect.DataclassType):
        return {}
    from inspect import getattr_static  # here, since most programs have no such dataclass

    kind = get_origin(node.cls) or node.cls
    if not hasattr(kind, "__dataclass_fields__"):
        return {}  # attrs classes, which msgspec describes as dataclasses
    return {
        each.name: each.default
        for each in node.fields
        # Slots, and other descriptors that store values elsewhere, have a __set__.
        if each.default is not NODEFAULT
        and not hasattr(getattr_static(kind, each.name, None), "__set__")
    }
