# SPDX-License-Identifier: MIT
"""Combinations of parts that are built for their route, such as typed guards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

from kit.authoring.route_hooks import bind, check, is_bindable
from kit.interface import Codecs, Context, HandlerResult, Middleware, Next, RouterRoute

from ._parts import Part

__all__ = ("build_middleware",)

_Build: TypeAlias = Callable[[tuple[Part, ...]], Middleware]


def build_middleware(parts: tuple[Part, ...], build: _Build, *, all_run: bool) -> Middleware:
    """Returns the middleware that runs parts, which an app binds if it has to bind one of them.

    Args:
        parts: The parts.
        build: Returns the middleware for parts.
        all_run: Whether each part runs after those before it, so that it finds their variables.
    """
    middleware: Middleware
    if any(is_bindable(part.function) for part in parts):
        middleware = _Combination(parts, build, all_run=all_run)
    else:
        middleware = build(parts)
    lifespans = [
        part.function.__kit_lifespan__
        for part in parts
        if hasattr(part.function, "__kit_lifespan__")
    ]
    if lifespans:
        middleware.__dict__["__kit_lifespan__"] = partial(_enter_all, lifespans)
    return middleware


@asynccontextmanager
async def _enter_all(lifespans: Iterable[Callable[[], Any]]) -> AsyncIterator[None]:
    """Runs the lifespans of parts; see `kit.interface.hooks`."""
    async with AsyncExitStack() as stack:
        for lifespan in lifespans:
            await stack.enter_async_context(lifespan())
        yield


class _Combination:
    """Middleware that is built for the route it is registered at; see `kit.interface.hooks`."""

    __kit_takes_next__ = True

    def __init__(self, parts: tuple[Part, ...], build: _Build, *, all_run: bool) -> None:
        self._parts = parts
        self._build = build
        self._all_run = all_run
        self._unbound = build(parts)

    def __call__(self, c: Context[Any, Any], next: Next) -> HandlerResult:
        """Runs the parts, for middleware that wraps this one."""
        return self._unbound(c, next)

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs) -> Middleware:
        """Builds the middleware for a route."""
        parts = tuple(
            part._replace(function=bind(part.function, method, pattern, codecs))
            for part in self._parts
        )
        handler = self._build(parts)

        def check_parts(before: Sequence[RouterRoute], route: RouterRoute | None) -> None:
            known = [*before]
            for part in parts:
                check(part.function, known, route)
                if self._all_run and not part.is_condition:
                    known.append(RouterRoute("/", pattern, method, part.function, takes_next=True))

        handler.__dict__.update(
            __kit_parts__=tuple(part.function for part in parts), __kit_check__=check_parts
        )
        return handler

    def __repr__(self) -> str:
        return f"{getattr(self._unbound, '__name__', 'combination')}({len(self._parts)} parts)"
