# SPDX-License-Identifier: MIT
"""Finds the types that only pydantic can read, such as `EmailStr`, or with an `AfterValidator`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any, get_args, get_origin

from kit.authoring.models import find_model, is_read_by_pydantic

from .types import (
    RuleError,
    UnappliedRuleError,
    aliased,
    find_rules,
    inner_metadata,
    is_json_text,
    without_none,
)


class _ReadByPydantic:
    """Metadata for `kit.authoring.models.find_model`: pydantic reads the type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return handler(source)

    def __repr__(self) -> str:
        return "read by pydantic"


_MARK = _ReadByPydantic()  # one, so that equal types stay equal


def read_by_pydantic(kind: Any) -> Any:
    """Returns a type for which `find_model` finds pydantic, whatever rules are in it."""
    return kind if find_model(kind) is not None else Annotated[kind, _MARK]


def needs_pydantic(kind: Any, metadata: list[Any]) -> bool:
    """Returns whether msgspec can't read a type, but pydantic may.

    Args:
        kind: The type.
        metadata: The metadata in its `Annotated`.

    Raises:
        RuleError: If it has a rule for which pydantic has to be installed, or one with which no
            text fits.
    """
    every = [*metadata, *inner_metadata(kind)]
    if any(map(is_json_text, every)) or _holds_pydantic_type(kind, ()):
        return True
    for each in every:
        if is_read_by_pydantic(each):
            return True
        try:
            find_rules(each)
        except UnappliedRuleError:
            _check_strictness(each, kind)
            if find_spec("pydantic") is None:  # of annotated_types, without pydantic
                raise
            return True
    return False


def _check_strictness(rule: Any, kind: Any) -> None:
    """Rejects `Strict()`: no text is an int."""
    rules = [rule, *getattr(rule, "metadata", ())]
    is_strict = any(getattr(each, "strict", None) for each in rules)
    if is_strict and without_none(kind) is not str:
        raise RuleError(f"{rule!r:.100}, with which no text is a value of the type: leave it out")


def _holds_pydantic_type(kind: Any, seen: tuple[Any, ...]) -> bool:
    if isinstance(kind, type) and get_origin(kind) is None:
        return is_read_by_pydantic(kind)
    behind = aliased(kind)
    if behind is not None:
        return kind not in seen and _holds_pydantic_type(behind, (*seen, kind))
    return any(_holds_pydantic_type(each, seen) for each in get_args(kind))
