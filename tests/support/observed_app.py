# SPDX-License-Identifier: MIT
"""An app that is traced and logged, and shows its own spans and lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_current_span

from kit import Context, Kit, Response
from kit.logger import access_log
from kit.opentelemetry import opentelemetry
from kit.streaming import stream

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
lines: list[str] = []
app = Kit()
app.use(opentelemetry(provider, exclude="/seen"))
app.use(access_log(to=lines.append, exclude="/seen"))


def trace_id() -> str:
    return f"{get_current_span().get_span_context().trace_id:032x}"


@app.get("/seen")
def seen(c: Context) -> Response:
    spans = [
        {"name": span.name, "trace_id": f"{span.context.trace_id:032x}", **(span.attributes or {})}
        for span in exporter.get_finished_spans()
    ]
    return c.json({"spans": spans, "lines": [json.loads(line) for line in lines]})


@app.get("/trace/:n")
async def trace(c: Context) -> Response:
    await asyncio.sleep(0)
    return c.text(trace_id())


async def endless() -> AsyncIterator[bytes]:
    while True:
        yield b"abc"
        await asyncio.sleep(0.01)


@app.get("/endless")
def pulled(c: Context) -> Response:
    return c.body(endless())


@app.get("/pushed")
def pushed(c: Context) -> Response:
    async def write(api: Any) -> None:
        async for chunk in endless():
            await api.write(chunk)

    return stream(c, write)


@app.get("/short")
def short(c: Context) -> Response:
    async def write(api: Any) -> None:
        await api.write(trace_id())

    return stream(c, write)


@app.get("/fails")
def fails(c: Context) -> Response:
    raise ValueError("secret")
