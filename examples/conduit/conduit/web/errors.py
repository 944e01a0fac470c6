# SPDX-License-Identifier: MIT
"""Error pages."""

from __future__ import annotations

from http import HTTPStatus

from sqlalchemy.exc import IntegrityError

from conduit.database import violated_constraint
from conduit.errors import log_fault
from conduit.web.rendering import render
from kit import Context, Headers, HTTPException, Kit, Response
from kit.validator import RequestValidationError

MESSAGES = {
    400: "The request could not be understood.",
    403: "You can only change your own articles and comments, and only from this site.",
    404: "This page doesn't exist. It may have moved, or the link may be wrong.",
    405: "This page doesn't support this action.",
    413: "This is too large. Shorten it and try again.",
    429: "Too many attempts. Wait a moment and try again.",
    503: "The site is busy. Try again in a moment.",
}


async def error_page(c: Context, status: int) -> Response:
    message = MESSAGES.get(status, "Something went wrong on our side. We have been notified.")
    title = HTTPStatus(status).phrase
    return await render(
        c, "error.html", block="error", status=status, code=status, title=title, message=message
    )


async def not_found(c: Context) -> Response:
    return await error_page(c, 404)


async def invalid(error: RequestValidationError, c: Context) -> Response:
    """Answers URLs with invalid parameters, such as a page number that is too large."""
    return await error_page(c, 404)


async def refused(error: HTTPException, c: Context) -> Response:
    given = error.res.headers if error.res else Headers(error.headers)
    for name in ("Allow", "Retry-After"):
        c.header(name, given.get(name))
    return await error_page(c, error.status)


async def conflicting(error: IntegrityError, c: Context) -> Response:
    """Answers a write that violated a constraint of the database."""
    if violated_constraint(error).startswith("fk_"):
        # The article or user has just been deleted.
        return await error_page(c, 404)
    return await fault(error, c)


async def fault(error: Exception, c: Context) -> Response:
    status = log_fault(error, c)
    if status == 503:
        c.header("Retry-After", "1")
    return await error_page(c, status)


def handle_errors(site: Kit) -> None:
    """Registers the error pages of the site."""
    site.on_error(RequestValidationError, invalid)
    site.on_error(HTTPException, refused)
    site.on_error(IntegrityError, conflicting)
    site.on_error(Exception, fault)
