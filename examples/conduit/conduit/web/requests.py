# SPDX-License-Identifier: MIT
"""Requests of browsers for pages, and of htmx for parts of pages."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from kit import Context, Response


def is_part(c: Context) -> bool:
    """Returns whether htmx requests a part of a page, not a whole page for its history."""
    header = c.req.header
    return header("HX-Request") == "true" and header("HX-History-Restore-Request") != "true"


def page_address(c: Context) -> str:
    """Returns the path and query of the page."""
    url = urlsplit(c.req.url)
    return f"{url.path}?{url.query}" if url.query else url.path


def to(c: Context, path: str) -> Response:
    """Redirects the browser to another page of this site, with and without htmx."""
    if is_part(c):
        # htmx would follow a redirect, and put the other page into a part of this one.
        return c.body(None, 204, {"HX-Redirect": path})
    return c.redirect(path, 303)


def article_address(slug: str) -> str:
    return f"/articles/{quote(slug, safe='')}"
