# SPDX-License-Identifier: MIT
"""The keys of requests."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urljoin

from kit.authoring.maybe_await import call
from kit.http.paths import parse_url_path
from kit.interface import Context

from ._entries import Key
from ._options import Options


async def build_key(
    c: Context[Any, Any], options: Options, headers: Mapping[str, str]
) -> Key | None:
    """Returns the key of a request; None if its response must not be stored.

    Args:
        c: The context.
        options: The options.
        headers: The headers of the request.
    """
    req = c.req
    content = ""
    if req.method == "QUERY":
        found = await _content_of_query(c, options.max_query_body_size)
        if found is None:
            return None
        content = f"QUERY {found}"
    name = options.cache_name
    if not isinstance(name, str):
        name = await _text("cache_name", name, c)
    if options.key_generator is not None:
        return Key(name, await _text("key_generator", options.key_generator, c), content)
    raw, host = req.raw, headers.get("host")
    scope = raw.scope
    if scope is None or raw.is_moved or host is None:
        scheme, host_of_url, query = _parts(req.url)
        # The handlers read the header, of which the URL has only the first line.
        host = host or host_of_url
    else:  # PERF: the URL is not built
        scheme, query = scope["scheme"], scope["query_string"].decode("latin-1")
    # The separator can't occur in any part, since clients control Host. In a mounted app, the path
    # excludes the root path, so the same path may exist in other apps.
    return Key(
        name, req.path, f"{scheme}\n{host.lower()}\n{query}\n{content}\n{quote(raw.root_path)}"
    )


def build_variant_key(key: Key, values: tuple[tuple[str, str | None], ...]) -> Key:
    """Returns the key of the response for specific values of request headers.

    Args:
        key: The key of the URL.
        values: The headers it depends on, with their values.
    """
    digest = sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()
    return Key(key.cache, key.group, f"{key.rest}\n{digest}")


async def paths_to_invalidate(c: Context[Any, Any], options: Options) -> list[tuple[str, str]]:
    """Returns the groups that a successful unsafe request invalidates (RFC 9111, section 4.4).

    Args:
        c: The context, with the response.
        options: The options.

    Returns:
        Pairs of cache name and group: the group of the request, and those of the response's
        Location and Content-Location, if they have the same origin.
    """
    name = options.cache_name
    if not isinstance(name, str):
        name = await _text("cache_name", name, c)
    if options.key_generator is not None:
        return [(name, await _text("key_generator", options.key_generator, c))]
    url = c.req.url
    groups = [c.req.path]
    root = c.req.raw.root_path
    for header in ("location", "content-location"):
        value = c.res.headers.get(header)
        if value:
            other = _joined(url, value)
            if other is not None and _parts(other)[:2] == _parts(url)[:2]:
                path = parse_url_path(other)
                groups += path, path.removeprefix(root)
    return [(name, group) for group in dict.fromkeys(groups)]


async def _text(option: str, function: Any, c: Context[Any, Any]) -> str:
    found: Any = await call(function, c)
    if not isinstance(found, str):
        raise TypeError(
            f"cache({option}=...): the function returned {type(found).__name__}, expected a str"
        )
    return found


async def _content_of_query(c: Context[Any, Any], most: int) -> str | None:
    """Returns a digest of a request's content and of the headers that describe it."""
    declared = c.req.header("content-length") or ""
    # PERF: avoids converting very long numbers.
    if not declared.isascii() or not declared.isdigit() or len(declared) > 15:
        return None
    if not 0 < int(declared) <= most:
        return None
    digest = sha256()
    for name in ("content-type", "content-encoding", "content-language"):
        digest.update(repr(c.req.header(name)).encode())
    digest.update(await c.req.bytes())
    return digest.hexdigest()


def _joined(url: str, value: str) -> str | None:
    try:
        return urljoin(url, value)
    except ValueError:
        return None


def _parts(url: str) -> tuple[str, str, str]:
    """Returns scheme, host and query of an absolute URL."""
    scheme, _, rest = url.partition("://")
    rest = rest.partition("#")[0]
    before, _, query = rest.partition("?")
    return scheme.lower(), before.partition("/")[0].lower(), query
