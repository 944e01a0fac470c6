# SPDX-License-Identifier: MIT
"""Selects the operations of an app that are tools, and describes each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kit.http.media_types import is_json
from kit.http.methods import READING_METHODS
from kit.interface import App
from kit.openapi import AppOperation, AppOperations, find_operations

from ._inputs import Inputs, Parameter, describe_inputs
from ._schemas import resolve, standalone
from ._tool import NAME, find_tool

__all__ = ("ToolDefinition", "ToolDefinitions", "define_tools")

_WRAPPED = "result"
_DESTRUCTIVE = ("PUT", "DELETE")
_BODILESS = ("GET", "HEAD")


@dataclass(frozen=True)
class ToolDefinition:
    """A tool.

    Attributes:
        name: Its name.
        title: Its human-readable name.
        description: What it does, for models.
        hints: Its annotations, with the library's names.
        method: The method of its requests.
        path: Their path template.
        handler: The handler that must handle them.
        inputs: Its arguments.
        output: The schema of its structured content; None if it is unknown.
        wraps: Whether the structured content is an object with the response body as its only field,
            `result`, since only objects are allowed.
    """

    name: str
    title: str
    description: str
    hints: Mapping[str, bool]
    method: str
    path: str
    handler: Any
    inputs: Inputs
    output: dict[str, Any] | None
    wraps: bool


@dataclass(frozen=True)
class ToolDefinitions:
    """The tools of an app.

    Attributes:
        tools: The tools by name, in the order of their routes.
        secret_headers: Additional headers that contain credentials, in lower case.
    """

    tools: Mapping[str, ToolDefinition]
    secret_headers: frozenset[str]


def define_tools(
    app: App, *, operations: Collection[str], tags: Collection[str]
) -> ToolDefinitions:
    """Defines the tools of an app: handlers with `tool`, and operations selected by ID or tag.

    Args:
        app: The app.
        operations: Operation IDs.
        tags: Tags; all operations with one of them are tools.

    Raises:
        ValueError: If a selected operation can't be a tool; the message suggests a solution.
    """
    found = find_operations(app)
    _check_decorated(app, found)
    _check_chosen(found, operations, tags)
    components: Mapping[str, Any] = found.document.get("components", {})
    secrets = _secrets(components)
    tools: dict[str, ToolDefinition] = {}
    for each in found.operations:
        said = find_tool(each.handler)
        operation = each.operation
        if (
            said is not None
            or operation["operationId"] in operations
            or not find_tags(operation).isdisjoint(tags)
        ):
            definition = _plan(each, said or {}, components, secrets)
            other = tools.setdefault(definition.name, definition)
            if other is not definition:
                raise ValueError(
                    f"Two tools have the name {definition.name!r}: {_shown(other)} and "
                    f"{_shown(definition)}; rename one of them with @tool(name=...)"
                )
    headers = frozenset(each.name for each in secrets if each.place == "header")
    return ToolDefinitions(tools, headers)


def find_tags(operation: Mapping[str, Any]) -> set[str]:
    """Returns the tags of an operation."""
    return {*operation.get("tags", ())}


def _shown(operation: Any) -> str:
    return f"{operation.method} {operation.path}"


def _check_decorated(app: App, found: AppOperations) -> None:
    known = {id(each.handler) for each in found.operations}
    for route in app.routes:
        if find_tool(route.handler) is None or id(route.handler) in known:
            continue
        shown = _shown(route)
        begin = f"{shown} is left out: "
        notes = [each.removeprefix(begin) for each in found.notes if each.startswith(begin)]
        why = notes[0] if notes else "it is middleware, or hidden from the document of the app"
        raise ValueError(f"{shown} can't be a tool: {why}; remove @tool from its handler")


def _check_chosen(found: AppOperations, ids: Collection[str], tags: Collection[str]) -> None:
    known = [each.operation["operationId"] for each in found.operations]
    for each in ids:
        _check_is_unambiguous(found, each)
        if each not in known:
            raise ValueError(
                f"mcp(operations=...) has {each!r:.100}, which isn't an operation of the app: "
                f"expected some of {', '.join(sorted(known)) or 'none, as it has no routes'}"
            )
    used = set().union(*(find_tags(each.operation) for each in found.operations))
    for each in tags:
        if each not in used:
            raise ValueError(
                f"mcp(tags=...) has {each!r:.100}, which no operation of the app uses: "
                f"expected some of {', '.join(sorted(used)) or 'none, as it has no tags'}"
            )


def _check_is_unambiguous(found: AppOperations, id: str) -> None:
    """Rejects the name of functions that gave their operations other ids."""
    # APPSEC: the id of one operation may be the name of another function, which may be meant.
    named = [each for each in found.operations if id in (each.name, each.operation["operationId"])]
    if any(each.operation["operationId"] != id for each in named):
        choices = sorted(f"{each.operation['operationId']} ({_shown(each)})" for each in named)
        raise ValueError(
            f"mcp(operations=...) has {id!r:.100}, which isn't the name of one operation alone: "
            f"expected the id of one of them, {', '.join(choices)}; "
            "describe(operation_id=...) sets other ids"
        )


def _secrets(components: Mapping[str, Any]) -> frozenset[Parameter]:
    schemes = components.get("securitySchemes", {}).values()
    keys = [each for each in schemes if each.get("type") == "apiKey"]
    return frozenset(
        Parameter(each["in"], each["name"].lower() if each["in"] == "header" else each["name"])
        for each in keys
    )


def _plan(
    found: AppOperation,
    said: Mapping[str, Any],
    components: Mapping[str, Any],
    secrets: frozenset[Parameter],
) -> ToolDefinition:
    operation = found.operation
    shown = f"{_shown(found)} can't be a tool"
    name = said.get("name", operation["operationId"])
    if not NAME.fullmatch(name):
        raise ValueError(
            f"{shown}: its operation id {name!r:.100} has characters other than letters, digits, "
            "'_', '-' and '.', or more than 64; rename it with @tool(name=...)"
        )
    try:
        # APPSEC: a header that a handler only reads may be controlled by a proxy in front, e.g. to
        # identify the user; a model must not set it.
        hidden = {Parameter("header", each) for each in found.undeclared_headers}
        inputs = describe_inputs(operation, components, secrets | hidden)
    except ValueError as error:
        raise ValueError(f"{shown}: {error}; don't select it") from None
    if found.method in _BODILESS and (inputs.fields is not None or inputs.body is not None):
        raise ValueError(f"{shown}: a {found.method} request can't have a body; use POST")
    output, wraps = _output(operation, components)
    texts = [operation["summary"], operation.get("description", "")]
    return ToolDefinition(
        name=name,
        title=said.get("title", operation["summary"]),
        description=said.get("description", "\n\n".join(filter(None, texts))),
        hints=_hints(found.method, said),
        method=found.method,
        path=found.path,
        handler=found.handler,
        inputs=inputs,
        output=output,
        wraps=wraps,
    )


def _hints(method: str, said: Mapping[str, Any]) -> dict[str, bool]:
    hints = {"read_only_hint": method in READING_METHODS}
    if method in _DESTRUCTIVE:
        hints |= {"destructive_hint": True, "idempotent_hint": True}
    return hints | {key: value for key, value in said.items() if key.endswith("_hint")}


def _output(
    operation: Mapping[str, Any], components: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, bool]:
    """Returns the schema of the structured content, and whether it wraps the body.

    Clients validate results against the schema, so there is none unless all successful responses
    are known to be JSON with the same schema.
    """
    schemas: Mapping[str, Any] = components.get("schemas", {})
    answers = [
        answer for status, answer in operation["responses"].items() if status[:1] in ("2", "3", "d")
    ]
    contents = [answer.get("content", {}) for answer in answers]
    if len(contents) != 1 or [*map(is_json, contents[0])] != [True]:
        return None, False
    (media,) = contents[0].values()
    schema = media.get("schema")
    if not schema:
        return None, False
    # A reference at the root is resolved, since older clients expect `type: object` there.
    whole = resolve(schema, schemas)
    if whole.get("type") == "object":
        return standalone(whole, schemas), False
    wrapped = {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED]}
    return standalone(wrapped, schemas), True
