# SPDX-License-Identifier: MIT
"""The AsyncAPI document of an app, built on first use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kit.interface import App

__all__ = ("VERSION", "AsyncDocumentation")

VERSION = "3.0.0"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_WS_BINDING = "0.1.0"


class AsyncDocumentation:
    """The options of an AsyncAPI document, and the document built from them.

    Args:
        app: The app.
        info: The Info Object.
        servers: Server Objects by name.
        security_schemes: Security Scheme Objects of OpenAPI by name.
    """

    def __init__(
        self,
        app: App,
        *,
        info: Mapping[str, Any],
        servers: Mapping[str, Mapping[str, Any]],
        security_schemes: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.app = app
        self.info = dict(info)
        self.servers = {name: dict(each) for name, each in servers.items()}
        self.security_schemes = security_schemes
        self.base_path = "/"
        self.notes: list[str] = []
        self._document: dict[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Returns the document, which is built once; `notes` then lists what it leaves out."""
        if self._document is None:
            self._document = self._build()
        return self._document

    def _build(self) -> dict[str, Any]:
        # Imported here: not needed at startup.
        import msgspec

        from .._operation_ids import name_operations
        from .._operations import find_operations
        from .._rendering import plan, render
        from .._responses import Errors
        from .._schemas import Schemas
        from .._security import Security
        from .._source import forget
        from .draft_07 import to_draft_07
        from .messages import find_messages
        from .security import to_scheme, to_security

        self.notes.clear()
        operations = find_operations(self.app, self.base_path, self.notes, websockets=True)
        name_operations(operations, self.notes)
        codecs = self.app.codecs
        schemas = Schemas(codecs, separate=False)
        security = Security(self.security_schemes, self.notes)
        errors = Errors(None, schemas)
        planned = [
            (plan(each, schemas, errors, security), _ask(find_messages(each), schemas))
            for each in operations
        ]
        forget()
        schemas.resolve()
        messages = _MessageComponents(schemas)
        channels: dict[str, Any] = {}
        written: dict[str, Any] = {}
        for pending, asked in planned:
            operation = render(pending, schemas)
            name, path = pending.operation.id, pending.operation.shown.path
            shown = f"GET {path}"
            channels[name], by_action = _channel(path, operation, asked, messages)
            requirements = to_security(pending.security or (), security.schemes, shown, self.notes)
            for action, its_messages in by_action.items():
                if not its_messages:
                    continue
                if messages.has_unknown(its_messages):
                    self.notes.append(
                        f"{shown}: the type of messages that the app {action}s isn't known: "
                        "write ws: Socket[..., ...] of kit.typed, or describe_messages()"
                    )
                written[f"{action}_{name}"] = _operation(
                    action, name, operation, its_messages, requirements
                )
        problems = schemas.problems_in(range(len(schemas)))
        self.notes += [f"A type has no schema: {problem}" for problem in problems]
        used = {
            "schemas": schemas.keep([channels, messages.components]),
            "messages": messages.components,
            "securitySchemes": {
                name: to_scheme(each) for name, each in sorted(security.schemes.items())
            },
        }
        components = {name: value for name, value in used.items() if value}
        if "schemas" in components:
            components["schemas"] = {
                name: to_draft_07(each) for name, each in components["schemas"].items()
            }
        document: dict[str, Any] = {
            "asyncapi": VERSION,
            "info": self.info,
            "defaultContentType": "application/json",
        }
        if self.servers:
            document["servers"] = self.servers
        document |= {"channels": channels, "operations": written}
        if components:
            document["components"] = components
        # Tuples, dates etc. in defaults and examples become JSON values.
        built: dict[str, Any] = msgspec.json.decode(codecs.encode_json(document))
        return built


class _Asked(NamedTuple):
    """The types of messages, each with the number of its schema."""

    receives: list[tuple[Any, int]]
    sends: list[tuple[Any, int]]


def _ask(messages: Any, schemas: Any) -> _Asked:
    from .._schemas import REQUEST, RESPONSE

    return _Asked(
        [(kind, schemas.ask(kind, REQUEST)) for kind in messages.receives],
        [(kind, schemas.ask(kind, RESPONSE)) for kind in messages.sends],
    )


