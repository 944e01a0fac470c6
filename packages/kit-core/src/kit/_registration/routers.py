# SPDX-License-Identifier: MIT
"""Finds the router of an app, and a function that creates another one like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kit.interface import Router

MakeRouter: TypeAlias = "Callable[[], Router[Any]]"


def resolve_router(router: Any) -> tuple[Router[Any], MakeRouter | None]:
    """Returns the router that `Kit(router=...)` names, and a function that creates another one.

    Args:
        router: A router, or the name of an installed one.

    Returns:
        The router and the function; None instead of the function if the router can't be copied.

    Raises:
        PluginError: If no router of this name is installed, or it can't be loaded.
        TypeError: If it is neither a router nor a name.
    """
    if isinstance(router, str):
        from kit.interface import plugins

        make: MakeRouter = plugins.load("kit.routers", router)
        return make(), make
    if isinstance(router, type):
        raise TypeError(
            f"Kit(router=...) takes a Router or a name, not the class {router.__name__}"
        )
    if not (hasattr(router, "add") and hasattr(router, "match")):
        raise TypeError(f"Kit(router=...) takes a Router or a name, not {router!r:.100}")
    return router, _copy_router(router)


def _copy_router(router: Router[Any]) -> MakeRouter | None:
    from copy import deepcopy

    try:
        pristine = deepcopy(router)
    except Exception:  # from its attributes, which may contain a lock, a socket, ...
        return None
    return lambda: deepcopy(pristine)
