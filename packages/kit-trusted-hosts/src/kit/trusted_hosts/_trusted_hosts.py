# SPDX-License-Identifier: MIT
"""The guard, which compares the host of a request with the trusted hosts."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.metadata import attach

from ._names import Requested, check_host, parse_host

_MOST_REMEMBERED = 100


def trusted_hosts(*hosts: str, redirect_www: bool = False) -> AsyncMiddleware:
    """Returns middleware that rejects requests for unknown hosts.

    Links in emails, redirects and cache keys are often built from the host of the request, and
    clients can send any host. A request for another host, or with a missing, repeated or malformed
    Host header (RFC 9112, section 3.2), raises an `HTTPException` with status 400.

    Only the Host header counts, set from `:authority` for HTTP/2 and HTTP/3; X-Forwarded-Host is
    never read. Ports, case and a trailing dot make no difference. For a request made in process, as
    in tests, the host of its URL counts, unless it has a Host header.

    Args:
        *hosts: The trusted hosts: names such as `example.com`; `*.example.com` for all subdomains,
            at any depth, but not the domain itself; IPv4 addresses; IPv6 addresses in brackets.
            They are compared literally. International names are written in punycode.
        redirect_www: Redirect `example.com` to `www.example.com` if only the latter is trusted:
            with 301 for GET and HEAD, otherwise with 308, which keeps method and body (RFC 9110,
            section 15.4). Scheme, port, path and query are kept.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If there are no hosts, one can't be used, or there is nothing to redirect.

    Example:
        app.use(trusted_hosts("example.com", "*.example.com"))
    """
    OptionChecks("trusted_hosts").flag("redirect_www", redirect_www)
    if not hosts:
        raise ValueError("trusted_hosts() takes at least one host, but got none")
    checked = [check_host(each) for each in hosts]
    literals = frozenset(each for each in checked if not each.startswith("*."))
    suffixes = tuple(each[1:] for each in checked if each.startswith("*."))
    redirected = _redirected(literals, suffixes) if redirect_www else frozenset()
    # PERF: most requests have the same few hosts. Only a limited number of trusted ones is cached:
    # clients can send any number of names that match a wildcard.
    remembered = set(literals)

    # PERF: a plain function, since there is nothing to do after the handlers.
    def trusted_hosts(c: Context[Any, Any], next: Next) -> Awaitable[Response | None]:
        header = c.req.header("host")
        if header in remembered:
            return next()
        if header is None and c.req.raw.scope is None:
            header = _host_of_url(c.req.url)
        requested = parse_host(header) if header else None
        if requested is not None:
            name = requested.name
            if name in literals or name.endswith(suffixes):
                if header and len(remembered) < _MOST_REMEMBERED:
                    remembered.add(header)
                return next()
            if name in redirected:
                return _to_www(c, requested)
        raise HTTPException(400, message="Invalid Host header")

    return attach(
        trusted_hosts, responses={400: "The Host header is malformed, or names another host"}
    )


def _redirected(literals: frozenset[str], suffixes: tuple[str, ...]) -> frozenset[str]:
    """Returns the hosts that are trusted only with `www.` before them."""
    without_www = {each[4:] for each in literals if each.startswith("www.")}
    redirected = frozenset(each for each in without_www - literals if not each.endswith(suffixes))
    if not redirected:
        raise ValueError(
            "trusted_hosts(redirect_www=True) has nothing to redirect: expected a host such as "
            "'www.example.com' without 'example.com'"
        )
    return redirected


async def _to_www(c: Context[Any, Any], requested: Requested) -> Response:
    url = c.req.url
    target = url[url.index("/", url.index("://") + 3) :]
    if c.req.raw.is_below_root_path:
        from urllib.parse import quote

        target = quote(c.req.raw.root_path) + target  # a mount has removed it from the URL
    # SPEC: RFC 3986 section 4.2. Without a scheme, so that a client that uses https stays on https
    # even if the proxy uses http.
    location = f"//www.{requested.name}{requested.port}{target}"
    return c.redirect(location, 301 if c.req.method in ("GET", "HEAD") else 308)


def _host_of_url(url: str) -> str:
    authority = url[url.index("://") + 3 :].partition("/")[0]
    return authority.rpartition("@")[2]
