# SPDX-License-Identifier: MIT
"""The results of the router for paths that are requested often are kept; nobody notices."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kit import Context, Kit, Limits
from kit.interface import Next, Response
from kit.router import RegExpRouter, TrieRouter

OFTEN = 2_000
METHODS = ("GET", "HEAD", "POST", "PURGE")
MakeApp = Callable[[Any], Kit]
Served = Callable[..., Awaitable[tuple[int, Any, bytes]]]


@pytest.fixture
def served(http_scope: Callable[..., dict[str, Any]]) -> Served:
    """Sends a request, and returns status, header lines and body."""

    async def served(app: Kit, method: str, path: str, **more: Any) -> tuple[int, Any, bytes]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await app(http_scope(path, method, **more), receive, send)
        return sent[0]["status"], sorted(sent[0]["headers"]), sent[1]["body"]

    return served


class Counting(TrieRouter[Any]):
    """Counts the calls of `match`, which is as pure as that of TrieRouter."""

    is_pure = True

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def match(self, method: str, path: str) -> Any:
        self.calls += 1
        return super().match(method, path)


class Alternating(Counting):
    """Its `match` isn't pure, and says nothing about that: every second request has no route."""

    def match(self, method: str, path: str) -> Any:
        found = super().match(method, path)
        return found if self.calls % 2 else ([],)


async def tell(c: Context) -> Response:
    return c.json([c.req.method, c.req.path, c.req.param()])


async def mark(c: Context, next: Next) -> None:
    await next()
    c.header("x-passed", c.req.path, append=True)


def plain(router: Any) -> Kit:
    return routed(Kit(router=router))


def looking(router: Any) -> Kit:
    """An app whose matches don't depend on method and path alone."""
    return routed(Kit(router=router, strict=False, limits=Limits(max_body_size_bytes=1000)))


def routed(app: Kit) -> Kit:
    app.use("/files/*", mark)
    app.use("/files/*", mark)
    for method in ("GET", "POST"):
        app.on(method, "/", tell)
        app.on(method, "/users/me", tell)
        app.on(method, "/users/:id", tell)
        app.on(method, "/files/:folder/:name", tell)
    app.all("/any/:id", tell)
    return app


def paths_of(number: int) -> list[str]:
    """Some paths that are requested once, and some that come again and again."""
    new = [f"/users/{number}", f"/files/a/{number}", f"/any/{number}", f"/no/{number}"]
    return [
        *new,
        "/",
        "/users/me",
        "/users/7",
        "/files/a/b",
        "/any/7",
        "/no",
        "/users/" + "é" * 300,
    ]


@pytest.mark.parametrize("make", [plain, looking])
@pytest.mark.parametrize("router", [RegExpRouter, TrieRouter])
async def test_responses_are_those_of_a_new_app(served: Served, make: MakeApp, router: Any) -> None:
    app = make(router())
    for number in range(800):
        for path in paths_of(number) if number % 10 == 0 else paths_of(number)[:4]:
            for method in METHODS:
                response = await served(app, method, path)
                if number % 50 == 0:
                    assert response == await served(make(router()), method, path), (method, path)
                if path == f"/users/{number}" and method != "PURGE":
                    assert response[0] == 200
                    assert method == "HEAD" or str(number).encode() in response[2]


@pytest.mark.parametrize("path", ["/users/7", "/files/a/b", "/", "/no"])
@pytest.mark.parametrize("make", [plain, looking])
async def test_a_path_requested_often_is_found_once(
    served: Served, make: MakeApp, path: str
) -> None:
    router = Counting()
    app = make(router)
    first = await served(app, "GET", path)
    for _ in range(OFTEN):
        assert await served(app, "GET", path) == first
    assert router.calls < OFTEN / 10
    calls = router.calls
    for _ in range(100):
        assert await served(app, "GET", path) == first
    assert router.calls == calls


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/users/" + "a" * 300), ("PURGE", "/any/7")],
    ids=["long path", "method without routes"],
)
async def test_what_clients_can_make_large_is_not_kept(
    served: Served, method: str, path: str
) -> None:
    router = Counting()
    app = plain(router)
    for _ in range(200):
        await served(app, method, path)
    assert router.calls >= 200


@pytest.mark.parametrize(
    ("routes", "paths", "rounds", "least", "most"),
    [
        pytest.param(0, 1_024, 64, 512, 1_024, id="512 of each method"),
        pytest.param(500, 1_000, 64, 0, 400, id="twice the number of routes"),
        pytest.param(5_000, 10_000, 32, 5_904, 10_000, id="never more than 4096"),
    ],
)
async def test_how_many_paths_are_kept(
    served: Served, routes: int, paths: int, rounds: int, least: int, most: int
) -> None:
    """One of 32 searches is kept: after 64 rounds 87 % of the paths, after 32 rounds 64 %."""
    router = Counting()
    app = plain(router)
    for number in range(routes):
        app.get(f"/more/{number}", tell)
    for _ in range(rounds):
        router.calls = 0
        for number in range(paths):
            status, _, body = await served(app, "GET", f"/users/{number}")
            assert (status, body) == (200, b'["GET","/users/%d",{"id":"%d"}]' % (number, number))
    assert least <= router.calls <= most


async def test_a_router_that_is_not_pure_is_always_asked(served: Served) -> None:
    app = plain(Alternating())
    await served(app, "GET", "/users/7")
    statuses = [(await served(app, "GET", "/users/7"))[0] for _ in range(OFTEN)]
    assert statuses == [404, 200] * (OFTEN // 2)


async def test_a_router_whose_match_was_replaced_is_always_asked(served: Served) -> None:
    router: Any = TrieRouter()
    match, asked = router.match, []

    def log(method: str, path: str) -> Any:
        asked.append(path)
        return match(method, path)

    router.match = log
    app = plain(router)
    for _ in range(200):
        await served(app, "GET", "/users/7")
    assert asked == ["/users/7"] * 200


async def test_apps_of_one_router_answer_on_their_own(served: Served) -> None:
    """`base_path` returns an app with the same router and other handlers for what isn't found."""
    app = Kit()
    below = app.base_path("/api")
    below.get("/users/:id", tell)
    below.not_found(lambda c: c.text("no such thing", 404))
    for _ in range(200):
        assert (await served(app, "GET", "/api/users/7"))[0] == 200
        assert (await served(below, "GET", "/api/users/7"))[0] == 200
        assert (await served(app, "GET", "/api/no"))[2] == b"no such thing"
        assert (await served(below, "GET", "/api/no"))[2] == b"no such thing"
        assert (await served(app, "GET", "/no"))[2] == b"404 Not Found"


async def test_the_path_decides_not_how_the_server_encoded_it(served: Served) -> None:
    app = plain(RegExpRouter())
    encoded = {"raw_path": b"/users/caf%C3%A9"}
    for _ in range(200):
        assert b'"caf\xc3\xa9"' in (await served(app, "GET", "/users/café", **encoded))[2]
        assert b'"caf/"' in (await served(app, "GET", "/users/caf/", raw_path=b"/users/caf%2F"))[2]
        below_root = await served(app, "GET", "/prefix/users/7", root_path="/prefix")
        assert below_root[2] == b'["GET","/users/7",{"id":"7"}]'
        assert (await served(app, "GET", "/prefix/users/7"))[0] == 404
