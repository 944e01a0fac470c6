# SPDX-License-Identifier: MIT
"""Request targets that aren't paths, and the paths that apps and mounts see of the others."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kit import Context, Kit, KitRequest, Limits, Next, Request, Response, path_of_request
from kit.http.paths import decode_path, parse_url_path
from kit.websocket import upgrade_websocket

ODD = [
    "admin/users",
    "legacy/x/admin/users",
    "%2Fadmin/users",
    "\\admin\\users",
    "*",
    "example.com:80",
    "@evil.example/users",
    "http://example.com/admin/users",
    "/admin/users#",
    "/a%20b#c",
]
APPS = {
    "plain": {},
    "not strict": {"strict": False},
    "own path": {"get_path": lambda request: parse_url_path(request.url)},
    "limited": {"limits": Limits(max_body_size_bytes=100)},
}


def watched(**options: Any) -> tuple[Kit, list[str]]:
    """An app, and the paths that anything in it has seen."""
    seen: list[str] = []
    app = Kit(**options)

    @app.use("*")
    async def watch(c: Context, next: Next) -> None:
        seen.append(c.req.path)
        await next()

    @app.on_error
    def failed(error: Exception, c: Context) -> Response:
        seen.append(f"{error!r}")
        return c.text("failed", 500)

    app.all("/*", lambda c: c.text("answered"))
    app.get("/socket", upgrade_websocket(lambda socket: asyncio.sleep(0)))
    return app, seen


@pytest.mark.parametrize("options", APPS.values(), ids=APPS)
@pytest.mark.parametrize(
    ("target", "has_raw_path"),
    [
        *((target, True) for target in ODD),
        # A decoded path tells nothing of the slash or the fragment of these.
        *((target, False) for target in ODD if "#" not in target and not target.startswith("%2F")),
    ],
)
async def test_nothing_of_the_app_sees_an_odd_target(
    client: Any, target: str, options: dict[str, Any], *, has_raw_path: bool
) -> None:
    app, seen = watched(**options)
    raw_path = target.encode() if has_raw_path else None
    for _ in range(40):  # more often than until a path is remembered
        answer = await client().ask(app, unquote(target), raw_path=raw_path)
        assert answer.status == 400
    assert answer.body.decode() == (
        "400 Bad Request: the target must begin with a slash, and have no fragment"
    )
    assert seen == []


@pytest.mark.parametrize("target", ODD)
@pytest.mark.parametrize("has_denial", [True, False])
async def test_a_handshake_for_an_odd_target_is_refused(
    http_scope: Any, target: str, *, has_denial: bool
) -> None:
    app, seen = watched()
    extensions = {"websocket.http.response": {}} if has_denial else {}
    scope = http_scope(
        unquote(target),
        raw_path=target.encode(),
        type="websocket",
        scheme="ws",
        subprotocols=[],
        extensions=extensions,
    )
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    assert seen == []
    if has_denial:
        assert [each["type"] for each in sent] == [
            "websocket.http.response.start",
            "websocket.http.response.body",
        ]
        assert sent[0]["status"] == 400
    else:
        assert sent == [{"type": "websocket.close", "code": 1000}]


@pytest.mark.parametrize(
    ("path", "root_path", "expected"),
    [("", "", "/"), ("/kit", "/kit", "/"), ("/kit/", "/kit", "/"), ("", "/kit", "/")],
)
async def test_an_empty_path_is_the_root(
    client: Any, path: str, root_path: str, expected: str
) -> None:
    app, seen = watched()
    answer = await client().ask(app, path, raw_path=path.encode(), root_path=root_path)
    assert (answer.status, seen) == (200, [expected])


@pytest.mark.parametrize(
    ("returned", "expected"),
    [("admin/x", "/admin/x"), ("", "/"), ("/admin/x", "/admin/x"), ("//a", "//a")],
)
async def test_the_path_of_get_path_is_the_one_that_is_routed(returned: str, expected: str) -> None:
    app, seen = watched(get_path=lambda request: returned)
    response = await app.request("/")
    assert (await response.text(), seen) == ("answered", [expected])


@pytest.mark.parametrize(
    ("route", "target"),
    [
        ("/@private/*", "/%40private/s.txt"),
        ("/books:search", "/books%3Asearch"),
        ("/books:search", "/books%3asearch"),
        ("/a$&+,;=b", "/a%24%26%2B%2C%3B%3Db"),
        ("/a%2Fb", "/a%2fb"),
        ("/x%23/y", "/%78%23/y"),
    ],
)
async def test_a_route_matches_every_spelling(client: Any, route: str, target: str) -> None:
    app = Kit().get(route, lambda c: c.text("found"))
    assert await (await app.request(target)).text() == "found"
    answer = await client().ask(app, unquote(target), raw_path=target.encode())
    assert answer.body == b"found"


TARGETS = st.text(st.sampled_from("/ab%2fF5C0e.@:;é\\\t\n \0\"<^|[]{}'~!$&+,=")).map(
    lambda text: "/" + text.replace("%", "%25" if "%%" in text else "%")
)


def as_sent(target: str) -> str:
    """A target as a client may send it: visible ASCII."""
    return "".join(
        each if "!" <= each <= "~" else "".join(f"%{byte:02x}" for byte in each.encode())
        for each in target
    )


@given(TARGETS.map(as_sent))
@example("/a\\b/%5c")
@example('/"%FF')
@example("/%2%46")
async def test_url_and_path_name_the_same_path(client: Any, target: str) -> None:
    """Apart from dot segments, which are no part of a URL."""
    if any(each.lower().replace("%2e", ".") in (".", "..") for each in target.split("/")):
        return
    seen: list[KitRequest] = []

    def handler(c: Context) -> Response:
        seen.append(c.req)
        return c.text("")

    app = Kit().all("/*", handler)
    await client().ask(app, unquote(target), raw_path=target.encode())
    [req] = seen
    assert req.path == decode_path(target)
    assert parse_url_path(req.url) == req.path
    assert path_of_request(req.raw) == req.path


@given(TARGETS.map(as_sent))
@example('/"%FF')
@example("/%C3%A9%ff%41")
@example("/é%2f%25%41")
async def test_a_mounted_app_reads_the_same_path(client: Any, target: str) -> None:
    inner = Kit().all("/*", lambda c: c.json(c.req.path))
    outer = Kit().mount("/inner", inner.fetch)
    raw = "/inner" + as_sent(target)
    answer = await client().ask(outer, unquote(raw), raw_path=raw.encode())
    if answer.status != 400:
        alone = await client().ask(inner, unquote(raw[6:]), raw_path=raw[6:].encode())
        assert answer.body == alone.body


@pytest.mark.parametrize("mode", ["default", "unchanged", "function"])
@pytest.mark.parametrize(
    "target",
    [
        "/files/x/%2e%2e/private/s.txt",
        "/files/x/../private/s.txt",
        "/files/./private/s.txt",
        "/files/x%5C..%5Cprivate/s.txt",
        "/files/x\\..\\private",
        "/files/..",
    ],
)
@pytest.mark.parametrize("own_path", [False, True])
async def test_mounts_refuse_what_a_url_would_resolve(
    client: Any, target: str, mode: str, *, own_path: bool
) -> None:
    replace: Any = {"default": None, "unchanged": False, "function": lambda request: request}[mode]
    called = []

    def handler(request: Request, *_: Any) -> Response:
        called.append(request.url)
        return Response("reached")

    def deny(c: Context, next: Next) -> Response:
        return c.text("denied", 403)

    app = Kit(get_path=(lambda request: parse_url_path(request.url)) if own_path else None)
    app.use("/files/private/*", deny).mount("/files", handler, replace_request=replace)
    for raw_path in (target.encode(), None):
        answer = await client().ask(app, unquote(target), raw_path=raw_path)
        assert answer.status == 400 or (own_path and answer.status in (403, 404))
    assert not called


async def test_path_of_a_request(client: Any) -> None:
    seen = []

    def get_path(request: Request) -> str:
        seen.append(path_of_request(request))
        return "/x" + seen[-1]

    app = Kit(get_path=get_path).get("/x/@me/a%2Fb", lambda c: c.text("found"))
    assert await (await app.request("/%40me/a%2fb?c")).text() == "found"
    answer = await client().ask(
        app, "/shop/@me/a/b", raw_path=b"/shop/%40me/a%2fb", root_path="/shop"
    )
    assert answer.body == b"found"
    assert seen == ["/@me/a%2Fb"] * 2
