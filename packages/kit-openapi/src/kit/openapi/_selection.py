# SPDX-License-Identifier: MIT
"""Selects the operations of a document, for apps with several documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks

if TYPE_CHECKING:
    from ._operations import Operation

__all__ = ("OperationFilter", "RouteOperation", "Selection")


class RouteOperation(NamedTuple):
    """An operation of which a document may be made: a method of a route.

    Attributes:
        method: The method, in upper case.
        path: The pattern of its route, e.g. `/books/:id`.
        tags: Its tags.
        handler: The handler of the route, as registered.
    """

    method: str
    path: str
    tags: tuple[str, ...]
    handler: Any


OperationFilter: TypeAlias = str | Sequence[str] | Callable[[RouteOperation], bool]
"""Operations: tags, patterns such as `/v1/*`, or a function that returns whether it means one."""


class Selection:
    """The operations that a document includes.

    Args:
        factory: Name of the called function.
        include: The operations to include; None for all.
        exclude: The operations to leave out; None for none of them.

    Raises:
        TypeError: If one is neither a function nor names.
        ValueError: If one has no names.
    """

    def __init__(
        self, factory: str, include: OperationFilter | None, exclude: OperationFilter | None
    ) -> None:
        self._factory = factory
        self._include = self._check("include", include)
        self._exclude = self._check("exclude", exclude)

    def _check(self, option: str, given: Any) -> Any:
        if given is None:
            return None
        check = OptionChecks(self._factory)
        if callable(given):
            return check.function(option, given, "(operation)", plain=True)
        names = check.texts(option, given)
        if not names or not all(names):
            check.unusable(option, given, "tags, or patterns such as '/v1/*'")
        return names

    def choose(self, operations: Iterable[Operation]) -> list[Operation]:
        """Returns the operations of the document.

        Args:
            operations: All operations.

        Raises:
            ValueError: If no operation has one of the tags, or is covered by one of the patterns.
        """
        listed = [*operations]
        included = self._find("include", self._include, listed)
        excluded = self._find("exclude", self._exclude, listed)
        return [
            each
            for number, each in enumerate(listed)
            if (self._include is None or number in included) and number not in excluded
        ]

    def _find(self, option: str, given: Any, operations: Sequence[Operation]) -> set[int]:
        """Returns the indices of the operations that an option means."""
        from kit.router.patterns import covers

        from ._tags import find_tags

        if given is None:
            return set()
        if callable(given):
            where = f"{self._factory}({option}=...)"
            return {
                number
                for number, each in enumerate(operations)
                if plain_result(given(_describe(each, find_tags(each))), given, where)
            }
        found: set[int] = set()
        for name in given:
            is_pattern = name.startswith("/")
            meant = {
                number
                for number, each in enumerate(operations)
                if (covers(name, each.pattern) if is_pattern else name in find_tags(each))
            }
            if not meant:
                kind = "the pattern" if is_pattern else "the tag"
                said = "covers no operation" if is_pattern else "no operation has"
                raise ValueError(
                    f"{self._factory}({option}=...) has {kind} {name!r:.100}, which {said}"
                )
            found |= meant
        return found


def _describe(operation: Operation, tags: Iterable[str]) -> RouteOperation:
    return RouteOperation(operation.method, operation.pattern, (*tags,), operation.handler)
