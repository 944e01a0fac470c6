# SPDX-License-Identifier: MIT
"""The middleware that stores the context, and the functions that return it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from kit.authoring.request_var import RequestVar
from kit.interface import AsyncMiddleware, Context, Next

if TYPE_CHECKING:
    from typing_extensions import TypeForm

ContextT = TypeVar("ContextT")

_current: RequestVar[Any] = RequestVar("kit.context_storage")


def context_storage() -> AsyncMiddleware:
    """Returns middleware that makes `get_context()` return the context of the request.

    It works everywhere within the request: in handlers and the functions they call, in tasks and
    threads started by anyio or asyncio, in streamed bodies, and in work passed to `wait_until`.

    Returns:
        The middleware, for `app.use(...)`. Register it before code that calls `get_context()`.

    Example:
        app.use(context_storage())
    """

    def context_storage(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        return _current.run(c, c, next)

    return context_storage


@overload
def get_context() -> Context[Any, Any]: ...
@overload
def get_context(type: TypeForm[ContextT], /) -> ContextT: ...
def get_context(type: Any = None, /) -> Any:
    """Returns the context of the current request.

    Args:
        type: The type of the context, for type checkers, e.g. `Context[Bindings, Variables]`; it
            is not checked.

    Returns:
        The context that the handlers receive.

    Raises:
        RuntimeError: Outside of a request that went through `context_storage`.
    """
    c = _current.get()
    if c is None:
        raise RuntimeError(
            "get_context() was called outside of a request that went through context_storage(): "
            "add app.use(context_storage()) before the handlers and middleware that call it, or "
            "use try_get_context(), which returns None here"
        )
    return c


@overload
def try_get_context() -> Context[Any, Any] | None: ...
@overload
def try_get_context(type: TypeForm[ContextT], /) -> ContextT | None: ...
def try_get_context(type: Any = None, /) -> Any:
    """Returns the context of the current request, if there is one.

    Args:
        type: As for `get_context`.

    Returns:
        The context; None outside of a request that went through `context_storage`.
    """
    return _current.get()


def path_to(
    handler: Callable[..., Any] | str,
    /,
    *,
    query: Any = None,
    **values: Any,
) -> str:
    """Returns the path of a handler's route, as `c.path_to` of the current request does.

    Args:
        handler: The registered function, or its name.
        query: The query as a mapping: a value, or a list of values, for each name.
        **values: The values of the parameters.

    Returns:
        The path and the query, percent-encoded.

    Raises:
        RuntimeError: Outside of a request that went through `context_storage`.
        LookupError: If the handler has no route, or several that the values don't decide between.
        TypeError: If a value is missing or can't be text, or the route has no such parameter.
        ValueError: If a value can't be in the path.

    Example:
        c.redirect(path_to(read_book, id=7))
    """
    return get_context().path_to(handler, query=query, **values)
