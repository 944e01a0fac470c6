# SPDX-License-Identifier: MIT
"""Writes operations as Operation Objects (OpenAPI 3.2.0, section 4.10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kit.authoring.models import check_union, find_model
from kit.interface.metadata import Facts

from ._docstrings import Docstring, parse
from ._files import describe_body, describe_file, describe_unknown, has_base64, is_file
from ._handler_source import HandlerSource, Parameter, read
from ._names import by_name, header_names, named_fields
from ._operations import Operation
from ._responses import JSON, Errors, ResponseDescription, find_responses, with_slots
from ._schemas import REQUEST, Schema, Schemas, is_json, iterate_fields, without_null
from ._security import Security
from ._source import UNKNOWN
from ._streams import describe_items

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_PLACES = {"param": "path", "query": "query", "header": "header", "cookie": "cookie"}
# SPEC: OpenAPI 3.1.1 section 4.8.12.2.1: definitions of these headers are ignored.
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
_ORDER = list(_PLACES.values())
# SPEC: OpenAPI 3.1.1 section 4.8.12.3: the names of fields in brackets, `range[low]=1`.
_DEEP_OBJECT = {"style": "deepObject", "explode": True}
_CONSTRAINTS = {"minLength", "maxLength", "pattern"}


@dataclass
class PendingOperation:
    """An operation whose schemas have been requested, but aren't known yet.

    Attributes:
        operation: The operation.
        said: Information from its docstring.
        reading: Information from its source.
        answers: Its responses by status.
        validated: The types that validate parts of the request, by target.
        read: Parameters that the handler reads by name, each with the number of its schema.
        json: The number of the schema of a JSON body that the handler reads.
        required: The parts of the request with a body that can't be absent.
        body: A Request Body Object from `describe`.
        security: Its Security Requirement Objects; None if unspecified.
    """

    operation: Operation
    said: Docstring
    reading: HandlerSource
    answers: dict[str, ResponseDescription]
    security: list[dict[str, list[str]]] | None
    validated: dict[str, list[int]] = field(default_factory=dict)
    read: list[tuple[Parameter, int]] = field(default_factory=list)
    json: int | None = None
    required: set[str] = field(default_factory=set)
    body: dict[str, Any] | None = None


def plan(
    operation: Operation, schemas: Schemas, errors: Errors, security: Security
) -> PendingOperation:
    """Finds the parts of an operation, and requests the schemas of its types."""
    said = parse(getattr(operation.function, "__doc__", None))
    reading = read(operation.handler, operation.facts[:-1])
    answers = find_responses(operation, reading, said, errors, schemas)
    pending = PendingOperation(operation, said, reading, answers, security.requirements(operation))
    for facts in operation.facts:
        # The parts of `every` of kit-combine may read different names of the same target.
        for validates in facts.others.get("combine_validates", (facts.validates,)):
            for target, kind in validates.items():
                pending.validated.setdefault(target, []).append(schemas.ask(kind, REQUEST))
                if target == "json" and _is_required(facts, kind):
                    pending.required.add(target)
    pending.read = [(each, schemas.ask(each.kind, REQUEST)) for each in reading.parameters]
    if reading.json is not UNKNOWN and "json" not in pending.validated:
        pending.json = schemas.ask(reading.json, REQUEST)
    body = operation.described.get("request_body")
    if isinstance(body, Mapping):
        pending.body = with_slots(body, schemas, REQUEST)
    elif body is not None:
        pending.body = {"content": {JSON: {"schema": schemas.ask(body, REQUEST)}}}
        pending.body["required"] = True
    return pending


def render(pending: PendingOperation, schemas: Schemas) -> dict[str, Any]:
    """Writes an operation, once all schemas are known."""
    operation, described = pending.operation, pending.operation.described
    name = operation.name.replace("_", " ").strip()
    description = described.get("description", pending.said.description)
    written: dict[str, Any] = {
        "tags": described.get("tags", _tags(operation.base_path)),
        "summary": described.get("summary", pending.said.summary) or name.capitalize(),
        "description": description,
        "operationId": operation.id,
        "parameters": _parameters(pending, schemas),
        "requestBody": _required_by_method(operation.method, _body(pending, schemas)),
        "responses": {
            status: _response(answer, schemas) for status, answer in pending.answers.items()
        },
        "deprecated": described.get("deprecated", False),
    }
    kept = {key: value for key, value in written.items() if value}
    if pending.security is not None:
        kept["security"] = pending.security
    return kept


def _required_by_method(method: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns a body as the method needs it: a QUERY always has one (RFC 10008, section 2)."""
    return {**body, "required": True} if body and method == "QUERY" else body


