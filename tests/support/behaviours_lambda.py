# SPDX-License-Identifier: MIT
"""The app of `behaviours_app` as a function of AWS Lambda.

As a program, it stands for the Lambda process: it reads events, one per line, and writes what the
function returns. As a module, it turns requests into events, and returned values into responses.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from behaviours_wire import Answer, Request

KINDS = ("rest", "http", "alb", "alb-multi", "url")
CLIENT = "192.0.2.7"
_SAMPLES = Path(__file__).with_name("lambda_events")


def event_of(kind: str, request: Request) -> dict[str, Any]:
    """Returns a sample event with the request in it."""
    event: dict[str, Any] = json.loads((_SAMPLES / f"{kind}.json").read_text())
    path, _, query = request.target.partition("?")
    lines = [
        ("host", "example.com"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-port", "443"),
        ("x-forwarded-for", CLIENT),
        *request.headers,
    ]
    if request.body:
        lines.append(("content-length", str(len(request.body))))
    try:
        event |= {"body": request.body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        event |= {"body": base64.b64encode(request.body).decode(), "isBase64Encoded": True}
    return event | _PARTS[kind](event, request.method, path, query, lines)


def _lists(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _rest(event: Any, method: str, path: str, query: str, lines: Any) -> dict[str, Any]:
    pairs = parse_qsl(query, keep_blank_values=True)
    context = event["requestContext"] | {"httpMethod": method, "path": path}
    context["identity"] = context["identity"] | {"sourceIp": CLIENT}
    return {
        "path": path,
        "httpMethod": method,
        "headers": dict(lines),
        "multiValueHeaders": _lists(lines),
        "queryStringParameters": dict(pairs) or None,
        "multiValueQueryStringParameters": _lists(pairs) or None,
        "requestContext": context,
    }


def _version_2(event: Any, method: str, path: str, query: str, lines: Any) -> dict[str, Any]:
    context = event["requestContext"]
    http = context["http"] | {"method": method, "path": path, "sourceIp": CLIENT}
    cookies = [part for name, value in lines if name == "cookie" for part in value.split("; ")]
    headers = {n: ",".join(v) for n, v in _lists(lines).items() if n != "cookie"}
    return {
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "cookies": cookies,
        "requestContext": context | {"http": http},
    }


def _balancer(event: Any, method: str, path: str, query: str, lines: Any) -> dict[str, Any]:
    pairs = [part.partition("=")[::2] for part in query.split("&") if part]
    parts: dict[str, Any] = {"path": path, "httpMethod": method}
    if "multiValueHeaders" in event:
        return parts | {
            "multiValueHeaders": _lists(lines),
            "multiValueQueryStringParameters": _lists(pairs),
        }
    return parts | {"headers": dict(lines), "queryStringParameters": dict(pairs)}


_PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "rest": _rest,
    "http": _version_2,
    "alb": _balancer,
    "alb-multi": _balancer,
    "url": _version_2,
}


def answer_of(returned: dict[str, Any]) -> Answer:
    """Returns the response that a client gets for what a function returned."""
    if "errorType" in returned:
        return Answer(502, (), returned["errorType"].encode())
    body = returned.get("body") or ""
    data = base64.b64decode(body) if returned.get("isBase64Encoded") else body.encode()
    lines = [*(returned.get("headers") or {}).items()]
    for name, values in (returned.get("multiValueHeaders") or {}).items():
        lines += [(name, value) for value in values]
    lines += [("set-cookie", value) for value in returned.get("cookies") or ()]
    return Answer(returned["statusCode"], tuple((n.lower(), v) for n, v in lines), data)


def main() -> None:
    """Calls the function with each event."""
    from behaviours_app import app
    from mangum import Mangum

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    lifespan = AsyncExitStack()
    loop.run_until_complete(lifespan.enter_async_context(app.running()))
    handler = Mangum(app, lifespan="off")
    for line in sys.stdin:
        try:
            returned = handler(json.loads(line), None)  # type: ignore[arg-type]
        except Exception as error:
            # Lambda reports the error; API Gateway and load balancers then send 502.
            returned = {"errorType": type(error).__name__}
        print(json.dumps(returned), flush=True)


if __name__ == "__main__":
    main()
