# SPDX-License-Identifier: MIT
"""The two middleware, which differ only in the path they redirect to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks
from kit.http.paths import slash_location
from kit.interface import AsyncMiddleware, Context, Next
from kit.route import endpoint


def trim_trailing_slash(*, always_redirect: bool = False) -> AsyncMiddleware:
    """Returns middleware that redirects `/about/` to `/about`.

    Only GET and HEAD requests are redirected, with a 301 (RFC 9110 section 15.4.2) and a relative
    Location; query and fragment are kept. `/` is never redirected. With `Kit(strict=False)` both
    paths are the same route, so nothing is redirected unless `always_redirect` is set.

    Register it before the routes. Don't combine it with `append_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. By default, only requests that no route
            handles are redirected, if the response is a 404, so routes with a trailing slash keep
            working. A wildcard route or a mounted application handles all requests.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `always_redirect` is not a bool.

    Example:
        app.use(trim_trailing_slash())
    """
    _check_bool("trim_trailing_slash", always_redirect)

    def is_trimmed(c: Context[Any, Any]) -> bool:
        # If only the URL has a slash, both paths are one route: if one isn't found, neither is.
        has_slash = always_redirect or c.req.path.endswith("/")
        return has_slash and _can_be(c) and _ends_with_slash(c.req.url) and not _is_root(c.req.url)

    return _redirecting("trim_trailing_slash", is_trimmed, adds=False, always=always_redirect)


def append_trailing_slash(
    *, always_redirect: bool = False, skip: Callable[[str], bool] | None = None
) -> AsyncMiddleware:
    """Returns middleware that redirects `/about` to `/about/`.

    Only GET and HEAD requests are redirected, with a 301 (RFC 9110 section 15.4.2) and a relative
    Location; query and fragment are kept.

    Register it before the routes. Don't combine it with `trim_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. By default, only requests that no route
            handles are redirected, if the response is a 404, so routes without a trailing slash
            keep working. A wildcard route or a mounted application handles all requests.
        skip: Called with `c.req.path`; returns True for paths to leave alone, such as those of
            files.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `always_redirect` is not a bool, or `skip` is not a plain function.

    Example:
        app.use(append_trailing_slash(skip=lambda path: path.endswith(".html")))
    """
    _check_bool("append_trailing_slash", always_redirect)
    if skip is not None:
        if not callable(skip):
            raise TypeError(f"append_trailing_slash(skip=...) takes a function, not {skip!r:.100}")
        # A coroutine is always true: nothing would be redirected.
        OptionChecks("append_trailing_slash").function("skip", skip, "(path)", plain=True)

    def is_appended(c: Context[Any, Any]) -> bool:
        path = c.req.path
        if path.endswith("/") or not _can_be(c):
            return False
        if skip is not None and plain_result(skip(path), skip, "append_trailing_slash(skip=...)"):
            return False
        return not _ends_with_slash(c.req.url)

    return _redirecting("append_trailing_slash", is_appended, adds=True, always=always_redirect)


def _redirecting(
    name: str, is_redirected: Callable[[Context[Any, Any]], bool], *, adds: bool, always: bool
) -> AsyncMiddleware:
    """Returns the middleware, named after its factory for route listings."""

    async def redirecting(c: Context[Any, Any], next: Next) -> Any:
        if always:
            if is_redirected(c):
                return c.redirect(slash_location(c.req.url, with_slash=adds), 301)
            await next()
            return None
        await next()
        # A handler may answer with a 404 of its own, which says more than a redirect.
        if c.res.status == 404 and endpoint(c) is None and is_redirected(c):
            c.res = c.redirect(slash_location(c.req.url, with_slash=adds), 301)
        return None

    redirecting.__name__ = redirecting.__qualname__ = name
    return redirecting


def _can_be(c: Context[Any, Any]) -> bool:
    """Whether a request may be redirected: GET or HEAD, and not for the root of the app."""
    return c.req.method in ("GET", "HEAD") and c.req.path != "/"


def _ends_with_slash(url: str) -> bool:
    """Whether the path of an absolute URL ends with a slash, which `strict=False` removes."""
    return url.partition("#")[0].partition("?")[0].endswith("/")


def _is_root(url: str) -> bool:
    """Whether an absolute URL has no path but a slash; `get_path` may put a prefix before it."""
    return url.partition("#")[0].partition("?")[0].count("/") < 4


def _check_bool(function: str, always_redirect: bool) -> None:
    if not isinstance(always_redirect, bool):
        raise TypeError(
            f"{function}(always_redirect=...) takes a bool, not {always_redirect!r:.100}"
        )
