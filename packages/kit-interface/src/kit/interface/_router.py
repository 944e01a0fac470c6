# SPDX-License-Identifier: MIT
"""The protocol for routers, and the types of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from .signatures import takes_next as _takes_next

T = TypeVar("T")

METHOD_NAME_ALL = "ALL"
"""The method of a route for all methods."""

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


class RouterRoute:
    """One registered route.

    Attributes:
        base_path: The prefix under which the route was registered, `/` if there is none.
        path: The whole pattern, prefix included.
        method: Upper-case method, or `ALL` for routes registered with `all` and `use`.
        handler: The registered function, with all its attributes.
        takes_next: Whether the handler is middleware, called with `(c, next)`. Default: determined
            from its signature.
    """

    # Not a dataclass: dataclasses imports inspect, which takes longer than all of Kit.
    __slots__ = ("base_path", "handler", "method", "path", "takes_next")

    takes_next: bool

    def __init__(
        self,
        base_path: str,
        path: str,
        method: str,
        handler: Callable[..., Any],
        *,
        takes_next: bool | None = None,
    ) -> None:
        self.base_path = base_path
        self.path = path
        self.method = method
        self.handler = handler
        if takes_next is None:
            try:
                takes_next = _takes_next(handler, f"{method} {path!r}")
            except TypeError:  # the registration rejects it
                takes_next = False
        self.takes_next = takes_next

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(base_path={self.base_path!r}, path={self.path!r}, "
            f"method={self.method!r}, handler={self.handler!r})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RouterRoute):
            return NotImplemented
        return (self.base_path, self.path, self.method, self.handler) == (
            other.base_path,
            other.path,
            other.method,
            other.handler,
        )

    def __hash__(self) -> int:
        return hash((self.base_path, self.path, self.method))
