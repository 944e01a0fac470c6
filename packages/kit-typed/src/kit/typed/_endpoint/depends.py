# SPDX-License-Identifier: MIT
"""The function that provides values by calling functions, and guards routes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.authoring.options import OptionChecks

from .._signature.markers import Scope
from .guards import Guard


def Depends(  # noqa: N802 - it reads as the other markers do
    dependency: Callable[..., Any] | None = None,
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> Any:
    """Provides a parameter by calling a function; its own parameters are read in the same way.

    Write it in an annotation, `Annotated[Pool, Depends(get_pool)]`, or as a default, `pool: Pool =
    Depends(get_pool)`. The function may be plain, async, a generator, an async generator, a
    function that returns a context manager, or a class. The code after the `yield`, or the exit of
    the context manager, runs at the end of the request: after the response has been sent, in
    reverse order. It receives the exception if there was one.

    Used as middleware, it guards routes: `@app.get("/me", use=Depends(check))`, or
    `app.use("/admin/*", Depends(check))`. The function then runs before the parameters and the body
    of the endpoint are read. It refuses a request by raising an exception, such as
    `HTTPException(401)`, by returning a response, which is sent, or by returning False, which
    becomes a 403. Any other value lets the request pass; if the endpoint or a later guard depends
    on the same function, it gets that value. Parameters without a marker are read from the path if
    the guard's own pattern has them.

    Args:
        dependency: The function. By default, the annotation itself is called, which must be a
            class.
        use_cache: Whether the function is called only once per request, even if several parameters
            use it.
        scope: When the exit code runs: `request`, after the response was sent, or `function`,
            before it is sent. With `function`, an exception of the exit code is handled like one of
            the endpoint.

    Returns:
        An object for annotations, defaults and middleware. Type checkers see it as Any.

    Raises:
        TypeError: If the dependency can't be called.
        ValueError: If the scope is unknown.
    """
    check = OptionChecks("Depends")
    if dependency is not None and not callable(dependency):
        check.wrong_type(
            "dependency",
            dependency,
            "a function whose parameters are read like those of endpoints",
        )
    check.flag("use_cache", use_cache)
    check.choice("scope", scope, ("request", "function"))
    return Guard(dependency, use_cache, scope)
