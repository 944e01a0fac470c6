# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_type

from prometheus_client import REGISTRY, CollectorRegistry

from kit.interface import AsyncMiddleware, Context, Handler
from kit.metrics import expose, metrics


async def tenant(c: Context[Any, Any]) -> str | None:
    return c.req.param("tenant")


def order(c: Context[Any, Any]) -> Mapping[str, str] | None:
    return None


assert_type(metrics(), AsyncMiddleware)
assert_type(metrics(None, registry=CollectorRegistry(), prefix="shop"), AsyncMiddleware)
assert_type(metrics("/m", buckets=[0.1, 1], exclude="/livez", exemplars=True), AsyncMiddleware)
assert_type(
    metrics(labels={"tenant": tenant, "kind": lambda c: "x", "service": "shop"}, exemplars=order),
    AsyncMiddleware,
)


async def is_internal(c: Context[Any, Any]) -> bool:
    return c.req.header("x-internal") is not None


assert_type(metrics(exclude=is_internal), AsyncMiddleware)
assert_type(metrics(exclude=["/a/*", is_internal, lambda c: False]), AsyncMiddleware)

assert_type(metrics(exclude=["/livez"], max_label_values=10), AsyncMiddleware)
answer: Handler = expose()
answer_of_all: Handler = expose(REGISTRY)
