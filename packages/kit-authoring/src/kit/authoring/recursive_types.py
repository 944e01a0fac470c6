# SPDX-License-Identifier: MIT
"""Aliases that contain themselves, such as `type Json = dict[str, Json] | list[Json] | str | None`.

msgspec doesn't support them. `without_recursion` replaces the inner occurrences of such an alias by
a class, which msgspec passes to the `dec_hook` of `with_parts`, together with the data.

msgspec isn't imported here until a function is called, since this package doesn't depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

from .models import find_model, with_defaults
from .numerals import checked
from .text_values import scalar_hook

__all__ = ("is_part", "with_parts", "without_recursion")


class _Anything(type):
    """The class of classes that have every object as an instance, since msgspec checks that."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class _Part(metaclass=_Anything):
    """An alias within itself.

    Attributes:
        load: Builds a value of it from decoded JSON, given the `dec_hook` for the classes in it.
    """

    load: Callable[[Any, Callable[[Any, Any], Any]], Any]


def is_part(kind: Any) -> bool:
    """Returns whether a type stands for an alias within itself; see `without_recursion`."""
    return isinstance(kind, type) and issubclass(kind, _Part)


def without_recursion(kind: Any, names: Mapping[str, Any] | None = None) -> Any:
    """Replaces each occurrence of an alias within itself by a class.

    Args:
        kind: A type.
        names: What the names in its annotations stand for, in aliases such as `Json =
            Union[list["Json"], str]`.

    Returns:
        The type for msgspec, whose decoder needs the `dec_hook` of `with_parts`; `kind` itself if
        no alias in it contains itself.

    Raises:
        TypeError: If msgspec can't build values of the type, or must not; see `numerals.checked`.
    """
    return _Reader(names or {}).replace(kind)


def with_parts(hook: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
    """Returns the `dec_hook` with which msgspec reads aliases within themselves.

    Args:
        hook: The `decode_hook` for other classes; None for that without an app.
    """
    decode_other = scalar_hook(is_text=False) if hook is None else hook

    def decode_part(kind: Any, value: Any) -> Any:
        if not is_part(kind):
            return decode_other(kind, value)
        try:
            return kind.load(value, decode_part)
        except ValueError as error:
            # msgspec adds the place to a ValueError, but not to its own exceptions.
            raise ValueError(str(error).rpartition(" - at `$")[0] or str(error)) from None

    return decode_part


class _Reader:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._open: dict[Any, type[_Part]] = {}
        self._used: set[Any] = set()

    def replace(self, kind: Any) -> Any:
        name = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
        if isinstance(name, str):
            return self._replace_name(name, kind)
        value = None if isinstance(kind, type) else getattr(kind, "__value__", None)
        if value is not None and get_origin(kind) is None:  # `type X = ...`
            return self._replace_alias(kind, value)
        origin, held = get_origin(kind), get_args(kind)
        if origin is Annotated:
            inner = self.replace(held[0])
            return kind if inner is held[0] else Annotated[(inner, *held[1:])]
        if origin is Literal or not held:
            return kind
        new = tuple(map(self.replace, held))
        if all(one is other for one, other in zip(new, held, strict=True)):
            return kind
        return Union[new] if origin in (Union, UnionType) else origin[new]  # noqa: UP007

    def _replace_name(self, name: str, kind: Any) -> Any:
        target = self._names.get(name)
        if target is None:
            known = (each for each in self._open if getattr(each, "__name__", None) == name)
            target = next(known, None)
        if target is None:
            return kind
        if getattr(target, "__value__", None) is not None:
            return self.replace(target)
        part = self._open.get(name)
        if part is None:
            part = self._open[name] = type(name, (_Part,), {})
            _finish(part, self.replace(target))
        return part

    def _replace_alias(self, alias: Any, value: Any) -> Any:
        part = self._open.get(alias)
        if part is not None:
            self._used.add(alias)
            return part
        part = self._open[alias] = type(alias.__name__, (_Part,), {})
        replaced = self.replace(value)
        if alias not in self._used:
            del self._open[alias]
            return alias if replaced is value else replaced
        _finish(part, replaced)
        return replaced


def _finish(part: type[_Part], kind: Any) -> None:
    """Prepares the validation of an alias."""
    import msgspec

    def convert(value: Any, hook: Callable[[Any, Any], Any]) -> Any:
        return msgspec.convert(value, kind, str_keys=True, dec_hook=hook)

    if find_model(kind) is not None or checked(_keep, kind, is_json=True) is not _keep:
        raise TypeError(
            f"the alias {part.__name__} contains itself, and a Decimal, a set or a pydantic model, "
            "which isn't supported together: write a model with these as fields"
        )
    complete = with_defaults(_keep, kind)

    def load(value: Any, hook: Callable[[Any, Any], Any]) -> Any:
        return complete(convert(value, hook))

    part.load = staticmethod(convert if complete is _keep else load)


def _keep(value: Any) -> Any:
    return value