def _tags(base_path: str) -> list[str]:
    literal = [each for each in base_path.split("/") if each and not each.startswith(":")]
    return literal[-1:]


def _response(answer: ResponseDescription, schemas: Schemas) -> dict[str, Any]:
    if answer.raw is not None:
        return {**_without_slots(answer.raw, schemas), "description": answer.description}
    written: dict[str, Any] = {"description": answer.description}
    if answer.content:
        written["content"] = {
            media_type: describe_unknown(media_type)
            if slot is None
            else {"schema": _unite([slot, *answer.others.get(media_type, ())], schemas)}
            for media_type, slot in answer.content.items()
        }
    return written


def _unite(numbers: list[int], schemas: Schemas) -> Schema:
    choices: list[Schema] = []
    for number in numbers:
        schema = schemas.get(number)
        if schema not in choices:
            choices.append(schema)
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _without_slots(value: Mapping[str, Any], schemas: Schemas) -> dict[str, Any]:
    copied = dict(value)
    if "content" in copied:
        copied["content"] = {
            media_type: describe_items(media_type, _with_schemas(media_type, each, schemas))
            for media_type, each in copied["content"].items()
        }
    return copied


def _with_schemas(
    media_type: str, described: Mapping[str, Any], schemas: Schemas
) -> dict[str, Any]:
    written = dict(described)
    if isinstance(written.get("schema"), int):
        written["schema"] = _schema_of_body(media_type, written["schema"], schemas)
    if isinstance(written.get("itemSchema"), int):
        written["itemSchema"] = schemas.get(written["itemSchema"])
    return written


def _schema_of_body(media_type: str, number: int, schemas: Schemas) -> Schema:
    """Returns the schema of a type in a body of a media type."""
    schema = schemas.get(number)
    if media_type != _MULTIPART:
        return describe_body(media_type, schema)
    if not any(has_base64(each) for _, each, _ in iterate_fields(schemas.resolved(schema))):
        return schema  # a component that is right, and has a name in clients
    return _form(schema, schemas, is_plain=find_model(schemas.kind(number)) is None)[0]


# --- Parameters -------------------------------------------------------------------------------


def _parameters(pending: PendingOperation, schemas: Schemas) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for parameter, number in pending.read:
        if parameter.target != "param":
            schema = schemas.get(number)
            default = _default(parameter, schemas)
            if default is not None:
                schema = {**schema, "default": default}
            _add_parameter(found, parameter.target, parameter.name, schema, False, schemas)
    for target in ("query", "header", "cookie"):
        for name, schema, required in _validated(pending, target, schemas):
            _add_parameter(found, target, name, schema, required, schemas)
    path = [*_path_parameters(pending, schemas)]
    return [*path, *sorted(found.values(), key=lambda each: _ORDER.index(each["in"]))]


def undeclared_headers(pending: PendingOperation, schemas: Schemas) -> frozenset[str]:
    """Returns the headers that a handler reads by name without validation, in lower case."""
    read = {each.name.lower() for each, _ in pending.read if each.target == "header"}
    return frozenset(read.difference(n.lower() for n, *_ in _validated(pending, "header", schemas)))


def _validated(
    pending: PendingOperation, target: str, schemas: Schemas
) -> Iterator[tuple[str, Schema, bool]]:
    """Yields the validated parameters: name, schema, and whether it is required."""
    for number in pending.validated.get(target, ()):
        names = header_names(schemas.kind(number)) if target == "header" else {}
        for name, schema, required in _fields_by_name(number, schemas):
            yield names.get(name, name), schema, required


def _fields_by_name(number: int, schemas: Schemas) -> Iterator[tuple[str, Schema, bool]]:
    is_plain = find_model(schemas.kind(number)) is None
    for name, schema, required in named_fields(by_name(number, schemas), schemas):
        yield name, _as_text(schema, schemas, is_plain=is_plain), required


