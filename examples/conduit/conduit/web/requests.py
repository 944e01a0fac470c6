# SPDX-License-Identifier: MIT
"""What a browser asks for: a page, or with htmx a part of one."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from kit import Context, Response


def is_part(c: Context) -> bool:
    """Returns whether htmx asks for a part of a page, and not for a whole one for its history."""
    header = c.req.header
    return header("HX-Request") == "true" and header("HX-History-Restore-Request") != "true"


def page_address(c: Context) -> str:
    """Returns the address of the page, without the host."""
    url = urlsplit(c.req.url)
    return f"{url.path}?{url.query}" if url.query else url.path


def to(c: Context, path: str) -> Response:
    """Sends the browser to another page of this site, with and without htmx."""
    if is_part(c):
        # A redirect would be followed by htmx, and the page be put into a part of this one.
        return c.body(None, 204, {"HX-Redirect": path})
    return c.redirect(path, 303)


def article_address(slug: str) -> str:
    return f"/articles/{quote(slug, safe='')}"
