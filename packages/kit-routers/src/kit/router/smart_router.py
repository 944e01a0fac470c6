# SPDX-License-Identifier: MIT
"""SmartRouter: uses the first of several routers that takes all routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from kit.interface import Result, Router, RouterClosedError, UnsupportedPathError

from .reg_exp_router import RegExpRouter
from .trie_router import TrieRouter

__all__ = ("SmartRouter", "default_router")

T = TypeVar("T")


class SmartRouter(Generic[T]):
    """Picks a router by the routes it is given.

    Every route goes to all the routers, so that a route that none takes is an error when it is
    added. A router that refuses one is out. The first match settles on the first that is left; from
    then on `match` is that router's own, and costs nothing more.

    Args:
        routers: Empty routers, the preferred one first.

    Raises:
        ValueError: If there is no router, or one of them has been given twice.

    Attributes:
        name: `SmartRouter`, and after the first match `SmartRouter + ` the name of the one in use.
        refusals: Why routers are out: the name of each, and the error with the route it refused.
    """

    def __init__(self, routers: Sequence[Router[T]]) -> None:
        if not routers or len({id(router) for router in routers}) < len(routers):
            raise ValueError("SmartRouter(routers=...) takes at least one router, each once")
        self.name = "SmartRouter"
        self.refusals: list[tuple[str, UnsupportedPathError]] = []
        self._left = list(routers)
        self._closed = False

    def add(self, method: str, path: str, handler: T) -> None:
        """Adds a route; see `kit.interface.Router.add`.

        Args:
            method: Upper-case method, or `ALL`.
            path: Route pattern.
            handler: What `match` is to give back.

        Raises:
            UnsupportedPathError: If none of the routers takes the route; those before stay.
            RouterClosedError: If the router has matched before.
        """
        if self._closed:
            raise RouterClosedError(method, path)
        taking: list[Router[T]] = []
        refusals: list[tuple[str, UnsupportedPathError]] = []
        for router in self._left:
            try:
                router.add(method, path, handler)
            except UnsupportedPathError as error:
                refusals.append((router.name, error))
            else:
                taking.append(router)
        if not taking:
            raise refusals[-1][1]
        self._left = taking
        self.refusals += refusals

    def match(self, method: str, path: str) -> Result[T]:
        """Finds the handlers for a request; see `kit.interface.Router.match`.

        Args:
            method: Method of the request.
            path: Routing path.

        Returns:
            What the router in use gives.

        Raises:
            UnsupportedPathError: If the last router that is left finds only now that it can't take
                the routes.
        """
        self._closed = True
        for router in self._left:
            try:
                found = router.match(method, path)
            except UnsupportedPathError as error:
                self.refusals.append((router.name, error))
                if router is self._left[-1]:
                    raise
            else:
                self._settle(router)
                return found
        raise AssertionError("unreachable: the last router answers or raises")

    def _settle(self, router: Router[T]) -> None:
        self.name = f"SmartRouter + {router.name}"
        self.match = router.match  # type: ignore[method-assign]
        # The others, and the routes that they hold, are not needed any more.
        self._left = [router]


def default_router() -> SmartRouter[Any]:
    """Makes the router of an app that names none: RegExpRouter, or TrieRouter if that refuses.

    Returns:
        An empty SmartRouter; it is what the name `smart` stands for.
    """
    return SmartRouter(routers=[RegExpRouter(), TrieRouter()])