class _MessageComponents:
    """The messages of a document, by unique names."""

    def __init__(self, schemas: Any) -> None:
        self._schemas = schemas
        self.components: dict[str, dict[str, Any]] = {}

    def add(self, kind: Any, number: int) -> str:
        """Adds a message; returns its name. Equal messages are one."""
        from .draft_07 import to_draft_07

        schema = self._schemas.get(number)
        if kind is str:
            base, media_type = "Text", "text/plain"
        elif kind in (bytes, bytearray):
            base, media_type = "Binary", "application/octet-stream"
            schema = {"type": "string", "format": "binary"}
        elif kind is Any:
            base, media_type = "Message", ""
        else:
            base, media_type = _name(kind, schema), "application/json"
        summary = self._schemas.resolved(schema).get("description", "").partition("\n\n")[0]
        message: dict[str, Any] = {
            "title": base,
            "summary": " ".join(summary.split()).removesuffix("."),
            "contentType": media_type,
            "payload": to_draft_07(schema),
        }
        kept = {key: value for key, value in message.items() if value or key == "payload"}
        name, number = base, 1
        while self.components.setdefault(name, {"name": name, **kept}) != {"name": name, **kept}:
            number += 1
            name = f"{base}_{number}"
        return name

    def has_unknown(self, names: Sequence[str]) -> bool:
        """Returns whether the type of a message isn't known."""
        return any("contentType" not in self.components[name] for name in names)


def _name(kind: Any, schema: Mapping[str, Any]) -> str:
    reference = schema.get("$ref", "")
    name = reference.rpartition("/")[2] or getattr(kind, "__name__", "") or "Message"
    return _NOT_IN_NAMES.sub("_", name).strip("_") or "Message"


def _channel(
    path: str, operation: Mapping[str, Any], asked: _Asked, messages: _MessageComponents
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Returns a Channel Object, and the names of its messages by action."""
    by_action = {
        "receive": [messages.add(*each) for each in asked.receives],
        "send": [messages.add(*each) for each in asked.sends],
    }
    names = sorted({name for each in by_action.values() for name in each})
    parameters = operation.get("parameters", ())
    channel = {
        "address": path,
        "summary": operation.get("summary"),
        "description": operation.get("description"),
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "parameters": {
            each["name"]: _parameter(each) for each in parameters if each["in"] == "path"
        },
        "tags": [{"name": name} for name in operation.get("tags", ())],
        "bindings": {"ws": _binding(parameters)},
    }
    return {key: value for key, value in channel.items() if value}, by_action


def _parameter(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a Parameter Object, which has no schema in AsyncAPI 3: only texts."""
    schema = parameter["schema"]
    written: dict[str, Any] = {}
    if "description" in parameter:
        written["description"] = parameter["description"]
    if "enum" in schema:
        written["enum"] = [str(each) for each in schema["enum"]]
    examples = [str(each) for each in schema.get("examples", ())]
    if examples:
        written["examples"] = examples
    if schema.get("type", "string") != "string" or "pattern" in schema:
        written["x-schema"] = schema
    return written


def _binding(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns a WebSockets Channel Binding Object."""
    from .draft_07 import to_draft_07

    written: dict[str, Any] = {"method": "GET"}
    for place, key in (("query", "query"), ("header", "headers")):
        found = [each for each in parameters if each["in"] == place]
        if found:
            properties = {}
            for each in found:
                told = {name: each[name] for name in ("description", "deprecated") if name in each}
                properties[each["name"]] = {**each["schema"], **told}
            schema = {"type": "object", "properties": properties}
            required = [each["name"] for each in found if each.get("required")]
            written[key] = to_draft_07({**schema, "required": required} if required else schema)
    return {**written, "bindingVersion": _WS_BINDING}


def _operation(
    action: str,
    channel: str,
    operation: Mapping[str, Any],
    messages: Sequence[str],
    security: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Returns an Operation Object."""
    written: dict[str, Any] = {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "summary": operation.get("summary"),
        "description": operation.get("description"),
        "tags": [{"name": name} for name in operation.get("tags", ())],
        "security": security,
        "messages": [
            {"$ref": f"#/channels/{channel}/messages/{name}"} for name in dict.fromkeys(messages)
        ],
    }
    return {key: value for key, value in written.items() if value}
