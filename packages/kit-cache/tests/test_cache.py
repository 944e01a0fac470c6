# SPDX-License-Identifier: MIT
"""What is stored, for whom, and for how long (RFC 9111)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.asgi import from_asgi
from kit.cache import Cache, Key, MemoryStore, Stored, cache
from kit.etag import etag
from kit.http.dates import format_http_date
from kit.interface import Next, plugins
from kit.interface.metadata import get_facts

NOTHING: Mapping[str, str] = {}


class Origin:
    """An app with a cache before a handler that counts its calls and answers as it is told.

    Args:
        clock: The time.
        **options: Those of the cache.
    """

    def __init__(self, clock: Callable[[], float], **options: Any) -> None:
        self.calls: list[str] = []
        self.headers: dict[str, Any] = {"Cache-Control": "max-age=60"}
        self.status = 200
        self.body: Any = None
        self.app: Kit[Any, Any] = Kit()
        self.cache = cache(clock=clock, **options)
        self.app.use(self.cache)
        self.app.on(["GET", "POST", "PUT", "DELETE", "QUERY"], "/*", self.answer)

    async def answer(self, c: Context) -> Response:
        self.calls.append(c.req.path)
        body = self.body
        if body is None:
            body = f"{c.req.method} {len(self.calls)}"
        elif callable(body):
            body = body()
        return c.body(body, self.status, dict(self.headers))

    async def ask(
        self, path: str = "/", headers: Any = NOTHING, method: str = "GET", **init: Any
    ) -> Response:
        return await self.app.request(path, {"method": method, "headers": headers, **init})

    async def text(self, path: str = "/", headers: Any = NOTHING, method: str = "GET") -> str:
        return await (await self.ask(path, headers, method)).text()


# Hits and misses


def test_a_fresh_response_is_sent_again(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        first = await origin.ask()
        assert await first.text() == "GET 1"
        assert first.headers.get("cache-status") == "Kit; fwd=uri-miss; stored"
        assert first.headers.get("age") is None
        clock.now += 20
        second = await origin.ask()
        assert await second.text() == "GET 1"
        assert second.headers.get("age") == "20"
        assert second.headers.get("cache-control") == "max-age=60"
        assert second.headers.get("cache-status") == "Kit; hit; ttl=40"
        clock.now += 40
        third = await origin.ask()
        assert await third.text() == "GET 2"
        assert third.headers.get("cache-status") == "Kit; fwd=stale; stored"

    run(ask)


def test_urls_have_responses_of_their_own(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    urls = [
        "/a",
        "/b",
        "/a?x=1",
        "/a?x=2",
        "/a?",
        "http://other.example/a",
        "https://localhost/a",
        "http://localhost:81/a",
    ]

    async def ask() -> None:
        texts = [await origin.text(url) for url in urls]
        assert texts == [await origin.text(url) for url in urls]
        assert len({*texts}) == 7  # an empty query is none

    run(ask)


def test_a_host_that_looks_like_another_with_a_query_is_another(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "client": None,
        "server": None,
    }

    async def served(host: bytes | None, query: bytes) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None: ...

        headers = [] if host is None else [(b"host", host)]
        await origin.app({**scope, "headers": headers, "query_string": query}, receive, send)

    async def ask() -> None:
        for host, query in ((b"a", b"b=1?"), (b"a?b=1", b""), (b"a", b"b=1"), (None, b"b=1")):
            await served(host, query)
        assert len(origin.calls) == 4
        await served(b"A", b"b=1")
        assert len(origin.calls) == 4

    run(ask)


@pytest.mark.parametrize("is_asgi", [False, True])
def test_mounted_apps_share_a_store_but_no_responses(run: Any, clock: Any, is_asgi: bool) -> None:
    store = MemoryStore()

    def mounted(name: str) -> Any:
        app: Kit[Any, Any] = Kit()
        app.use(cache(store=store, clock=clock, cache_control="max-age=60"))
        app.get("/a", lambda c: c.text(name))
        app.post("/b", lambda c: c.text("", headers={"Location": f"/{name}/a"}))
        return from_asgi(app) if is_asgi else app.fetch

    app: Kit[Any, Any] = Kit()
    for name in ("x", "y", "x%2Fy"):
        app.mount(f"/{name}", mounted(name))

    async def ask() -> None:
        for path in ("/x", "/y", "/x", "/x%2Fy"):
            response = await app.request(f"{path}/a")
            assert await response.text() == path[1:]
        assert "hit" in ((await app.request("/x/a")).headers.get("cache-status") or "")
        await app.request("/x/b", {"method": "POST"})
        assert "miss" in ((await app.request("/x/a")).headers.get("cache-status") or "")

    run(ask)


def test_a_second_host_of_a_mounted_app_is_another_response(run: Any, clock: Any) -> None:
    """APPSEC: the URL has the first line of Host, handlers read both."""
    inner: Kit[Any, Any] = Kit()
    inner.use(cache(clock=clock, cache_control="max-age=60"))
    inner.get("/page", lambda c: c.text(c.req.header("host") or ""))
    app: Kit[Any, Any] = Kit()
    app.mount("/in", inner.fetch)
    served: Kit[Any, Any] = Kit()
    served.mount("/", from_asgi(app))

    async def ask() -> None:
        for hosts in (["good.example", "@evil.example"], ["good.example"]):
            headers = [("host", host) for host in hosts]
            response = await served.request("/in/page", {"headers": headers})
            assert await response.text() == ", ".join(hosts)

    run(ask)


def test_a_mounted_app_has_the_url_that_it_was_given(run: Any, clock: Any) -> None:
    inner = Origin(clock)

    async def answer(c: Context) -> Response:
        return c.text(c.req.url, headers={"Cache-Control": "max-age=60"})

    mounted: Kit[Any, Any] = Kit()
    mounted.use(inner.cache)
    mounted.get("/a", answer)
    outer: Kit[Any, Any] = Kit()
    outer.mount(
        "/",
        mounted.fetch,
        replace_request=lambda request: request.replace(
            url=f"http://localhost/a?tenant={request.headers.get('x-tenant')}"
        ),
    )
    # Served: the requests have a scope, whose query is another than that of their URL.
    app = from_asgi(outer)
    served: Kit[Any, Any] = Kit()
    served.mount("/", app)

    async def ask() -> None:
        for tenant in ("x", "y"):
            response = await served.request("/a", {"headers": {"X-Tenant": tenant}})
            assert await response.text() == f"http://localhost/a?tenant={tenant}"

    run(ask)


def test_a_response_of_the_future_is_not_sent(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert await origin.text() == "GET 1"
        clock.now -= 59  # another machine's clock
        assert await origin.text() == "GET 1"
        clock.now -= 2  # it was set back
        assert await origin.text() == "GET 2"

    run(ask)


def test_the_name_of_the_host_has_no_case(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert await origin.text("http://A.example/") == await origin.text("http://a.EXAMPLE/")

    run(ask)


def test_head_is_answered_from_get(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert (await origin.ask(method="HEAD")).headers.get("cache-status") == "Kit; fwd=uri-miss"
        assert await origin.text() == "GET 2"
        response = await origin.ask(method="HEAD")
        assert response.headers.get("cache-status") == "Kit; hit; ttl=60"
        assert await response.text() == ""

    run(ask)


def test_query_has_its_content_in_the_key(run: Any, clock: Any) -> None:
    origin = Origin(clock, max_query_body_size=10)

    async def query(body: str, kind: str = "text/plain") -> str:
        headers = {"Content-Type": kind, "Content-Length": str(len(body))}
        return await (await origin.ask("/", headers, "QUERY", body=body)).text()

    async def ask() -> None:
        one = await query("a")
        assert await query("a") == one
        assert await query("b") != one
        assert await query("a", "application/sql") != one
        assert await query("longer than 10") != await query("longer than 10")
        assert await origin.text("/", NOTHING, "QUERY") != await origin.text("/", NOTHING, "QUERY")
        assert await origin.text() == await origin.text() != one

    run(ask)


@pytest.mark.parametrize("length", ["9" * 30, "abc", "\u0663"])
def test_a_query_of_no_sensible_length_is_passed(run: Any, clock: Any, length: str) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        headers = {"Content-Length": length} if length.isascii() else {}
        response = await origin.ask("/", headers, "QUERY")
        assert response.headers.get("cache-status") == "Kit; fwd=bypass"

    run(ask)


@pytest.mark.parametrize(
    "headers", [{"Range": "bytes=0-1"}, {"If-Match": '"a"'}, {"If-Unmodified-Since": "x"}]
)
def test_ranges_and_preconditions_of_others_are_passed(
    run: Any, clock: Any, headers: Mapping[str, str]
) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        await origin.ask()
        response = await origin.ask("/", headers)
        assert await response.text() == "GET 2"
        assert response.headers.get("cache-status") == "Kit; fwd=bypass"
        assert await origin.text() == "GET 1"

    run(ask)


def test_options_and_upgrades_are_left_alone(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert (await origin.ask("/", NOTHING, "OPTIONS")).headers.get("cache-status") is None
        await origin.ask()
        response = await origin.ask("/", {"Upgrade": "foo, WebSocket"})
        assert await response.text() == "GET 2"
        assert response.headers.get("cache-status") is None

    run(ask)


@pytest.mark.parametrize("upgrade", ["h2c", "websocket-like", ""])
def test_other_upgrades_are_requests_like_any_other(run: Any, clock: Any, upgrade: str) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert await origin.text() == "GET 1"
        assert await origin.text("/", {"Upgrade": upgrade}) == "GET 1"

    run(ask)


@pytest.mark.parametrize("upgrade", ["h2c", "websocket"])
def test_a_change_with_an_upgrade_removes_what_was_stored(
    run: Any, clock: Any, upgrade: str
) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert await origin.text() == "GET 1"
        assert await origin.text("/", {"Upgrade": upgrade}, "POST") == "POST 2"
        assert await origin.text() == "GET 3"

    run(ask)


# What may be stored


@pytest.mark.parametrize(
    ("headers", "is_stored"),
    [
        ({}, False),
        ({"Cache-Control": "public"}, False),
        ({"Cache-Control": "max-age=1"}, True),
        ({"Cache-Control": "max-age=0"}, False),
        ({"Cache-Control": "s-maxage=1"}, True),
        ({"Cache-Control": "max-age=60, s-maxage=0"}, False),
        ({"Cache-Control": "MAX-AGE=60"}, True),
        ({"Cache-Control": 'max-age="60"'}, True),
        ({"Cache-Control": "max-age=60x"}, False),
        ({"Cache-Control": "max-age=-1"}, False),
        ({"Cache-Control": "max-age=1.5"}, False),
        ({"Cache-Control": "max-age"}, False),
        ({"Cache-Control": "max-age=" + "9" * 5000}, True),
        ({"Cache-Control": "max-age=0, max-age=60"}, False),
        ({"Cache-Control": "max-age=60, max-age=0"}, True),
        ({"Cache-Control": ["max-age=60", "no-store"]}, False),
        ({"Cache-Control": 'x="max-age=60"'}, False),
        ({"Cache-Control": "max-age=60, no-store"}, False),
        ({"Cache-Control": "max-age=60, no-cache"}, False),
        ({"Cache-Control": 'max-age=60, no-cache="x-a"'}, False),
        ({"Cache-Control": "max-age=60, private"}, False),
        ({"Cache-Control": 'max-age=60, private="x-a"'}, False),
        ({"Cache-Control": "max-age=60, Private"}, False),
        ({"Cache-Control": "max-age=60, no-store, must-understand"}, True),
        ({"Cache-Control": "max-age=60", "Set-Cookie": "a=b"}, False),
        ({"Cache-Control": "max-age=60, public", "Set-Cookie": "a=b"}, False),
        ({"Cache-Control": "max-age=60", "Vary": "*"}, False),
        ({"Cache-Control": "max-age=60", "Vary": "Accept, *"}, False),
        ({"Cache-Control": "max-age=60", "Vary": ", ".join(f"X-{n}" for n in range(21))}, False),
        ({"Cache-Control": "max-age=60", "Content-Range": "bytes 0-1/2"}, False),
        ({"Cache-Control": "max-age=60", "Age": "59"}, True),
        ({"Cache-Control": "max-age=60", "Age": "60"}, False),
        ({"Cache-Control": "max-age=60", "Age": "60, 0"}, False),
        ({"Cache-Control": "max-age=60", "Age": ""}, True),
        ({"Cache-Control": "max-age=60", "Date": "now - 59"}, True),
        ({"Cache-Control": "max-age=60", "Date": "now - 61"}, False),
        ({"Expires": "now + 5"}, True),
        ({"Expires": "now - 5"}, False),
        ({"Expires": "0"}, False),
        ({"Expires": "now - 5", "Date": "now - 20", "Age": "0"}, False),
        ({"Expires": "now + 5", "Date": "now + 1"}, True),
        ({"Expires": "now + 5", "Cache-Control": "max-age=0"}, False),
    ],
)
def test_what_is_stored(run: Any, clock: Any, headers: dict[str, Any], is_stored: bool) -> None:
    def dated(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("now"):
            return format_http_date(clock.now + int(value[3:].replace(" ", "")))
        return value

    origin = Origin(clock)
    origin.headers = {name: dated(value) for name, value in headers.items()}

    async def ask() -> None:
        await origin.ask()
        await origin.ask()
        assert len(origin.calls) == (1 if is_stored else 2)

    run(ask)


def test_cve_2026_24472_what_is_private_is_never_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock, cache_control="max-age=60, public")

    async def ask() -> None:
        for number, value in enumerate(
            ("private", "no-store", "no-cache", "private, max-age=60", "PRIVATE", 'private="a"'), 1
        ):
            origin.headers = {"Cache-Control": value}
            assert await origin.text() == f"GET {2 * number - 1}"
            assert await origin.text() == f"GET {2 * number}"

    run(ask)


def test_cve_2026_44457_vary_tells_responses_apart(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.headers["Vary"] = "Accept-Language, Authorization"

    async def ask() -> None:
        assert await origin.text("/", {"Accept-Language": "en"}) == "GET 1"
        assert await origin.text("/", {"Accept-Language": "de"}) == "GET 2"
        assert await origin.text() == "GET 3"
        assert await origin.text("/", {"Accept-Language": "en"}) == "GET 1"
        assert await origin.text("/", {"Accept-Language": "de"}) == "GET 2"
        assert await origin.text() == "GET 3"
        response = await origin.ask("/", {"Accept-Language": "fr"})
        assert response.headers.get("cache-status") == "Kit; fwd=vary-miss; stored"

    run(ask)


def test_whitespace_makes_no_variant(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.headers["Vary"] = "Accept"

    async def ask() -> None:
        assert await origin.text("/", {"Accept": "a, b"}) == "GET 1"
        assert await origin.text("/", {"Accept": "a ,b,"}) == "GET 1"

    run(ask)


def test_only_in_lists_empty_members_mean_nothing(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.headers["Vary"] = "X-Tenant"

    async def ask() -> None:
        values = ["acme", "acme,", ",acme", "acme,,b", "acme, b", "acme,b", ""]
        texts = [await origin.text("/", {"X-Tenant": value}) for value in values]
        assert texts == [f"GET {number}" for number in range(1, len(values) + 1)]
        assert await origin.text("/", {"X-Tenant": " acme\t"}) == "GET 1"

    run(ask)


def test_a_variant_that_ends_early_takes_no_other_with_it(run: Any, clock: Any) -> None:
    # Its expiry is that of the clock, unlike in a MemoryStore.
    class Store:
        def __init__(self) -> None:
            self.kept: dict[Key, tuple[Stored, float]] = {}

        async def get(self, key: Key) -> Stored | None:
            stored, ends_at = self.kept.get(key, (None, 0.0))
            return stored if clock.now < ends_at else None

        async def set(self, key: Key, stored: Stored, ttl: float) -> None:
            self.kept[key] = (stored, clock.now + ttl)

        async def delete(self, cache: str, group: str) -> None:
            self.kept.clear()

        async def clear(self, cache: str) -> None:
            self.kept.clear()

    store: Store = Store()
    app: Kit[Any, Any] = Kit()
    app.use(cache(clock=clock, store=store))
    calls = []

    @app.get("/")
    def answer(c: Context) -> Response:
        calls.append(c)
        language = c.req.header("accept-language") or ""
        life = {"en": 3600, "de": 1}[language]
        headers = {"Vary": "Accept-Language", "Cache-Control": f"max-age={life}"}
        return c.text(language, headers=headers)

    async def ask() -> None:
        async def text(language: str) -> str:
            headers = {"Accept-Language": language}
            return await (await app.request("/", {"headers": headers})).text()

        assert await text("en") == "en"
        assert await text("de") == "de"
        clock.now += 10
        assert await text("en") == "en"
        assert len(calls) == 2
        assert await text("de") == "de"
        clock.now += 3600
        assert await text("en") == "en"
        assert len(calls) == 4

    run(ask)


def test_a_response_without_vary_is_not_sent_to_all(run: Any, clock: Any) -> None:
    """A handler may leave out Vary where it answers with its default."""
    origin = Origin(clock)

    async def ask() -> None:
        origin.headers["Vary"] = "Accept-Language"
        assert await origin.text("/", {"Accept-Language": "de"}) == "GET 1"
        del origin.headers["Vary"]
        assert await origin.text("/", {"Accept-Language": "en"}) == "GET 2"
        assert await origin.text("/", {"Accept-Language": "de"}) == "GET 1"
        assert await origin.text("/", {"Accept-Language": "fr"}) == "GET 3"

    run(ask)


@pytest.mark.parametrize(
    ("control", "is_stored"),
    [
        ("max-age=60", False),
        ("max-age=60, public", True),
        ("max-age=60, must-revalidate", True),
        ("s-maxage=60", True),
        ("max-age=60, private, public", False),
    ],
)
def test_responses_to_authorized_requests(
    run: Any, clock: Any, control: str, is_stored: bool
) -> None:
    origin = Origin(clock)
    origin.headers["Cache-Control"] = control

    async def ask() -> None:
        await origin.ask("/", {"Authorization": "Bearer a"})
        await origin.ask("/", {"Authorization": "Bearer b"})
        assert len(origin.calls) == (1 if is_stored else 2)

    run(ask)


def test_an_authorized_request_gets_no_response_of_others(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert await origin.text() == "GET 1"
        assert await origin.text("/", {"Authorization": "Bearer a"}) == "GET 2"
        assert await origin.text() == "GET 1"

    run(ask)


def test_statuses_are_an_option(run: Any, clock: Any) -> None:
    origin = Origin(clock, cacheable_status_codes=[404, 599])

    async def ask() -> None:
        for status, count in ((200, 2), (404, 3), (500, 5), (599, 6)):
            origin.status = status
            for _ in range(2):
                assert (await origin.ask(f"/{status}")).status == status
            assert len(origin.calls) == count
        origin.headers["Cache-Control"] = "max-age=60, must-understand"
        await origin.ask("/not-understood")
        await origin.ask("/not-understood")
        assert len(origin.calls) == 8

    run(ask)


def test_a_client_may_forbid_storing(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        response = await origin.ask("/", {"Cache-Control": "no-store"})
        assert response.headers.get("cache-status") == "Kit; fwd=uri-miss"
        assert await origin.text() == "GET 2"

    run(ask)


def test_only_if_cached(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        assert (await origin.ask("/", {"Cache-Control": "only-if-cached"})).status == 504
        await origin.ask()
        assert await origin.text("/", {"Cache-Control": "only-if-cached"}) == "GET 1"

    run(ask)


@given(
    st.lists(
        st.sampled_from(
            ["private", "no-store", "no-cache", "public", "max-age=9", "s-maxage=9", 'x="a,b"', "x"]
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_what_forbids_storing_wins_in_any_order(directives: list[str], authorized: bool) -> None:
    import anyio

    origin = Origin(lambda: 1_790_000_000.0)
    origin.headers["Cache-Control"] = ", ".join(directives)
    headers = {"Authorization": "Bearer a"} if authorized else {}

    async def ask() -> None:
        await origin.ask("/", headers)
        await origin.ask("/", headers)

    anyio.run(ask)
    may = not {"private", "no-store", "no-cache"} & {*directives}
    may = may and bool({"max-age=9", "s-maxage=9"} & {*directives})
    may = may and (not authorized or bool({"public", "s-maxage=9"} & {*directives}))
    assert len(origin.calls) == (1 if may else 2)


# Headers


def test_headers_are_added_where_a_response_can_be_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock, cache_control="max-age=30, public", vary=["Accept-Language", "X-A, X-B"])

    async def ask() -> None:
        origin.headers = {"Cache-Control": "max-age=5", "Vary": "X-A"}
        response = await origin.ask()
        assert response.headers.get("cache-control") == "max-age=5, public"
        assert response.headers.get("vary") == "X-A, Accept-Language, X-B"
        origin.headers = {}
        response = await origin.ask("/b")
        assert response.headers.get("cache-control") == "max-age=30, public"
        assert response.headers.get("vary") == "Accept-Language, X-A, X-B"
        assert (await origin.ask("/b")).headers.get("vary") == "Accept-Language, X-A, X-B"
        origin.headers = {"Expires": "0"}
        assert (await origin.ask("/e")).headers.get("cache-control") == "public"
        origin.headers = {"Vary": "*"}
        assert (await origin.ask("/c")).headers.get("vary") == "*"
        origin.status = 500
        assert (await origin.ask("/d")).headers.get("cache-control") is None

    run(ask)


def test_headers_of_the_connection_are_not_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.headers |= {"Connection": "X-Hop, close", "X-Hop": "1", "Keep-Alive": "a", "X-Own": "2"}

    async def ask() -> None:
        await origin.ask()
        headers = (await origin.ask()).headers
        assert headers.get("x-own") == "2"
        for name in ("connection", "x-hop", "keep-alive"):
            assert headers.get(name) is None

    run(ask)


def test_headers_of_outer_middleware_are_those_of_each_request(run: Any, clock: Any) -> None:
    app: Kit[Any, Any] = Kit()
    numbers = iter(range(10))

    @app.use()
    async def number(c: Context, next: Callable[[], Any]) -> None:
        c.header("X-Number", str(builtins_next(numbers)))
        await next()
        c.header("X-After", "yes", append=True)

    builtins_next = __builtins__["next"] if isinstance(__builtins__, dict) else __builtins__.next
    app.use(cache(clock=clock, cache_control="max-age=60"))
    app.get("/", lambda c: c.text("", headers={"X-Inner": "1"}))

    async def ask() -> None:
        for expected in ("0", "1", "2"):
            headers = (await app.request("/")).headers
            assert headers.get_all("x-number") == [expected]
            assert headers.get_all("x-after") == ["yes"]
            assert headers.get_all("x-inner") == ["1"]

    run(ask)


def test_cache_status_keeps_that_of_others(run: Any, clock: Any) -> None:
    origin = Origin(clock, cache_status="my cache")
    origin.headers["Cache-Status"] = "Upstream; hit"

    async def ask() -> None:
        first = (await origin.ask()).headers.get("cache-status")
        assert first == 'Upstream; hit, "my cache"; fwd=uri-miss; stored'
        second = (await origin.ask()).headers.get("cache-status")
        assert second == 'Upstream; hit, "my cache"; hit; ttl=60'

    run(ask)


def test_cache_status_can_be_left_out(run: Any, clock: Any) -> None:
    origin = Origin(clock, cache_status=None)

    async def ask() -> None:
        assert (await origin.ask()).headers.get("cache-status") is None
        assert (await origin.ask()).headers.get("cache-status") is None
        assert len(origin.calls) == 1

    run(ask)


# Conditional requests


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": '"a"'}, 304),
        ({"If-None-Match": 'W/"a"'}, 304),
        ({"If-None-Match": '"b", "a"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"b"'}, 200),
        ({"If-None-Match": '"b"', "If-Modified-Since": "Sun, 06 Nov 2094 08:49:37 GMT"}, 200),
        ({"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, 304),
        ({"If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_conditional_requests_are_answered_from_the_store(
    run: Any, clock: Any, headers: Mapping[str, str], status: int, method: str
) -> None:
    origin = Origin(clock)
    origin.headers |= {
        "ETag": '"a"',
        "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        "Content-Type": "text/plain",
    }

    async def ask() -> None:
        await origin.ask()
        response = await origin.ask("/", headers, method)
        assert response.status == status
        assert response.headers.get("etag") == '"a"'
        assert response.headers.get("age") == "0"
        assert response.headers.get("cache-status") == "Kit; hit; ttl=60"
        assert response.headers.has("content-type") == (status == 200)
        assert await response.text() == ("GET 1" if (status, method) == (200, "GET") else "")
        assert len(origin.calls) == 1

    run(ask)


@pytest.mark.parametrize("validators", [("etag", "last-modified"), ("etag",), ("last-modified",)])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_304_omits_only_what_describes_the_content(
    run: Any, clock: Any, validators: tuple[str, ...], is_stored: bool
) -> None:
    """Last-Modified describes it, too, unless there is no ETag (RFC 9110, section 15.4.5)."""
    origin = Origin(clock)
    others = {
        "access-control-allow-origin": "https://a.example",
        "content-location": "/a",
        "expires": "Sun, 06 Nov 2094 08:49:37 GMT",
        "vary": "Origin",
    }
    values = {"etag": '"a"', "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"}
    of_the_content = {"Content-Type": "text/plain", "Content-Language": "en", "Digest": "x=y"}
    origin.headers |= others | of_the_content | {name: values[name] for name in validators}

    async def ask() -> None:
        if is_stored:
            await origin.ask()
        sent = {"If-None-Match": '"a"', "If-Modified-Since": values["last-modified"]}
        if "etag" not in validators:
            del sent["If-None-Match"]
        response = await origin.ask("/", sent)
        headers = dict(response.headers)
        assert response.status == 304
        assert headers.pop("cache-control") == origin.headers["Cache-Control"]
        assert ("ttl" in headers.pop("cache-status")) == is_stored
        assert headers.pop("age", None) == ("0" if is_stored else None)
        assert headers == others | {validators[0]: values[validators[0]]}

    run(ask)


@pytest.mark.parametrize(("listed", "status"), [("a", 200), ('"a"', 200), ("*", 304)])
@pytest.mark.parametrize("etag", ["a", 'w/"a"', '"a b"', ""])
def test_a_malformed_etag_of_a_handler_is_no_validator(
    run: Any, clock: Any, etag: str, listed: str, status: int
) -> None:
    origin = Origin(clock)
    origin.headers["ETag"] = etag

    async def ask() -> None:
        await origin.ask()
        response = await origin.ask("/", {"If-None-Match": listed})
        assert (response.status, response.headers.get("etag")) == (status, etag)
        assert len(origin.calls) == 1

    run(ask)


def test_only_a_200_is_answered_with_304(run: Any, clock: Any) -> None:
    origin = Origin(clock, cacheable_status_codes=[404])
    origin.headers["ETag"] = '"a"'
    origin.status = 404

    async def ask() -> None:
        await origin.ask()
        assert (await origin.ask("/", {"If-None-Match": '"a"'})).status == 404

    run(ask)


# Conditional requests that the store can't answer


@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": '"a"'}, 304),
        ({"If-None-Match": '"b"'}, 200),
        ({"If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, 304),
        ({"If-Modified-Since": "Sun, 06 Nov 1994 08:49:36 GMT"}, 200),
    ],
)
def test_a_conditional_request_has_the_response_stored(
    run: Any, clock: Any, headers: Mapping[str, str], status: int, is_stored: bool
) -> None:
    origin = Origin(clock)
    origin.headers |= {
        "ETag": '"a"',
        "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
        "Content-Type": "text/plain",
        "Content-Language": "en",
        "X-Kept": "1",
    }
    seen = []

    async def outer(c: Context, next: Next) -> None:
        await next()
        seen.append({name: c.req.header(name) for name in headers})

    app: Kit[Any, Any] = Kit()
    app.use(outer)
    app.use(origin.cache)
    app.use(etag())
    app.get("/*", origin.answer)
    origin.app = app

    async def ask() -> None:
        if is_stored:
            await origin.ask()
            clock.now += 60
        count = len(origin.calls) + 1
        response = await origin.ask("/", headers)
        assert response.status == status
        assert await response.text() == ("" if status == 304 else f"GET {count}")
        assert response.headers.get("etag") == '"a"'
        assert response.headers.get("x-kept") == "1"
        assert response.headers.has("content-type") == (status == 200)
        assert response.headers.has("content-language") == (status == 200)
        why = "stale" if is_stored else "uri-miss"
        forwarded = "; fwd-status=200" if status == 304 else ""
        assert response.headers.get("cache-status") == f"Kit; fwd={why}{forwarded}; stored"
        # Middleware before the cache has the preconditions again.
        assert seen[-1] == headers
        again = await origin.ask("/", headers)
        assert again.status == status
        assert again.headers.get("cache-status") == "Kit; hit; ttl=60"
        assert await origin.text() == f"GET {count}"
        assert len(origin.calls) == count

    run(ask)


def test_what_is_not_stored_is_compared_too(run: Any, clock: Any) -> None:
    """At first by the cache; once it knows that nothing is stored, by the handlers."""
    origin = Origin(clock)
    origin.headers = {"ETag": '"a"', "Cache-Control": "private"}
    seen = []

    async def inner(c: Context, next: Next) -> None:
        seen.append(c.req.header("if-none-match"))
        await next()

    app: Kit[Any, Any] = Kit()
    app.use(origin.cache)
    app.use(inner)
    app.use(etag())
    app.get("/*", origin.answer)
    origin.app = app

    async def ask() -> None:
        statuses = []
        for _ in range(2):
            response = await origin.ask("/", {"If-None-Match": '"a"'})
            assert (response.status, await response.text()) == (304, "")
            statuses.append(response.headers.get("cache-status"))
        assert statuses == ["Kit; fwd=uri-miss; fwd-status=200", "Kit; fwd=uri-miss"]
        assert seen == [None, '"a"']
        await origin.ask("/private", {"If-None-Match": '"a"', "Authorization": "Basic x"})
        assert seen == [None, '"a"', '"a"']

    run(ask)


def test_a_stream_that_the_client_has_is_closed(run: Any, clock: Any) -> None:
    ended = []

    async def stream() -> AsyncIterator[bytes]:
        yield b"a"

    class Watched:
        def __init__(self) -> None:
            self.chunks = stream()

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self.chunks

        async def aclose(self) -> None:
            ended.append(self)
            await self.chunks.aclose()

    origin = Origin(clock)
    origin.body = Watched
    origin.headers["ETag"] = '"a"'

    async def ask() -> None:
        response = await origin.ask("/", {"If-None-Match": '"a"'})
        assert (response.status, await response.text()) == (304, "")
        assert len(ended) == 1
        assert await origin.text() == "a"
        assert (await origin.ask()).body == b"a"

    run(ask)


# Streams


def chunks(*parts: bytes) -> Callable[[], AsyncIterator[bytes]]:
    async def stream() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    return stream


def test_a_stream_is_passed_on_and_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock, max_body_size=4)
    origin.body = chunks(b"ab", b"", b"cd")

    async def ask() -> None:
        response: Any = await origin.ask()
        assert response.headers.get("cache-status") == "Kit; fwd=uri-miss"
        assert [bytes(chunk) async for chunk in response.body] == [b"ab", b"", b"cd"]
        assert (await origin.ask()).body == b"abcd"
        assert len(origin.calls) == 1

    run(ask)


@pytest.mark.parametrize("body", [b"abcde", chunks(b"ab", b"cde", b"f")])
def test_what_is_too_large_is_passed_on_alone(run: Any, clock: Any, body: Any) -> None:
    origin = Origin(clock, max_body_size=4)
    origin.body = body

    async def ask() -> None:
        first = await origin.text()
        assert first == await origin.text()
        assert first.startswith("abcde")
        assert len(origin.calls) == 2

    run(ask)


def test_a_stream_that_breaks_off_is_not_stored(run: Any, clock: Any) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"ab"
        raise ValueError("broken")

    origin = Origin(clock)
    origin.body = broken

    async def ask() -> None:
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                await origin.text()
        assert len(origin.calls) == 2

    run(ask)


def test_a_stream_that_is_closed_is_not_stored_and_is_ended(run: Any, clock: Any) -> None:
    closed = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"ab"
        finally:
            closed.append(True)

    origin = Origin(clock)
    origin.body = endless

    async def ask() -> None:
        for _ in range(2):
            response: Any = await origin.ask()
            body = response.body.__aiter__()
            assert await body.__anext__() == b"ab"
            await body.aclose()
        assert len(origin.calls) == 2
        assert closed == [True, True]

    run(ask)


def test_a_body_without_aclose_can_be_closed(run: Any, clock: Any) -> None:
    class Endless:
        def __aiter__(self) -> Endless:
            return self

        async def __anext__(self) -> bytes:
            return b"a"

    origin = Origin(clock)
    origin.body = Endless

    async def ask() -> None:
        response: Any = await origin.ask()
        body = response.body.__aiter__()
        assert await body.__anext__() == b"a"
        await body.aclose()

    run(ask)


def test_a_stream_that_is_shorter_than_it_says_is_not_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.headers |= {"Content-Length": "5"}
    origin.body = chunks(b"ab")

    async def ask() -> None:
        for _ in range(2):
            await (await origin.ask()).bytes()
        assert len(origin.calls) == 2

    run(ask)


def test_the_length_of_a_stream_is_kept(run: Any, clock: Any) -> None:
    origin = Origin(clock)
    origin.body = chunks(b"ab")
    origin.headers["Content-Length"] = "2"

    async def ask() -> None:
        response = await origin.ask()
        assert response.headers.get("content-length") == "2"
        assert await response.text() == "ab"
        assert await origin.text() == "ab"

    run(ask)


def test_an_empty_response_is_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock, cacheable_status_codes=[204])
    origin.status = 204
    origin.body = lambda: None

    async def ask() -> None:
        assert (await origin.ask()).status == 204
        assert (await origin.ask()).status == 204
        assert len(origin.calls) == 1

    run(ask)


# Invalidation and purging


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_successful_change_removes_what_was_stored(run: Any, clock: Any, method: str) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        for path in ("/a", "/a?x=1", "/b", "/c", "/d"):
            await origin.ask(path)
        origin.status = 500
        response = await origin.ask("/a", NOTHING, method)
        assert response.headers.get("cache-status") == "Kit; fwd=method"
        assert await origin.text("/a") == "GET 1"
        origin.status = 201
        origin.headers |= {
            "Location": "/b",
            "Content-Location": "http://localhost/c?x=2",
        }
        await origin.ask("/a", NOTHING, method)
        origin.headers |= {"Location": "http://other.example/d", "Content-Location": "http://["}
        await origin.ask("/e", NOTHING, method)
        origin.status = 200
        count = len(origin.calls)
        assert await origin.text("/d") == "GET 5"
        assert await origin.text("/a") == f"GET {count + 1}"
        assert await origin.text("/a?x=1") == f"GET {count + 2}"
        assert await origin.text("/b") == f"GET {count + 3}"
        assert await origin.text("/c") == f"GET {count + 4}"

    run(ask)


def test_handlers_purge(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def purge(c: Context) -> Response:
        made: Cache = c.get("cache")
        if c.req.query("all"):
            await made.purge_all()
        else:
            await made.purge("/a", "/b")
        return c.text("")

    app: Kit[Any, Any] = Kit()
    app.use(origin.cache)
    app.on("POST", "/purge", purge)
    app.get("/*", origin.answer)
    origin.app = app

    async def ask() -> None:
        for path in ("/a", "/b?x=1", "/c"):
            await origin.ask(path)
        await origin.ask("/purge", NOTHING, "POST")
        assert await origin.text("/c") == "GET 3"
        assert await origin.text("/a") == "GET 4"
        assert await origin.text("/b?x=1") == "GET 5"
        await origin.ask("/purge?all=1", NOTHING, "POST")
        assert await origin.text("/c") == "GET 6"

    run(ask)


def test_a_response_that_was_purged_while_it_was_made_is_not_stored(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        async def purging() -> AsyncIterator[bytes]:
            yield b"old"
            await origin.cache.purge("/stream")

        origin.body = purging
        assert await origin.text("/stream") == "old"
        assert await origin.text("/stream") == "old"
        assert len(origin.calls) == 2

    run(ask)

    app: Kit[Any, Any] = Kit()
    made = cache(clock=clock, cache_control="max-age=60")
    calls = []

    @app.get("/", use=made)
    async def handler(c: Context) -> Response:
        calls.append(c)
        if len(calls) == 1:
            await made.purge_all()
        return c.text(str(len(calls)))

    async def ask_twice() -> None:
        assert [await (await app.request("/")).text() for _ in range(3)] == ["1", "2", "2"]

    run(ask_twice)


def test_a_path_is_purged_as_it_is_in_a_url(run: Any, clock: Any) -> None:
    origin = Origin(clock)

    async def ask() -> None:
        for path in ("/caf%C3%A9", "/a%20b", "/a%2Fb", "/100%25"):
            await origin.ask(path)
            for each in (path, path.replace("%C3%A9", "\u00e9").replace("%20", " ")):
                count = len(origin.calls)
                await origin.ask(path)
                assert len(origin.calls) == count
                await origin.cache.purge(each)
                await origin.ask(path)
                assert len(origin.calls) == count + 1

    run(ask)


class Rushed(MemoryStore):
    """A store that a purge overtakes: what it stores is there only after that."""

    async def set(self, key: Any, stored: Any, ttl: float) -> None:
        purge, self.purge = self.purge, None
        if purge is not None:
            await purge("/")
        await super().set(key, stored, ttl)

    purge: Any = None


class Waiting:
    """An execution context that begins with what it was given when a test says so."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def wait_until(self, awaitable: Any) -> None:
        self.given.append(awaitable)