def _is_object(schema: Schema, schemas: Schemas) -> bool:
    """Returns whether values are objects or lists of them, or null, which can't be sent by name."""
    whole = schemas.resolved(schema)
    choices = [
        schemas.resolved(each) for each in whole.get("anyOf") or whole.get("oneOf") or [whole]
    ]
    inner = [
        schemas.resolved(each.get("items", {})) if each.get("type") == "array" else each
        for each in choices
        if each.get("type") != "null"
    ]
    return bool(inner) and all(each.get("type") == "object" for each in inner)


def _default(parameter: Parameter, schemas: Schemas) -> Any:
    """Returns the default of a parameter as a JSON value; None if there is none."""
    if parameter.default is UNKNOWN:
        return None
    try:
        default = schemas.encode_default(parameter.default)
    except Exception:  # e.g. an object that marks an omitted value
        return None
    return default if is_json(default) else None


def _path_parameters(pending: PendingOperation, schemas: Schemas) -> Iterator[dict[str, Any]]:
    known: dict[str, Schema] = {}
    for each, number in pending.read:
        if each.target == "param":
            known[each.name] = schemas.get(number)
    for number in pending.validated.get("param", ()):
        known |= {name: schema for name, schema, _ in _fields_by_name(number, schemas)}
    operation = pending.operation
    pairs = zip(operation.template.parameters, operation.shown.parameters, strict=True)
    for parameter, shown in pairs:
        bare = without_null(known.get(parameter.name) or {"type": "string"})
        schema = {key: value for key, value in bare.items() if key != "default"}
        written = {"name": shown.name, "in": "path", "required": True}
        _describe(written, parameter.narrowed(schema) if "$ref" not in schema else schema)
        yield written


def _add_parameter(
    found: dict[tuple[str, str], dict[str, Any]],
    target: str,
    name: str,
    schema: Schema,
    required: bool,
    schemas: Schemas,
) -> None:
    place = _PLACES[target]
    if place == "header" and name.lower() in _IGNORED_HEADERS:
        return
    key = place, name.lower() if place == "header" else name
    if found.get(key, {}).get("required"):  # by another reader, whatever the default of this one
        required = True
        schema = {name: value for name, value in schema.items() if name != "default"}
    written: dict[str, Any] = {"name": name, "in": place}
    if required:
        written["required"] = True
    if any(map(_takes_any_text, schema.get("anyOf", ()))):
        schema = without_null(schema)  # the text `null` is a text
    if schema.get("default", ...) is None:  # for an omitted value, since a URL has no null
        schema = {key: value for key, value in schema.items() if key != "default"}
    if place == "query" and _is_object(schema, schemas):
        schema = without_null(schema)
        written |= _DEEP_OBJECT
    elif place == "query" and schemas.resolved(schema).get("type") == "array":
        written |= {"style": "form", "explode": True}
    _describe(written, schema)
    found[key] = written


def _as_text(schema: Schema, schemas: Schemas, *, is_plain: bool) -> Schema:
    """Removes the types of a union that values sent by name are never read as.

    If the union contains an array, all values with the name are read as an array. If it contains a
    str with a pattern or a length, msgspec reads any text as that str. Pydantic never reads text as
    None.

    Args:
        schema: The schema of a field.
        schemas: The collection of schemas.
        is_plain: Whether msgspec reads the values; otherwise, pydantic does.
    """
    if not is_plain:
        schema = without_null(schema)
    choices = schema.get("anyOf", ())
    kept = [each for each in choices if schemas.resolved(each).get("type") == "array"]
    if not kept and is_plain:
        kept = [each for each in choices if _takes_some_text(each)]
    if len(kept) in (0, len(choices)):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return _without_misfit({**kept[0], **rest} if len(kept) == 1 else {**rest, "anyOf": kept})


def _without_misfit(schema: Schema) -> Schema:
    """Removes a default that can't be sent."""
    kind = {"array": list, "string": str}.get(schema.get("type", ""), object)
    if isinstance(schema.get("default", kind()), kind):
        return schema
    return {key: value for key, value in schema.items() if key != "default"}


