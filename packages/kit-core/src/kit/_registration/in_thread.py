# SPDX-License-Identifier: MIT
"""Runs blocking handlers in worker threads."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Coroutine
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, overload

from kit.authoring.route_hooks import is_bindable
from kit.authoring.signatures import describe, describe_signature, is_async, takes_next

P = ParamSpec("P")
T = TypeVar("T")

_DEFAULT_THREADS = 40
_numbers = itertools.count()


@overload
def in_thread(
    handler: Callable[P, T], /, *, limiter: int | None = None
) -> Callable[P, Coroutine[Any, Any, T]]: ...
@overload
def in_thread(
    *, limiter: int | None = None
) -> Callable[[Callable[P, T]], Callable[P, Coroutine[Any, Any, T]]]: ...
def in_thread(handler: Any = None, /, *, limiter: int | None = None) -> Any:
    """Turns a plain, blocking function into a handler that runs in a worker thread.

        @app.get("/report")
        @in_thread
        def report(c):
            return c.json(slow_query(c.req.query("month")))

    Write it below `@app.get`, which would otherwise register the plain function. The rest of the
    request waits for the function, so later code sees the values that it sets on `c`. The function
    sees the context variables of the request; changes to them are lost when it returns. To await
    something, such as `c.req.json()`, call `anyio.from_thread.run(c.req.json)`. A generator that
    the function returns as a body is not moved to a thread. A cancelled request waits until the
    function has returned.

    Args:
        handler: A plain function: a handler `(c)`, or a function below `@typed`. If omitted,
            returns a decorator.
        limiter: The maximum number of threads per event loop that run the function; further
            requests wait. Default: 40 threads, shared by all functions without their own limit,
            and separate from anyio's other threads. A function that waits for a resource that other
            requests hold, such as a connection of a pool, needs its own limit: waiting functions
            could fill the shared threads, and keep out those that return the resource.

    Returns:
        An async handler with the name and attributes of the function.

    Raises:
        TypeError: If `handler` is async, isn't a function, or takes `next`, which a thread can't
            await.
        ValueError: If `limiter` is below 1.
    """
    if limiter is not None:
        if not isinstance(limiter, int) or isinstance(limiter, bool):
            raise TypeError(f"in_thread(limiter=...) takes a number of threads, not {limiter!r}")
        if limiter < 1:
            raise ValueError(f"Invalid limiter {limiter!r} of in_thread(): expected 1 or more")
    threads = _shared if limiter is None else _Threads(limiter)
    return _wrap(handler, threads) if handler is not None else lambda each: _wrap(each, threads)


class _Threads:
    """A thread limit for each event loop."""

    def __init__(self, count: int) -> None:
        self._count = count
        # The oldest supported anyio distinguishes such variables by name.
        self._name = f"kit.in_thread-{next(_numbers)}"
        self._variable: Any = None

    def limiter(self) -> Any:
        """Returns the limiter of the running event loop."""
        variable = self._variable
        if variable is None:
            from anyio.lowlevel import RunVar

            variable = self._variable = RunVar(self._name, None)
        limiter = variable.get()
        if limiter is None:
            from anyio import CapacityLimiter

            limiter = CapacityLimiter(self._count)
            variable.set(limiter)
        return limiter


_shared = _Threads(_DEFAULT_THREADS)


def _wrap(handler: Any, threads: _Threads) -> Any:
    _check(handler)

    async def run(*arguments: Any, **named: Any) -> Any:
        # In a tuple, since trio refuses a coroutine, as from `return c.not_found()`.
        work = lambda: (handler(*arguments, **named),)  # noqa: E731
        (result,) = await _run_sync()(work, limiter=threads.limiter())
        return result

    return functools.wraps(handler)(run)


# PERF: an import statement at each call would take as long as the rest of `run`.
@functools.cache
def _run_sync() -> Any:
    from anyio.to_thread import run_sync

    return run_sync


def _check(handler: Any) -> None:
    if not callable(handler):
        raise TypeError(f"in_thread() takes a plain function (c), not {handler!r:.100}")
    if _is_async(handler):
        raise TypeError(f"in_thread() takes a plain function: {describe(handler)} is async")
    if is_bindable(handler):
        raise TypeError(
            f"in_thread() takes a plain function: {describe(handler)} is wrapped by @typed, which "
            "belongs above @in_thread"
        )
    if _takes_next(handler):
        raise TypeError(
            f"in_thread() takes a handler (c): {describe_signature(handler)} takes next, which can "
            "only be awaited on the event loop"
        )


def _takes_next(handler: Any) -> bool:
    try:
        return takes_next(handler, "in_thread()")
    except TypeError:  # refused at registration, unless it is typed
        return False


def _is_async(handler: Any) -> bool:
    import inspect

    if is_async(handler):
        return True
    while isinstance(handler, functools.partial):
        handler = handler.func
    functions = (each for each in (handler, type(handler).__call__) if type(each) is FunctionType)
    return any(map(inspect.isasyncgenfunction, functions))
