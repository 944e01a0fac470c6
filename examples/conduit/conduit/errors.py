# SPDX-License-Identifier: MIT
"""Errors: whatever goes wrong below /api is `{"errors": {"body": ["..."]}}`."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from http import HTTPStatus

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from conduit.schemas import ErrorResponse, Messages
from kit import Context, Headers, HTTPException, Kit, Response
from kit.validator import RequestValidationError

logger = logging.getLogger("conduit")

# What a client has to know besides the message.
KEPT_HEADERS = ("allow", "retry-after", "www-authenticate")
# What to tell by the name of a constraint.
TAKEN = {
    "uq_users_email": "email has already been taken",
    "uq_users_username_key": "username has already been taken",
}


def failure(
    c: Context, status: int, messages: Sequence[str], headers: dict[str, str] | None = None
) -> Response:
    return c.json(ErrorResponse(Messages([*messages])), status, headers)


def handle_errors(api: Kit) -> None:
    """Registers how errors are answered."""
    api.on_error(RequestValidationError)(invalid)
    api.on_error(HTTPException)(refused)
    api.on_error(IntegrityError)(conflicting)
    api.on_error(DBAPIError)(database_fault)
    api.on_error(PoolTimeoutError)(busy)
    api.on_error(Exception)(fault)
    api.not_found()(not_found)


async def invalid(error: RequestValidationError, c: Context) -> Response:
    """A body, or parameters, of the wrong form; a path with a wrong one names nothing."""
    if any(each.get("target", error.target) == "param" for each in error.errors):
        return await not_found(c)
    return failure(c, 422, [f"{each['path']} {each['message']}".strip() for each in error.errors])


async def refused(error: HTTPException, c: Context) -> Response:
    status = error.status
    given = error.res.headers if error.res else Headers(error.headers)
    kept = {name: given[name] for name in KEPT_HEADERS if name in given}
    # Malformed JSON fails validation, too.
    return failure(c, 422 if status == 400 else status, [error.message or phrase(status)], kept)


async def conflicting(error: IntegrityError, c: Context) -> Response:
    """A constraint of the database has refused what was written."""
    constraint = violated_constraint(error)
    if constraint in TAKEN:
        return failure(c, 422, [TAKEN[constraint]])
    if constraint.startswith("fk_"):
        return failure(c, 404, ["What this belongs to has just been deleted"])
    return await fault(error, c)


def violated_constraint(error: IntegrityError) -> str:
    """The name of the constraint; empty if it isn't known."""
    text = str(error.orig)
    if columns := re.search(r"UNIQUE constraint failed: (\w+)\.(\w+)", text):  # SQLite
        return f"uq_{columns[1]}_{columns[2]}"
    if text.startswith("FOREIGN KEY constraint failed"):  # SQLite doesn't tell which one
        return "fk_"
    name = re.search(r'violates \w+(?: \w+)? constraint "(\w+)"', text)  # PostgreSQL
    return name[1] if name else ""


async def database_fault(error: DBAPIError, c: Context) -> Response:
    """A database that is locked for too long, or not there, may be there again in a moment."""
    is_gone = error.connection_invalidated or "database is locked" in str(error.orig)
    return await (busy if is_gone else fault)(error, c)


async def busy(error: Exception, c: Context) -> Response:
    logger.warning("%s %s: %s", c.req.method, c.req.path, error)
    return failure(c, 503, ["The database is busy, try again"], {"retry-after": "1"})


async def fault(error: Exception, c: Context) -> Response:
    logger.error("[%s] %s %s", c.get("request_id"), c.req.method, c.req.path, exc_info=error)
    return failure(c, 500, [phrase(500)])


async def not_found(c: Context) -> Response:
    return failure(c, 404, [phrase(404)])


def phrase(status: int) -> str:
    return HTTPStatus(status).phrase
