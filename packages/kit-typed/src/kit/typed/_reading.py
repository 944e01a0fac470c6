# SPDX-License-Identifier: MIT
"""Reads the parts of a request that an endpoint needs, and reports all errors in them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from kit.cookie import get_cookie
from kit.http.media_types import JSON, MULTIPART, URLENCODED, is_json, media_type
from kit.interface import (
    Context,
    FieldError,
    HTTPException,
    RequestValidationError,
    ValidationTarget,
)
from kit.validator.schemas import check_memory, read_contents, split_values

from ._parts import JsonBody, Part
from ._signature import REQUIRED

# RFC 8259 section 8.1: a byte order mark may be ignored.
MARK = b"\xef\xbb\xbf"

# APPSEC: limits the size of a response, since a client controls the number of errors.
_MOST_ERRORS = 100
# APPSEC: messages and paths quote text from the client.
_LONGEST = 500


class MissingError(ValueError):
    """A required value is absent."""


class MalformedError(ValueError):
    """The body is a form that can't be parsed."""


def values_of(c: Context[Any, Any], part: Part) -> dict[str, Any]:
    """Returns the values of a part of the request, except forms, by name."""
    values = _values(c, part)
    return _without_others(values, part) if part.others else values


def _without_others(values: dict[str, Any], part: Part) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in part.others}


def _values(c: Context[Any, Any], part: Part) -> dict[str, Any]:
    if part.target == "header":
        return _headers(c, part)
    if part.target == "query":
        values: dict[str, Any] = c.req.query()
        if names := _lists(part, values):
            every = c.req.queries()
            for name in names:
                values[name] = every[name]
        return values
    single: dict[str, Any] = get_cookie(c) if part.target == "cookie" else c.req.param()
    for name in _lists(part, single):
        single[name] = [single[name]]
    return single


def _lists(part: Part, values: dict[str, Any]) -> Collection[str]:
    """Returns the names in the request whose values are all used."""
    if part.schema.takes_lists:
        return [*values]
    return part.lists & values.keys() if part.lists else ()


def _headers(c: Context[Any, Any], part: Part) -> dict[str, Any]:
    given = c.req.header()
    get_all = c.req.raw.headers.get_all
    values: dict[str, Any]
    separated = part.schema.separated
    if not part.is_model:
        values = {
            field.key: get_all(field.key) if field.takes_list else given[field.key]
            for field in part.fields
            if field.key in given
        }
        return values | {key: split_values(values[key]) for key in separated & values.keys()}
    # APPSEC: a header spelled like the field, with `_`, is a different header: a client could send
    # `x_user` past a proxy that filters `x-user`.
    own = {name for field in part.schema.fields for name in field[:2]}
    values = {}
    if not part.schema.forbids:
        values = {name: value for name, value in given.items() if name not in own}
    for key, header, takes_list, _ in part.schema.fields:
        if header in given:
            values[key] = get_all(header) if takes_list else given[header]
            if key in separated:
                values[key] = split_values(values[key])
    return values


async def form_values(c: Context[Any, Any], part: Part) -> dict[str, Any]:
    """Returns the values of a form by name.

    Raises:
        MalformedError: If it can't be parsed.
    """
    schema = part.schema
    lists = part.lists
    try:
        values = dict(await c.req.parse_body())
    except HTTPException as error:
        if error.status != 400:
            raise
        text = str(error.message)
        raise MalformedError(text.partition(": ")[2] or text) from error
    if lists or schema.takes_lists:
        every = await c.req.parse_body(all=True)
        for name in values if schema.takes_lists else lists & values.keys():
            value = every[name]
            values[name] = value if isinstance(value, list) else [value]
    if part.is_model:
        for name in [name for name, value in values.items() if _is_unfilled(value)]:
            del values[name]
        if part.contents:
            await read_contents(values, part.contents, c.req.max_memory_size_bytes)
        return _without_others(values, part)
    await _take_files(values, part, c.req.max_memory_size_bytes)
    return values


async def _take_files(values: dict[str, Any], part: Part, most: int | None) -> None:
    read = [field.key for field in part.fields if field.is_bytes]
    if read:
        check_memory(values, read, most)
    for field in part.fields:
        value = values.get(field.key)
        if value is not None and (field.is_file or field.is_bytes):
            await _take_file(values, field.key, value, as_bytes=field.is_bytes)


async def _take_file(values: dict[str, Any], key: str, value: Any, *, as_bytes: bool) -> None:
    if isinstance(value, list):
        files = [each for each in value if not _is_unfilled(each)]
        if files:
            values[key] = [await _content(each) for each in files] if as_bytes else files
        else:
            del values[key]
    elif _is_unfilled(value):
        del values[key]
    elif as_bytes:
        values[key] = await _content(value)


