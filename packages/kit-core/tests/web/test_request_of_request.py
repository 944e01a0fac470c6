# SPDX-License-Identifier: MIT
"""`Request(c.req.raw)`: a copy keeps the connection, and so what guards read of it."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.conninfo import get_conn_info
from kit.csrf import csrf
from kit.ip_restriction import ip_restriction
from kit.web import Request

MAKE: dict[str, Any] = {
    "Request": Request,
    "Request twice": lambda raw: Request(Request(raw)),
    "with headers": lambda raw: Request(raw, headers={"x-new": "1"}),
    "clone": lambda raw: raw.clone(),
    "replace": lambda raw: raw.replace(headers={"x-new": "1"}),
}


def app_with(inner: Kit[Any, Any], make: Any) -> Kit[Any, Any]:
    """An app that hands a copy of each request on to another app."""

    async def pass_on(c: Context) -> Response:
        return await inner.fetch(make(c.req.raw))

    app: Kit[Any, Any] = Kit()
    app.all("/*", pass_on)
    return app


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(("address", "status"), [("192.0.2.7", 200), ("192.0.2.66", 403)])
async def test_a_copy_keeps_the_address_of_the_client(
    name: str, address: str, status: int, client: Any
) -> None:
    inner: Kit[Any, Any] = Kit()
    inner.use(ip_restriction(get_conn_info, allow_list=["192.0.2.7"]))
    inner.get("/guarded", lambda c: c.text(f"{get_conn_info(c).remote.address} {c.req.path}"))
    app = app_with(inner, MAKE[name])
    answered = await client().ask(app, "/guarded", client=(address, 1234))
    assert answered.status == status
    assert status == 403 or answered.body == b"192.0.2.7 /guarded"


@pytest.mark.parametrize("name", MAKE)
async def test_a_copy_has_the_place_of_the_original(name: str, client: Any) -> None:
    inner: Kit[Any, Any] = Kit()
    inner.get("/x", lambda c: c.json([c.req.path, c.req.url, c.req.raw.root_path]))
    app = app_with(inner, MAKE[name])
    answered = await client().ask(app, "/outer/x", root_path="/outer")
    assert answered.body == b'["/x","http://example.com/outer/x","/outer"]'


@pytest.mark.parametrize("name", MAKE)
async def test_a_copy_of_a_get_can_be_copied(name: str, client: Any) -> None:
    app: Kit[Any, Any] = Kit()

    async def copy(c: Context) -> Response:
        made = MAKE[name](MAKE[name](c.req.raw))
        return c.json([made.method, made.url, made.scope is c.req.raw.scope, made.is_moved])

    app.get("/x", copy)
    assert (await client().ask(app, "/x")).body == b'["GET","http://example.com/x",true,false]'


@pytest.mark.parametrize("name", MAKE)
async def test_a_copy_takes_the_body_over(name: str, client: Any) -> None:
    app: Kit[Any, Any] = Kit()

    async def copy(c: Context) -> Response:
        return c.text(await MAKE[name](c.req.raw).text())

    app.post("/x", copy)
    assert (await client(b"con", b"tent").ask(app, "/x")).body == b"content"


async def test_a_copy_knows_that_its_url_was_set() -> None:
    moved = Request(Request("http://x/a").replace(url="http://x/b"))
    assert moved.url == "http://x/b"
    assert moved.is_moved


@pytest.mark.parametrize("hosts", [(b"a.example", b"b.example"), (b"b.example", b"a.example")])
async def test_none_of_several_hosts_is_part_of_the_url(hosts: Any, client: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(csrf())
    app.post("/", lambda c: c.text(c.req.url))
    app.get("/", lambda c: c.text(c.req.url))
    lines = [(b"host", host) for host in hosts]
    server = ("127.0.0.1", 8000)
    answered = await client().ask(app, "/", headers=lines, server=server)
    assert answered.body == b"http://127.0.0.1:8000/"
    for host in hosts:
        own = (b"origin", b"http://" + host)
        answered = await client(b"a=1").ask(app, "/", headers=[*lines, own], server=server)
        assert answered.status == 403
