# SPDX-License-Identifier: MIT
"""Derives the responses of an operation from facts, source, docstring and description."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from kit.interface import ValidationProblem

from ._body_limits import TOO_LARGE, may_exceed_limits, may_have_body
from ._describe import Problem
from ._docstrings import Docstring
from ._handler_source import HandlerSource
from ._operations import Operation
from ._results import find_returned_type, is_typed, key_of, list_result_statuses
from ._schemas import RESPONSE, Mode, Schemas
from ._slots import ask_types, to_header
from ._source import UNKNOWN

JSON = "application/json"
PROBLEM = "application/problem+json"
_TEXT = "text/plain"
_FIRST_FAULT = 400
_NO_CONTENT = (204, 205, 304)


@dataclass
class ResponseDescription:
    """One response.

    Attributes:
        description: Its meaning.
        content: The media types, each with the number of its schema; None for any.
        others: The numbers of other schemas for the same media types.
        raw: A given Response Object, unchanged except for types in its content.
    """

    description: str = ""
    content: dict[str, int | None] = field(default_factory=dict)
    others: dict[str, list[int]] = field(default_factory=dict)
    raw: Mapping[str, Any] | None = None


class Errors:
    """The form of an app's error responses.

    Args:
        kinds: The types of their bodies by media type; None for the built-in ones.
        schemas: The collection of schemas.

    Attributes:
        default: The type of a body that isn't known otherwise, or `UNKNOWN`.
    """

    def __init__(self, kinds: Mapping[str, Any] | None, schemas: Schemas) -> None:
        self._schemas = schemas
        self.default: Any = UNKNOWN
        self._own = kinds and {
            media_type: schemas.ask(kind, RESPONSE) for media_type, kind in kinds.items()
        }

    def with_default(self, kind: Any) -> Errors:
        """Returns the same for an app whose errors have bodies of one type.

        Args:
            kind: The type of those whose type isn't known otherwise, or `UNKNOWN`.
        """
        errors = copy(self)
        errors.default = kind
        return errors

    def answer(
        self, text: str, kind: Any = UNKNOWN, *, is_problem: bool = False
    ) -> ResponseDescription:
        """Creates the response for an error.

        Args:
            text: Its meaning.
            kind: The type of its body, if known.
            is_problem: Whether it is a problem document.
        """
        if kind is ValidationProblem:
            text = text or "Invalid data"
        if self._own is not None:
            return ResponseDescription(text, dict(self._own))
        if kind is UNKNOWN:
            kind = Problem if is_problem else self.default
        if kind is UNKNOWN or kind is None:
            return ResponseDescription(text)
        media_type = PROBLEM if _is_problem(kind) else JSON
        return ResponseDescription(text, {media_type: self._schemas.ask(kind, RESPONSE)})


def find_responses(
    operation: Operation, reading: HandlerSource, said: Docstring, errors: Errors, schemas: Schemas
) -> dict[str, ResponseDescription]:
    """Returns the responses of an operation by status.

    Args:
        operation: The operation.
        reading: Information from its source.
        said: Information from its docstring.
        errors: The form of the app's error responses.
        schemas: The collection of schemas.
    """
    found: dict[str, ResponseDescription] = {}
    errors = errors.with_default(operation.error_type)
    for facts in operation.facts:
        mode = _mode_of_results(facts.others.get("typed_result"))
        for status, value in facts.responses.items():
            if status == TOO_LARGE and not may_have_body(operation, reading):
                continue
            own = operation.validation_status if value is ValidationProblem else status
            _add_fact(found, own, value, errors, schemas, mode)
    _place_result(found, operation, reading)
    _add_malformed(found, operation, errors)
    _add_reads(found, operation, reading, errors)
    if may_exceed_limits(operation, reading):
        _add(found, str(TOO_LARGE), errors.answer("The body is too large"))
    for status, raised in reading.raised.items():
        answer = errors.answer(raised.message, raised.kind, is_problem=raised.is_problem)
        _add(found, str(status), answer)
    for status, text in said.statuses.items():
        found.setdefault(str(status), errors.answer("")).description = text
    _add_success(found, operation, reading, schemas)
    described = (each.describes.get("responses", {}) for each in operation.facts)
    for given, value in (item for each in described for item in each.items()):
        old = found.get(str(given))
        text = "" if old is None else old.description
        answer = described_answer(given, value, text, schemas, _mode(reading, given))
        found[str(given)] = answer if old is None else _with_found(answer, value, old)
    if not found:  # its source shows only that it raises something
        found["default"] = ResponseDescription()
    for key, answer in found.items():
        returned = said.returns if key.startswith("2") else ""
        answer.description = answer.description or returned or phrase(key)
        # Tools show the first one, which should be machine-readable.
        answer.content = dict(sorted(answer.content.items(), key=lambda each: each[0] == _TEXT))
    return dict(sorted(found.items()))


def _mode(reading: HandlerSource, status: int | str) -> Mode:
    """Returns how bodies are sent, if all calls with the status have the same `by_alias`."""
    given = reading.by_alias.get(status if isinstance(status, int) else None, set())
    return RESPONSE._replace(by_alias=next(iter(given))) if len(given) == 1 else RESPONSE


def _mode_of_results(options: Mapping[str, bool] | None) -> Mode:
    """Returns how results are sent, from the options of a typed endpoint; None for others."""
    if options is None:
        return RESPONSE
    return RESPONSE._replace(
        is_by_pydantic=True,
        by_alias=options.get("by_alias"),
        omits_none=options.get("exclude_none", False),
        omits_defaults="exclude_unset" in options or "exclude_defaults" in options,
    )


def described_answer(
    status: int | str, value: Any, text: str, schemas: Schemas, mode: Mode = RESPONSE
) -> ResponseDescription:
    """Creates the response that `describe(responses=...)` gives for a status.

    Args:
        status: The status.
        value: A type, a description, None, or a Response Object.
        text: The description, if the value has none.
        schemas: The collection of schemas.
        mode: How bodies are sent.
    """
    if value is None:
        return ResponseDescription(text)
    if isinstance(value, str):
        return ResponseDescription(value)
    if isinstance(value, Mapping):
        return ResponseDescription(
            value.get("description", text), raw=with_slots(value, schemas, mode)
        )
    is_fault = not isinstance(status, int) or status >= _FIRST_FAULT
    media_type = PROBLEM if is_fault and _is_problem(value) else JSON
    return ResponseDescription(text, {media_type: schemas.ask(value, mode)})


def _with_found(
    answer: ResponseDescription, value: Any, found: ResponseDescription
) -> ResponseDescription:
    """Adds the members of a response that was found to those that `describe` gives."""
    if isinstance(value, Mapping) and "$ref" in value:
        return answer
    is_object = isinstance(value, Mapping)
    if isinstance(value, str) or (is_object and "content" not in value):
        answer.content, answer.others = found.content, found.others
    if found.raw is not None and (is_object or isinstance(value, str)):
        kept = {key: each for key, each in found.raw.items() if key != "description"}
        answer.raw = {**kept, **(answer.raw or {})}
    return answer


def with_slots(value: Mapping[str, Any], schemas: Schemas, mode: Mode) -> dict[str, Any]:
    """Copies a Response or Request Body Object; types in its content become requested schemas.

    The type of the items of a stream stands in `itemSchema`, as in OpenAPI 3.2; see `_streams`.
    """
    copied = dict(value)
    content: dict[str, Any] = {}
    for media_type, each in (value.get("content") or {}).items():
        if isinstance(each, Mapping):
            content[media_type] = dict(each)
            for key in ("schema", "itemSchema"):
                schema = each.get(key)
                if schema is not None and not isinstance(schema, Mapping):
                    content[media_type][key] = schemas.ask(schema, mode)
        else:
            content[media_type] = {"schema": schemas.ask(each, mode)}
    if content:
        copied["content"] = content
    if "headers" in value:
        headers = {name: to_header(each) for name, each in value["headers"].items()}
        copied["headers"] = ask_types(headers, schemas, mode)
    return copied


def _add_fact(
    found: dict[str, ResponseDescription],
    status: int,
    value: Any,
    errors: Errors,
    schemas: Schemas,
    mode: Mode,
) -> None:
    if isinstance(value, Mapping):
        answer = described_answer(status, value, "", schemas, mode)
    elif status < _FIRST_FAULT:
        text = value if isinstance(value, str) else ""
        answer = ResponseDescription(text)
        if value is not None and not text and status not in _NO_CONTENT:
            answer.content[JSON] = schemas.ask(value, mode)
    elif isinstance(value, str):
        answer = errors.answer(value)
    else:
        answer = errors.answer("", UNKNOWN if value is None else value)
    _add(found, str(status), answer)


def _add(found: dict[str, ResponseDescription], status: str, answer: ResponseDescription) -> None:
    """Merges a response with others of the same status, with all bodies and descriptions.

    A response with an unknown body counts as text, like that of an HTTPException.
    """
    old = found.setdefault(status, answer)
    if old is not answer:
        texts = [old.description, answer.description]
        old.description = "; ".join(dict.fromkeys(filter(None, texts)))
        if bool(old.content) is not bool(answer.content):
            old.content.setdefault(_TEXT, None)
        for media_type, slot in answer.content.items():
            first = old.content.setdefault(media_type, slot)
            if first is not None and slot is not None and first != slot:
                old.others.setdefault(media_type, []).append(slot)


def _add_malformed(
    found: dict[str, ResponseDescription], operation: Operation, errors: Errors
) -> None:
    """Adds the text response for a body that isn't JSON, or isn't a form.

    In a typed endpoint, that is one of the validation errors. A QUERY without a Content-Type is a
    400, too, whatever the status of these errors is (RFC 10008, section 2.1).
    """
    targets = {
        target
        for facts in operation.facts
        if "typed_calls" not in facts.others
        for target in facts.validates
    }
    if targets & {"json", "form"}:
        _add(found, "400", errors.answer(""))
    elif operation.method == "QUERY" and "415" in found and "400" not in found:
        _add(found, "400", errors.answer("", is_problem=True))


def _add_reads(
    found: dict[str, ResponseDescription],
    operation: Operation,
    reading: HandlerSource,
    errors: Errors,
) -> None:
    """Adds the errors of calls such as `c.req.query(name, int)`, and of paths that don't match."""
    if any(each.kind is not str and each.can_fail for each in reading.parameters):
        status = str(operation.validation_status)
        _add(found, status, errors.answer("", ValidationProblem))
    if any(each.expression is not None for each in operation.template.parameters):
        found.setdefault("404", errors.answer(""))
    if not reading.can_fail:
        return
    if reading.json not in (UNKNOWN, Any):
        _add(found, "400", errors.answer("", ValidationProblem))
    if reading.json is not UNKNOWN or reading.form:  # which may be malformed
        _add(found, "400", errors.answer(""))


