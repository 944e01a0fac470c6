# SPDX-License-Identifier: MIT
"""Problem documents: errors whose body programs can read (RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict

from ._errors import HTTPException, ValidationTarget, check_status

_SUBJECTS = {
    "json": "The JSON body is",
    "form": "The form is",
    "query": "The query is",
    "param": "The path parameters are",
    "header": "The headers are",
    "cookie": "The cookies are",
}


class ProblemError(HTTPException):
    """An answer as a problem document: application/problem+json (RFC 9457).

    Args:
        status: HTTP status code of the answer, 200 to 599.
        title: What kind of problem it is, the same each time it occurs. Default: the phrase of
            the status, e.g. `Not Found`, as RFC 9457 section 4.2.1 has it for problems without a
            type of their own.
        detail: What is wrong this time, for the sender of the request.
        type: URI of the kind of problem; left out if None, which stands for `about:blank`.
        instance: URI of this occurrence; left out if None.
        headers: Headers to set on the answer besides Content-Type.
        message: Text of the exception, for logs. Default: `detail`, else `title`.
        **members: Further members of the document (RFC 9457 section 3.2); any JSON values.

    Raises:
        ValueError: If `status` is no status of a final response.
        TypeError: If a member is no JSON value.

    Example:
        raise ProblemError(409, "Out of stock", "There are 3 left", type="/problems/stock", left=3)
    """

    def __init__(
        self,
        status: int,
        title: str | None = None,
        detail: str | None = None,
        *,
        type: str | None = None,
        instance: str | None = None,
        headers: Mapping[str, str] | None = None,
        message: str | None = None,
        **members: Any,
    ) -> None:
        check_status(status)
        self.title = title or _phrase(status)
        self.detail = detail
        self.type = type
        self.instance = instance
        self.members = members
        document = {
            "type": type,
            "title": self.title,
            "status": int(status),
            "detail": detail,
            "instance": instance,
        }
        given = {name: value for name, value in document.items() if value is not None}
        super().__init__(
            status,
            message or detail or self.title,
            headers={**(headers or {}), "content-type": "application/problem+json"},
            body=_encode({**given, **members}),
        )


class FieldError(TypedDict):
    """What is wrong with one field.

    Attributes:
        path: Where it is: `title`, `authors[0].name`; empty for the whole.
        message: What is wrong with it, for people.
        type: What is wrong with it, for programs: a name of pydantic's such as `missing` or
            `int_type`, see `kit.interface.models.error_type`.
        target: The part of the request, where one document lists the errors of several.
    """

    path: str
    message: str
    type: str
    target: NotRequired[ValidationTarget]


class ValidationProblem(TypedDict):
    """The problem document (RFC 9457) that responds to invalid data, with the status 400.

    Attributes:
        title: `Bad Request`.
        status: 400.
        detail: What is wrong as a whole.
        target: The part of the request; absent if several parts are invalid.
        errors: What is wrong with its fields.
    """

    title: str
    status: int
    detail: str
    target: NotRequired[ValidationTarget]
    errors: list[FieldError]


class RequestValidationError(ProblemError):
    """A request doesn't fit its type: a 400 whose problem document says where.

    The members of the document besides those of RFC 9457 are `target` and `errors`; see
    `ValidationProblem`.

    Args:
        target: The part of the request: `json`, `form`, `query`, `param`, `header` or `cookie`.
            None if several parts are invalid: each error then has a `target` of its own.
        errors: What is wrong with its fields.
        detail: What is wrong as a whole, a sentence without its full stop. Default: that the part
            is invalid.
    """

    def __init__(
        self,
        target: ValidationTarget | None,
        errors: Iterable[FieldError],
        detail: str | None = None,
    ) -> None:
        self.target = target
        self.errors = list(errors)
        subject = "The request is" if target is None else _SUBJECTS[target]
        detail = detail or f"{subject} invalid"
        members: dict[str, Any] = {} if target is None else {"target": target}
        super().__init__(
            400,
            detail=detail,
            message=f"{detail}: {'; '.join(map(_line, self.errors))}",
            **members,
            errors=self.errors,
        )


def _line(error: FieldError) -> str:
    place = error["path"]
    if "target" in error:
        place = f"{error['target']} {place}".rstrip()
    return f"{place}: {error['message']}" if place else error["message"]


def _phrase(status: int) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(status).phrase
    except ValueError:  # a status that is not registered
        return f"Status {status}"


def _encode(document: dict[str, Any]) -> bytes:
    import json  # here, since most programs never send a problem

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate, which UTF-8 can't have, becomes the escape that JSON has for it.
    return text.encode("utf-8", "backslashreplace")
