# SPDX-License-Identifier: MIT
"""Adds the members that `describe` gives to an operation to those that were found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kit.interface import Codecs

from ._description_checks import find_key, is_status
from ._operations import Operation
from ._responses import phrase
from ._schemas import REQUEST, RESPONSE, Schemas
from ._slots import AsksForSchemas, ask_types, fill_slots, to_header

_ORDER = ("path", "query", "header", "cookie")
# Each excludes the other; those of the second come with a schema.
_EXCLUSIVE = (("schema", "content"), ("example", "examples"))
_FORMS = ("style", "explode")


class Additions(NamedTuple):
    """What is added to one operation, with slots in place of schemas.

    Attributes:
        operation: The operation.
        parameters: Parameter Objects.
        headers: Header Objects, each with the status of its responses (None for all), and whether
            the handler itself gives it, so that it has such a response.
        others: Other members.
    """

    operation: Operation
    parameters: list[dict[str, Any]]
    headers: list[tuple[int | str | None, str, dict[str, Any], bool]]
    others: dict[str, Any]


def plan_additions(operation: Operation, schemas: AsksForSchemas, codecs: Codecs) -> Additions:
    """Requests the schemas of the types in the description of an operation.

    Args:
        operation: The operation.
        schemas: Receives the requests.
        codecs: The encoders and decoders of the app.

    Raises:
        TypeError: If an extension can't be encoded as JSON.
    """
    described = operation.described
    headers = [
        (status, name, ask_types(to_header(value), schemas, RESPONSE), is_own)
        for status, name, value, is_own in _find_headers(operation)
    ]
    parameters = [ask_types(each, schemas, REQUEST) for each in described.get("parameters", ())]
    others: dict[str, Any] = {}
    docs = described.get("external_docs")
    if docs is not None:
        others["externalDocs"] = {"url": docs} if isinstance(docs, str) else dict(docs)
    extensions = described.get("extensions", {})
    check_json("describe(extensions=...)", operation, extensions, codecs)
    return Additions(operation, parameters, headers, others | extensions)


def check_json(option: str, operation: Operation, value: Any, codecs: Codecs) -> None:
    """Checks that JSON can represent a value.

    Raises:
        TypeError: If it can't.
    """
    try:
        codecs.encode_json(value)
    except Exception as error:
        raise TypeError(
            f"{operation.method} {operation.shown.path}: {option} isn't JSON: {error}"
        ) from None


def _find_headers(operation: Operation) -> Iterator[tuple[int | str | None, str, Any, bool]]:
    own = operation.facts[-1].describes.get("headers", {})
    for key, value in operation.described.get("headers", {}).items():
        if is_status(key):
            yield from ((key, name, each, key in own) for name, each in value.items())
        else:
            yield None, key, value, False


def apply_additions(additions: Additions, written: dict[str, Any], schemas: Schemas) -> None:
    """Adds the members to an Operation Object, once all schemas are known.

    Args:
        additions: The members.
        written: The Operation Object, which is changed.
        schemas: The schemas of the document.
    """
    if additions.parameters:
        given = [fill_slots(each, schemas) for each in additions.parameters]
        parameters = merge_parameters(additions.operation, written.get("parameters", ()), given)
        written.pop("parameters", None)
        if parameters:
            written["parameters"] = parameters
    for status, name, header, is_own in additions.headers:
        _add_header(written["responses"], status, name, fill_slots(header, schemas), is_own)
    written |= additions.others


def merge_parameters(
    operation: Operation, found: Iterable[Mapping[str, Any]], given: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Merges Parameter Objects; those that are hidden are left out.

    Args:
        operation: The operation.
        found: The parameters that were found.
        given: The parameters that `describe` gives. One of a path that this operation doesn't have
            is ignored, since the description may be that of several paths.
    """
    merged = {find_key(each): dict(each) for each in found}
    pairs = zip(operation.template.parameters, operation.shown.parameters, strict=True)
    shown = {parameter.name: other.name for parameter, other in pairs}
    for each in given:
        if each["in"] == "path":
            if each["name"] not in shown:
                continue
            each = {**each, "name": shown[each["name"]]}
        old = merged.get(find_key(each), {})
        if each.get("hidden", old.get("hidden")):
            merged.pop(find_key(each), None)
            continue
        merged[find_key(each)] = _merge_parameter(old, each)
    return sorted(merged.values(), key=lambda each: _ORDER.index(each["in"]))


def _merge_parameter(old: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    dropped = {"hidden"}
    for pair in _EXCLUSIVE:
        dropped |= {*pair} - given.keys() if given.keys() & {*pair} else set()
    if given.keys() & {"schema", "content"}:
        dropped |= {*_FORMS} - given.keys()  # those of the schema that was found
    name = old.get("name", given["name"])
    merged = {key: value for key, value in {**old, **given}.items() if key not in dropped}
    merged["name"] = name  # a header as the app reads it
    if given["in"] == "path":
        merged["required"] = True
    if not merged.keys() & {"schema", "content"}:
        merged["schema"] = {"type": "string"}
    return merged


def _add_header(
    responses: dict[str, Any], status: int | str | None, name: str, header: Any, is_own: bool
) -> None:
    key = str(status)
    is_range = key.endswith("XX")
    matching = [
        each
        for each, response in responses.items()
        if "$ref" not in response
        and (status is None or each == key or (is_range and each[0] == key[0]))
    ]
    if not matching and is_own and key not in responses:
        responses[key] = {"description": phrase(key)}
        matching = [key]
    for each in matching:
        headers = responses[each].get("headers", {})
        known = next((other for other in headers if other.lower() == name.lower()), name)
        responses[each] = {**responses[each], "headers": {**headers, known: header}}