def _add_success(
    found: dict[str, ResponseDescription],
    operation: Operation,
    reading: HandlerSource,
    schemas: Schemas,
) -> None:
    if any(status[0] in "23" for status in found):
        return
    described = {str(each) for each in operation.described.get("responses", {})}
    if not any(status[0] in "23" for status in described):
        _add_own(found, operation, reading, schemas)
        return
    own: dict[str, ResponseDescription] = {}
    _add_own(own, operation, reading, schemas)
    # Who describes the result still sends clients elsewhere, or to what they have (304).
    kept = {status for status in own if status in described or status.startswith("3")}
    found.update({status: own[status] for status in own if status in kept})


def _add_own(
    found: dict[str, ResponseDescription],
    operation: Operation,
    reading: HandlerSource,
    schemas: Schemas,
) -> None:
    returned = find_returned_type(operation.function)
    if returned is not None:
        found[key_of(reading.status)] = ResponseDescription(
            "", {JSON: schemas.ask(returned, RESPONSE)}
        )
        return
    if not is_typed(operation):  # otherwise, they are there
        _add_answers(found, reading)
    if not reading.is_complete:
        # Some of its responses are unknown, so their bodies aren't described.
        found.setdefault(key_of(reading.status), ResponseDescription()).content.clear()


def _place_result(
    found: dict[str, ResponseDescription], operation: Operation, reading: HandlerSource
) -> None:
    """Moves the result of a handler to the statuses that it sets, and adds its other responses."""
    facts = operation.facts[-1]
    if 200 in facts.responses and facts.others.get("typed_status") is None:
        result = found.pop("200")
        for status in list_result_statuses(operation, reading):
            own = replace(result, content=dict(result.content), others=deepcopy(result.others))
            found[key_of(status)] = own
    if is_typed(operation):
        _add_answers(found, reading)


def _add_answers(
    found: dict[str, ResponseDescription],
    reading: HandlerSource,
    statuses: Collection[int] | None = None,
) -> None:
    """Adds the responses that the source creates by methods of the context.

    Args:
        found: The responses by status.
        reading: Information from the source.
        statuses: Which to add; None for all.
    """
    for status, media_types in reading.answers.items():
        if statuses is not None and status not in statuses:
            continue
        answer = ResponseDescription()
        if None not in media_types and status not in _NO_CONTENT:
            for media_type in sorted(each for each in media_types if each):
                answer.content[media_type] = None
        _add(found, key_of(status), answer)


def _is_problem(kind: Any) -> bool:
    """Returns whether a type has the fields of a problem document (RFC 9457, section 3.1)."""
    names: set[str] = set()
    for each in getattr(kind, "__mro__", (kind,)):
        names |= {*getattr(each, "__annotations__", {})}
    return {"title", "status"} <= names


def phrase(status: str) -> str:
    """Returns the description of a response that has no other."""
    if not status.isdigit():
        return "Another response" if status == "default" else f"A response with a status {status}"
    try:
        return HTTPStatus(int(status)).phrase
    except ValueError:
        return f"Status {status}"
