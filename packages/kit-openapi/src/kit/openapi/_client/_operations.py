# SPDX-License-Identifier: MIT
"""Reads the operations and security schemes of a document, for clients of any language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from kit.http.media_types import EVENT_STREAM, JSON_LINES

from .._methods import iterate_operations
from .._streams import find_item_schema

# A client has no use for what they tell.
_LEFT_OUT = ("HEAD", "OPTIONS")
_JSON = re.compile(r"application/(?:[^;+]+\+)?json(?![^\s;])")
_TEXT = re.compile(r"text/|application/(?:[^;+]+\+)?xml")
_MULTIPART = "multipart/form-data"
_FORM = re.compile(r"(?:application/x-www-form-urlencoded|multipart/form-data)(?![^\s;])")
_EMPTY = ("204", "205", "304")

BodyKind = Literal["json", "form", "multipart", "raw"]
AnswerKind = Literal["json", "text", "binary", "empty", "unknown"]


class Parameter(NamedTuple):
    """A parameter of an operation.

    Attributes:
        key: Its name in the request.
        place: `path`, `query`, `header` or `cookie`.
        schema: Its schema, or None.
        is_required: Whether it is required.
        description: Its description, or an empty text.
    """

    key: str
    place: str
    schema: Any
    is_required: bool
    description: str


class Body(NamedTuple):
    """The body of a request, in the media type that a client sends.

    Attributes:
        kind: How it is written.
        media_type: Its media type; of raw bodies perhaps a range such as `*/*`.
        schema: Its schema, or None.
        is_required: Whether it is required.
    """

    kind: BodyKind
    media_type: str
    schema: Any
    is_required: bool


class Answer(NamedTuple):
    """A documented response.

    Attributes:
        status: Its status: a number, a range such as `4XX`, or `default`.
        kind: How its body is read; `unknown` if the document doesn't tell.
        schema: The schema of JSON, or None.
    """

    status: str
    kind: AnswerKind
    schema: Any


class Stream(NamedTuple):
    """A response that is a stream of items.

    Attributes:
        status: Its status.
        media_types: Its media types with a schema for items: JSON Lines first, then events.
        schema: The schema of an item.
    """

    status: str
    media_types: list[str]
    schema: Any


class Operation(NamedTuple):
    """An operation of a document.

    Attributes:
        id: Its `operationId`.
        method: Its method, in capitals.
        path: Its path, with `{name}` for parameters.
        text: What it does: its summary, description, and whether it is deprecated.
        is_deprecated: Whether it is deprecated.
        parameters: Its parameters.
        body: What it takes, or None.
        answers: Its responses.
        stream: Its stream of items, or None.
    """

    id: str
    method: str
    path: str
    text: str
    is_deprecated: bool
    parameters: list[Parameter]
    body: Body | None
    answers: list[Answer]
    stream: Stream | None

    def find_parameters(self, place: str) -> list[Parameter]:
        """Returns the parameters of `path`, `query`, `header` or `cookie`."""
        return [each for each in self.parameters if each.place == place]


class Credential(NamedTuple):
    """What a security scheme asks for.

    Attributes:
        key: The name of its scheme.
        kind: `basic`; `token` for a field Authorization; otherwise `key`.
        place: Where a key is: `header`, `query` or `cookie`.
        name: The name of the field, parameter or cookie with a key; the scheme of a token.
    """

    key: str
    kind: Literal["basic", "token", "key"]
    place: str
    name: str

    @property
    def text(self) -> str:
        """Its description."""
        if self.kind == "basic":
            return "User name and password."
        if self.kind == "token":
            return f"The {self.name} token."
        return f"The {self.place} {self.name}."


def read_operations(document: Mapping[str, Any]) -> list[Operation]:
    """Returns the operations of a document, in its order."""
    return [
        _operation(method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in iterate_operations(item)
        if method not in _LEFT_OUT
    ]


def _operation(method: str, path: str, described: Mapping[str, Any]) -> Operation:
    said = [str(described.get("summary", "")).rstrip(".") + "."]
    if described.get("description"):
        said += ["", described["description"]]
    responses = described["responses"]
    return Operation(
        id=described["operationId"],
        method=method,
        path=path,
        text="\n".join(said),
        is_deprecated=bool(described.get("deprecated")),
        parameters=[
            Parameter(
                each["name"],
                each["in"],
                each.get("schema"),
                bool(each.get("required")),
                str(each.get("description", "")),
            )
            for each in described.get("parameters", ())
        ],
        body=_body(described.get("requestBody")),
        answers=[_answer(status, each.get("content")) for status, each in responses.items()],
        stream=_stream(responses),
    )


def _body(described: Mapping[str, Any] | None) -> Body | None:
    if described is None:
        return None
    required = bool(described.get("required"))
    content = described["content"]
    for media_type, each in content.items():
        if _JSON.match(media_type):
            return Body("json", media_type, each.get("schema"), required)
    for media_type, each in content.items():
        if _FORM.match(media_type):
            is_multipart = [*content] == [_MULTIPART]
            kind: BodyKind = "multipart" if is_multipart else "form"
            return Body(kind, media_type, each.get("schema"), required)
    return Body("raw", next(iter(content), "*/*"), None, required)


def _answer(status: str, content: Mapping[str, Any] | None) -> Answer:
    if content is None:
        return Answer(status, "empty" if status in _EMPTY else "unknown", None)
    for media_type, each in content.items():
        if _JSON.match(media_type):
            return Answer(status, "json", each.get("schema"))
    return Answer(status, "text" if all(map(_TEXT.match, content)) else "binary", None)


def _stream(responses: Mapping[str, Any]) -> Stream | None:
    for status, response in responses.items():
        schemas = {
            media_type: find_item_schema(response.get("content"), media_type)
            for media_type in (JSON_LINES, EVENT_STREAM)
        }
        found = [each for each, schema in schemas.items() if schema is not None]
        if status.isdigit() and found:
            return Stream(status, found, schemas[found[0]])
    return None


def read_credentials(document: Mapping[str, Any]) -> Iterator[Credential]:
    """Yields what the security schemes of a document ask for."""
    for key, scheme in document.get("components", {}).get("securitySchemes", {}).items():
        kind = scheme.get("type")
        if kind == "http" and scheme.get("scheme") == "basic":
            yield Credential(key, "basic", "header", "basic")
        elif kind == "apiKey":
            yield Credential(key, "key", scheme["in"], scheme["name"])
        elif kind in ("http", "oauth2", "openIdConnect"):
            yield Credential(key, "token", "header", str(scheme.get("scheme", "bearer")))
