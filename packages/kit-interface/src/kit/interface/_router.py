# SPDX-License-Identifier: MIT
"""The protocol for routers, and the types of their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

T = TypeVar("T")

Params: TypeAlias = Mapping[str, str]
"""Parameter values by name."""

ParamIndexMap: TypeAlias = Mapping[str, int]
"""Maps each parameter name to the index of its value in the stash."""


class ParamStash(Protocol):
    """The values of one match: anything that can be indexed with an int, e.g. a `re.Match`."""

    def __getitem__(self, index: int, /) -> str | Any | None: ...


Result: TypeAlias = tuple[list[tuple[T, ParamIndexMap]], ParamStash] | tuple[list[tuple[T, Params]]]
"""The result of a match, in registration order. It has one of two shapes, of different lengths:

`([(handler, {"id": 1})], stash)` with `stash[1] == "42"`: values by index into the stash;
`([(handler, {"id": "42"})],)`: the values themselves.

If nothing matches, it is `([],)` or `([], stash)`. Callers must not change the result, since a
router may return the same list again. The router must not change it either: Kit compiles the
handlers of a list once.
"""


class Router(Protocol[T]):
    """Finds the handlers for a method and a path.

    Third parties publish routers as entry points in the group `kit.routers`: zero-argument
    callables that return an instance.

    A class may have an attribute `cacheable = True`: once a router has matched, the same method and
    path always have the same handlers and parameters. Kit then keeps the results of paths that are
    requested often, and doesn't call `match` for them.
    """

    @property
    def name(self) -> str:
        """Name of the router, e.g. `TrieRouter`."""

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route.

        Args:
            method: Upper-case method, or `ALL` for every method.
            path: Route pattern; starts with `/`, or is `*`.
            handler: The value for `match` to return; opaque to the router.

        Raises:
            UnsupportedPathError: If the router doesn't support this route.
            RouterClosedError: If the router has matched before.
        """

    def match(self, method: str, path: str) -> Result[T]:
        """Finds all handlers for a request, in registration order.

        Args:
            method: Method of the request.
            path: Routing path of the request; starts with `/`.

        Returns:
            The handlers with their parameters, see `Result`.
        """
