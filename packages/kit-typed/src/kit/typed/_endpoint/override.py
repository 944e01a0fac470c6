# SPDX-License-Identifier: MIT
"""Replaces dependencies in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from kit.authoring.caller_frame import find_caller_frame
from kit.authoring.route_hooks import find_bound
from kit.interface import App

from .resolution import read_overrides


@contextmanager
def override(
    app: App, dependencies: Mapping[Callable[..., Any], Callable[..., Any]], /
) -> Iterator[None]:
    """Replaces dependencies by other functions, in tests.

        with override(app, {get_pool: lambda: fake_pool}):
            response = await app.request("/books/1")

    It applies to all currently registered routes of the app, until the end of the block.

    Args:
        app: The app.
        dependencies: A mapping of functions given to `Depends` to the functions to call instead.
            Their parameters are read like the parameters of any dependency.

    Raises:
        TypeError: If a function can't be a dependency of one of these routes.
        LookupError: If no route of the app uses a dependency.
    """
    frame: FrameType | None = find_caller_frame()[0]
    while frame is not None and frame.f_globals.get("__name__") == "contextlib":
        frame = frame.f_back  # `with` calls this generator through contextlib
    signatures = read_overrides(dependencies, {} if frame is None else frame.f_locals)
    routes = [route for each in app.routes for route in find_bound(each.handler, "__kit_route__")]
    used = {call for route in routes for call in route.resolution.functions}
    for function in signatures:
        if function not in used:
            raise LookupError(f"override() was given {function!r:.100}, which no route uses")
    changed = []
    try:
        for route in routes:
            route.override(signatures)
            changed.append(route)
        yield
    finally:
        for route in changed:
            route.restore(signatures)
