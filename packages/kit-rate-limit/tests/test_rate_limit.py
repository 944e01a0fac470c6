# SPDX-License-Identifier: MIT
"""Requests within and over limits, and the clients that they are counted for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import http_sf
import pytest

from kit import Context, HTTPException, Kit, Request, Response
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.rate_limit import MemoryStore, RateLimitState, RateLimitStoreError, rate_limit


def app_with(*limits: Any, **options: Any) -> Kit:
    app = Kit()
    app.use(rate_limit(*limits, **options))
    app.get("/", lambda c: c.text("Hello"))
    app.post("/", lambda c: c.text("Hello"))
    return app


async def statuses(app: Any, count: int, path: str = "/", **request: Any) -> list[int]:
    """Returns the statuses of so many requests."""
    return [(await app.request(path, **request)).status for _ in range(count)]


async def from_address(app: Any, address: str | None, **headers: str) -> int:
    """Returns the status of a request that a server received from this address."""
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ],
        "client": None if address is None else (address, 5000),
    }
    await app(scope, receive, send)
    return int(messages[0]["status"])


def test_requests_beyond_the_limit_are_refused(run: Callable[..., Any], clock: Any) -> None:
    app = app_with("3/minute", store=MemoryStore(clock=clock))
    assert run(statuses, app, 5) == [200, 200, 200, 429, 429]
    clock.now += 59.999
    assert run(statuses, app, 1) == [429]
    clock.now += 0.001
    assert run(statuses, app, 4) == [200, 200, 200, 429]


async def test_the_refusal_is_a_problem_document(clock: Any) -> None:
    app = app_with("1/minute", "1/hour", store=MemoryStore(clock=clock), name="login")
    await app.request("/")
    clock.now += 60
    response = await app.request("/")
    assert response.status == 429
    assert response.headers.get("Content-Type") == "application/problem+json"
    assert response.headers.get("Retry-After") == "3540"
    assert await response.json() == {
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Try again in 3540 seconds",
        "violated-policies": ["login:1/hour"],
    }


async def test_retry_after_is_a_second_at_least(clock: Any) -> None:
    app = app_with("1/second", store=MemoryStore(clock=clock))
    await app.request("/")
    clock.now += 0.999
    response = await app.request("/")
    assert response.headers.get("Retry-After") == "1"
    assert (await response.json())["detail"] == "Try again in 1 second"


async def test_every_response_carries_the_fields(clock: Any) -> None:
    app = app_with("2/10 seconds", "100/day", store=MemoryStore(clock=clock))
    app.get("/fault", lambda c: c.nothing)
    found = []
    for path in ("/", "/absent", "/fault"):
        response = await app.request(path)
        policy = response.headers.get("RateLimit-Policy")
        assert policy == '"2/10 seconds";q=2;w=10, "100/day";q=100;w=86400'
        found.append((response.status, response.headers.get("RateLimit")))
        clock.now += 1.5
    assert found == [
        (200, '"2/10 seconds";r=1;t=10, "100/day";r=99;t=86400'),
        (404, '"2/10 seconds";r=0;t=9, "100/day";r=98;t=86399'),
        (429, '"2/10 seconds";r=0;t=7, "100/day";r=98;t=86397'),
    ]


async def test_the_fields_are_structured_fields(clock: Any) -> None:
    app = Kit()
    store = MemoryStore(clock=clock)
    app.use(rate_limit("100/minute", name="outer", store=store))
    app.use(rate_limit("1/second", "5 per 2 weeks", name="in-ner_.1", store=store))
    app.get("/", lambda c: c.text("Hello"))
    response = await app.request("/")
    policies = http_sf.parse(response.headers.get("RateLimit-Policy").encode(), tltype="list")
    assert policies == [
        ("in-ner_.1:1/second", {"q": 1, "w": 1}),
        ("in-ner_.1:5/2 weeks", {"q": 5, "w": 1209600}),
        ("outer:100/minute", {"q": 100, "w": 60}),
    ]
    limits = http_sf.parse(response.headers.get("RateLimit").encode(), tltype="list")
    assert limits == [
        ("in-ner_.1:1/second", {"r": 0, "t": 1}),
        ("in-ner_.1:5/2 weeks", {"r": 4, "t": 1209600}),
        ("outer:100/minute", {"r": 99, "t": 60}),
    ]


async def test_a_refusal_inside_carries_the_fields_of_outer_limiters() -> None:
    app = Kit()
    app.use(rate_limit("100/minute", name="outer"))
    app.use(rate_limit("1/minute", name="inner"))
    await app.request("/")
    response = await app.request("/")
    assert response.status == 429
    items = http_sf.parse(response.headers.get("RateLimit").encode(), tltype="list")
    assert [name for name, _ in items] == ["inner:1/minute", "outer:100/minute"]


@pytest.mark.parametrize("path", ["/response", "/redirect", "/mounted/x"])
async def test_responses_that_handlers_make_themselves_carry_the_fields(path: str) -> None:
    app = app_with("9/minute")
    app.get("/response", lambda c: Response("Hello"))
    app.get("/redirect", lambda c: Response.redirect("http://app.test/"))
    app.mount("/mounted", lambda request, *_: Response("Hello"))
    response = await app.request(path)
    assert response.headers.get("RateLimit") == '"9/minute";r=8;t=60'
    assert response.headers.get("RateLimit-Policy") == '"9/minute";q=9;w=60'


@pytest.mark.parametrize(
    "answer", [Response("Wait", status=429), Response.redirect("http://app.test/")]
)
async def test_an_answer_that_is_kept_is_not_changed(answer: Response) -> None:
    app = app_with("1/minute", on_limit=lambda c, state: answer)
    await app.request("/")
    for _ in range(2):
        response = await app.request("/")
        assert response.status == answer.status
        assert response.headers.get("RateLimit") == '"1/minute";r=0;t=60'
        assert response.headers.get("Retry-After") == "60"
    assert answer.headers.get("Retry-After") is None


async def test_headers_can_be_turned_off() -> None:
    app = app_with("1/minute", headers=False)
    for _ in range(2):
        response = await app.request("/")
        assert response.headers.get("RateLimit") is None
        assert response.headers.get("RateLimit-Policy") is None
    assert response.headers.get("Retry-After") == "60"
    assert "violated-policies" not in await response.json()
    app = app_with("1/minute", headers=False, on_limit=lambda c, state: c.text("Wait", 429))
    await app.request("/")
    response = await app.request("/")
    assert response.headers.get("RateLimit") is None
    assert response.headers.get("Retry-After") == "60"


async def test_what_one_limit_refuses_no_other_counts(clock: Any) -> None:
    app = app_with("2/second", "4/minute", store=MemoryStore(clock=clock))
    assert await statuses(app, 10) == [200, 200] + [429] * 8
    clock.now += 1
    assert await statuses(app, 3) == [200, 200, 429]
    clock.now += 1
    assert await statuses(app, 1) == [429]


async def test_the_state_is_kept_for_handlers(clock: Any) -> None:
    app = Kit()
    app.use(rate_limit("3/minute", "5/hour", store=MemoryStore(clock=clock)))
    found: list[RateLimitState] = []
    app.get("/", lambda c: (found.append(c.get("rate_limit")), c.text(""))[1])
    await app.request("/")
    (state,) = found
    assert (state.allowed, state.retry_after, state.remaining) == (True, 0.0, 2)
    assert [
        (str(each.limit), each.remaining, each.reset, each.exceeded) for each in state.windows
    ] == [
        ("3/minute", 2, 60.0, False),
        ("5/hour", 4, 3600.0, False),
    ]


async def test_the_error_handler_of_the_app_sees_the_refusal() -> None:
    app = app_with("1/minute")

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        assert isinstance(error, HTTPException)
        return c.text(f"{error.status}", 429)

    await app.request("/")
    assert await (await app.request("/")).text() == "429"


@pytest.mark.parametrize("is_async", [False, True])
async def test_an_answer_of_the_apps_own(is_async: bool, clock: Any) -> None:
    def plain(c: Context, state: RateLimitState) -> Response:
        return c.json({"wait": state.retry_after, "allowed": state.allowed}, 503)

    async def later(c: Context, state: RateLimitState) -> Response:
        return plain(c, state)

    app = app_with(
        "1/minute", on_limit=later if is_async else plain, store=MemoryStore(clock=clock)
    )
    await app.request("/")
    clock.now += 0.5
    response = await app.request("/")
    assert response.status == 503
    assert await response.json() == {"wait": 59.5, "allowed": False}
    assert response.headers.get("Retry-After") == "60"
    assert response.headers.get("RateLimit") == '"1/minute";r=0;t=60'


async def test_an_answer_that_is_no_response_is_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    def wrong(c: Context, state: RateLimitState) -> Any:
        return "no"

    app = app_with("1/minute", on_limit=wrong)
    assert await statuses(app, 2) == [200, 500]
    assert "returned 'no' as the response of rate_limit(): return a Response" in caplog.text


async def test_every_method_is_counted() -> None:
    app = app_with("4/minute")
    found = [
        await statuses(app, 1, method=each) for each in ("GET", "HEAD", "POST", "OPTIONS", "GET")
    ]
    assert [status for (status,) in found] == [200, 200, 200, 404, 429]


async def test_preflights_that_cors_answers_are_not_counted() -> None:
    from kit.cors import cors

    app = Kit()
    app.use(cors(origin="https://a.test", expose_headers=["RateLimit", "Retry-After"]))
    app.use(rate_limit("1/minute"))
    app.get("/", lambda c: c.text("Hello"))
    asked = {"Origin": "https://a.test", "Access-Control-Request-Method": "GET"}
    assert await statuses(app, 3, method="OPTIONS", headers=asked) == [204] * 3
    assert await statuses(app, 2) == [200, 429]
    refused = await app.request("/", headers={"Origin": "https://a.test"})
    assert refused.headers.get("Access-Control-Allow-Origin") == "https://a.test"


async def test_clients_are_counted_by_address() -> None:
    app = app_with("1/minute")
    assert await from_address(app, "192.0.2.1") == 200
    assert await from_address(app, "192.0.2.2") == 200
    assert await from_address(app, "192.0.2.1") == 429
    # The same client, on a socket that takes both versions of IP.
    assert await from_address(app, "::ffff:192.0.2.2") == 429


async def test_an_ipv6_network_of_64_bits_is_one_client() -> None:
    app = app_with("1/minute")
    assert await from_address(app, "2001:db8:0:1::1") == 200
    assert await from_address(app, "2001:db8:0:1:ffff::2") == 429
    assert await from_address(app, "2001:db8:0:2::1") == 200
    app = app_with("1/minute", ipv6_prefix=48)
    assert await from_address(app, "2001:db8:0:1::1") == 200
    assert await from_address(app, "2001:db8:0:2::1") == 429
    assert await from_address(app, "2001:db8:1::1") == 200


@pytest.mark.parametrize("address", [None, "", "unix", "x" * 1000])
async def test_clients_without_an_address_are_counted_together(address: str | None) -> None:
    app = app_with("1/minute")
    assert await from_address(app, None) == 200
    assert await from_address(app, address) == 429


async def test_cve_2026_27700_forged_addresses_share_a_counter() -> None:
    app = app_with("1/minute", trusted_hops=1)
    assert await from_address(app, "10.0.0.1", x_forwarded_for="198.51.100.1, 192.0.2.7") == 200
    assert await from_address(app, "10.0.0.1", x_forwarded_for="198.51.100.2, 192.0.2.7") == 429
    assert await from_address(app, "10.0.0.1", x_forwarded_for="198.51.100.2, 192.0.2.8") == 200
    # Without what the proxy adds, nobody gets a limit of their own.
    assert await from_address(app, "192.0.2.50") == 200
    assert await from_address(app, "192.0.2.51", x_forwarded_for="garbage") == 429


async def test_without_trusted_hops_forwarded_addresses_do_not_count() -> None:
    app = app_with("1/minute")
    assert await from_address(app, "192.0.2.7", x_forwarded_for="198.51.100.1") == 200
    assert await from_address(app, "192.0.2.7", x_forwarded_for="198.51.100.2") == 429


async def test_slowapi_281_a_limiter_of_the_app_limits_every_route() -> None:
    part = Kit()
    part.get("/of-a-part", lambda c: c.text(""))
    app = Kit()
    app.use(rate_limit("1/minute", key=lambda c: c.req.path))
    app.get("/", lambda c: c.text(""))
    app.route("/part", part)
    app.mount("/mounted", lambda request, *_: Response(""))
    app.on(["PURGE"], "/cache", lambda c: c.text(""))
    for path, status in [
        *(("/", 200), ("/part/of-a-part", 200), ("/mounted/x", 200), ("/absent", 404)),
    ]:
        assert await statuses(app, 2, path) == [status, 429]
    assert await statuses(app, 2, "/cache", method="PURGE") == [200, 429]


def test_slowapi_281_a_limiter_that_is_not_called_is_refused() -> None:
    with pytest.raises(TypeError, match=r"write rate_limit\(\.\.\.\)"):
        Kit().use(rate_limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_key_of_the_apps_own(is_async: bool) -> None:
    def plain(c: Context) -> str | None:
        return c.req.header("X-User")

    async def later(c: Context) -> str | None:
        return plain(c)

    app = app_with("1/minute", key=later if is_async else plain)
    assert await statuses(app, 2, headers={"X-User": "ann"}) == [200, 429]
    assert await statuses(app, 2, headers={"X-User": "bob"}) == [200, 429]


async def test_clients_without_a_key_are_counted_by_address() -> None:
    app = app_with("1/minute", key=lambda c: c.req.header("X-User"), trusted_hops=1)

    async def status(address: str, **headers: str) -> int:
        return await from_address(app, "10.0.0.1", x_forwarded_for=address, **headers)

    assert await status("2001:db8::1") == 200
    assert await status("2001:db8::2") == 429
    assert await status("192.0.2.1") == 200
    assert await status("192.0.2.1", x_user="ann") == 200
    assert await status("192.0.2.2", x_user="ann") == 429
    # No key is taken for an address, or for a client without one.
    assert await status("192.0.2.1", x_user="192.0.2.1") == 200
    assert await status("192.0.2.1", x_user="@192.0.2.1") == 200
    assert await status("192.0.2.1", x_user="@") == 200
    assert await from_address(app, "10.0.0.1") == 200


async def test_a_number_and_a_long_text_are_keys_too() -> None:
    app = app_with("1/minute", key=lambda c: int(c.req.query("id") or "0"))
    assert await statuses(app, 2, "/?id=1") == [200, 429]
    assert await statuses(app, 2, "/?id=2") == [200, 429]
    app = app_with("1/minute", key=lambda c: "x" * 5000 + c.req.query("id") + "\ud800")
    assert await statuses(app, 2, "/?id=1") == [200, 429]
    assert await statuses(app, 2, "/?id=2") == [200, 429]


@pytest.mark.parametrize("key", ["", "a b", "a\r\nset b", "ä", "\ud800", "@1", "x" * 65])
async def test_a_store_gets_keys_that_any_storage_can_write(key: str) -> None:
    found = []

    class Store:
        def counter(self, *arguments: Any) -> Any:
            count = MemoryStore().counter(*arguments)
            return lambda text, cost: (found.append(text), count(text, cost))[1]

    app = app_with("1/minute", key=lambda c: key, store=Store(), name="a")
    assert await statuses(app, 2) == [200, 429]
    assert all(re.fullmatch("blake2b:[0-9a-f]{64}", text) for text in found)


@pytest.mark.parametrize("key", [True, b"ann", 1.5, ["ann"]])
async def test_another_key_is_a_fault(key: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert await statuses(app_with("1/minute", key=lambda c: key), 1) == [500]
    assert (
        f"rate_limit(key=...) returned {type(key).__name__}: expected a str, an int, or None to "
        f"count by the client's address"
    ) in caplog.text


async def test_requests_may_cost_more() -> None:
    app = app_with("10/minute", cost=4)
    assert await statuses(app, 3) == [200, 200, 429]

    async def cost(c: Context) -> int:
        return int(c.req.query("cost") or "1")

    app = app_with("10/minute", cost=cost)
    assert await statuses(app, 1, "/?cost=6") == [200]
    assert await statuses(app, 1, "/?cost=5") == [429]
    assert await statuses(app, 1, "/?cost=4") == [200]
    assert await statuses(app, 1, "/?cost=0") == [200]
    assert await statuses(app, 1, "/?cost=1") == [429]
    assert await statuses(app_with("10/minute", cost=cost), 1, "/?cost=11") == [429]


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (-1, "rate_limit(cost=...) returned -1: expected at least 0"),
        (1.5, "rate_limit(cost=...) returned 1.5: expected an int"),
        (True, "rate_limit(cost=...) returned True: expected an int"),
    ],
)
async def test_another_cost_is_a_fault(
    cost: Any, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await statuses(app_with("1/minute", cost=lambda c: cost), 1) == [500]
    assert text in caplog.text


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_function_exempts_requests(is_async: bool) -> None:
    def plain(c: Context) -> bool:
        return c.req.path == "/health"

    async def later(c: Context) -> bool:
        return plain(c)

    app = app_with("1/minute", exempt=later if is_async else plain)
    app.get("/health", lambda c: c.text("ok"))
    assert await statuses(app, 3, "/health") == [200] * 3
    assert await statuses(app, 2) == [200, 429]


@pytest.mark.parametrize("found", ["no", 1, {"exempt": False}, None])
async def test_another_answer_of_exempt_is_a_fault(
    found: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert await statuses(app_with("1/minute", exempt=lambda c: found), 1) == [500]
    assert f"rate_limit(exempt=...) returned {found!r}: expected a bool" in caplog.text


async def test_ipv4_mapped_networks_are_exempt() -> None:
    app = app_with("1/minute", exempt=["::ffff:10.0.0.0/104", "::ffff:192.0.2.9"])
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "192.0.2.9"):
        assert [await from_address(app, address) for _ in range(2)] == [200] * 2
    assert [await from_address(app, "192.0.2.1") for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("options", [{}, {"key": lambda c: "all"}])
async def test_networks_are_exempt(options: Any) -> None:
    app = app_with("1/minute", exempt=["10.0.0.0/8", "2001:db8::/32", "192.0.2.9"], **options)
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1", "192.0.2.9"):
        assert [await from_address(app, address) for _ in range(3)] == [200] * 3
    assert [await from_address(app, "192.0.2.1") for _ in range(2)] == [200, 429]
    if options:
        assert await from_address(app, None) == 429


async def test_a_store_derived_from_the_memory_store_may_be_async_and_fail() -> None:
    class Remote(MemoryStore):
        def counter(self, *arguments: Any) -> Any:
            async def count(key: str, cost: int) -> RateLimitState:
                raise RateLimitStoreError("gone")

            return count

    assert await statuses(app_with("1/minute", store=Remote()), 1) == [503]


def test_it_carries_its_facts() -> None:
    facts = get_facts(rate_limit("1/minute"))
    assert dict(facts.responses) == {429: "Too many requests"}
    assert dict(facts.provides) == {"rate_limit": RateLimitState}
    answered = rate_limit("1/minute", on_limit=lambda c, state: c.text("", 503))
    assert dict(get_facts(answered).responses) == {}


def test_openapi_documents_the_429() -> None:
    from kit.openapi import build_document

    document = build_document(app_with("1/minute"), info={"title": "A", "version": "1"})
    assert document["paths"]["/"]["get"]["responses"]["429"] == {"description": "Too many requests"}


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "rate-limit") is rate_limit


async def test_limiters_without_a_name_share_nothing() -> None:
    store = MemoryStore()
    app = Kit()
    app.use("/a", rate_limit("1/minute", store=store))
    app.use("/b", rate_limit("1/minute", store=store))
    app.get("/:name", lambda c: c.text(""))
    assert await statuses(app, 2, "/a") == [200, 429]
    assert await statuses(app, 2, "/b") == [200, 429]


async def test_limiters_of_one_name_share_counters_of_equal_windows(clock: Any) -> None:
    store = MemoryStore(clock=clock)
    app = Kit()
    app.use("/a", rate_limit("1/minute", "10/hour", store=store, name="api"))
    app.use("/b", rate_limit("3/minute", store=store, name="api"))
    app.use("/c", rate_limit("1/minute", store=store, name="other"))
    app.use("/d", rate_limit("1/minute", store=store, name="api", strategy="sliding"))
    app.get("/:name", lambda c: c.text(""))
    assert await statuses(app, 4, "/b") == [200, 200, 200, 429]
    response = await app.fetch(Request("http://app.test/a"))
    assert response.headers.get("RateLimit") == '"api:1/minute";r=0;t=60, "api:10/hour";r=10;t=0'
    assert await statuses(app, 2, "/c") == [200, 429]
    assert await statuses(app, 2, "/d") == [200, 429]


async def test_streams_stay_streams() -> None:
    app = app_with("1/minute")

    async def parts() -> Any:
        yield b"a"
        yield b"b"

    app.get("/stream", lambda c: c.body(parts()))
    response = await app.request("/stream")
    assert response.headers.get("RateLimit") == '"1/minute";r=0;t=60'
    assert await response.text() == "ab"


async def test_a_store_that_fails_now_and_then_writes_few_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbers = itertools.count()

    class Overloaded:
        def counter(self, *arguments: Any) -> Any:
            inner = MemoryStore().counter(*arguments)

            def count(key: str, cost: int) -> RateLimitState:
                if next(numbers) % 2 == 0:
                    raise RateLimitStoreError("too late")
                return inner(key, cost)

            return count

    app = app_with("100/minute", store=Overloaded(), name="a")
    with caplog.at_level("INFO", "kit"):
        assert await statuses(app, 40) == [503, 200] * 20
    assert [record.getMessage() for record in caplog.records if "limit" in record.message] == [
        "Rate limit: too late; until the store recovers, requests are refused with 503",
        "Rate limit: the store has recovered",
    ]
