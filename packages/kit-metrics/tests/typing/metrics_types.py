# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_type

from prometheus_client import REGISTRY, CollectorRegistry

from kit import Context, Kit
from kit.interface import AsyncMiddleware
from kit.metrics import expose, metrics


async def tenant(c: Context) -> str | None:
    return c.req.param("tenant")


def order(c: Context) -> Mapping[str, str] | None:
    return None


assert_type(metrics(), AsyncMiddleware)
assert_type(metrics(None, registry=CollectorRegistry(), prefix="shop"), AsyncMiddleware)
assert_type(metrics("/m", buckets=[0.1, 1], exclude="/livez", exemplars=True), AsyncMiddleware)
assert_type(
    metrics(labels={"tenant": tenant, "kind": lambda c: "x"}, exemplars=order), AsyncMiddleware
)


async def is_internal(c: Context) -> bool:
    return c.req.header("x-internal") is not None


assert_type(metrics(exclude=is_internal), AsyncMiddleware)
assert_type(metrics(exclude=["/a/*", is_internal, lambda c: False]), AsyncMiddleware)

app = Kit()
app.use(metrics(exclude=["/livez"], max_label_values=10))
app.get("/metrics", expose())
app.get("/metrics", expose(REGISTRY))
