# SPDX-License-Identifier: MIT
"""A shop with sessions, in cookies or in a store in memory, for real servers and clients."""

from __future__ import annotations

import secrets
from typing import Any

from kit import Context, Kit, Response
from kit.session import get_session, require_user, session
from kit.session.stores import MemoryStore
from kit.streaming import stream_text


def make(**options: Any) -> Kit[Any, Any]:
    """Returns the shop; its cookies are sent over http, too."""
    app: Kit[Any, Any] = Kit()
    app.use(session(secure=False, **options))

    @app.post("/cart/:item")
    async def add(c: Context[Any, Any]) -> Response:
        cart = await get_session(c)
        cart.update(lambda data: data.setdefault("cart", []).append(c.req.param("item")))
        return c.json(cart["cart"])

    @app.get("/cart")
    async def show(c: Context[Any, Any]) -> Response:
        cart = await get_session(c)
        return c.json({"cart": cart.get("cart", []), "user": cart.user})

    @app.get("/stream")
    async def streamed(c: Context[Any, Any]) -> Response:
        cart = await get_session(c)
        cart["streamed"] = cart.get("streamed", 0) + 1

        async def send(out: Any) -> None:
            for _ in range(3):
                await out.write(f"{cart['streamed']};")

        return stream_text(c, send)

    @app.post("/login/:user")
    async def login(c: Context[Any, Any]) -> Response:
        cart = await get_session(c)
        cart.rotate(user=c.req.param("user"))
        cart.flash("Welcome")
        return c.redirect("/account", 303)

    app.use("/account", require_user())

    @app.get("/account")
    async def account(c: Context[Any, Any]) -> Response:
        account = await get_session(c)
        return c.json([account.user, [each.text for each in account.flashes()]])

    @app.post("/logout")
    async def logout(c: Context[Any, Any]) -> Response:
        (await get_session(c)).destroy()
        return c.redirect("/cart", 303)

    app.get("/static", lambda c: c.text("static"))
    return app


def in_cookies() -> Kit[Any, Any]:
    """The shop whose sessions are in cookies."""
    return make(secret=secrets.token_urlsafe(32))


def in_memory() -> Kit[Any, Any]:
    """The shop whose sessions are in memory."""
    return make(store=MemoryStore())
