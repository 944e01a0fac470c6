# SPDX-License-Identifier: MIT
"""Errors of the API. All of them have the form `{"errors": {"body": ["..."]}}`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http import HTTPStatus

from sqlalchemy.exc import IntegrityError

from conduit.database import is_unavailable, violated_constraint
from conduit.schemas import ErrorResponse, Messages
from kit import Context, Headers, HTTPException, Kit, Response
from kit.validator import FieldError, RequestValidationError

logger = logging.getLogger("conduit")

# Headers of an error that clients need besides the message.
KEPT_HEADERS = ("accept", "allow", "retry-after", "www-authenticate")
# Messages by the name of the violated constraint.
TAKEN = {
    "uq_users_email": "email has already been taken",
    "uq_users_username_key": "username has already been taken",
}


def failure(
    c: Context, status: int, messages: Sequence[str], headers: dict[str, str] | None = None
) -> Response:
    return c.json(ErrorResponse(Messages([*messages])), status, headers)


def handle_errors(api: Kit) -> None:
    """Registers the error handlers."""
    api.on_error(RequestValidationError, invalid)
    api.on_error(HTTPException, refused)
    api.on_error(IntegrityError, conflicting)
    api.on_error(Exception, fault)
    api.not_found(not_found)


async def invalid(error: RequestValidationError, c: Context) -> Response:
    """Answers invalid bodies and queries with a 422, and invalid path parameters with a 404."""
    if any(each.get("target", error.target) == "param" for each in error.errors):
        return await not_found(c)
    return failure(c, 422, [message_of(each) for each in error.errors])


def message_of(error: FieldError) -> str:
    """Returns a message that starts with the field, without the object around all fields."""
    if error["type"] == "value_error":  # from `conduit.schemas`: it starts with the field
        return error["message"]
    field = error["path"].split(".", 1)[-1]
    return f"{field}: {error['message']}" if field else error["message"]


async def refused(error: HTTPException, c: Context) -> Response:
    status = error.status
    given = error.res.headers if error.res else Headers(error.headers)
    kept = {name: given[name] for name in KEPT_HEADERS if name in given}
    # RealWorld has no 400: malformed JSON is invalid data as well.
    return failure(c, 422 if status == 400 else status, [error.message or phrase(status)], kept)


async def conflicting(error: IntegrityError, c: Context) -> Response:
    """Answers a write that violated a constraint of the database."""
    constraint = violated_constraint(error)
    if constraint in TAKEN:
        return failure(c, 422, [TAKEN[constraint]])
    if constraint.startswith("fk_"):
        return failure(c, 404, ["the article or user has just been deleted"])
    return await fault(error, c)


async def fault(error: Exception, c: Context) -> Response:
    if log_fault(error, c) == 503:
        return failure(c, 503, ["the database is busy, try again"], {"retry-after": "1"})
    return failure(c, 500, [phrase(500)])


def log_fault(error: Exception, c: Context) -> int:
    """Logs an unexpected error, and returns its status: 503 if a retry may succeed, or else 500."""
    where = (c.get("request_id"), c.req.method, c.req.path)
    if is_unavailable(error):
        logger.warning("[%s] %s %s: %s", *where, error)
        return 503
    logger.error("[%s] %s %s", *where, exc_info=error)
    return 500


async def not_found(c: Context) -> Response:
    return failure(c, 404, [phrase(404)])


def phrase(status: int) -> str:
    return HTTPStatus(status).phrase
