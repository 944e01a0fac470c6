# SPDX-License-Identifier: MIT
"""Problem documents: errors with machine-readable bodies (RFC 9457)."""

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


# RFC 9110, sections 15.5.14, 15.5.15, 15.5.17 and 15.5.21. Python has these names since 3.13.
_PHRASES = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}


class ProblemError(HTTPException):
    """An exception that becomes a problem document: application/problem+json (RFC 9457).

    Args:
        status: HTTP status code of the response, 200 to 599.
        title: The kind of problem, the same for each occurrence. Default: the phrase of the status,
            e.g. `Not Found`, as RFC 9457 section 4.2.1 specifies for problems without a `type`.
        detail: What is wrong in this case, for the sender of the request.
        type: URI of the kind of problem; omitted if None, which means `about:blank`.
        instance: URI of this occurrence; omitted if None.
        headers: Headers to set on the response, in addition to Content-Type.
        message: Text of the exception, for logs. Default: `detail`, or else `title`.
        **members: Additional members of the document (RFC 9457 section 3.2); any JSON values.

    Raises:
        ValueError: If `status` isn't a valid status of a final response.
        TypeError: If a member isn't a JSON value.

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


class Problem(TypedDict, total=False):
    """A problem document (RFC 9457), as the type of a body in `responses`.

    Attributes:
        type: URI of the kind of problem.
        title: The kind of problem.
        status: The HTTP status code.
        detail: The details of this occurrence.
        instance: URI of this occurrence.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str


class FieldError(TypedDict):
    """The error of one field.

    Attributes:
        path: The path of the field: `title`, `authors[0].name`; empty for the whole value.
        message: The error, for people.
        type: The error, for programs: one of pydantic's names such as `missing` or `int_type`, see
            `kit.authoring.field_errors.read_message`.
        ctx: The bound and its value, for programs: `{"ge": 1}`, `{"min_length": 2}`, `{"expected":
            "'a' or 'b'"}`; absent if there is none. A translation needs only `type` and `ctx`.
        target: The part of the request, if the document lists errors of several parts.
    """

    path: str
    message: str
    type: str
    ctx: NotRequired[dict[str, Any]]
    target: NotRequired[ValidationTarget]


class ValidationProblem(TypedDict):
    """The problem document (RFC 9457) for invalid data, sent with the app's `validation_status`.

    Attributes:
        title: `Bad Request`, or the phrase of another `validation_status`.
        status: 400, or another `validation_status`.
        detail: The error as a whole.
        target: The part of the request; absent if several parts are invalid.
        errors: The errors of its fields.
    """

    title: str
    status: int
    detail: str
    target: NotRequired[ValidationTarget]
    errors: list[FieldError]


class RequestValidationError(ProblemError):
    """A request doesn't match its type; becomes a 400 with a problem document that lists errors.

    `Kit(validation_status=422)` changes the status of all of them. In addition to the members of
    RFC 9457, the document has `target` and `errors`; see `ValidationProblem`.

    Args:
        target: The part of the request: `json`, `form`, `query`, `param`, `header` or `cookie`.
            None if several parts are invalid: each error then has its own `target`.
        errors: The errors of its fields.
        detail: The error as a whole, a sentence without a period. Default:
            `describe_invalid(target)`.
    """

    def __init__(
        self,
        target: ValidationTarget | None,
        errors: Iterable[FieldError],
        detail: str | None = None,
    ) -> None:
        self.target = target
        self.errors = list(errors)
        detail = detail or self.describe_invalid(target)
        members: dict[str, Any] = {} if target is None else {"target": target}
        super().__init__(
            400,
            detail=detail,
            message=f"{detail}: {'; '.join(map(_line, self.errors))}",
            **members,
            errors=self.errors,
        )

    def set_status(self, status: int) -> None:
        """Changes the status; an app with a `validation_status` calls this before its `on_error`.

        Args:
            status: The status of the response; its phrase becomes the title.
        """
        super().__init__(
            status,
            detail=self.detail,
            type=self.type,
            instance=self.instance,
            headers=self.headers,
            message=self.message,
            **self.members,
        )

    @staticmethod
    def describe_invalid(target: ValidationTarget | None) -> str:
        """Returns the `detail` for invalid data: `The query is invalid`.

        Args:
            target: The part of the request; None if several parts are invalid.
        """
        return f"{'The request is' if target is None else _SUBJECTS[target]} invalid"

    @staticmethod
    def describe_missing(target: ValidationTarget, content_type: str | None, expected: str) -> str:
        """Returns the `detail` for a body that has another media type than expected, or none.

        An example is `The JSON body is missing: there is no Content-Type, expected
        application/json`.

        Args:
            target: `json` or `form`.
            content_type: The Content-Type of the request, or None.
            expected: The media type that was expected.
        """
        found = "there is no Content-Type"
        if content_type is not None:
            found = f"Content-Type is {content_type!r:.100}"
        return f"{_SUBJECTS[target]} missing: {found}, expected {expected}"


def _line(error: FieldError) -> str:
    place = error["path"]
    if "target" in error:
        place = f"{error['target']} {place}".rstrip()
    return f"{place}: {error['message']}" if place else error["message"]


def _phrase(status: int) -> str:
    from http import HTTPStatus

    if status in _PHRASES:
        return _PHRASES[status]
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # a status that is not registered
        return f"Status {status}"


def _encode(document: dict[str, Any]) -> bytes:
    import json  # here, since most programs never send a problem

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # An unpaired surrogate, which UTF-8 can't encode, becomes its JSON escape.
    return text.encode("utf-8", "backslashreplace")


# Shown as they are imported: kit.interface.ProblemError.
for _class in (FieldError, Problem, ProblemError, RequestValidationError, ValidationProblem):
    _class.__module__ = "kit.interface"
