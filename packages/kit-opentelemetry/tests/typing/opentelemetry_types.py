# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import logging
from typing import Any, assert_type

from opentelemetry.metrics import get_meter_provider
from opentelemetry.trace import get_tracer_provider

from kit.interface import AsyncMiddleware, Context
from kit.opentelemetry import TraceIdFilter, opentelemetry


async def is_probe(c: Context[Any, Any]) -> bool:
    return c.req.path == "/livez"


assert_type(opentelemetry(), AsyncMiddleware)
assert_type(opentelemetry(get_tracer_provider(), get_meter_provider()), AsyncMiddleware)
assert_type(opentelemetry(exclude=["/livez", is_probe], trusted_hops=1), AsyncMiddleware)
assert_type(opentelemetry(request_headers="x-tenant", redacted_query=()), AsyncMiddleware)
assert_type(opentelemetry(trust_incoming=False), AsyncMiddleware)
assert_type(opentelemetry(trust_incoming=is_probe), AsyncMiddleware)
opentelemetry(trust_incoming="x")  # type: ignore
opentelemetry(exclude=1)  # type: ignore
opentelemetry("x")  # type: ignore
logging.StreamHandler().addFilter(TraceIdFilter(default=""))
