# SPDX-License-Identifier: MIT
"""Functions that annotate the core's own context are accepted wherever one is given to a package.

Checked by mypy, pyright and ty against the installed wheels; never run.
"""

from __future__ import annotations

from typing import Any, TypedDict

from kit import Context, Kit, Response
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.cache import cache
from kit.combine import every, except_, some
from kit.compress import compress
from kit.cors import cors
from kit.csrf import csrf
from kit.interface import AsyncMiddleware, ErrorHandler, Handler, HTTPException, Middleware, Next
from kit.ip_restriction import ip_restriction
from kit.jwt import jwt
from kit.logger import access_log
from kit.mcp import mcp
from kit.method_not_allowed import method_not_allowed
from kit.metrics import metrics
from kit.opentelemetry import opentelemetry
from kit.rate_limit import RateLimitState, rate_limit
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.serve_static import serve_static
from kit.session import require_user
from kit.templates import templates
from kit.timeout import timeout
from kit.timing import timing
from kit.validator import validator


class Bindings(TypedDict):
    db: str


class Variables(TypedDict, total=False):
    user: int


# Of the core's class, and of the class with the types of an app.


def is_internal(c: Context) -> bool:
    return c.req.path == "/internal"


async def is_admin(c: Context[Bindings, Variables]) -> bool:
    return c.var.get("user") == 1


async def guard(c: Context, next: Next) -> Response | None:
    await next()
    return None


async def own_guard(c: Context[Bindings, Variables], next: Next) -> None:
    await next()


def answer(c: Context[Bindings, Variables]) -> Response:
    return c.text(c.env["db"])


async def name(c: Context[Bindings, Variables]) -> str:
    return c.env["db"]


def on_error(error: Exception, c: Context[Bindings, Variables]) -> Response:
    return c.text(str(error), 500)


def verify_user(username: str, password: str, c: Context[Bindings, Variables]) -> bool:
    return username == c.env["db"]


def on_user(c: Context[Bindings, Variables], username: str) -> None:
    c.header("x-user", username)


def verify(token: str, c: Context) -> bool:
    return token == c.req.path


def allow(origin: str, c: Context[Bindings, Variables]) -> bool:
    return origin == c.env["db"]


def allowed_origin(origin: str, c: Context) -> str:
    return origin


def is_revoked(payload: Any, c: Context[Bindings, Variables]) -> bool:
    return False


def not_allowed(c: Context, methods: list[str]) -> Response:
    return c.text(", ".join(methods), 405)


def limited(c: Context[Bindings, Variables], state: RateLimitState) -> Response:
    return c.text("slow down", 429)


def source(c: Context, directive: str) -> str:
    return directive


def found(path: str, c: Context[Bindings, Variables]) -> None:
    c.header("x-path", path)


def expired(c: Context[Bindings, Variables]) -> HTTPException:
    return HTTPException(503)


def values(c: Context[Bindings, Variables]) -> dict[str, Any]:
    return {"db": c.env["db"]}


def fields(c: Context[Bindings, Variables]) -> dict[str, Any]:
    return {"db": c.env["db"]}


def checked(value: Any, c: Context[Bindings, Variables]) -> int:
    return len(value)


handlers: list[Handler] = [answer]
middleware: list[Middleware] = [guard, own_guard]
async_middleware: list[AsyncMiddleware] = [guard, own_guard]
error_handler: ErrorHandler = on_error
app = Kit[Bindings, Variables]()

some(guard, own_guard, is_admin)
every(is_internal, guard, own_guard)
except_(["/livez", is_internal, is_admin], guard, own_guard)
basic_auth(verify_user=verify_user, on_auth_success=on_user)
bearer_auth(verify_token=verify)
body_limit(1, on_error=answer)
cache(key_generator=name)
compress(skip=is_admin)
cors(origin=allowed_origin)
csrf(origin=allow)
ip_restriction(get_ip=name, allow_list=["::1"])
jwt(secret="x" * 32, alg="HS256", is_revoked=is_revoked)
access_log(fields=fields)
mcp(app, identify=name)
method_not_allowed(app=app, on_method_not_allowed=not_allowed)
metrics(labels={"db": name}, exclude=is_admin)
opentelemetry(trust_incoming=is_admin, exclude=[is_internal])
rate_limit("1/s", key=name, exempt=is_admin, on_limit=limited)
request_id(generator=name)
secure_headers(content_security_policy={"script_src": [source]})
serve_static("static", on_found=found)
require_user(on_missing=answer)
templates("templates", context=[values])
timeout(1, expired)
timing(enabled=is_admin)
validator("json", checked)
