# SPDX-License-Identifier: MIT
"""Registered routes and their routers, apart from the protocols, which take longer to create."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

METHOD_NAME_ALL = "ALL"
"""The method of a route for all methods."""


def is_cacheable(router: Any) -> bool:
    """Returns whether an app may keep the results of a router, as the router's `cacheable` says.

    A subclass or an object with a `match` of its own has to say so itself.

    Args:
        router: The router.
    """
    own = getattr(router, "__dict__", {})
    for attributes in (own, *map(vars, type(router).__mro__)):
        if "match" in attributes:
            return "cacheable" in attributes and router.cacheable is True
    return False


class RouterRoute:
    """One registered route.

    Attributes:
        base_path: The prefix under which the route was registered, `/` if there is none.
        path: The whole pattern, prefix included.
        method: Upper-case method, or `ALL` for routes registered with `all` and `use`.
        handler: The registered function, with all its attributes.
        takes_next: Whether the handler is middleware, called with `(c, next)`.
    """

    # Not a dataclass: dataclasses imports inspect, which takes longer than all of Kit.
    __slots__ = ("base_path", "handler", "method", "path", "takes_next")
    __module__ = "kit.interface"  # shown as it is imported

    def __init__(
        self,
        base_path: str,
        path: str,
        method: str,
        handler: Callable[..., Any],
        *,
        takes_next: bool,
    ) -> None:
        self.base_path = base_path
        self.path = path
        self.method = method
        self.handler = handler
        self.takes_next = takes_next

    @property
    def validation_status(self) -> int | None:
        """The status of validation errors if the route is part of an app with its own; or None."""
        return None

    @property
    def body_limits(self) -> Mapping[str, int]:
        """The limits of request bodies if the route is part of an app with its own; see `App`."""
        return {}

    @property
    def error_format(self) -> Any:
        """The format of errors if the route is part of an app with its own; see `App`; or None."""
        return None

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
