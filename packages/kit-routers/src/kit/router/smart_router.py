# SPDX-License-Identifier: MIT
"""SmartRouter: uses the first of several routers that accepts all routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit import interface  # its errors are imported when they are raised
from kit.interface import is_cacheable

from .reg_exp_router import RegExpRouter
from .trie_router import TrieRouter

if TYPE_CHECKING:
    from kit.interface import Result, Router, UnsupportedPathError

__all__ = ("SmartRouter", "default_router")

T = TypeVar("T")


class SmartRouter(Generic[T]):
    """Selects a router according to the added routes.

    Each route is added to all routers, so a route that no router accepts raises an error
    immediately. A router that rejects a route is dropped. The first match selects the first
    remaining router; from then on, `match` is that router's own method, at no extra cost.

    Args:
        routers: Empty routers, in order of preference.

    Raises:
        TypeError: If one of them isn't a router, e.g. a router class.
        ValueError: If there is no router, or one of them is passed twice.

    Attributes:
        refusals: The name of each dropped router, and the error with the route that it rejected.
    """

    name = "SmartRouter"

    def __init__(self, routers: Sequence[Router[T]]) -> None:
        if not isinstance(routers, Sequence):
            raise TypeError(
                f"SmartRouter(routers=...) takes a list of routers, not {routers!r:.100}"
            )
        for router in routers:
            _check_router(router)
        if not routers or len({id(router) for router in routers}) < len(routers):
            raise ValueError("SmartRouter(routers=...) takes at least one router, each once")
        self.refusals: list[tuple[str, UnsupportedPathError]] = []
        self._left = list(routers)
        self._active: Router[T] | None = None
        self._closed = False

    @property
    def cacheable(self) -> bool:
        """Whether the results of its routers may be kept; see `kit.interface.is_cacheable`."""
        own: bool | None = vars(self).get("cacheable")
        return all(map(is_cacheable, self._left)) if own is None else own

    @cacheable.setter
    def cacheable(self, value: bool) -> None:
        vars(self)["cacheable"] = value

    @property
    def active_router(self) -> Router[T] | None:
        """The router in use; None before the first match."""
        return self._active

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Raises:
            UnsupportedPathError: If no router accepts the route; earlier routes are kept.
            RouterClosedError: If `match` has been called.
        """
        if self._closed:
            raise interface.RouterClosedError(method, path)
        taking: list[Router[T]] = []
        refusals: list[tuple[str, UnsupportedPathError]] = []
        for router in self._left:
            try:
                router.add(method, path, handler)
            except interface.UnsupportedPathError as error:
                refusals.append((router.name, error))
            else:
                taking.append(router)
        if not taking:
            raise refusals[-1][1]
        self._left = taking
        self.refusals += refusals

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Raises:
            UnsupportedPathError: If the last remaining router detects only now that it can't handle
                the routes.
        """
        self._closed = True
        for router in self._left:
            try:
                found = router.match(method, path)
            except interface.UnsupportedPathError as error:
                self.refusals.append((router.name, error))
                if router is self._left[-1]:
                    raise
            else:
                self._settle(router)
                return found
        raise AssertionError("unreachable: the last router returns or raises")

    def _settle(self, router: Router[T]) -> None:
        self._active = router
        # The other routers and their routes are no longer needed.
        self._left = [router]
        if is_cacheable(self):
            # Of this `match` as well. A subclass may have an attribute of this name.
            vars(self)["cacheable"] = True
        self.match = router.match  # type: ignore[method-assign]


def _check_router(router: object) -> None:
    if isinstance(router, type):
        raise TypeError(
            f"SmartRouter(routers=[...]) takes routers, not the class {router.__name__}: "
            f"create an instance, {router.__name__}()"
        )
    if not (hasattr(router, "add") and hasattr(router, "match")):
        raise TypeError(f"SmartRouter(routers=[...]) takes routers, not {router!r:.100}")


def default_router() -> SmartRouter[Any]:
    """Returns an app's default router: RegExpRouter, or TrieRouter if that rejects a route.

    Returns:
        An empty SmartRouter; its plugin name is `smart`.
    """
    return SmartRouter(routers=[RegExpRouter(), TrieRouter()])
