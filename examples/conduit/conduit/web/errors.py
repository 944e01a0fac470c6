# SPDX-License-Identifier: MIT
"""Pages about errors."""

from __future__ import annotations

import logging
from http import HTTPStatus

from sqlalchemy.exc import IntegrityError

from conduit.database import is_unavailable, violated_constraint
from conduit.web.rendering import render
from kit import Context, Headers, HTTPException, Kit, Response
from kit.validator import RequestValidationError

logger = logging.getLogger("conduit")
MESSAGES = {
    400: "The request could not be understood.",
    403: "You can change what you have written yourself, and only from this site.",
    404: "There is no such page. It may have moved, or the link has a typing error.",
    405: "This page can't be used in that way.",
    413: "That is more than this site takes at once.",
    429: "Too many attempts. Wait for a moment, and try again.",
    503: "The site is busy. Try again in a moment.",
}


async def error_page(c: Context, status: int) -> Response:
    message = MESSAGES.get(status, "Something went wrong on our side. We have been told.")
    title = HTTPStatus(status).phrase
    return await render(
        c, "error.html", block="error", status=status, code=status, title=title, message=message
    )


async def not_found(c: Context) -> Response:
    return await error_page(c, 404)


async def invalid(error: RequestValidationError, c: Context) -> Response:
    """An address with a number in it that is none, or is too large."""
    return await error_page(c, 404)


async def refused(error: HTTPException, c: Context) -> Response:
    given = error.res.headers if error.res else Headers(error.headers)
    for name in ("Allow", "Retry-After"):
        c.header(name, given.get(name))
    return await error_page(c, error.status)


async def conflicting(error: IntegrityError, c: Context) -> Response:
    """A constraint of the database has refused what was written."""
    if violated_constraint(error).startswith("fk_"):
        # What this belongs to has just been deleted.
        return await error_page(c, 404)
    return await fault(error, c)


async def fault(error: Exception, c: Context) -> Response:
    if is_unavailable(error):
        logger.warning("%s %s: %s", c.req.method, c.req.path, error)
        c.header("Retry-After", "1")
        return await error_page(c, 503)
    logger.error("%s %s", c.req.method, c.req.path, exc_info=error)
    return await error_page(c, 500)


def handle_errors(site: Kit) -> None:
    """Registers the pages about what goes wrong on other pages."""
    site.on_error(RequestValidationError, invalid)
    site.on_error(HTTPException, refused)
    site.on_error(IntegrityError, conflicting)
    site.on_error(Exception, fault)
