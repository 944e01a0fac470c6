# SPDX-License-Identifier: MIT
"""Builds the request for a tool call."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kit.http.fields import is_field_value
from kit.http.origins import parse_origin
from kit.interface import Context, Request

from ._headers import forwarded
from ._inputs import Inputs
from ._tool_definitions import ToolDefinition

__all__ = ("ArgumentError", "build_request")

_VARIABLE = re.compile(r"\{([^{}]*)\}")
# A stream of JSON Lines can be a result, one of events can't.
_ACCEPT = "application/json, application/jsonl, text/*;q=0.9, */*;q=0.8"


class ArgumentError(Exception):
    """An argument that can't be sent; the text is for the model."""


def build_request(
    definition: ToolDefinition, arguments: Mapping[str, Any], c: Context[Any, Any], *, cookies: bool
) -> Request:
    """Builds the request for a tool call.

    Args:
        definition: The tool.
        arguments: The arguments of the call.
        c: The context of the MCP request, which provides the caller's headers and address.
        cookies: Whether to send the caller's cookies.

    Raises:
        ArgumentError: If an argument can't be sent, is unknown, or is missing.
    """
    inputs = definition.inputs
    _check_names(arguments, inputs)
    values = {key: value for key, value in arguments.items() if value is not None}
    path = _path(definition, values)
    query: list[str] = []
    headers = forwarded(c.req.raw.headers.items(), cookies=cookies)
    taken = {name for name, _ in headers}
    headers.append(("accept", _ACCEPT))
    request_id = c.get("request_id")
    if isinstance(request_id, str) and "x-request-id" not in taken:
        # So that the logs of both requests have the ID created by kit-request-id.
        headers.append(("x-request-id", request_id))
    for name, parameter in inputs.parameters.items():
        if name not in values:
            continue
        if parameter.place == "query":
            key = _quoted(name, parameter.name)
            query += [f"{key}={_quoted(name, each)}" for each in _texts(name, values[name])]
        elif parameter.place == "header":
            if parameter.name.lower() in taken:
                raise ArgumentError(f"Leave {name} out: the MCP client sets this header itself")
            headers.append((parameter.name.lower(), _header(name, values[name])))
    body = _body(inputs, arguments)
    if body is not None:
        headers.append(("content-type", inputs.content_type))
    raw = c.req.raw
    # As for a mounted application, the prefix of proxies is only in `root_path`.
    return raw.replace(
        method=definition.method,
        url=parse_origin(raw.url) + path + ("?" + "&".join(query) if query else ""),
        headers=headers,
        body=body,
        root_path=raw.root_path,
        root_pattern=raw.root_pattern,
    )


def _check_names(arguments: Mapping[str, Any], inputs: Inputs) -> None:
    known = inputs.schema["properties"]
    for name in arguments:
        if name not in known:
            raise ArgumentError(
                f"There is no argument {name!r:.100}: expected {', '.join(known) or 'none'}"
            )
    for name in inputs.schema.get("required", ()):
        if name not in arguments:
            raise ArgumentError(f"The argument {name} is missing")


def _path(definition: ToolDefinition, values: Mapping[str, Any]) -> str:
    names = {
        parameter.name: name
        for name, parameter in definition.inputs.parameters.items()
        if parameter.place == "path"
    }

    def fill(match: re.Match[str]) -> str:
        name = names[match[1]]
        texts = _texts(name, values.get(name))
        if len(texts) != 1 or not texts[0]:
            raise ArgumentError(f"The argument {name} is part of a path: expected a single value")
        return _quoted(name, texts[0])

    path = _VARIABLE.sub(fill, definition.path)
    # APPSEC: a URL would resolve them, and lead to another route.
    if {".", ".."} & {*path.split("/")}:
        raise ArgumentError("An argument that is part of a path can't be '.' or '..'")
    return path


def _texts(name: str, value: Any) -> list[str]:
    """Returns the values of a parameter as text: one, or several for a list."""
    texts = []
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            texts.append(each)
        elif isinstance(each, (bool, int, float)):
            texts.append(_json(name, each))
        else:
            raise ArgumentError(f"The argument {name} can't be sent: expected strings or numbers")
    return texts


def _quoted(name: str, text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise ArgumentError(f"The argument {name} has an unpaired surrogate") from None


def _header(name: str, value: Any) -> str:
    text = ", ".join(_texts(name, value))
    if not is_field_value(text):
        raise ArgumentError(
            f"The argument {name} is sent in a header: expected latin-1 text without control "
            "characters and without leading or trailing blanks"
        )
    return text


def _body(inputs: Inputs, arguments: Mapping[str, Any]) -> bytes | None:
    if inputs.body is not None:
        if inputs.body not in arguments:
            return None
        value = arguments[inputs.body]
    elif inputs.fields is not None:
        value = {name: each for name, each in arguments.items() if name in inputs.fields}
    else:
        return None
    return _json(inputs.body or "of the body", value).encode()


def _json(name: str, value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise ArgumentError(f"The argument {name} has a number that JSON can't express") from None
