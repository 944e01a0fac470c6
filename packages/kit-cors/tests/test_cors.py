# SPDX-License-Identifier: MIT
"""Which origins get which headers, on every kind of response."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.cors import cors
from kit.interface import plugins

APP = "https://app.example.com"
OTHER = "https://other.example"
EVIL = "https://evil.example"

NOTHING: Mapping[str, str] = {}
KEPT = Response("kept")


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def refuse(c: Context) -> Response:
    raise HTTPException(403, res=Response("refused", status=403))


def stream(c: Context) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    return c.body(chunks())


async def guard(c: Context, next: Callable[[], Any]) -> Response | None:
    if c.req.path == "/guarded":
        return c.text("Unauthorized", 401)
    await next()
    return None


def app_with(**options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(cors(**options))
    app.use(guard)
    app.get("/", lambda c: c.text("Hello"))
    app.put("/", lambda c: c.text("put"))
    app.get("/kept", lambda c: KEPT)
    app.get("/stream", stream)
    app.get("/fault", fail)
    app.get("/refused", refuse)
    app.get("/varies", lambda c: c.text("", headers={"Vary": "Accept"}))
    app.get("/own", lambda c: c.text("", headers={"Access-Control-Allow-Origin": OTHER}))
    app.options("/", lambda c: c.text("its own", headers={"Allow": "GET"}))
    return app


async def asked(
    app: Kit[Any, Any], path: str, origin: str | None, headers: Mapping[str, str] = NOTHING
) -> Response:
    """The response to a request of a page."""
    own = {} if origin is None else {"Origin": origin}
    return await app.request(path, {"headers": {**own, **headers}})


async def preflight(
    app: Kit[Any, Any], path: str, origin: str | None, headers: Mapping[str, str] = NOTHING
) -> Response:
    """The response to the preflight of a PUT."""
    own = {} if origin is None else {"Origin": origin}
    own["Access-Control-Request-Method"] = "PUT"
    return await app.request(path, {"method": "OPTIONS", "headers": {**own, **headers}})


def shared(response: Response) -> dict[str, str]:
    """The headers of CORS, without the beginning of their names, and Vary."""
    return {
        name.removeprefix("access-control-"): value
        for name, value in response.headers.items()
        if name.startswith("access-control-") or name == "vary"
    }


# --- responses ----------------------------------------------------------------------------------

PATHS = [
    ("/", 200),
    ("/kept", 200),
    ("/stream", 200),
    ("/guarded", 401),
    ("/refused", 403),
    ("/absent", 404),
    ("/fault", 500),
]


@pytest.mark.parametrize(("path", "status"), PATHS)
def test_every_response_has_the_headers(run: Callable[..., Any], path: str, status: int) -> None:
    for options, expected in (
        ({}, {"allow-origin": "*"}),
        ({"origin": APP}, {"allow-origin": APP, "vary": "Origin"}),
        (
            {"origin": [OTHER, APP], "credentials": True, "expose_headers": ["X-A", "X-B"]},
            {
                "allow-origin": APP,
                "allow-credentials": "true",
                "expose-headers": "X-A,X-B",
                "vary": "Origin",
            },
        ),
    ):
        response = run(asked, app_with(**options), path, APP)
        assert response.status == status
        assert shared(response) == expected


@pytest.mark.parametrize(("path", "status"), PATHS)
@pytest.mark.parametrize("origin", [EVIL, None, "null", APP + "/", APP.upper(), f"{APP}, {APP}"])
def test_what_is_refused_varies_too(
    run: Callable[..., Any], path: str, status: int, origin: str | None
) -> None:
    response = run(asked, app_with(origin=APP, credentials=True), path, origin)
    assert response.status == status
    assert shared(response) == {"vary": "Origin"}


def test_all_origins_do_not_vary(run: Callable[..., Any]) -> None:
    for origin in (EVIL, "null", None):
        assert shared(run(asked, app_with(), "/", origin)) == {"allow-origin": "*"}


def test_a_vary_is_added_to(run: Callable[..., Any]) -> None:
    response = run(asked, app_with(origin=APP), "/varies", APP)
    assert response.headers.get("Vary") == "Accept, Origin"


def test_the_policy_is_stronger_than_a_header_of_a_handler(run: Callable[..., Any]) -> None:
    assert shared(run(asked, app_with(origin=APP), "/own", APP))["allow-origin"] == APP
    assert shared(run(asked, app_with(), "/own", APP))["allow-origin"] == "*"


def test_a_response_that_the_handler_keeps_is_not_changed(run: Callable[..., Any]) -> None:
    app = app_with(origin=[APP, OTHER])
    assert shared(run(asked, app, "/kept", APP))["allow-origin"] == APP
    assert shared(run(asked, app, "/kept", OTHER))["allow-origin"] == OTHER
    assert shared(run(asked, app, "/kept", EVIL)) == {"vary": "Origin"}
    assert shared(KEPT) == {}


def test_a_stream_stays_a_stream(run: Callable[..., Any]) -> None:
    async def read() -> tuple[bool, str]:
        response = await asked(app_with(origin=APP), "/stream", APP)
        return isinstance(response.body, bytes), await response.text()

    assert run(read) == (False, "ab")


# --- the option origin --------------------------------------------------------------------------


def plain(origin: str, c: Context) -> str | None:
    return origin if origin.endswith(".example.com") else None


async def later(origin: str, c: Context) -> str | None:
    return plain(origin, c)


@pytest.mark.parametrize(
    "origin",
    [
        APP,
        [APP],
        {OTHER, APP},
        re.compile(r"https://[a-z]+\.example\.com"),
        plain,
        later,
    ],
    ids=["str", "list", "set", "pattern", "function", "async"],
)
def test_each_kind_of_origin(run: Callable[..., Any], origin: Any) -> None:
    app = app_with(origin=origin)
    for _ in range(2):
        assert shared(run(asked, app, "/", APP)) == {"allow-origin": APP, "vary": "Origin"}
        assert shared(run(asked, app, "/", EVIL)) == {"vary": "Origin"}
        assert shared(run(asked, app, "/", None)) == {"vary": "Origin"}
        assert shared(run(preflight, app, "/", APP))["allow-origin"] == APP
        assert "allow-origin" not in shared(run(preflight, app, "/", EVIL))


@pytest.mark.parametrize(
    "origin",
    [
        f"{APP}:8443",
        "https://app.example.com.evil.example",
        "https://evil.example/https://app.example.com",
        "https://app.example.comx",
        "xhttps://app.example.com",
        "null",
    ],
)
def test_a_pattern_matches_the_whole_origin(run: Callable[..., Any], origin: str) -> None:
    app = app_with(origin=re.compile(r"https://app\.example\.com|.*/.*\.example/.*|null"))
    assert shared(run(asked, app, "/", APP)) == {"allow-origin": APP, "vary": "Origin"}
    assert shared(run(asked, app, "/", origin)) == {"vary": "Origin"}


def test_cve_2026_69207_a_pattern_is_asked_about_origins_alone(run: Callable[..., Any]) -> None:
    # What the second pattern doesn't match takes twice as long with each further character.
    for pattern in (r"https://.*", r"https://(a|a)*b"):
        app = app_with(origin=re.compile(pattern))
        assert shared(run(asked, app, "/", "https://aab"))["allow-origin"] == "https://aab"
        for text in ("a" * 5000, "a" * 300, *("a" * 50 + last for last in "/?:"), "A" * 50):
            assert shared(run(asked, app, "/", f"https://{text}")) == {"vary": "Origin"}


def test_a_function_decides_by_the_request(run: Callable[..., Any]) -> None:
    app = app_with(origin=lambda origin, c: "*" if c.req.path == "/" else None)
    assert shared(run(asked, app, "/", APP)) == {"allow-origin": "*", "vary": "Origin"}
    assert shared(run(asked, app, "/absent", APP)) == {"vary": "Origin"}


def test_a_function_is_given_an_empty_text_without_an_origin(run: Callable[..., Any]) -> None:
    seen = []
    app = app_with(origin=lambda origin, c: seen.append(origin))
    run(asked, app, "/", None)
    run(preflight, app, "/", None)
    assert seen == ["", ""]


@pytest.mark.parametrize("wrong", [True, False, ["https://a.example"], b"*", 0])
def test_a_function_that_returns_no_origin_is_a_fault(
    run: Callable[..., Any], wrong: object
) -> None:
    app = Kit()
    app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
    app.use(cors(origin=lambda origin, c: wrong))  # type: ignore[arg-type, return-value]
    app.get("/", lambda c: c.text("Hello"))
    response = run(asked, app, "/", APP)
    assert response.status == 500
    assert run(response.text) == (
        f"TypeError: cors(origin=...) returned {wrong!r}: expected the origin to allow, or None"
    )
    assert shared(response) == {}


# --- credentials --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [asked, preflight])
@pytest.mark.parametrize("origin", [APP, EVIL, "null", "*", None])
def test_cve_2026_54290_any_origin_with_credentials(
    run: Callable[..., Any], way: Any, origin: str | None
) -> None:
    with pytest.raises(ValueError, match=r"credentials=True.*origin='\*'"):
        cors(origin="*", credentials=True)
    app = app_with(origin=lambda origin, c: "*", credentials=True)
    response = run(way, app, "/", origin)
    assert response.headers.get("access-control-allow-origin") == "*"
    assert not response.headers.has("access-control-allow-credentials")


@pytest.mark.parametrize("origin", [EVIL, "null", None])
def test_who_is_refused_is_not_told_of_credentials(
    run: Callable[..., Any], origin: str | None
) -> None:
    for allowed in (APP, [APP], re.compile(re.escape(APP)), plain, lambda origin, c: APP):
        app = app_with(origin=allowed, credentials=True)
        assert "allow-credentials" not in shared(run(asked, app, "/", origin))
        assert "allow-credentials" not in shared(run(preflight, app, "/", origin))


@pytest.mark.parametrize(
    ("options", "credentials"),
    [
        ({}, None),
        ({"origin": APP}, None),
        ({"origin": lambda origin, c: "*", "credentials": True}, None),
        ({"origin": APP, "credentials": True}, "true"),
    ],
)
def test_credentials_of_a_mounted_app_are_not_those_of_another_origin(
    run: Callable[..., Any], options: Any, credentials: str | None
) -> None:
    # As other frameworks do: credentials for every origin, the origin for allowed ones.
    headers = {"Access-Control-Allow-Credentials": "true"}
    app: Kit[Any, Any] = Kit()
    app.use(cors(**options))
    app.get("/text", lambda c: c.text("Hello", headers=headers))
    app.get("/raw", lambda c: Response("Hello", headers=headers))
    for path in ("/text", "/raw"):
        response = run(asked, app, path, APP)
        assert response.headers.get("access-control-allow-credentials") == credentials


# --- preflights ---------------------------------------------------------------------------------


def test_a_preflight_is_answered(run: Callable[..., Any]) -> None:
    response = run(preflight, app_with(), "/guarded", APP)
    assert response.status == 204
    assert run(response.text) == ""
    assert shared(response) == {
        "allow-origin": "*",
        "allow-methods": "GET,HEAD,PUT,POST,DELETE,PATCH,QUERY",
    }
    options = {
        "origin": APP,
        "allow_methods": ["GET", "PUT"],
        "allow_headers": ["X-A", "X-B"],
        "max_age": 600,
        "credentials": True,
        "expose_headers": "X-C",
    }
    assert shared(run(preflight, app_with(**options), "/", APP)) == {
        "allow-origin": APP,
        "allow-credentials": "true",
        "allow-methods": "GET,PUT",
        "allow-headers": "X-A,X-B",
        "expose-headers": "X-C",
        "max-age": "600",
        "vary": "Origin, Access-Control-Request-Headers",
    }


def test_other_options_requests_go_to_the_routes(run: Callable[..., Any]) -> None:
    async def options(headers: dict[str, str]) -> Response:
        return await app_with(origin=APP).request("/", {"method": "OPTIONS", "headers": headers})

    response = run(options, {"Origin": APP, "Access-Control-Request-Headers": "X-A"})
    assert response.status == 200
    assert response.headers.get("Allow") == "GET"
    assert shared(response) == {"allow-origin": APP, "vary": "Origin"}
    assert run(options, {}).headers.get("Allow") == "GET"


def test_another_method_is_no_preflight(run: Callable[..., Any]) -> None:
    response = run(asked, app_with(), "/", APP, {"Access-Control-Request-Method": "PUT"})
    assert run(response.text) == "Hello"


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ("x-a", "x-a"),
        ("x-a,x-b", "x-a,x-b"),
        ("X-A , X-B,content-type", "X-A , X-B,content-type"),
        (" x-last", "x-last"),
        ("x-a,, x-b", "x-a,x-b"),
        ("x-a, <script>, x b", "x-a"),
        ("*", "*"),
        ("é", None),
        ("", None),
        (",", None),
    ],
)
def test_the_headers_that_are_asked_for_are_allowed(
    run: Callable[..., Any], headers: str, allowed: str | None
) -> None:
    response = run(preflight, app_with(), "/", APP, {"Access-Control-Request-Headers": headers})
    assert response.headers.get("access-control-allow-headers") == allowed
    assert response.headers.get("vary") == (allowed and "Access-Control-Request-Headers")


@given(headers=st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0")))
async def test_what_is_reflected_is_a_list_of_names(headers: str) -> None:
    response = await preflight(app_with(), "/", APP, {"Access-Control-Request-Headers": headers})
    allowed = response.headers.get("access-control-allow-headers")
    assert response.status == 204
    assert allowed is None or re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z, \t]+", allowed)


def test_methods_by_origin(run: Callable[..., Any]) -> None:
    def methods(origin: str, c: Context) -> list[str]:
        return ["GET", "PUT"] if origin == APP else []

    async def later(origin: str, c: Context) -> list[str]:
        return methods(origin, c)

    for function in (methods, later):
        app = app_with(allow_methods=function)
        response = run(preflight, app, "/", APP)
        assert shared(response)["allow-methods"] == "GET,PUT"
        assert shared(response)["vary"] == "Origin"
        assert shared(run(preflight, app, "/", EVIL)) == {"allow-origin": "*", "vary": "Origin"}
        assert shared(run(asked, app, "/", APP)) == {"allow-origin": "*"}


def test_a_function_that_returns_no_methods_is_a_fault(run: Callable[..., Any]) -> None:
    for wrong in (None, 7, [7]):
        app = app_with(allow_methods=lambda origin, c, wrong=wrong: wrong)
        app.on_error(lambda error, c: c.text(str(error), 500))
        assert run(run(preflight, app, "/", APP).text) == (
            f"cors(allow_methods=...) returned {wrong!r}: expected a list of methods"
        )


def test_nothing_is_sent_for_empty_options(run: Callable[..., Any]) -> None:
    app = app_with(origin=[], allow_methods=[], allow_headers=[], expose_headers=[])
    assert shared(run(preflight, app, "/", APP)) == {"vary": "Origin"}
    assert shared(run(asked, app, "/", APP)) == {"vary": "Origin"}


def test_max_age_of_zero_is_sent(run: Callable[..., Any]) -> None:
    assert shared(run(preflight, app_with(max_age=0), "/", APP))["max-age"] == "0"


def test_cve_2024_6221_private_networks_are_closed(run: Callable[..., Any]) -> None:
    asking = {"Access-Control-Request-Private-Network": "true"}
    name = "access-control-allow-private-network"
    assert not run(preflight, app_with(origin=APP), "/", APP, asking).headers.has(name)
    app = app_with(origin=APP, allow_private_network=True)
    response = run(preflight, app, "/", APP, asking)
    assert response.headers.get(name) == "true"
    assert response.headers.get("vary") == "Origin, Access-Control-Request-Private-Network"
    for origin, headers in ((APP, {}), (EVIL, asking), (APP, dict.fromkeys(asking, "1"))):
        assert not run(preflight, app, "/", origin, headers).headers.has(name)


# --- beside other middleware --------------------------------------------------------------------


def test_what_was_set_further_out_is_kept(run: Callable[..., Any]) -> None:
    async def outer(c: Context, next: Callable[[], Any]) -> None:
        c.header("X-Outer", "1")
        c.header("Vary", "Accept-Language")
        c.header("Content-Type", "text/html")
        c.header("Content-Length", "7")
        await next()

    app = Kit()
    app.use(outer)
    app.use(cors(origin=APP))
    response = run(preflight, app, "/", APP)
    assert response.status == 204
    assert response.headers.get("X-Outer") == "1"
    assert response.headers.get("Vary") == "Accept-Language, Origin"
    assert not response.headers.has("Content-Type")
    assert not response.headers.has("Content-Length")


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ({}, {"origin": APP, "credentials": True}, {"allow-origin": APP}),
        ({"origin": APP, "credentials": True}, {}, {"allow-origin": "*"}),
        ({"origin": APP}, {"origin": OTHER}, {"allow-origin": APP}),
        ({"origin": OTHER}, {"origin": APP}, {"allow-origin": APP}),
        ({"origin": APP}, {"origin": APP}, {"allow-origin": APP}),
        ({}, {"origin": OTHER}, {"allow-origin": "*"}),
        ({"expose_headers": "X-A"}, {}, {"allow-origin": "*", "expose-headers": "X-A"}),
        ({}, {"expose_headers": "X-B"}, {"allow-origin": "*", "expose-headers": "X-B"}),
        (
            {"expose_headers": "X-A", "origin": APP},
            {"expose_headers": "X-B"},
            {"allow-origin": "*", "expose-headers": "X-B"},
        ),
        (
            {"expose_headers": "X-A"},
            {"expose_headers": "X-B"},
            {"allow-origin": "*", "expose-headers": "X-B"},
        ),
        (
            {"expose_headers": "X-A"},
            {"expose_headers": "X-B", "origin": OTHER},
            {"allow-origin": "*", "expose-headers": "X-B"},
        ),
    ],
)
def test_the_inner_of_two_decides(
    run: Callable[..., Any], outer: Any, inner: Any, expected: dict[str, str]
) -> None:
    app = Kit()
    app.use(cors(**outer))
    app.use(cors(**inner))
    app.get("/", lambda c: c.text("Hello"))
    found = shared(run(asked, app, "/", APP))
    found.pop("vary", None)
    credentials = found.pop("allow-credentials", None)
    assert found == expected
    assert credentials == (
        "true" if found["allow-origin"] == APP and "credentials" in inner else None
    )


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "cors") is cors
