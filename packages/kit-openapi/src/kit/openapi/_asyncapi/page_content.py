# SPDX-License-Identifier: MIT
"""Writes an AsyncAPI document as HTML: channels, messages with schemas, and a console for each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from .examples import make_example


def write_content(document: Mapping[str, Any], link: str) -> str:
    """Returns the content of the page.

    Args:
        document: The document.
        link: The URL of the document.
    """
    info = document["info"]
    parts = [
        "<header>",
        f"<h1>{_text(info['title'])} <small>{_text(info['version'])}</small></h1>",
        _paragraphs(info.get("description")),
        f'<p>WebSockets of this API, as an <a href="{escape(link)}">AsyncAPI document</a>.</p>',
        "</header>\n<main>",
    ]
    channels = document["channels"]
    if not channels:
        parts.append("<p>This app has no WebSockets.</p>")
    for name, channel in channels.items():
        parts.append(_write_channel(name, channel, document))
    return "\n".join([*filter(None, parts), "</main>\n"])


def _write_channel(name: str, channel: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    label = escape(f"channel-{name}")
    operations = [
        each
        for each in document["operations"].values()
        if each["channel"]["$ref"] == f"#/channels/{name}"
    ]
    sent = _messages(operations, "receive", document)
    parts = [
        f'<section class="channel" aria-labelledby="{label}">',
        f'<h2 id="{label}"><code>{_text(channel["address"])}</code></h2>',
        f"<p><strong>{_text(channel.get('summary', ''))}</strong></p>",
        _paragraphs(channel.get("description")),
        _write_messages("Messages that you send", sent, document),
        _write_messages(
            "Messages that you receive", _messages(operations, "send", document), document
        ),
        _write_security(operations, document),
        _write_console(name, channel, sent, document),
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def _messages(
    operations: Iterable[Mapping[str, Any]], action: str, document: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    return [
        document["components"]["messages"][reference["$ref"].rpartition("/")[2]]
        for operation in operations
        if operation["action"] == action
        for reference in operation["messages"]
    ]


def _write_messages(
    heading: str, messages: list[Mapping[str, Any]], document: Mapping[str, Any]
) -> str:
    if not messages:
        return ""
    parts = [f"<h3>{heading}</h3>"]
    for message in messages:
        media_type = message.get("contentType", "any message")
        payload = message["payload"]
        components = document.get("components", {}).get("schemas", {})
        parts += [
            f"<details><summary><code>{_text(message['title'])}</code> "
            f"<small>{_text(media_type)}</small> {_text(message.get('summary', ''))}</summary>",
            f"<h4>Schema</h4><pre>{_json(_resolved(payload, components))}</pre>",
        ]
        if media_type == "application/json":
            parts.append(f"<h4>Example</h4><pre>{_json(make_example(payload, components))}</pre>")
        parts.append("</details>")
    return "\n".join(parts)


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follows the reference of a schema; references within it stay."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return components.get(name, schema) if name else schema


def _write_security(operations: Iterable[Mapping[str, Any]], document: Mapping[str, Any]) -> str:
    schemes = document.get("components", {}).get("securitySchemes", {})
    texts: dict[str, None] = {}
    for operation in operations:
        for each in operation.get("security", ()):
            name = each.get("$ref", "").rpartition("/")[2]
            scheme = schemes.get(name, each)
            details = [scheme.get(key) for key in ("type", "scheme", "in", "name")]
            texts[" ".join(str(detail) for detail in details if detail)] = None
    if not texts:
        return ""
    items = " or ".join(f"<code>{_text(each)}</code>" for each in texts)
    return f"<p>Credentials: {items}.</p>"


def _write_console(
    name: str,
    channel: Mapping[str, Any],
    messages: list[Mapping[str, Any]],
    document: Mapping[str, Any],
) -> str:
    components = document.get("components", {}).get("schemas", {})
    binding = channel["bindings"]["ws"]
    fields = []
    for each, parameter in channel.get("parameters", {}).items():
        examples = parameter.get("examples") or parameter.get("enum") or [""]
        fields.append(_field("path", each, examples[0], is_required=True))
    query = binding.get("query", {})
    for each in query.get("properties", {}):
        is_required = each in query.get("required", ())
        fields.append(_field("query", each, "", is_required=is_required))
    headers = binding.get("headers", {}).get("properties", {})
    note = ""
    if headers:
        names = ", ".join(f"<code>{_text(each)}</code>" for each in headers)
        note = f"<p>The handshake reads headers that browsers can't set: {names}.</p>"
    examples = [
        (message["title"], json.dumps(make_example(message["payload"], components)))
        if message.get("contentType") == "application/json"
        else (message["title"], "hello")
        for message in messages
    ]
    options = "".join(
        f'<option value="{escape(text)}">{_text(title)}</option>' for title, text in examples
    )
    label = escape(f"console-{name}")
    first = _text(examples[0][1]) if examples else ""
    choice = (
        f'<label>Example <select name="example">{options}</select></label>'
        if len(examples) > 1
        else ""
    )
    sends = (
        f'{choice}<label>Message <textarea name="message" rows="3">{first}</textarea></label>'
        '<button type="submit" value="send" disabled>Send</button>'
        if messages
        else ""
    )
    return (
        f'<form class="console" data-address="{escape(channel["address"])}" '
        f'aria-labelledby="{label}">\n<h3 id="{label}">Try it</h3>{note}'
        f'{"".join(fields)}<p class="buttons"><button type="button" name="connect">Connect</button>'
        '<button type="button" name="disconnect" disabled>Disconnect</button>'
        '<output role="status">not connected</output></p>'
        f'{sends}<ol class="log" role="log" aria-label="Messages" tabindex="0"></ol></form>'
    )


def _field(place: str, name: str, value: str, *, is_required: bool) -> str:
    required = " required" if is_required else ""
    # Without a name: a field named `message` or `dataset` would hide what the script looks up.
    return (
        f'<label>{_text(name)} <small>{place}</small> <input data-place="{place}" '
        f'data-name="{escape(name)}" value="{escape(value)}"{required} autocomplete="off"></label>'
    )


def _paragraphs(text: Any) -> str:
    found = str(text or "").split("\n\n")
    return "".join(f"<p>{_text(each)}</p>" for each in found if each.strip())


def _json(value: Any) -> str:
    return _text(json.dumps(value, indent=2, ensure_ascii=False))


def _text(value: Any) -> str:
    return escape(str(value), quote=False)
