# SPDX-License-Identifier: MIT
"""Checks the options of an app that `Kit.route` adds to another one."""

from __future__ import annotations

from typing import Any

from kit._routing.app_state import AppState

ONE_FOR_ALL = frozenset(("get_path", "router", "strict"))
"""The options that apply before one of several apps is chosen for a request."""


def check_options(call: str, state: AppState, other: AppState) -> None:
    """Checks that no explicit option of the other app would be lost.

    If the other app doesn't set an option, the outer app's value applies.

    Args:
        call: The call, for errors.
        state: The app that receives the routes.
        other: The app that provides the routes.

    Raises:
        ValueError: If the other app sets an option that has no effect within this one.
    """
    if "strict" in other.given and other.strict != state.strict:
        _refuse(call, "strict", other.strict, state.strict, "whether a trailing slash counts")
    if "get_path" in other.given and other.get_path != state.get_path:
        _refuse(call, "get_path", other.get_path, state.get_path, "the path to route by")
    router, own = other.table.router, state.table.router
    if "router" in other.given and type(router) is not type(own):
        names = type(router).__name__, type(own).__name__
        _refuse(call, "router", *names, "how routes are found")
    for route in other.table.routes:
        for limits in route.limits:
            _check_limits(call, state, limits.changes)
    _check_limits(call, state, other.limits.changes)


def _refuse(call: str, name: str, theirs: Any, ours: Any, what: str) -> None:
    raise ValueError(
        f"{call} was given an app with {name}={theirs!r:.100}, but this app has {ours!r:.100}, and "
        f"the app that gets the requests decides {what}"
    )


def _check_limits(call: str, state: AppState, limits: dict[str, int | None]) -> None:
    """Checks that an app's limits aren't larger than the outer app's, which apply as well."""
    ours = state.limits.changes
    for name, limit in limits.items():
        most = ours.get(name)
        if most is not None and (limit is None or limit > most):
            raise ValueError(
                f"{call} was given an app with Limits({name}={limit}), but this app has "
                f"Limits({name}={most}), which applies to all its routes"
            )
