# SPDX-License-Identifier: MIT
"""An app with ASGI middleware of six libraries, served by the tests."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import sentry_sdk
from asgi_correlation_id import CorrelationIdMiddleware, correlation_id
from asgi_csrf import asgi_csrf
from brotli_asgi import BrotliMiddleware
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from sentry_sdk.integrations.asgi import SentryAsgiMiddleware
from sentry_sdk.transport import Transport
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kit import Context, Kit, Response
from kit.asgi import asgi_middleware
from kit.conninfo import get_conn_info
from kit.websocket import WebSocket, upgrade_websocket

FOLDER = Path(os.environ["KIT_KEPT"])


def keep(name: str, value: Any) -> None:
    """Appends a value to a file that the tests read."""
    with (FOLDER / name).open("a") as file:
        file.write(json.dumps(value) + "\n")


class KeptEvents(Transport):
    """Keeps what would be sent to Sentry."""

    def capture_envelope(self, envelope: Any) -> None:
        for item in envelope.items:
            event = item.payload.json or {}
            exceptions = (event.get("exception") or {}).get("values") or []
            keep(
                "sentry",
                {
                    "type": item.type,
                    "transaction": event.get("transaction"),
                    "source": (event.get("transaction_info") or {}).get("source"),
                    "exceptions": [each["type"] for each in exceptions],
                },
            )


class KeptSpans(SpanExporter):
    """Keeps what would be exported."""

    def export(self, spans: Any) -> SpanExportResult:
        for span in spans:
            keep("spans", {"name": span.name, "route": (span.attributes or {}).get("http.route")})
        return SpanExportResult.SUCCESS


def describe_span(scope: Any) -> tuple[str, dict[str, Any]]:
    """The name of a span and its attributes: by default, it has no route."""
    route = scope.get("route")
    path = route.path if route else "/*"
    return f"{scope.get('method', 'WEBSOCKET')} {path}", {"http.route": path}


sentry_sdk.init(
    dsn="http://public@127.0.0.1:9/1",
    transport=KeptEvents,
    traces_sample_rate=1.0,
    default_integrations=False,
)
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(KeptSpans()))

app = Kit()
app.use("*", asgi_middleware(ProxyHeadersMiddleware, trusted_hosts="127.0.0.1"))
app.use("*", asgi_middleware(SentryAsgiMiddleware, transaction_style="url"))
app.use(
    "*",
    asgi_middleware(
        OpenTelemetryMiddleware, tracer_provider=provider, default_span_details=describe_span
    ),
)
app.use("*", asgi_middleware(CorrelationIdMiddleware, header_name="X-Request-ID"))
app.use("/page/*", asgi_middleware(BrotliMiddleware, minimum_size=10))
app.use("/form/*", asgi_middleware(asgi_csrf, signing_secret="secret", always_set_cookie=True))


@app.get("/users/:id")
async def read_user(c: Context) -> Response:
    """What the middleware around it has found out."""
    return c.json(
        {
            "id": c.req.param("id"),
            "url": c.req.url,
            "address": get_conn_info(c).remote.address,
            "correlation": correlation_id.get(),
        }
    )


@app.get("/boom/:id")
async def boom(c: Context) -> Response:
    """Fails."""
    raise LookupError(c.req.param("id"))


@app.get("/page/:name")
async def read_page(c: Context) -> Response:
    """A page that is worth compressing."""
    return c.text(f"{c.req.param('name')} " * 500)


@app.get("/page/stream/:name")
async def stream_page(c: Context) -> Response:
    """The same in pieces."""
    name = c.req.param("name")

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(500):
            yield f"{name} ".encode()

    return c.body(pieces())


@app.get("/form/new")
async def show_form(c: Context) -> Response:
    """The token for the form."""
    return c.text((c.req.raw.scope or {})["csrftoken"]())


@app.post("/form/new")
async def send_form(c: Context) -> Response:
    """Reads the form that the middleware has read before."""
    form = await c.req.parse_body()
    return c.json({name: value for name, value in form.items() if name != "csrftoken"})


@app.get("/echo/:room")
@upgrade_websocket
async def talk(c: Context, ws: WebSocket) -> None:
    """Answers with what it gets."""
    await ws.send(correlation_id.get() or "none")
    async for text in ws:
        await ws.send(text)
