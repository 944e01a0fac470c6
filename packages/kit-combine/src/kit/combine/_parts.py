# SPDX-License-Identifier: MIT
"""The parts of a combination: middleware, which takes `next`, and conditions, which don't."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple, TypeAlias, get_origin

from kit.authoring.signatures import describe, describe_signature, takes_next
from kit.interface import AnyContext, HandlerError, HTTPException

__all__ = (
    "Condition",
    "Part",
    "UnmetConditionError",
    "called_again",
    "is_type",
    "split_parts",
)

Condition: TypeAlias = Callable[[AnyContext], bool | Awaitable[bool]]
"""Decides about a request: `def condition(c)`, plain or async. Its result is a truth value."""


class UnmetConditionError(HTTPException):
    """A condition rejected the request; becomes a 403 with the text `Forbidden`.

    Args:
        combinator: The function that combined the parts, e.g. `every()`.
        condition: Name and place of the condition; see `kit.authoring.signatures.describe`.
    """

    def __init__(self, combinator: str, condition: str) -> None:
        super().__init__(403, "Forbidden")
        self.combinator = combinator
        self.condition = condition

    def __str__(self) -> str:
        return f"{self.combinator} rejected the request: {self.condition} is not met"


class Part(NamedTuple):
    """A part of a combination.

    Attributes:
        function: The middleware or condition.
        is_condition: Whether it is a condition.
    """

    function: Callable[..., Any]
    is_condition: bool


def split_parts(combinator: str, functions: Iterable[Any]) -> tuple[Part, ...]:
    """Separates middleware from conditions.

    Args:
        combinator: The function that combines them, e.g. `some()`, for errors.
        functions: The parts.

    Raises:
        TypeError: If there are none, or one is neither middleware nor a condition.
    """
    parts = tuple(_part(combinator, function) for function in functions)
    if not parts:
        raise TypeError(f"{combinator} takes at least one middleware, but got none")
    return parts


def _part(combinator: str, function: Any) -> Part:
    if not callable(function):
        raise TypeError(
            f"{combinator} takes middleware (c, next) and conditions (c), not {function!r:.100}"
        )
    if is_type(function):
        raise TypeError(
            f"{combinator} takes middleware (c, next) and conditions (c), not the type "
            f"{function!r:.100}: write Depends(function) for a dependency"
        )
    try:
        return Part(function, not takes_next(function, combinator))
    except TypeError:
        raise TypeError(
            f"{combinator} takes middleware (c, next) and conditions (c), "
            f"not {describe_signature(function):.100}: is this a factory that has to be called?"
        ) from None


def is_type(function: Any) -> bool:
    """Returns whether a condition is a class or an alias such as `Annotated[User, ...]`.

    Its instances are true, so it would let every request through.
    """
    return isinstance(function, type) or get_origin(function) is not None


def called_again(part: Part) -> HandlerError:
    """Returns the error for a part that calls `next` a second time."""
    return HandlerError(describe(part.function), "called next() multiple times; call it once")
