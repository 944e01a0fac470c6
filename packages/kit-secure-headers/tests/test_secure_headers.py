# SPDX-License-Identifier: MIT
"""Which headers responses have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import plugins
from kit.secure_headers import NONCE, secure_headers

DEFAULTS = {
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=15552000; includeSubDomains",
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "x-download-options": "noopen",
    "x-frame-options": "SAMEORIGIN",
    "x-permitted-cross-domain-policies": "none",
    "x-xss-protection": "0",
}
OPTIONS = {name.replace("-", "_"): name for name in DEFAULTS} | {
    "cross_origin_embedder_policy": "cross-origin-embedder-policy"
}
NOTHING: dict[str, Any] = dict.fromkeys(OPTIONS, False)


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def refuse(c: Context) -> Response:
    raise HTTPException(403, message="no")


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use(secure_headers(**options))
    app.get("/", lambda c: c.body("x"))
    app.get("/fault", fail)
    app.get("/refused", refuse)
    app.get("/redirect", lambda c: c.redirect("/"))
    return app


async def headers_of(app: Kit, path: str = "/") -> dict[str, str]:
    response = await app.request(path)
    names = [*response.headers]
    assert all(len(response.headers.get_all(name)) == 1 for name in names)
    return {name: response.headers[name] for name in names if name != "content-type"}


@pytest.mark.parametrize("path", ["/", "/absent", "/fault", "/refused"])
def test_every_response_has_the_defaults(run: Callable[..., Any], path: str) -> None:
    assert run(headers_of, app_with(), path) == DEFAULTS


def test_so_has_a_redirect(run: Callable[..., Any]) -> None:
    assert run(headers_of, app_with(), "/redirect") == {**DEFAULTS, "location": "/"}


def test_a_stream_stays_one(run: Callable[..., Any]) -> None:
    async def stream() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    app = Kit()
    app.use(secure_headers())
    app.get("/", lambda c: c.body(stream()))

    async def answer() -> tuple[str | None, str]:
        response = await app.request("/")
        assert not isinstance(response.body, bytes)
        return response.headers.get("referrer-policy"), await response.text()

    assert run(answer) == ("no-referrer", "ab")


@pytest.mark.parametrize("option", OPTIONS)
def test_a_header_alone(run: Callable[..., Any], option: str) -> None:
    name = OPTIONS[option]
    default = DEFAULTS.get(name, "require-corp")
    assert run(headers_of, app_with(**{**NOTHING, option: True})) == {name: default}
    for value in (False, ""):
        expected = {k: v for k, v in DEFAULTS.items() if k != name}
        assert run(headers_of, app_with(**{option: value})) == expected


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("cross_origin_embedder_policy", "credentialless"),
        ("cross_origin_embedder_policy", 'require-corp; report-to="endpoint"'),
        ("cross_origin_resource_policy", "same-site"),
        ("cross_origin_opener_policy", "same-origin-allow-popups"),
        ("cross_origin_opener_policy", 'noopener-allow-popups;report-to="a b"'),
        ("origin_agent_cluster", "?0"),
        ("referrer_policy", "strict-origin-when-cross-origin"),
        ("referrer_policy", "no-referrer, strict-origin"),
        ("referrer_policy", "Origin"),
        ("strict_transport_security", "max-age=0"),
        ("strict_transport_security", "max-age=63072000; includeSubDomains; preload"),
        ("strict_transport_security", 'INCLUDESUBDOMAINS ; Max-Age = "1" ;'),
        ("x_content_type_options", "nosniff, nosniff"),
        ("x_dns_prefetch_control", "on"),
        ("x_download_options", "anything"),
        ("x_frame_options", "DENY"),
        ("x_frame_options", "deny"),
        ("x_permitted_cross_domain_policies", "master-only"),
        ("x_xss_protection", "1; mode=block"),
        ("x_xss_protection", "1; report=https://example.com/r"),
    ],
)
def test_another_value(run: Callable[..., Any], option: str, value: str) -> None:
    assert run(headers_of, app_with(**{**NOTHING, option: value})) == {OPTIONS[option]: value}


def test_headers_of_handlers_are_replaced(run: Callable[..., Any]) -> None:
    app = app_with(content_security_policy={"default_src": ["'self'"]})
    app.get(
        "/own",
        lambda c: c.body(
            "x",
            headers={
                "Referrer-Policy": ["origin", "unsafe-url"],
                "Content-Security-Policy": ["default-src *", "img-src *"],
                "Permissions-Policy": "camera=()",
            },
        ),
    )
    assert run(headers_of, app, "/own") == {
        **DEFAULTS,
        "content-security-policy": "default-src 'self'",
        "permissions-policy": "camera=()",
    }


@pytest.mark.parametrize("remove_powered_by", [True, False])
def test_or_kept(run: Callable[..., Any], remove_powered_by: bool) -> None:
    app = app_with(
        overwrite=False,
        remove_powered_by=remove_powered_by,
        content_security_policy={"script_src": [NONCE]},
    )
    own = {"cross-origin-resource-policy": "cross-origin", "content-security-policy": ""}
    every = {**DEFAULTS, "content-security-policy": "script-src *", "x-frame-options": "DENY"}
    app.get("/own", lambda c: c.body("x", headers=own))
    app.get("/every", lambda c: c.body("x", headers=every))
    assert run(headers_of, app, "/own") == {**DEFAULTS, **own}
    assert run(headers_of, app, "/every") == every


def test_x_powered_by_is_removed(run: Callable[..., Any]) -> None:
    for remove_powered_by in (True, False):
        app = app_with(remove_powered_by=remove_powered_by)
        app.get("/own", lambda c: c.body("x", headers={"X-Powered-By": "me"}))
        left = {} if remove_powered_by else {"x-powered-by": "me"}
        assert run(headers_of, app, "/own") == {**DEFAULTS, **left}


def test_nothing_at_all(run: Callable[..., Any]) -> None:
    for overwrite in (True, False):
        app = app_with(**NOTHING, remove_powered_by=False, overwrite=overwrite)
        assert run(headers_of, app) == {}


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("remove_powered_by", [True, False])
def test_a_response_that_requests_share_is_left_as_it_is(
    run: Callable[..., Any], overwrite: bool, remove_powered_by: bool
) -> None:
    shared = Response("x", headers={"X-Powered-By": "me"})
    app = Kit()
    app.use(
        "/*",
        secure_headers(
            overwrite=overwrite,
            remove_powered_by=remove_powered_by,
            content_security_policy={"script_src": [NONCE]},
        ),
    )
    app.get("/", lambda c: shared)
    seen = {run(headers_of, app)["content-security-policy"] for _ in range(3)}
    assert len(seen) == 3
    assert [name for name in shared.headers if name != "content-type"] == ["x-powered-by"]


def test_the_outer_one_of_two_counts(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(secure_headers(x_frame_options=False, referrer_policy="origin"))
    app.use("/inner/*", secure_headers(**{**NOTHING, "x_frame_options": True}))
    app.use("/inner/*", secure_headers(**{**NOTHING, "referrer_policy": True}))
    app.get("/*", lambda c: c.body("x"))
    expected = {**DEFAULTS, "referrer-policy": "origin"}
    assert run(headers_of, app, "/inner/x") == expected
    del expected["x-frame-options"]
    assert run(headers_of, app, "/x") == expected


def test_an_outer_one_that_does_not_overwrite_keeps_those_of_the_inner(
    run: Callable[..., Any],
) -> None:
    app = Kit()
    app.use(secure_headers(overwrite=False))
    app.use("/inner/*", secure_headers(**{**NOTHING, "x_frame_options": "DENY"}))
    app.get("/*", lambda c: c.body("x"))
    assert run(headers_of, app, "/inner/x") == {**DEFAULTS, "x-frame-options": "DENY"}
    assert run(headers_of, app, "/x") == DEFAULTS


def test_middleware_outside_has_the_last_word(run: Callable[..., Any]) -> None:
    app = Kit()

    @app.use
    async def outside(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        await next()
        c.header("X-Frame-Options", "DENY")

    app.use(secure_headers())
    app.get("/", lambda c: c.body("x"))
    assert run(headers_of, app) == {**DEFAULTS, "x-frame-options": "DENY"}


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "secure-headers") is secure_headers


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("remove_powered_by", [True, False])
def test_a_response_that_a_handler_keeps_is_not_changed(
    run: Callable[..., Any], overwrite: bool, remove_powered_by: bool
) -> None:
    app = Kit()
    kept: list[Response] = []

    def answer(c: Context) -> Response:
        if not kept:
            kept.append(c.text("kept"))
        return kept[0]

    guard = secure_headers(
        content_security_policy={"script_src": [NONCE]},
        overwrite=overwrite,
        remove_powered_by=remove_powered_by,
    )
    app.get("/guarded", guard, answer)
    app.get("/open", answer)

    async def test() -> None:
        first = await app.request("/guarded")
        second = await app.request("/guarded")
        policies = [each.headers["content-security-policy"] for each in (first, second)]
        assert policies[0] != policies[1]
        assert [*(await app.request("/open")).headers] == ["content-type"]

    run(test)
