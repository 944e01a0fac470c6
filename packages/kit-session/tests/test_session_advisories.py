# SPDX-License-Identifier: MIT
"""Advisories and complaints about the sessions of other frameworks."""

from __future__ import annotations

import pytest

from kit import Context
from kit.session import SessionError, get_session
from kit.session.stores import MemoryStore
from kit.testing import test_client as make_test_client
from kit.websocket import WebSocket, upgrade_websocket

USES = {
    "key": lambda s: s.get("user"),
    "in": lambda s: "user" in s,
    "len": len,
    "bool": bool,
    "iter": list,
    "keys": lambda s: list(s.keys()),
    "equality": lambda s: s == {},
    "data": lambda s: s.data,
    "user": lambda s: s.user,
    "is_new": lambda s: s.is_new,
    "is_degraded": lambda s: s.is_degraded,
    "id": lambda s: s.id,
    "flashes": lambda s: s.flashes(),
    "pop": lambda s: s.pop("user", None),
}


@pytest.mark.parametrize("use", USES)
async def test_cve_2026_27205_vary_cookie_however_the_session_was_used(client, use):
    """Flask sent `Vary: Cookie` only for some ways to use a session; caches mixed up users."""

    def handle(c):
        USES[use](get_session(c))

    assert (await client.request(handle)).headers.get("vary") == "Cookie"


async def test_cve_2026_27205_vary_cookie_if_it_was_only_awaited(client):
    async def handle(c):
        await get_session(c)

    assert (await client.request(handle)).headers.get("vary") == "Cookie"


async def test_cve_2026_25480_ids_that_look_alike_are_different_sessions(new_client):
    """Litestar's file store normalised its keys, so that one session could be read as another."""
    store = MemoryStore()
    client = new_client(store=store)
    client.app.get("/a/b", lambda c: c.json([get_session(c).user, get_session(c).is_new]))
    await client.do(lambda s: [s.update(n=1), s.rotate(user="42")][0])
    good = client.cookie
    alike = [
        good.lower(),
        good.upper(),
        good.replace("-", "_"),
        good.replace("_", "-"),
        good + "\u0301",
        "".join(chr(ord(letter) + 0xFEE0) if letter.isalnum() else letter for letter in good),
        good.replace("K", "\u212a").replace("s", "\u017f"),
        good + "%00",
        "./" + good,
        good + ".",
    ]
    for value in alike:
        if value != good:
            text = f"__Host-session={value}".encode().decode("latin-1")
            response = await client.app.request("/a/b", headers=[("cookie", text)])
            assert await response.json() == [None, True], value
    assert await client.do(lambda s: s.user) == "42"


async def test_starlette_2019_no_cookie_where_nothing_was_changed(client):
    """Starlette sends Set-Cookie with every response once there is a session."""
    await client.do(lambda s: s.update(n=1))
    for action in (lambda c: [], lambda c: get_session(c)["n"], lambda c: c.redirect("/", 303)):
        response = await client.request(action)
        assert response.headers.get_set_cookie() == []


async def test_starlette_828_no_session_for_those_who_need_none(client):
    """Nor does a new visitor get one, or a cookie to clear one."""
    for action in (lambda c: [], lambda c: len(get_session(c)), lambda c: get_session(c).clear()):
        response = await client.request(action)
        assert response.headers.get_set_cookie() == []


async def test_litestar_a_session_is_saved_on_redirects_and_errors(client):
    def handle(c):
        get_session(c).flash("Saved")
        return c.redirect("/", 303)

    await client.request(handle)
    assert await client.do(lambda s: s.flashes()) == [["Saved", "message"]]


async def test_a_websocket_has_the_session_of_its_handshake(new_client):
    client = new_client(store=MemoryStore())
    seen = []

    @client.app.get("/a/ws")
    @upgrade_websocket(origins="*")
    async def ws(c: Context, ws: WebSocket):
        session = await get_session(c)
        seen.append([session.user, dict(session)])
        for change in (lambda: session.update(n=2), session.destroy):
            with pytest.raises(SessionError, match="can't be changed any more"):
                change()
        await ws.send("done")

    await client.do(lambda s: [s.update(n=1), s.rotate(user="42")][0])
    async with (
        make_test_client(client.app) as tested,
        tested.a.ws.ws(cookie=client.cookies) as connection,
    ):
        assert await connection.receive() == "done"
    assert seen == [["42", {"n": 1}]]


async def test_the_get_handshake_a_websocket_can_begin_a_session(new_client):
    client = new_client(store=MemoryStore())

    @client.app.use("/a/ws")
    async def begin(c: Context, next):
        (await get_session(c)).update(n=1)
        await next()

    @client.app.get("/a/ws")
    @upgrade_websocket(origins="*")
    async def ws(c: Context, ws: WebSocket):
        await ws.send(str(get_session(c)["n"]))

    async with make_test_client(client.app) as tested, tested.a.ws.ws() as connection:
        assert await connection.receive() == "1"
        [line] = connection.response.headers.get_set_cookie()
    assert line.startswith("__Host-session=")
