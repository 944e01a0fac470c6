# SPDX-License-Identifier: MIT
"""Unions of pydantic models with other types, such as `Book | Failure` of a model and a Struct.

Responses send them, but neither library describes them: pydantic doesn't know Structs, and msgspec
takes a model for a class that it doesn't know, which may only stand beside None. So a class takes
the place of such a union, for which msgspec asks, and the members are described by themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import is_, or_
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from kit.authoring.models import check_union, find_model

from ._defaults import copy_with_types, list_fields

__all__ = ("MixedUnions", "find_members", "separate_unions")

_UNIONS = (Union, UnionType)
# Of Structs, dataclasses, attrs classes, TypedDicts and named tuples.
_MARKS_OF_FIELDS = (
    "__struct_fields__",
    "__dataclass_fields__",
    "__attrs_attrs__",
    "__total__",
    "_fields",
)


class _Mixed:
    """Stands for a union, or for a class within itself.

    Attributes:
        members: The types in it.
    """

    members: tuple[Any, ...] = ()


def find_members(kind: Any) -> tuple[Any, ...]:
    """Returns the types for which a class of `MixedUnions` stands; none for other classes."""
    return kind.members if isinstance(kind, type) and issubclass(kind, _Mixed) else ()


class MixedUnions:
    """Replaces unions of models with other types by classes; see `find_members`.

    Args:
        untagged: Whether to replace unions that msgspec can't read as well, such as those of
            Structs without tags. A typed endpoint may return them.

    Attributes:
        members: The members of all unions that were replaced.
    """

    def __init__(self, *, untagged: bool = False) -> None:
        self._untagged = untagged
        self.members: list[Any] = []
        self._known: dict[Any, Any] = {}

    def replace(self, kind: Any) -> Any:
        """Returns a type for msgspec's schemas.

        Args:
            kind: A type that pydantic doesn't read as a whole.

        Returns:
            The type, in which copies take the place of classes with such fields; `kind` itself if
            there are no such unions.
        """
        # Models come from pydantic, so without it, there are none.
        can_be_mixed = self._untagged or "pydantic" in sys.modules
        return self._replace(kind) if can_be_mixed else kind

    def _replace(self, kind: Any) -> Any:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            inner = self._replace(arguments[0])
            return kind if inner is arguments[0] else Annotated[(inner, *arguments[1:])]
        if origin in _UNIONS:
            members = [*_iterate_members(kind)]
            others = [each for each in members if each is not type(None)]
            if len(others) > 1 and (any(map(_is_model, others)) or self._is_untagged(members)):
                return self._note(_stand_for(members))
        if isinstance(kind, type) and not arguments:
            return self._replace_class(kind)
        behind = getattr(kind, "__value__", None)
        if behind is not None:
            return self._replace_alias(kind, behind)
        replaced = tuple(map(self._replace, arguments))
        if origin is None or all(map(is_, replaced, arguments)):
            return kind
        return _unite(replaced) if origin in _UNIONS else origin[replaced]

    def _is_untagged(self, members: list[Any]) -> bool:
        return self._untagged and not _is_supported(_unite(members))

    def _replace_alias(self, kind: Any, behind: Any) -> Any:
        if kind in self._known:
            return self._note(self._known[kind])
        self._known[kind] = kind  # stands for itself within itself
        inner = self._replace(behind)
        if inner is not behind:
            self._known[kind] = inner
        return self._known[kind]

    def _replace_class(self, kind: type) -> Any:
        """Returns a copy of a class with other types of its fields, if one of them is replaced."""
        if kind in self._known:
            return self._note(self._known[kind])
        if _is_model(kind) or not _has_fields(kind):
            return kind
        # Stands for the class in its own fields.
        self._known[kind] = itself = _stand_for([kind])
        self._known[kind] = self._copy(kind, itself)
        return self._known[kind]

    def _copy(self, kind: type, itself: type) -> type:
        try:
            fields = [*list_fields(kind)]
        except Exception:  # a name that isn't defined
            return kind
        types = {each.name: each.type for each in fields}
        replaced = {name: self._replace(each) for name, each in types.items()}
        is_mixed = any(
            each is not types[name] and not _holds(each, itself) for name, each in replaced.items()
        )
        return copy_with_types(kind, fields, replaced) if is_mixed else kind

    def _note(self, kind: Any) -> Any:
        self.members += find_members(kind)
        return kind


def separate_unions(kind: Any) -> Any:
    """Returns a type for msgspec's schemas; see `MixedUnions.replace`."""
    return MixedUnions().replace(kind)


def _holds(kind: Any, itself: type) -> bool:
    """Returns whether a type differs only in that a class stands for another one within itself."""
    return (
        kind is itself
        or itself in get_args(kind)
        or any(_holds(each, itself) for each in get_args(kind))
    )


def _has_fields(kind: type) -> bool:
    return any(hasattr(kind, mark) for mark in _MARKS_OF_FIELDS)


def _stand_for(members: list[Any]) -> type:
    """Returns a class that stands for the members of a union.

    Those that aren't models stay together if msgspec supports that, which describes their tags.
    """
    models = [each for each in members if _is_model(each)]
    rest = [each for each in members if not _is_model(each)]
    if len(rest) > 1 and _is_supported(_unite(rest)):
        rest = [_unite(rest)]
    name = "_".join(getattr(each, "__name__", "Union") for each in members)
    return type(name, (_Mixed,), {"members": (*models, *rest)})


def _unite(kinds: Iterable[Any]) -> Any:
    return reduce(or_, kinds)


def _is_supported(kind: Any) -> bool:
    """Returns whether msgspec describes a type."""
    try:
        check_union(kind)
        msgspec.inspect.type_info(kind)
    except Exception:
        return False
    return True


def _iterate_members(kind: Any) -> Iterator[Any]:
    """Yields the members of a union, also of the unions in it."""
    for each in get_args(kind):
        if get_origin(each) in _UNIONS:
            yield from _iterate_members(each)
        else:
            yield each


def _is_model(kind: Any) -> bool:
    """Returns whether pydantic reads a type, and nothing else does."""
    try:
        return find_model(kind) is not None
    except Exception:  # a type of msgspec with a model in it
        return False
