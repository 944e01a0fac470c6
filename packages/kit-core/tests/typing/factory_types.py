# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypedDict, assert_type

from kit import Context, Kit, Next, Response
from kit.factory import AppOptions, Factory, create_factory, create_middleware


class Bindings(TypedDict):
    database: str


class Variables(TypedDict):
    user: str


def init_app(app: Kit[Bindings, Variables]) -> None:
    app.use(require_user)


async def require_user(c: Context[Bindings, Variables], next: Next) -> Response | None:
    assert_type(c.env["database"], str)
    c.set("user", "ada")
    await next()
    return None


def show_user(c: Context[Bindings, Variables]) -> Response:
    return c.text(c.var["user"])


options: AppOptions[Bindings, Variables] = {"strict": False}

# By the parameter of `init_app`, by the variable, and by the class.
by_function = create_factory(init_app=init_app)
assert_type(by_function, Factory[Bindings, Variables])
by_variable: Factory[Bindings, Variables] = create_factory(default_app_options=options)
by_class = Factory[Bindings, Variables]()
assert_type(by_class, Factory[Bindings, Variables])
assert_type(create_factory(), Factory[Any, Any])

app = by_variable.create_app(strict=True, router="linear")
assert_type(app, Kit[Bindings, Variables])
app.get("/", *by_variable.create_handlers(require_user, None, show_user))
app.get("/plain", *by_variable.create_handlers(lambda c: c.text(c.var["user"])))


# What a middleware returns is kept, so that another one can await it.
@by_class.create_middleware
async def member(c: Context[Bindings, Variables], next: Next) -> Response | None:
    return await require_user(c, next)


async def wrapping(c: Context[Bindings, Variables], next: Next) -> Response | None:
    return await member(c, next)


@create_middleware
async def free(c: Context[Any, Variables], next: Next) -> None:
    await next()


async def wrapping_free(c: Context[Any, Variables], next: Next) -> None:
    waiting: Coroutine[Any, Any, None] = free(c, next)
    await waiting


app.use(member, free)
