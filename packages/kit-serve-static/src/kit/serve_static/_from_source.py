# SPDX-License-Identifier: MIT
"""The middleware that serves content from a function, such as files in a bucket or in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kit.authoring.maybe_await import call
from kit.http.encodings import IDENTITY, choose_encoding
from kit.interface import AsyncMiddleware, Context, Next, Response, is_response

from ._caching import CacheControl
from ._media_types import OCTET_STREAM, find_content_type, is_compressible
from ._options import GetContent, IsDir, Notify
from ._paths import rewritten, safe_segments
from ._static_root import EXTENSIONS

# Segments `.` and `..`, empty segments, and backslashes, which may also separate segments. Joining
# would remove them, and so lead to content that guards weren't matched with.
_AMBIGUOUS = re.compile(r"(?:\A|/)\.{1,2}(?:/|\Z)|//|\\")
_DOT = re.compile(r"(?:^|/)\.(?=/|$)")
_SLASHES = re.compile("/{2,}")


class SourceOptions(NamedTuple):
    """The checked options of `serve_static` that requests need."""

    root: str
    path: str | None
    get_content: GetContent
    is_dir: IsDir | None
    join: Callable[..., str] | None
    path_resolve: Callable[[str], str] | None
    index_name: str | None
    rewrite_request_path: Callable[[str], Any] | None
    allow_percent_in_path: bool
    dotfiles: bool
    mimes: Mapping[str, str]
    encodings: tuple[str, ...]
    cache_control: str | CacheControl | None
    on_found: Notify | None
    on_not_found: Notify | None


def from_source(options: SourceOptions) -> AsyncMiddleware:
    """Returns the middleware.

    Args:
        options: The options.
    """

    async def serve_static(c: Context[Any, Any], next: Next) -> Response | None:
        req = c.req
        if req.method not in ("GET", "HEAD") or c.finalized:
            await next()
            return None
        path, is_refused = await _located(options, req.path)
        content = None
        if not is_refused:
            if options.index_name and options.is_dir and await call(options.is_dir, path):
                path = await _joined(options, path, options.index_name)
            content = await call(options.get_content, path, c, may_yield=True)
        if content is None:
            if options.on_not_found is not None:
                await call(options.on_not_found, path, c)
            await next()
            return None
        if is_response(content):
            headers = {name: content.headers.get_all(name) for name in content.headers}
            return c.new_response(content.body, content.status, headers)
        return await _respond(c, path, content, options)

    return serve_static


async def _located(options: SourceOptions, routed: str) -> tuple[str, bool]:
    """Returns the path to pass to the function, and whether it is rejected."""
    if options.path is not None:
        # The app chose this path, so it may be outside the root, as in Hono.
        return await _joined(options, options.root, options.path, may_leave=True), False
    if _AMBIGUOUS.search(routed) or ("%" in routed and not options.allow_percent_in_path):
        return routed, True
    # A routing path is decoded except for delimiters and `%25`; only the latter is decoded here.
    path = routed = routed.replace("%25", "%")
    is_refused = _is_refused(options, routed)
    if options.rewrite_request_path is not None:
        path = await rewritten(options.rewrite_request_path, routed)
        is_refused = is_refused or _is_refused(options, path)
    return await _joined(options, options.root, path), is_refused


def _is_refused(options: SourceOptions, path: str) -> bool:
    # `.` and empty segments don't change the meaning of a path.
    plain = _SLASHES.sub("/", _DOT.sub("", path))
    return safe_segments(plain, dotfiles=options.dotfiles) is None


async def _joined(options: SourceOptions, root: str, path: str, *, may_leave: bool = False) -> str:
    if options.join is None:
        joined = join(root, path, may_leave=may_leave)
    else:
        joined = await call(options.join, root, path)
    return joined if options.path_resolve is None else await call(options.path_resolve, joined)


def join(root: str, path: str, *, may_leave: bool = False) -> str:
    """Joins paths with slashes, and resolves `.` and `..` in them.

    Args:
        root: The first path. It may begin with `..`.
        path: The path below it.
        may_leave: Whether `..` in `path` can lead above `root`; otherwise, such `..` are dropped.

    Returns:
        The path; a trailing slash is kept. `.` if nothing is left.
    """
    below = path if may_leave else _resolved(path, may_leave=False)
    return _resolved("/".join(filter(None, (root, below))), may_leave=True) or "."


def _resolved(path: str, *, may_leave: bool) -> str:
    segments: list[str] = []
    for segment in _SLASHES.sub("/", path).split("/"):
        if segment != "..":
            if segment != ".":
                segments.append(segment)
        elif may_leave and (not segments or segments[-1] == ".."):
            segments.append(segment)
        elif segments and (may_leave or segments[-1]):
            segments.pop()
    return "/".join(segments)


async def _respond(
    c: Context[Any, Any], path: str, content: Any, options: SourceOptions
) -> Response:
    content_type = find_content_type(path, options.mimes) or OCTET_STREAM
    headers = {"Content-Type": content_type}
    if options.encodings and is_compressible(content_type):
        c.header("Vary", "Accept-Encoding", append=True)
        encoding, other = await _encoded(c, path, options)
        if encoding is not None:
            headers["Content-Encoding"] = encoding
            content = other
    cache_control = options.cache_control
    if cache_control is not None:
        value = await call(cache_control, path) if callable(cache_control) else cache_control
        if value is not None:
            headers["Cache-Control"] = value
    if options.on_found is not None:
        await call(options.on_found, path, c)
    return c.body(content, None, headers)


async def _encoded(
    c: Context[Any, Any], path: str, options: SourceOptions
) -> tuple[str | None, Any]:
    available = options.encodings
    accepted = c.req.header("Accept-Encoding")
    while (encoding := choose_encoding(accepted, available)) not in (None, IDENTITY):
        name = path + EXTENSIONS[str(encoding)]
        content = await call(options.get_content, name, c, may_yield=True)
        if content is not None:
            return encoding, content
        available = tuple(each for each in available if each != encoding)
    return None, None
