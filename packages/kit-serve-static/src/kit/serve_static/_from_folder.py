# SPDX-License-Identifier: MIT
"""The middleware that serves a folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kit.authoring.maybe_await import call
from kit.http.fields import parse_accept
from kit.http.paths import decode_component, slash_location
from kit.interface import AsyncMiddleware, Context, KitRequest, Next, Response

from ._caching import CacheControl
from ._file_results import IS_FOLDER, FileRequest, FileResult
from ._media_types import find_extension, is_known
from ._options import IS_WINDOWS, Notify
from ._paths import rewritten, safe_segments
from ._static_root import StaticRoot
from ._threads import run_in_thread

_PAGES = frozenset(("", "htm", "html", "xhtml"))
_PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# The headers that decide whether a request gets the fallback.
_NAVIGATION = ("Accept", "Sec-Fetch-Mode")


class FolderOptions(NamedTuple):
    """The checked options of `serve_static` that requests need."""

    static_root: StaticRoot
    fixed: tuple[str, ...] | None
    fallback: tuple[str, ...] | None
    rewrite_request_path: Callable[[str], Any] | None
    allow_percent_in_path: bool
    dotfiles: bool
    cache_control: str | CacheControl | None
    on_found: Notify | None
    on_not_found: Notify | None


def from_folder(options: FolderOptions) -> AsyncMiddleware:
    """Returns the middleware.

    Args:
        options: The options.
    """

    async def serve_static(c: Context[Any, Any], next: Next) -> Response | None:
        req = c.req
        method = req.method
        if (method != "GET" and method != "HEAD") or c.finalized:
            await next()
            return None
        file_request = FileRequest(method, req.header)
        segments, has_slash, redirects = await _located(options, req.path)
        found = None
        if segments is not None:
            found = await run_in_thread(
                options.static_root.answer, file_request, segments, has_slash, redirects
            )
            if found == IS_FOLDER and _has_slash(req.url):
                # The routing path has lost the slash, since the app isn't strict.
                found = await run_in_thread(
                    options.static_root.answer, file_request, segments, True, False
                )
        if isinstance(found, FileResult):
            return await _respond(c, found, options)
        if found is not None:
            return c.body(None, 301, {"Location": slash_location(req.url, with_slash=True)})
        if options.on_not_found is not None:
            await call(options.on_not_found, req.path, c)
        if options.fallback is not None and segments is not None:
            return await _fall_back(c, next, file_request, options.fallback, options)
        await next()
        return None

    return serve_static


async def _located(
    options: FolderOptions, routed: str
) -> tuple[tuple[str, ...] | None, bool, bool]:
    """Returns the names on the path of a file, and the further arguments of `StaticRoot.answer`."""
    if options.fixed is not None:
        return options.fixed, False, False
    path = routed
    if "%" in routed:
        decoded = _decoded(routed)
        if decoded is None or ("%" in decoded and not options.allow_percent_in_path):
            return None, False, False
        path = decoded
    # Also checked before rewriting, so that the function gets a path without dot segments.
    segments = safe_segments(path, dotfiles=options.dotfiles, windows=IS_WINDOWS)
    if segments is not None and options.rewrite_request_path is not None:
        path = await rewritten(options.rewrite_request_path, path)
        segments = safe_segments(path, dotfiles=options.dotfiles, windows=IS_WINDOWS)
    return segments, bool(segments) and path.endswith("/"), not routed.endswith("/")


def _decoded(routed: str) -> str | None:
    """Decodes a routing path by segments. Returns None if this would create more segments."""
    segments = [decode_component(each) for each in routed.split("/")]
    # APPSEC: CVE-2026-29045: for the router, and so for guards, an encoded slash isn't a separator.
    if any("/" in each for each in segments):
        return None
    return "/".join(segments)


def _has_slash(url: str) -> bool:
    return url.partition("#")[0].partition("?")[0].endswith("/")


async def _respond(c: Context[Any, Any], found: FileResult, options: FolderOptions) -> Response:
    status, headers, body, path, name = found
    cache_control = options.cache_control
    # APPSEC: a cache that keeps a 416 would send it to clients that request the file.
    if cache_control is not None and status < 400:
        value = await call(cache_control, name) if callable(cache_control) else cache_control
        if value is not None:
            headers["Cache-Control"] = value
    vary = headers.pop("Vary", None)
    if vary is not None:
        c.header("Vary", vary, append=True)
    if options.on_found is not None:
        await call(options.on_found, path, c)
    return c.body(body, status, headers)


async def _fall_back(
    c: Context[Any, Any],
    next: Next,
    file_request: FileRequest,
    fallback: tuple[str, ...],
    options: FolderOptions,
) -> Response | None:
    """Responds to navigations with the fallback, unless a later route or middleware matches."""
    req = c.req
    extension = find_extension(req.path)
    may_be_page = extension in _PAGES or not is_known(req.path)
    if may_be_page and _is_last(c, req) and _is_navigation(req):
        found = await run_in_thread(
            options.static_root.answer, file_request, fallback, False, False
        )
        if isinstance(found, FileResult):
            c.header("Vary", ", ".join(_NAVIGATION), append=True)
            return await _respond(c, found, options)
    await next()
    if may_be_page and c.res.status == 404:
        # A cache must not respond to a navigation with the response for a script. c.header() copies
        # a response that the handler may return again.
        c.header("Vary", ", ".join(_NAVIGATION), append=True)
    return None


def _is_last(c: Context[Any, Any], req: KitRequest) -> bool:
    return req.route_index == len(c.matched_routes) - 1


def _is_navigation(req: KitRequest) -> bool:
    """Returns whether a browser will show the response as a page (Fetch Metadata, section 2.2)."""
    if req.header("Sec-Fetch-Mode") not in (None, "navigate"):
        return False
    accepted = parse_accept(req.header("Accept"))
    return any(each.q > 0 and each.type.lower() in _PAGE_TYPES for each in accepted)
