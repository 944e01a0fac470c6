# SPDX-License-Identifier: MIT
"""Lists all problems of an invalid request in one error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from kit.http.media_types import JSON, is_json, media_type
from kit.interface import (
    Context,
    FieldError,
    HTTPException,
    RequestValidationError,
    ValidationTarget,
)
from kit.validator.media_types import FORM_TYPES, JSON_TYPES, refuse_other_body

from .._parameters.request_values import MARK, MalformedError, read_form, read_text
from .._parameters.sources import JsonBody, Source
from .._signature.signature import REQUIRED
from .resolution import Resolution

# APPSEC: limits the size of a response, since a client controls the number of errors.
_MOST_ERRORS = 100
# APPSEC: messages and paths quote text from the client.
_LONGEST = 500


async def list_problems(
    c: Context[Any, Any], resolution: Resolution, error: Exception
) -> Exception:
    """Returns an error that lists all problems of a request.

    Args:
        c: The context.
        resolution: The sources of its values.
        error: The first error.

    Raises:
        ProblemError: 415 if the body has another media type than the endpoint reads.
    """
    sources, body = resolution.sources, resolution.body
    found: list[tuple[ValidationTarget, Iterator[FieldError]]] = []
    details: dict[str, str] = {}
    malformed = error if isinstance(error, MalformedError) else None
    for source in sources:
        if source.target != "form":
            found.append((source.target, _errors(c, source)))
            continue
        if malformed is not None:  # the body can't be parsed
            continue
        try:
            values = await read_form(c, source)
        except MalformedError as caught:
            malformed = caught
            continue
        found.append(("form", _errors_in(source, values)))
        if media_type(c.req.header("content-type")) not in FORM_TYPES:
            details["form"] = _describe_missing("form", c, " or ".join(FORM_TYPES))
    if malformed is not None:
        wrong = FieldError(path="", message=str(malformed), type="form_invalid")
        found.append(("form", iter([wrong])))
    if body is not None:
        errors, detail = await _errors_of_json(c, body)
        found.append(("json", iter(errors)))
        if detail is not None:
            details["json"] = detail
    found.append(("json", iter(await _errors_of_raw_bodies(c, resolution, details))))
    return _validation_error(found, details, error)


def _errors(c: Context[Any, Any], source: Source) -> Iterator[FieldError]:
    return _errors_in(source, read_text(c, source))


def _errors_in(source: Source, values: dict[str, Any]) -> Iterator[FieldError]:
    try:
        source.load(values)
    except ValueError as error:
        headers = {}
        if source.target == "header":
            headers = {
                key: header for key, header, *_ in source.schema.fields if header is not None
            }
        for each in source.schema.errors(values, error):
            key, bracket, rest = each["path"].partition("[")
            each["path"] = headers.get(key, key) + bracket + rest
            yield each


async def _errors_of_raw_bodies(
    c: Context[Any, Any], resolution: Resolution, details: dict[str, str]
) -> list[FieldError]:
    errors = [each for raw in resolution.raw_bodies for each in await raw.list_errors(c)]
    if resolution.body is None:
        details["json"] = "The body is invalid"
    elif resolution.body.default is REQUIRED:  # its own error says that there is none
        return [each for each in errors if each["type"] != "missing"]
    return errors


async def _errors_of_json(
    c: Context[Any, Any], body: JsonBody
) -> tuple[Iterator[FieldError], str | None]:
    has_json = is_json(c.req.header("content-type"))
    if not has_json:
        await refuse_other_body(c, JSON_TYPES)
    content = await c.req.bytes()
    if body.is_absent(content.removeprefix(MARK)):
        return iter(()), None
    if not has_json and not body.embed:
        missing = FieldError(path="", message="Missing required body", type="missing")
        return iter([missing]), _describe_missing("json", c, JSON)
    value: Any = {}
    if has_json:
        try:
            value = await c.req.json()
        except HTTPException as error:
            if error.status != 400:
                raise
            text = str(error.message).partition(": ")[2]
            malformed = FieldError(path="", message=text, type="json_invalid")
            return iter([malformed]), None
    try:
        body.schema.load_json(content.removeprefix(MARK) if has_json else b"{}")
    except (ValueError, RecursionError) as error:
        detail = None if has_json else _describe_missing("json", c, JSON)
        return body.schema.errors(value, error), detail
    if has_json:
        return iter(()), None
    wrong = FieldError(path="", message="Missing required body", type="missing")
    return iter([wrong]), _describe_missing("json", c, JSON)


def _describe_missing(target: ValidationTarget, c: Context[Any, Any], expected: str) -> str:
    content_type = c.req.header("content-type")
    return RequestValidationError.describe_missing(target, content_type, expected)


def _validation_error(
    found: Sequence[tuple[ValidationTarget, Iterator[FieldError]]],
    details: dict[str, str],
    error: Exception,
) -> Exception:
    every = ((target, each) for target, errors in found for each in errors)
    errors: list[FieldError] = []
    for target, each in islice(every, _MOST_ERRORS + 1):
        each["target"] = target
        for key in ("path", "message"):
            if len(each[key]) > _LONGEST:
                each[key] = each[key][:_LONGEST] + "..."
        errors.append(each)
    if not errors:  # the code that validates doesn't repeat itself
        return error
    is_cut = len(errors) > _MOST_ERRORS
    del errors[_MOST_ERRORS:]
    targets = list(dict.fromkeys(each["target"] for each in errors))
    describe_invalid = RequestValidationError.describe_invalid
    detail = "; ".join(details.get(target) or describe_invalid(target) for target in targets)
    if is_cut:
        detail += f"; these are the first {_MOST_ERRORS} errors"
    if len(targets) > 1:
        return RequestValidationError(None, errors, detail)
    for each in errors:
        del each["target"]
    return RequestValidationError(targets[0], errors, detail)
