# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, assert_type

from kit.authoring.instrumentation import Observation, Outcome
from kit.authoring.maybe_await import call
from kit.authoring.models import validation_errors
from kit.authoring.options import OptionChecks
from kit.authoring.request_var import RequestVar
from kit.interface import AsyncMiddleware, Context, Next

_tenant: RequestVar[str] = RequestVar("tenant")
assert_type(_tenant.get(), str | None)


def told(error: Exception) -> list[str]:
    return [each["type"] for each in validation_errors(error)]


def tenant(*, header: str = "x-tenant", audit: bool = False) -> AsyncMiddleware:
    check = OptionChecks("tenant")
    assert_type(check.header_name("header", header, "X-Tenant"), str)
    assert_type(check.flag("audit", audit), bool)

    def report(outcome: Outcome) -> None:
        assert_type(outcome.status, int | None)

    def tenant(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        Observation(c, report)
        return _tenant.run(c.req.header(header, default=""), c, next)

    return tenant


def plain() -> int:
    return 1


async def later() -> str:
    return ""


async def calls() -> None:
    assert_type(await call(plain), int)
    text: str = await call(later)
    assert_type(text, str)
