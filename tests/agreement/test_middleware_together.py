# SPDX-License-Identifier: MIT
"""Middleware packages around each other, where one could undo what the other does."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families

from kit import Context, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.cache import cache
from kit.compress import compress
from kit.cors import cors
from kit.etag import etag
from kit.health import health
from kit.jwt import jwt, sign
from kit.metrics import metrics
from kit.rate_limit import rate_limit
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.serve_static import hashed_names, serve_static
from kit.session import get_session, session
from kit.templates import templates
from kit.timeout import timeout
from kit.timing import timing

ORIGIN = "https://app.example.com"
SECRET = "a secret of this test that is long enough for HS256"
SCRIPT = b"let books = [];" * 200
REQUESTS_ALLOWED = 30


async def slow(c: Context) -> Response:
    await anyio.sleep_forever()
    return c.text("never")


def app_with(*middleware: Any) -> Kit:
    return Kit().use(*middleware).get("/slow", slow).get("/fast", lambda c: c.text("fast"))


@pytest.mark.parametrize("origin", ["*", ORIGIN, lambda origin, c: origin])
async def test_a_script_can_read_that_a_timeout_further_out_has_answered(origin: Any) -> None:
    app = app_with(timeout(0.01), cors(origin=origin))
    response = await app.request("/slow", {"headers": {"origin": ORIGIN}})
    assert response.status == 504
    allowed = response.headers.get("access-control-allow-origin")
    assert allowed == ("*" if origin == "*" else ORIGIN)
    assert response.headers.get("vary") == (None if origin == "*" else "Origin")


@pytest.mark.parametrize(
    ("request_init", "status"),
    [
        ({"headers": {"origin": ORIGIN}}, 401),
        ({"headers": {"origin": ORIGIN, "authorization": "Bearer s3cret"}}, 504),
        (
            {
                "method": "POST",
                "headers": {"origin": ORIGIN, "content-length": "9"},
                "body": "too large",
            },
            413,
        ),
    ],
)
async def test_every_refusal_has_the_headers_of_the_middleware_outside(
    request_init: Any, status: int
) -> None:
    app = app_with(
        request_id(),
        timing(),
        secure_headers(),
        cors(origin=ORIGIN),
        body_limit(max_size=8),
        bearer_auth(token="s3cret"),
        timeout(0.01),
    )
    response = await app.request("/slow", request_init)
    assert response.status == status
    assert response.headers.get("access-control-allow-origin") == ORIGIN
    assert response.headers.get("x-content-type-options") == "nosniff"
    assert response.headers.has("x-request-id")
    assert response.headers.has("server-timing")


@pytest.fixture
def site(tmp_path: Path) -> Kit:
    """An app with all middleware that reads or changes responses, and files behind it."""
    assets, pages = tmp_path / "assets", tmp_path / "pages"
    assets.mkdir()
    pages.mkdir()
    (assets / "app.3f2a9c1b.js").write_bytes(SCRIPT)
    (assets / "app.3f2a9c1b.js.gz").write_bytes(gzip.compress(SCRIPT, mtime=0))
    (assets / "plain.js").write_bytes(SCRIPT)
    (pages / "page.html").write_text("<p>{{ text }}</p>")
    app = Kit().use(
        health(),
        metrics(),
        request_id(),
        timing(),
        secure_headers(),
        cors(origin=ORIGIN),
        rate_limit(f"{REQUESTS_ALLOWED}/minute", key=lambda c: "one client"),
        compress(),
        etag(),
        cache(wait=True),  # outside of the session, so that it sees the cookies which that sets
        session(SECRET),
        templates(pages),
    )
    app.use("/api/*", jwt(secret=SECRET, alg="HS256"))
    app.use(
        "/assets/*",
        serve_static(
            assets,
            rewrite_request_path=lambda path: path.removeprefix("/assets"),
            precompressed=["gzip"],
            cache_control=hashed_names(),
        ),
    )

    @app.get("/api/me")
    def me(c: Context) -> Response:
        c.header("Cache-Control", "max-age=60")
        return c.text(c.get("jwt_payload")["sub"])

    @app.get("/page")
    def page(c: Context) -> Any:
        c.header("Cache-Control", "max-age=60")
        return c.render("page.html", text="<text>" * 300)

    @app.get("/visits")
    async def visits(c: Context) -> Response:
        data = await get_session(c)
        data["visits"] = data.get("visits", 0) + 1
        c.header("Cache-Control", "max-age=60")
        return c.text(str(data["visits"]))

    return app


async def ask(app: Kit, path: str, method: str = "GET", **headers: str) -> tuple[Response, bytes]:
    """Sends a request from a page of ORIGIN that takes gzip, and checks what is in all answers."""
    lines = {"origin": ORIGIN, "accept-encoding": "gzip"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    response = await app.request(path, method=method, headers=lines)
    for name, value in (
        ("access-control-allow-origin", ORIGIN),
        ("x-content-type-options", "nosniff"),
    ):
        assert response.headers.get_all(name) == [value]
    for name in ("x-request-id", "server-timing", "ratelimit", "vary"):
        assert response.headers.has(name), (path, response.status, name)
    return response, await response.bytes()


async def test_metrics_count_what_is_sent_and_no_probes(site: Kit) -> None:
    assert (await site.request("/livez")).status == 200
    sizes: dict[tuple[str, str], int] = {}
    for path, route in (
        ("/page", "/page"),
        ("/page", "/page"),
        ("/assets/plain.js", "/assets/*"),
        ("/assets/app.3f2a9c1b.js", "/assets/*"),
        ("/api/me", "/api/me"),
        ("/absent", "unmatched"),
    ):
        response, body = await ask(site, path)
        key = (route, str(response.status))
        sizes[key] = sizes.get(key, 0) + len(body)
    text = await (await site.request("/metrics")).text()
    samples = [
        sample for family in text_string_to_metric_families(text) for sample in family.samples
    ]
    assert sizes == {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for sample in samples
        if sample.name == "http_response_size_bytes_sum"
    }
    assert sum(each.value for each in samples if each.name == "http_requests_total") == 6


async def test_a_precompressed_file_goes_through_all_middleware_as_it_is(
    site: Kit, tmp_path: Path
) -> None:
    path = "/assets/app.3f2a9c1b.js"
    encoded = (tmp_path / "assets" / "app.3f2a9c1b.js.gz").read_bytes()
    part, body = await ask(site, path, range="bytes=2-9")
    assert (part.status, body) == (206, encoded[2:10])
    whole, body = await ask(site, path)
    assert (whole.status, body) == (200, encoded)  # no part was stored in its place
    hit, body = await ask(site, path)
    assert (hit.status, body) == (200, encoded)
    assert str(hit.headers.get("cache-status")).startswith("Kit; hit")
    tag = str(whole.headers.get("etag"))
    assert tag.startswith('"')
    for response in (part, whole, hit):
        assert response.headers.get_all("content-encoding") == ["gzip"]
        assert response.headers.get("etag") == tag
    part, body = await ask(site, path, range="bytes=2-9", if_range=tag)
    assert (part.status, body) == (206, encoded[2:10])
    assert (await ask(site, path, if_none_match=tag))[0].status == 304
    assert (await ask(site, path, range="bytes=9999-"))[0].status == 416
    head, body = await ask(site, path, "HEAD")
    assert (head.status, head.headers.get("content-encoding"), body) == (200, "gzip", b"")
    plain, body = await ask(site, path, accept_encoding="identity")
    assert (plain.headers.get("content-encoding"), body) == (None, SCRIPT)


async def test_a_file_that_is_compressed_while_it_is_sent_has_ranges_as_it_is(site: Kit) -> None:
    whole, body = await ask(site, "/assets/plain.js")
    assert gzip.decompress(body) == SCRIPT
    assert not whole.headers.has("accept-ranges")
    tag = str(whole.headers.get("etag"))
    assert tag.startswith("W/")
    again, _ = await ask(site, "/assets/plain.js", if_none_match=tag)
    assert (again.status, again.headers.get("etag")) == (304, tag)
    # The bytes that the client has are others, so a range would not fit them.
    whole, body = await ask(site, "/assets/plain.js", range="bytes=2-9", if_range=tag)
    assert (whole.status, gzip.decompress(body)) == (200, SCRIPT)
    part, body = await ask(site, "/assets/plain.js", range="bytes=2-9")
    assert (part.status, body) == (206, SCRIPT[2:10])
    assert not part.headers.has("content-encoding")


async def test_a_page_is_stored_compressed_and_revalidated(site: Kit) -> None:
    for status in ("Kit; fwd=uri-miss; stored", "Kit; hit; ttl=59"):
        response, body = await ask(site, "/page")
        assert gzip.decompress(body) == b"<p>" + b"&lt;text&gt;" * 300 + b"</p>"
        assert str(response.headers.get("cache-status")).startswith(status[:8])
        tag = str(response.headers.get("etag"))
    assert (await ask(site, "/page", if_none_match=tag))[0].status == 304


async def test_what_is_for_one_client_is_not_stored(site: Kit) -> None:
    first, body = await ask(site, "/visits")
    assert body == b"1"
    assert (await ask(site, "/visits"))[1] == b"1"
    cookie = first.headers.get_set_cookie()[0].partition(";")[0]
    assert (await ask(site, "/visits", cookie=cookie))[1] == b"2"
    for name in ("ann", "bob"):
        token = sign({"sub": name}, SECRET)
        response, body = await ask(site, "/api/me", authorization=f"Bearer {token}")
        assert (response.status, body) == (200, name.encode())
    assert (await ask(site, "/api/me"))[0].status == 401


async def test_a_request_over_the_limit_gets_no_file(site: Kit) -> None:
    path = "/assets/app.3f2a9c1b.js"
    statuses = [(await ask(site, path))[0].status for _ in range(REQUESTS_ALLOWED + 1)]
    assert statuses == [200] * REQUESTS_ALLOWED + [429]
    response, body = await ask(site, path, range="bytes=0-1")
    assert (response.status, body[:1]) == (429, b"{")
