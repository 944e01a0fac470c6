# SPDX-License-Identifier: MIT
"""Filters: a model whose set fields become conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import UNSET

from kit.authoring.options import OptionChecks

Operator: TypeAlias = Literal[
    "eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "contains", "starts_with", "is_null"
]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


class Filter:
    """Sets how a field of a filter model is compared, in the annotation of the field.

    `since: Annotated[int | None, Filter("ge", "year")] = None` keeps results whose `year` is at
    least `since`. Without a `Filter`, the field is compared for equality with the field of the same
    name, or for membership if it is a list.

    Args:
        operator: `eq`, `ne`, `lt`, `le`, `gt`, `ge`; `in` and `not_in` for a list; `contains` and
            `starts_with` for a text, ignoring case; `is_null` for a bool. As in SQL, a
            result without a value satisfies only `is_null`.
        field: The field of the results. Default: the name of the field in the filter model.

    Raises:
        TypeError: If an argument isn't a str.
        ValueError: If the operator is unknown.
    """

    __slots__ = ("field", "operator")

    def __init__(self, operator: Operator = "eq", field: str | None = None) -> None:
        check = OptionChecks("Filter")
        self.operator: Operator = check.choice("operator", operator, OPERATORS)
        self.field = None if field is None else check.text("field", field)

    def __repr__(self) -> str:
        return f"Filter({self.operator!r}{'' if self.field is None else f', {self.field!r}'})"


class Condition(NamedTuple):
    """A condition on a field.

    Attributes:
        name: The field of the filter model.
        field: The field of the results.
        operator: How it is compared.
        value: The value to compare it with.
    """

    name: str
    field: str
    operator: Operator
    value: Any


class FilterField(NamedTuple):
    """A field of a filter model.

    Attributes:
        name: Its name.
        field: The field of the results.
        operator: How it is compared.
    """

    name: str
    field: str
    operator: Operator


def read_filters(model: Any) -> tuple[FilterField, ...]:
    """Reads the fields of a filter model.

    Raises:
        TypeError: If it isn't a model with fields, or a field has two filters.
    """
    found = []
    for name, hint in _find_hints(model).items():
        filters = [each for each in _metadata(hint) if isinstance(each, Filter)]
        if len(filters) > 1:
            raise TypeError(
                f"{model.__name__}.{name} has {filters[0]!r} and {filters[1]!r}: write one"
            )
        given = filters[0] if filters else Filter("in" if _is_list(hint) else "eq")
        found.append(FilterField(name, given.field or name, given.operator))
    if not found:
        raise TypeError(f"filters={model!r:.100} has no fields: expected a Struct or another model")
    return tuple(found)


def list_conditions(fields: tuple[FilterField, ...], filters: Any) -> tuple[Condition, ...]:
    """Returns the conditions of the fields that are set: not None, UNSET, or an empty list."""
    found = []
    for each in fields:
        is_dict = isinstance(filters, Mapping)
        value = filters.get(each.name) if is_dict else getattr(filters, each.name)
        if value is not None and value is not UNSET and value not in ([], (), set(), frozenset()):
            found.append(Condition(each.name, each.field, each.operator, value))
    return tuple(found)


def _find_hints(model: Any) -> dict[str, Any]:
    infos = getattr(model, "__pydantic_fields__", None)
    if infos is not None:
        return {
            name: Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
            for name, info in infos.items()
        }
    try:
        names = [each.name for each in msgspec.inspect.type_info(model).fields]  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        return {}
    hints = get_type_hints(model, include_extras=True)
    return {name: hints[name] for name in names}


def _metadata(hint: Any) -> list[Any]:
    own = list(getattr(hint, "__metadata__", ()))
    return own + [each for inner in get_args(hint) for each in _metadata(inner)]


def _is_list(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return _is_list(get_args(hint)[0])
    kinds = (list, tuple, set, frozenset)
    return (get_origin(hint) or hint) in kinds or any(
        (get_origin(each) or each) in kinds for each in get_args(hint)
    )


def _contains(value: Any, text: Any) -> bool:
    return text.lower() in value.lower()


def _starts_with(value: Any, text: Any) -> bool:
    return bool(value.lower().startswith(text.lower()))


COMPARISONS: dict[Operator, Callable[[Any, Any], bool]] = {
    "eq": lambda value, other: value == other,
    "ne": lambda value, other: value != other,
    "lt": lambda value, other: value < other,
    "le": lambda value, other: value <= other,
    "gt": lambda value, other: value > other,
    "ge": lambda value, other: value >= other,
    "in": lambda value, others: value in others,
    "not_in": lambda value, others: value not in others,
    "contains": _contains,
    "starts_with": _starts_with,
}
"""How values other than None are compared in Python."""
