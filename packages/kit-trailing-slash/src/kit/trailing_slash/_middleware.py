# SPDX-License-Identifier: MIT
"""The two middleware, which differ only in which path they take for the right one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.interface import Context, Middleware, Next

_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE, without the import of inspect


def trim_trailing_slash(*, always_redirect: bool = False) -> Middleware:
    """Makes middleware that redirects `/about/` to `/about`.

    GET and HEAD requests alone are redirected, by 301 (RFC 9110 section 15.4.2) with an absolute
    Location on the host that was asked, query and fragment unchanged. `/` is never redirected.
    With `Kit(strict=False)`, where both paths are one route, there is nothing to redirect.

    Register it before the routes. Don't use it together with `append_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. Otherwise only a request that ends in
            404 is redirected, and a route with the slash goes on to work; a wildcard route leaves
            no such request.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `always_redirect` is no bool.

    Example:
        app.use(trim_trailing_slash())
    """
    _check_bool("trim_trailing_slash", always_redirect)

    return _redirecting("trim_trailing_slash", _trimmed, always_redirect)


def append_trailing_slash(
    *, always_redirect: bool = False, skip: Callable[[str], bool] | None = None
) -> Middleware:
    """Makes middleware that redirects `/about` to `/about/`.

    GET and HEAD requests alone are redirected, by 301 (RFC 9110 section 15.4.2) with an absolute
    Location on the host that was asked, query and fragment unchanged.

    Register it before the routes. Don't use it together with `trim_trailing_slash` in one app.

    Args:
        always_redirect: Redirect before any handler runs. Otherwise only a request that ends in
            404 is redirected, and a route without the slash goes on to work; a wildcard route
            leaves no such request.
        skip: Given `c.req.path`, tells whether to leave it alone, e.g. the path of a file.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `always_redirect` is no bool, or `skip` no plain function.

    Example:
        app.use(append_trailing_slash(skip=lambda path: path.endswith(".html")))
    """
    _check_bool("append_trailing_slash", always_redirect)
    if skip is not None and not callable(skip):
        raise TypeError(f"append_trailing_slash(skip=...) takes a function, not {skip!r:.100}")
    # What an async function returns is true: nothing would ever be redirected.
    if getattr(getattr(skip, "__code__", None), "co_flags", 0) & _CO_COROUTINE:
        raise TypeError("append_trailing_slash(skip=...) takes a plain function, not an async one")

    def appended(c: Context[Any, Any]) -> str | None:
        return _appended(c, skip)

    return _redirecting("append_trailing_slash", appended, always_redirect)


def _redirecting(
    name: str, location_of: Callable[[Context[Any, Any]], str | None], always_redirect: bool
) -> Middleware:
    """Makes the middleware, which bears the name of its factory as route listings show it."""

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
    """Gives the URL without its slash, or None if it has none to lose."""
    path = c.req.path
    if not path.endswith("/") or not _is_redirected(c.req.method, path):
        return None
    url = c.req.url
    root, end = _path_of(url)
    # The path of the URL counts too: `get_path` may have put something before a lone slash.
    return url[: end - 1] + url[end:] if end - 1 > root and url[end - 1] == "/" else None


def _appended(c: Context[Any, Any], skip: Callable[[str], bool] | None) -> str | None:
    """Gives the URL with a slash, or None if it is right as it is."""
    path = c.req.path
    if path.endswith("/") or not _is_redirected(c.req.method, path) or (skip and skip(path)):
        return None
    url = c.req.url
    _, end = _path_of(url)
    # The path of the URL counts too: with `strict=False` that of the request has lost its slash.
    return None if url[end - 1] == "/" else f"{url[:end]}/{url[end:]}"


def _is_redirected(method: str, path: str) -> bool:
    # APPSEC: a request target such as `@other.example/` would become part of the host in a URL.
    return (method == "GET" or method == "HEAD") and path != "/" and path.startswith("/")


def _path_of(url: str) -> tuple[int, int]:
    """Tells where in an absolute URL the first slash of its path is, and where the path ends.

    APPSEC: scheme and host stay in front of the path, whatever it is; a Location such as
    `//other.example` alone would lead to another host (RFC 3986 section 4.2).
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