def test_a_purge_is_not_undone_by_what_is_stored_late(run: Any, clock: Any) -> None:
    store = Rushed()
    origin = Origin(clock, store=store, wait=True)

    async def ask() -> None:
        store.purge = origin.cache.purge
        assert await origin.text() == "GET 1"
        assert await origin.text() == "GET 2"

    run(ask)


def test_what_was_purged_before_it_was_stored_is_not_stored(run: Any, clock: Any) -> None:
    kept = MemoryStore()

    class Other:  # not a MemoryStore, which stores before the response is sent
        get, set, delete, clear = kept.get, kept.set, kept.delete, kept.clear

    origin = Origin(clock, store=Other())

    async def ask() -> None:
        waiting = Waiting()
        await origin.app.request("/", execution_ctx=waiting)
        await origin.cache.purge("/")
        for each in waiting.given:
            await each
        assert kept.size == 0
        assert await origin.text() == "GET 2"

    run(ask)


def test_names_and_keys_may_be_functions(run: Any, clock: Any) -> None:
    async def name(c: Context) -> str:
        return c.req.header("x-tenant") or "none"

    origin = Origin(clock, cache_name=name, key_generator=lambda c: c.req.query("id") or "")

    async def ask() -> None:
        assert await origin.text("/a?id=1&x=1") == "GET 1"
        assert await origin.text("/b?x=2&id=1") == "GET 1"
        assert await origin.text("/a?id=2") == "GET 2"
        assert await origin.text("/a?id=1", {"X-Tenant": "a"}) == "GET 3"
        await origin.ask("/a?id=1", NOTHING, "POST")
        assert await origin.text("/b?id=1") == "GET 5"
        assert await origin.text("/a?id=2") == "GET 2"
        await origin.cache.purge("2", cache_name="none")
        assert await origin.text("/a?id=2") == "GET 6"
        await origin.cache.purge_all(cache_name="a")
        assert await origin.text("/a?id=1", {"X-Tenant": "a"}) == "GET 7"

    run(ask)

    async def purge() -> None:
        for method in (origin.cache.purge, origin.cache.purge_all):
            with pytest.raises(TypeError) as raised:
                await method()
            assert str(raised.value) == (
                f"{method.__name__}() needs cache_name, since the cache's name is a function"
            )

    run(purge)


@pytest.mark.parametrize("option", ["cache_name", "key_generator"])
def test_such_a_function_has_to_return_a_text(run: Any, clock: Any, option: str) -> None:
    origin = Origin(clock, **{option: lambda c: 7})
    origin.app.on_error(lambda error, c: c.text(str(error), 500))

    async def ask() -> None:
        response = await origin.ask()
        assert response.status == 500
        assert await response.text() == (
            f"cache({option}=...): the function returned int, expected a str"
        )

    run(ask)


def test_caches_of_other_names_share_nothing(run: Any, clock: Any) -> None:
    from kit.cache import MemoryStore

    store = MemoryStore()
    one = Origin(clock, store=store, cache_name="one")
    two = Origin(clock, store=store, cache_name="two")
    same = Origin(clock, store=store, cache_name="one")

    async def ask() -> None:
        for origin in (one, two, same):
            await origin.ask()
        assert [len(each.calls) for each in (one, two, same)] == [1, 1, 0]

    run(ask)


def test_it_is_found_by_its_name_and_says_what_it_provides() -> None:
    assert plugins.load("kit.middleware", "cache") is cache
    assert get_facts(cache()).provides == {"cache": Cache}