def _takes_some_text(schema: Schema) -> bool:
    return _takes_any_text(schema) and bool(schema.keys() & _CONSTRAINTS)


def _takes_any_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and not schema.keys() & {"format", "enum", "const"}


def _describe(written: dict[str, Any], schema: Schema) -> None:
    """Adds the schema; its information about the parameter moves to the parameter."""
    rest = dict(schema)
    for name in ("description", "deprecated"):
        if name in rest and "$ref" not in rest:
            written[name] = rest.pop(name)
    rest.pop("title", None)
    written["schema"] = rest


# --- Bodies -----------------------------------------------------------------------------------


def _body(pending: PendingOperation, schemas: Schemas) -> dict[str, Any] | None:
    if pending.body is not None:
        return _without_slots(pending.body, schemas)
    content: dict[str, Any] = {}
    required = pending.json is not None or "json" in pending.required
    bodies: list[Schema] = []
    for number in [*([] if pending.json is None else [pending.json]), *_select(pending, "json")]:
        schema = schemas.get(number)
        if schema not in bodies:
            bodies.append(schema)
    if bodies:
        told = [each for each in bodies if each] or bodies[:1]  # without those that take anything
        schema = told[0] if len(told) == 1 else {"allOf": told}
        content |= {media_type: {"schema": schema} for media_type in _json_types(pending)}
    for number in _select(pending, "form"):
        # A form can't be null: a model that may be None is one that has to be sent.
        is_plain = find_model(schemas.kind(number)) is None
        named = without_null(by_name(number, schemas))
        schema, has_file = _form(named, schemas, is_plain=is_plain)
        media_types = [_MULTIPART] if has_file else [_URLENCODED, _MULTIPART]
        written = {"schema": schema}
        encoding = {
            name: dict(_DEEP_OBJECT)
            for name, each, _ in iterate_fields(schemas.resolved(schema))
            if _is_object(each, schemas)
        }
        if encoding:
            written["encoding"] = encoding
        content |= dict.fromkeys(media_types, written)
        required = required or _has_required(schema, schemas)
    if not content and pending.reading.form:
        content = {each: {"schema": {"type": "object"}} for each in (_URLENCODED, _MULTIPART)}
    return {"content": content, **({"required": True} if required else {})} if content else None


def _json_types(pending: PendingOperation) -> tuple[str, ...]:
    """Returns the media types of a JSON body, as the innermost function restricts them."""
    found = [each.body_media_types for each in pending.operation.facts if each.body_media_types]
    return found[-1] if found else (JSON,)


def _select(pending: PendingOperation, target: str) -> list[int]:
    return pending.validated.get(target, [])


def _is_required(facts: Facts, kind: Any) -> bool:
    """Returns whether a JSON body is required, by a fact or its type; see `kit.interface.metadata`.

    Without the fact, it is optional if it may be None, or if it is valid as `{}`.
    """
    if facts.body_required is not None:
        return facts.body_required
    model = find_model(kind)
    for value in (b"null", b"{}"):
        # An exception may also be one of the type's own code.
        with suppress(Exception):
            if model is None:
                check_union(kind)
                msgspec.json.decode(value, type=kind)
            else:
                model.validate_json(value)
            return False
    return True


def _has_required(schema: Schema, schemas: Schemas) -> bool:
    """Returns whether a form is required: a missing one has no fields."""
    whole = schemas.resolved(schema)
    choices = whole.get("anyOf") or whole.get("oneOf") or ()
    objects = [each for each in choices if schemas.resolved(each).get("type") == "object"]
    if objects:
        return all(_has_required(each, schemas) for each in objects)
    return bool(whole.get("required"))


def _form(schema: Schema, schemas: Schemas, *, is_plain: bool) -> tuple[Schema, bool]:
    """Returns the schema of a form, and whether it has files; bytes are files as well."""
    whole = schemas.resolved(schema)
    fields = {
        name: describe_file(_as_text(each, schemas, is_plain=is_plain))
        for name, each, _ in iterate_fields(whole)
    }
    if fields != dict(whole.get("properties", {})):
        schema = {**whole, "properties": fields}
    return schema, any(map(is_file, fields.values()))
