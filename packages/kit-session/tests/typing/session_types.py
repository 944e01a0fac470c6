# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

import msgspec

from kit.interface import AsyncMiddleware, Context, Response
from kit.session import Flash, Session, get_session, require_user, revoke_sessions, session
from kit.session.stores import ImmediateSessionStore, MemoryStore, SessionStore

assert_type(session("s"), AsyncMiddleware)
assert_type(session(["new", "old"], encrypt=True, persistent=False), AsyncMiddleware)
assert_type(
    session(store=MemoryStore(), idle_timeout=1800, on_store_error="anonymous"), AsyncMiddleware
)
assert_type(require_user(on_missing=lambda c: c.redirect("/login")), AsyncMiddleware)

store: SessionStore = MemoryStore(max_sessions=10)
immediate: ImmediateSessionStore = MemoryStore()

session(same_site="lax")  # type: ignore
session(store={})  # type: ignore


class Cart(msgspec.Struct):
    items: list[str] = []


def empty(data: dict[str, Any]) -> Cart:
    return Cart()


def bare(session: Session) -> None:
    assert_type(session, Session[dict[str, Any]])


async def handle(c: Context[Any, Any]) -> Response:
    mine = await get_session(c)
    assert_type(mine, Session[dict[str, Any]])
    assert_type(get_session(c), Session[dict[str, Any]])
    assert_type(mine["key"], Any)
    assert_type(mine.data, dict[str, Any])
    assert_type(mine.user, str | None)
    assert_type(mine.flashes(), list[Flash])
    mine.update({"key": 1}, other=2)
    mine.update(lambda data: data.update(key=1))
    mine.user = "42"
    cart = await get_session(c, Cart, on_invalid=empty)
    assert_type(cart, Session[Cart])
    assert_type(cart.data.items, list[str])
    cart.update(lambda data: data.items.append("momo"))
    cart.data = Cart()
    cart.data = {}  # type: ignore
    assert_type(await revoke_sessions(c, "42", keep=cart), int)
    assert_type(await revoke_sessions(store, "42", keep=cart.id), int)
    return c.json(mine.data)
