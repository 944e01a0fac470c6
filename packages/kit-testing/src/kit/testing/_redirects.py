# SPDX-License-Identifier: MIT
"""The request that follows a redirect."""

from __future__ import annotations

from collections.abc import Callable

from kit.web import URL, Request, Response

# SPEC: WHATWG Fetch section 2.2.6, redirect status.
_STATUSES = (301, 302, 303, 307, 308)
# SPEC: WHATWG Fetch section 2.2.2, request-body-header name.
_OF_THE_BODY = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-type",
)


def redirected(
    request: Request, response: Response, is_own: Callable[[URL], bool], *, is_streamed: bool
) -> Request | None:
    """Returns the request that a response redirects to.

    SPEC: WHATWG Fetch section 4.4, HTTP-redirect fetch.

    Args:
        request: The request, with its body unread.
        response: The response.
        is_own: Returns whether a URL is one of the app.
        is_streamed: Whether the request had a streamed body, which can't be sent again.

    Returns:
        The request; None if the response is no redirect, or leads to another host.

    Raises:
        TypeError: If a streamed body would have to be sent again.
        ValueError: If the location is not a valid URL.
    """
    location = response.headers.get("location")
    if response.status not in _STATUSES or location is None:
        return None
    url = URL(location, request.url)
    if not is_own(url):
        return None
    method, status = request.method, response.status
    headers = request.headers
    if (status in (301, 302) and method == "POST") or (
        status == 303 and method not in ("GET", "HEAD")
    ):
        for name in _OF_THE_BODY:
            headers.delete(name)
        request = request.replace(method="GET", body=None)
    elif is_streamed:
        raise TypeError(
            f"{method} {request.url} was redirected with {status}, which sends the body again: "
            "give it as str or bytes, since an iterable can be sent once"
        )
    if url.origin != URL(request.url).origin:
        headers.delete("authorization")
    return request.replace(url=url.href.partition("#")[0], headers=headers)
