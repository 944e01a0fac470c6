# SPDX-License-Identifier: MIT
"""The two middleware, which differ only in the path they redirect to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.options import OptionChecks

_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE, without importing inspect


def trim_trailing_slash(*, always_redirect: bool = False) -> AsyncMiddleware:
    """Returns middleware that redirects `/about/` to `/about`.

    Only GET and HEAD requests are redirected, with a 301 (RFC 9110 section 15.4.2) and an absolute
    Location on the requested host; query and fragment are kept. `/` is never redirected. With
    `Kit(strict=False)` both paths are the same route, so nothing is redirected.

    Register it before the routes. Don't combine it with `append_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. By default, only requests that would get
            a 404 are redirected, so routes with a trailing slash keep working; with a wildcard
            route, no request gets a 404.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `always_redirect` is not a bool.

    Example:
        app.use(trim_trailing_slash())
    """
    _check_bool("trim_trailing_slash", always_redirect)

    return _redirecting("trim_trailing_slash", _trimmed, always_redirect)


def append_trailing_slash(
    *, always_redirect: bool = False, skip: Callable[[str], bool] | None = None
) -> AsyncMiddleware:
    """Returns middleware that redirects `/about` to `/about/`.

    Only GET and HEAD requests are redirected, with a 301 (RFC 9110 section 15.4.2) and an absolute
    Location on the requested host; query and fragment are kept.

    Register it before the routes. Don't combine it with `trim_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. By default, only requests that would get
            a 404 are redirected, so routes without a trailing slash keep working; with a wildcard
            route, no request gets a 404.
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
        OptionChecks("append_trailing_slash").function("skip", skip, "(path)")
    # An async function returns a coroutine, which is always true: nothing would be redirected.
    if getattr(getattr(skip, "__code__", None), "co_flags", 0) & _CO_COROUTINE:
        raise TypeError("append_trailing_slash(skip=...) takes a plain function, not an async one")

    def appended(c: Context[Any, Any]) -> str | None:
        return _appended(c, skip)

    return _redirecting("append_trailing_slash", appended, always_redirect)


def _redirecting(
    name: str, location_of: Callable[[Context[Any, Any]], str | None], always_redirect: bool
) -> AsyncMiddleware:
    """Returns the middleware, named after its factory for route listings."""

    async def redirecting(c: Context[Any, Any], next: Next) -> Any:
        if always_redirect:
            location = location_of(c)
            if location is not None:
                return c.redirect(location, 301)
            await next()
        else:
            await next()
            if c.res.status == 404:
                location = location_of(c)
                if location is not None:
                    c.res = c.redirect(location, 301)
        return None

    redirecting.__name__ = redirecting.__qualname__ = name
    return redirecting


def _trimmed(c: Context[Any, Any]) -> str | None:
    """Returns the URL without its trailing slash, or None if nothing should be removed."""
    path = c.req.path
    if not path.endswith("/") or not _is_redirected(c.req.method, path):
        return None
    url = c.req.url
    root, end = _path_of(url)
    # Checks the URL's own path too: `get_path` may have put a prefix before a lone slash.
    return url[: end - 1] + url[end:] if end - 1 > root and url[end - 1] == "/" else None


def _appended(c: Context[Any, Any], skip: Callable[[str], bool] | None) -> str | None:
    """Returns the URL with a trailing slash, or None if it should stay as it is."""
    path = c.req.path
    if path.endswith("/") or not _is_redirected(c.req.method, path) or (skip and skip(path)):
        return None
    url = c.req.url
    _, end = _path_of(url)
    # Checks the URL's own path too: with `strict=False` the request's path has lost its slash.
    return None if url[end - 1] == "/" else f"{url[:end]}/{url[end:]}"


def _is_redirected(method: str, path: str) -> bool:
    # APPSEC: a request target such as `@other.example/` would become part of the URL's host.
    return (method == "GET" or method == "HEAD") and path != "/" and path.startswith("/")


def _path_of(url: str) -> tuple[int, int]:
    """Returns the index of the first slash of an absolute URL's path, and the index of its end.

    APPSEC: redirects keep scheme and host in front of any path; a Location of just
    `//other.example` would lead to another host (RFC 3986 section 4.2).
    """
    end = len(url)
    for mark in "#?":
        position = url.find(mark, 0, end)
        if position >= 0:
            end = position
    return url.find("/", url.find("://") + 3, end), end


def _check_bool(function: str, always_redirect: bool) -> None:
    if not isinstance(always_redirect, bool):
        raise TypeError(
            f"{function}(always_redirect=...) takes a bool, not {always_redirect!r:.100}"
        )