def _is_unfilled(value: Any) -> bool:
    """Returns whether a browser sent a file input without a chosen file."""
    if isinstance(value, list):
        return bool(value) and all(map(_is_unfilled, value))
    return not isinstance(value, str) and value.size == 0 and not value.name


async def _content(value: Any) -> bytes:
    content: bytes = value.encode() if isinstance(value, str) else await value.bytes()
    return content


async def absent_body(c: Context[Any, Any], default: Any) -> Any:
    """Returns the default of a body if the request has none.

    Raises:
        MissingError: If it has a body that isn't JSON.
    """
    if await c.req.bytes():
        raise MissingError
    return default


def refusal(c: Context[Any, Any], parts: Sequence[Part], error: Exception) -> Exception:
    """Returns an error that lists all problems of a request without a body.

    Args:
        c: The context.
        parts: The parts that are read from it.
        error: The first error.
    """
    return _refusal([(part.target, _errors(c, part)) for part in parts], {}, error)


async def refusal_with_body(
    c: Context[Any, Any], parts: Sequence[Part], body: JsonBody | None, error: Exception
) -> Exception:
    """Returns an error that lists all problems of a request.

    Args:
        c: The context.
        parts: The parts that are read from it as text.
        body: The values read from its JSON body, or None.
        error: The first error.
    """
    found: list[tuple[ValidationTarget, Iterator[FieldError]]] = []
    details: dict[str, str] = {}
    malformed = error if isinstance(error, MalformedError) else None
    for part in parts:
        if part.target != "form":
            found.append((part.target, _errors(c, part)))
            continue
        if malformed is not None:  # the body can't be read again
            continue
        try:
            values = await form_values(c, part)
        except MalformedError as caught:
            malformed = caught
            continue
        found.append(("form", _errors_in(part, values)))
        kinds = (MULTIPART, URLENCODED)
        if media_type(c.req.header("content-type")) not in kinds:
            details["form"] = _missing("form", c, " or ".join(kinds))
    if malformed is not None:
        wrong = FieldError(path="", message=str(malformed), type="form_invalid")
        found.append(("form", iter([wrong])))
    if body is not None:
        errors, detail = await _errors_of_json(c, body)
        found.append(("json", iter(errors)))
        if detail is not None:
            details["json"] = detail
    return _refusal(found, details, error)


def _errors(c: Context[Any, Any], part: Part) -> Iterator[FieldError]:
    return _errors_in(part, values_of(c, part))


def _errors_in(part: Part, values: dict[str, Any]) -> Iterator[FieldError]:
    try:
        part.load(values)
    except ValueError as error:
        headers = {}
        if part.target == "header":
            headers = {key: header for key, header, *_ in part.schema.fields if header is not None}
        for each in part.schema.errors(values, error):
            key, bracket, rest = each["path"].partition("[")
            each["path"] = headers.get(key, key) + bracket + rest
            yield each


async def _errors_of_json(
    c: Context[Any, Any], body: JsonBody
) -> tuple[Iterator[FieldError], str | None]:
    content = await c.req.bytes()
    has_json = is_json(c.req.header("content-type"))
    if body.default is not REQUIRED:
        sent = content.removeprefix(MARK).strip()
        if not content or (has_json and body.is_absent_if_null and sent == b"null"):
            return iter(()), None
    if not has_json and not content and not body.embed:
        missing = FieldError(path="", message="Missing required body", type="missing")
        return iter([missing]), _missing("json", c, JSON)
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
        body.schema.load(content.removeprefix(MARK) if has_json else b"{}")
    except (ValueError, RecursionError) as error:
        detail = None if has_json else _missing("json", c, JSON)
        return body.schema.errors(value, error), detail
    if has_json:
        return iter(()), None
    wrong = FieldError(path="", message="Missing required body", type="missing")
    return iter([wrong]), _missing("json", c, JSON)


def _missing(target: ValidationTarget, c: Context[Any, Any], expected: str) -> str:
    content_type = c.req.header("content-type")
    return RequestValidationError.describe_missing(target, content_type, expected)


def _refusal(
    found: Sequence[tuple[ValidationTarget, Iterator[FieldError]]],
    details: dict[str, str],
    error: Exception,
) -> Exception:
    every = ((target, each) for target, errors in found for each in errors)
    errors = []
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
    return RequestValidationError(targets[0] if len(targets) == 1 else None, errors, detail)
