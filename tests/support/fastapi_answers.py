# SPDX-License-Identifier: MIT
"""Puts the same requests to an app of FastAPI and one of Kit, and tells what is compared."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio


@dataclass
class Asked:
    """A request, as it is put to both apps.

    Attributes:
        path: Path and query.
        method: The method.
        json: The body as JSON; None for none.
        form: The body as an urlencoded form.
        files: The body as a multipart form: names to texts, or to file names and contents.
        headers: Other headers.
        body: The body as it is.
    """

    path: str
    method: str = "GET"
    json: Any = None
    form: Any = None
    files: dict[str, str | tuple[str, str]] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def sent(self) -> tuple[bytes, dict[str, str]]:
        if self.json is not None:
            return json.dumps(self.json).encode(), {"content-type": "application/json"}
        if self.form is not None:
            kind = "application/x-www-form-urlencoded"
            return urlencode(self.form).encode(), {"content-type": kind}
        if self.files is not None:
            parts = []
            for name, value in self.files.items():
                head = f'Content-Disposition: form-data; name="{name}"'
                content = value
                if isinstance(value, tuple):
                    head += f'; filename="{value[0]}"\r\nContent-Type: text/plain'
                    content = value[1]
                parts.append(f"--x\r\n{head}\r\n\r\n{content}\r\n")
            body = "".join([*parts, "--x--\r\n"]).encode()
            return body, {"content-type": "multipart/form-data; boundary=x"}
        return self.body, {}


async def answer(app: Any, asked: Asked) -> tuple[int, Any]:
    """Puts a request to an ASGI app; gives status and JSON (or text)."""
    path, _, query = asked.path.partition("?")
    body, headers = asked.sent()
    headers |= {"host": "localhost", "content-length": str(len(body)), **asked.headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent[1:])
    try:
        return sent[0]["status"], json.loads(content)
    except ValueError:
        return sent[0]["status"], content.decode()


PARTS = {"path": "param", "query": "query", "header": "header", "cookie": "cookie"}


def where(status: int, document: Any, *, is_form: bool) -> Any:
    """What is compared of an answer: of an invalid request the places of its errors."""
    if status == 422:
        places = set()
        for error in document["detail"]:
            part, *steps = error["loc"]
            if error["type"] == "json_invalid":
                steps = []
            shown = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
            body = "form" if is_form else "json"
            places.add((PARTS.get(part, body), shown.removeprefix(".")))
        return (400, places)
    if status == 400 and isinstance(document, dict) and "errors" in document:
        target = document.get("target")
        return (400, {(error.get("target", target), error["path"]) for error in document["errors"]})
    if status >= 400:
        return status
    return (status, document)
