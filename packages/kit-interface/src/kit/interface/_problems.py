# SPDX-License-Identifier: MIT
"""Problem documents: errors whose body programs can read (RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

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
    """

    path: str
    message: str
    type: str


class RequestValidationError(ProblemError):
    """A part of the request doesn't fit its type: a 400 whose problem document says so.

    The members of the document besides those of RFC 9457 are `target` and `errors`.

    Args:
        target: The part of the request: `json`, `form`, `query`, `param`, `header` or `cookie`.
        errors: What is wrong with its fields.
        detail: What is wrong as a whole, a sentence without its full stop. Default: that the part
            is invalid.
    """

    def __init__(
        self, target: ValidationTarget, errors: Iterable[FieldError], detail: str | None = None
    ) -> None:
        self.target = target
        self.errors = list(errors)
        detail = detail or f"{_SUBJECTS[target]} invalid"
        texts = (f"{e['path']}: {e['message']}" if e["path"] else e["message"] for e in self.errors)
        super().__init__(
            400,
            detail=detail,
            message=f"{detail}: {'; '.join(texts)}",
            target=target,
            errors=self.errors,
        )


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
