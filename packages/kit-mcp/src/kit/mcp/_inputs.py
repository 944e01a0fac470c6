# SPDX-License-Identifier: MIT
"""Combines the parameters and the body of an operation into one object schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kit.http.media_types import JSON, is_json

from ._headers import is_callers_own
from ._schemas import is_plain_object, resolve, standalone

__all__ = ("Inputs", "Parameter", "describe_inputs")

# The argument names that language models accept.
_ARGUMENT = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_IN_ARGUMENTS = re.compile(r"[^A-Za-z0-9_.-]")
_MAX_LENGTH = 64


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation.

    Attributes:
        place: `path`, `query` or `header`.
        name: Its name in the request.
    """

    place: str
    name: str


@dataclass
class Inputs:
    """The arguments of a tool, and their places in the request.

    Attributes:
        schema: The schema of the arguments, an object.
        parameters: The parameters by argument name.
        fields: The arguments that are fields of the JSON body; None if there are none.
        body: The argument that is the whole JSON body, if any.
        content_type: The media type of the body.
    """

    schema: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    fields: frozenset[str] | None = None
    body: str | None = None
    content_type: str = JSON


def describe_inputs(
    operation: Mapping[str, Any], components: Mapping[str, Any], secrets: frozenset[Parameter]
) -> Inputs:
    """Determines the arguments of a tool.

    Parameters keep their names. If two have the same name, the later one is called `query_id` or
    `header_id`. The fields of a JSON body become separate arguments if the body is a required plain
    object, and none of them has the name of a parameter; otherwise the body is the argument `body`.
    Credentials and other data of the connection aren't arguments.

    Args:
        operation: The Operation Object.
        components: The Components Object of the document.
        secrets: Parameters that contain credentials; header names are in lower case.

    Raises:
        ValueError: If it takes a body that isn't JSON; the message has its type.
    """
    schemas: Mapping[str, Any] = components.get("schemas", {})
    inputs = Inputs()
    properties: dict[str, Any] = {}
    required: list[str] = []
    for each in operation.get("parameters", ()):
        parameter = Parameter(each["in"], each["name"])
        if _is_secret(parameter, secrets) or is_callers_own(parameter.place, parameter.name):
            continue
        name = _free_name(parameter, properties)
        inputs.parameters[name] = parameter
        properties[name] = _described(each)
        if each.get("required"):
            required.append(name)
    body = operation.get("requestBody")
    if body is not None:
        _add_body(inputs, properties, required, body, schemas)
    written = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    inputs.schema = standalone(
        {key: value for key, value in written.items() if value != []}, schemas
    )
    return inputs


def _is_secret(parameter: Parameter, secrets: frozenset[Parameter]) -> bool:
    if parameter.place == "header":
        parameter = Parameter("header", parameter.name.lower())
    return parameter in secrets


def _described(parameter: Mapping[str, Any]) -> dict[str, Any]:
    schema = dict(parameter.get("schema", {}))
    for key in ("description", "deprecated"):
        if key in parameter:
            schema.setdefault(key, parameter[key])
    return schema


def _free_name(parameter: Parameter, taken: Mapping[str, Any]) -> str:
    plain = _NOT_IN_ARGUMENTS.sub("_", parameter.name)[:_MAX_LENGTH]
    name = plain
    number = 1
    while name in taken:
        suffix = "" if number == 1 else f"_{number}"
        name = f"{parameter.place}_{plain}"[: _MAX_LENGTH - len(suffix)] + suffix
        number += 1
    return name


def _add_body(
    inputs: Inputs,
    properties: dict[str, Any],
    required: list[str],
    body: Mapping[str, Any],
    schemas: Mapping[str, Any],
) -> None:
    content: Mapping[str, Any] = body["content"]
    kind = next(filter(is_json, content), None)
    if kind is None:
        if body.get("required"):
            raise ValueError(f"it takes a body of {' or '.join(content)}, but tools send JSON")
        return
    inputs.content_type = kind
    schema = content[kind].get("schema", {})
    whole = resolve(schema, schemas)
    if body.get("required") and is_plain_object(whole) and _fits(whole["properties"], properties):
        inputs.fields = frozenset(whole["properties"])
        properties.update(whole["properties"])
        required += whole.get("required", ())
        return
    inputs.body = "body" if "body" not in properties else "request_body"
    properties[inputs.body] = schema
    if body.get("required"):
        required.append(inputs.body)


def _fits(fields: Mapping[str, Any], taken: Mapping[str, Any]) -> bool:
    return all(_ARGUMENT.fullmatch(each) and each not in taken for each in fields)
