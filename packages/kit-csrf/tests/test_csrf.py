# SPDX-License-Identifier: MIT
"""Which requests pass, and what the others are answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.csrf import csrf
from kit.interface import plugins
from kit.interface.metadata import get_facts

OWN = "http://localhost"
EVIL = "https://evil.example"
APP = "https://app.example.com"


def app_with(**options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(csrf(**options))
    app.all("/*", lambda c: c.text("passed"))
    return app


async def status(
    app: Kit[Any, Any], headers: Mapping[str, str], method: str = "POST", url: str = "/x"
) -> int:
    response = await app.request(url, {"method": method, "headers": headers})
    assert await response.text() == ("passed" if response.status == 200 else "Forbidden")
    return response.status


def fetched(site: str | None = None, origin: str | None = None) -> dict[str, str]:
    headers = {"Sec-Fetch-Site": site, "Origin": origin}
    return {name: value for name, value in headers.items() if value is not None}


# --- by default ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_safe_methods_pass(run: Callable[..., Any], method: str) -> None:
    async def ask() -> int:
        headers = fetched("cross-site", EVIL)
        return (await app_with().request("/x", {"method": method, "headers": headers})).status

    assert run(ask) == 200


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "QUERY", "TRACE-X", "PROPFIND"]
)
def test_other_methods_are_guarded(run: Callable[..., Any], method: str) -> None:
    async def ask(headers: dict[str, str]) -> int:
        app: Kit[Any, Any] = Kit()
        app.use(csrf())
        app.on(method, "/x", lambda c: c.text("passed"))
        return await status(app, headers, method)

    assert run(ask, fetched("cross-site", EVIL)) == 403
    assert run(ask, {}) == 403
    assert run(ask, fetched("same-origin")) == 200


@pytest.mark.parametrize(
    ("site", "origin", "expected"),
    [
        ("same-origin", None, 200),
        ("same-origin", EVIL, 200),
        (None, OWN, 200),
        ("cross-site", OWN, 200),
        ("same-site", None, 403),
        ("none", None, 403),
        ("cross-site", None, 403),
        ("cross-site", EVIL, 403),
        (None, EVIL, 403),
        (None, "null", 403),
        (None, "", 403),
        (None, None, 403),
        ("", None, 403),
        ("Same-Origin", None, 403),
        ("same-origin, cross-site", None, 403),
        ("same-origin ", None, 200),
        (None, "HTTP://LOCALHOST", 403),
        (None, "http://localhost:80", 403),
        (None, "http://localhost:8000", 403),
        (None, "http://localhost/", 403),
        (None, "http://localhost.evil.example", 403),
        (None, f"{EVIL}, {OWN}", 403),
        (None, f"{OWN}, {OWN}", 403),
    ],
)
def test_either_header_lets_a_request_pass(
    run: Callable[..., Any], site: str | None, origin: str | None, expected: int
) -> None:
    assert run(status, app_with(), fetched(site, origin)) == expected


# The questions of Go's net/http/csrf_test.go (TestCrossOriginProtectionSecFetchSite). Go lets pass
# what has neither header, and Sec-Fetch-Site: none; Hono and Kit do not.
@pytest.mark.parametrize(
    ("method", "site", "origin", "expected"),
    [
        ("POST", "same-origin", None, 200),
        ("POST", "none", None, 403),
        ("POST", "cross-site", None, 403),
        ("POST", "same-site", None, 403),
        ("POST", None, None, 403),
        ("POST", None, "https://example.com", 200),
        ("POST", None, "https://attacker.example", 403),
        ("POST", None, "null", 403),
        ("GET", "cross-site", None, 200),
        ("OPTIONS", "cross-site", None, 200),
        ("PUT", "cross-site", None, 403),
    ],
)
def test_as_asked_by_go(
    run: Callable[..., Any], method: str, site: str | None, origin: str | None, expected: int
) -> None:
    url = "https://example.com/"
    assert run(status, app_with(), fetched(site, origin), method, url) == expected


# TestCrossOriginProtectionTrustedOriginBypass.
@pytest.mark.parametrize(
    ("origin", "site", "expected"),
    [
        ("https://trusted.example", None, 200),
        ("https://trusted.example", "cross-site", 200),
        ("https://attacker.example", None, 403),
        ("https://attacker.example", "cross-site", 403),
    ],
)
def test_trusted_origins_as_asked_by_go(
    run: Callable[..., Any], origin: str, site: str | None, expected: int
) -> None:
    app = app_with(origin="https://trusted.example")
    assert run(status, app, fetched(site, origin), "POST", "https://example.com/") == expected


@pytest.mark.parametrize(
    ("url", "origin", "expected"),
    [
        ("http://example.com/x", "https://example.com", 200),
        ("http://example.com:443/x", "https://example.com", 200),
        ("http://example.com:8443/x", "https://example.com:8443", 200),
        ("https://example.com/x", "http://example.com", 403),
        ("http://example.com/x", "https://example.com:8443", 403),
        ("http://example.com/x", "https://www.example.com", 403),
    ],
)
def test_a_proxy_may_have_ended_tls(
    run: Callable[..., Any], url: str, origin: str, expected: int
) -> None:
    assert run(status, app_with(), fetched(None, origin), "POST", url) == expected


# --- content types ------------------------------------------------------------------------------

FORMS = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/plain, application/json",
    "text/plain-x",
    "text/ping",
]
TRICKS = ["Application/X-WWW-Form-Urlencoded", "MULTIPART/form-data; boundary=x", "Text/Plain"]
OTHERS = [
    "application/json",
    "application/csp-report",
    "application/x-www-form-urlencodedx",
    "application/json, text/plain",
    "text/html",
]


@pytest.mark.parametrize("content_type", [*FORMS, *TRICKS, *OTHERS, "", None])
def test_every_type_is_guarded(run: Callable[..., Any], content_type: str | None) -> None:
    typed = {} if content_type is None else {"Content-Type": content_type}
    assert run(status, app_with(), {**typed, **fetched("cross-site", EVIL)}) == 403
    assert run(status, app_with(), {**typed, **fetched("same-origin", OWN)}) == 200


@pytest.mark.parametrize("content_type", TRICKS)
def test_cve_2024_43787_types_in_capitals(run: Callable[..., Any], content_type: str) -> None:
    for options in ({}, {"forms_only": True}):
        headers = {"Content-Type": content_type, **fetched("cross-site", EVIL)}
        assert run(status, app_with(**options), headers) == 403


def test_ghsa_2234_fmw7_43wr_no_type_at_all(run: Callable[..., Any]) -> None:
    for options in ({}, {"forms_only": True}):
        for typed in ({}, {"Content-Type": ""}):
            headers = {**typed, **fetched("cross-site", EVIL)}
            assert run(status, app_with(**options), headers) == 403


@pytest.mark.parametrize("content_type", FORMS)
def test_forms_only_guards_forms(run: Callable[..., Any], content_type: str) -> None:
    app = app_with(forms_only=True)
    typed = {"Content-Type": content_type}
    assert run(status, app, {**typed, **fetched("cross-site", EVIL)}) == 403
    assert run(status, app, {**typed, **fetched("same-origin")}) == 200


@pytest.mark.parametrize("content_type", OTHERS)
def test_forms_only_lets_others_pass(run: Callable[..., Any], content_type: str) -> None:
    headers = {"Content-Type": content_type, **fetched("cross-site", EVIL)}
    assert run(status, app_with(forms_only=True), headers) == 200


# --- options ------------------------------------------------------------------------------------


def awaited(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def later(*args: Any) -> Any:
        return function(*args)

    return later


def is_app(origin: str, c: Context) -> bool:
    return origin == APP and c.req.path == "/x"


@pytest.mark.parametrize("origin", [APP, [APP], {APP, OWN}, is_app, awaited(is_app)])
def test_each_kind_of_origin(run: Callable[..., Any], origin: Any) -> None:
    app = app_with(origin=origin)
    assert run(status, app, fetched(None, APP)) == 200
    assert run(status, app, fetched("cross-site", APP)) == 200
    for wrong in (EVIL, f"{APP}/", f"{APP}:8443", f"{APP}.evil.example", "null", None):
        assert run(status, app, fetched("cross-site", wrong)) == 403


def test_a_list_takes_the_place_of_the_own_origin(run: Callable[..., Any]) -> None:
    assert run(status, app_with(origin=APP), fetched(None, OWN)) == 403
    assert run(status, app_with(origin=[]), fetched(None, OWN)) == 403
    assert run(status, app_with(origin=[]), fetched("same-origin", OWN)) == 200


def test_two_origins_are_kept_from_a_function(run: Callable[..., Any]) -> None:
    app = app_with(origin=lambda origin, c: origin.endswith(APP))
    assert run(status, app, fetched(None, APP)) == 200
    assert run(status, app, fetched(None, f"{EVIL}, {APP}")) == 403


def is_same_site(site: str, c: Context) -> bool:
    return site in ("same-origin", "same-site")


@pytest.mark.parametrize(
    "allowed", [["same-origin", "same-site"], is_same_site, awaited(is_same_site)]
)
def test_each_kind_of_site(run: Callable[..., Any], allowed: Any) -> None:
    app = app_with(sec_fetch_site=allowed)
    assert run(status, app, fetched("same-origin")) == 200
    assert run(status, app, fetched("same-site")) == 200
    assert run(status, app, fetched("cross-site")) == 403
    assert run(status, app, fetched("none")) == 403


def test_a_single_site(run: Callable[..., Any]) -> None:
    app = app_with(sec_fetch_site="none")
    assert run(status, app, fetched("none")) == 200
    assert run(status, app, fetched("same-origin")) == 403
    assert run(status, app_with(sec_fetch_site=[]), fetched("same-origin")) == 403


async def yields(value: str, c: Context) -> Any:
    yield False


@pytest.mark.parametrize("option", ["origin", "sec_fetch_site"])
@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda *arguments: yields(*arguments), "async_generator"),
        (lambda value, c: (each for each in ()), "generator"),
        (lambda value, c: HTTPException(403), "HTTPException"),
        (lambda value, c: Response("no", status=403), "Response"),
    ],
)
def test_what_is_no_answer_lets_nothing_pass(
    run: Callable[..., Any], option: str, function: Any, kind: str
) -> None:
    app = app_with(**{option: function})
    app.on_error(lambda error, c: c.text(str(error), 500))

    async def ask() -> tuple[int, str]:
        headers = fetched("cross-site", EVIL)
        response = await app.request("/x", {"method": "POST", "headers": headers})
        return response.status, await response.text()

    assert run(ask) == (
        500,
        f"csrf({option}=...) returned {kind}: expected True or False; "
        "await coroutines, raise exceptions, and write return, not yield",
    )


def test_functions_are_asked_about_what_the_standard_has(run: Callable[..., Any]) -> None:
    seen: list[str] = []

    def note(value: str, c: Context) -> bool:
        seen.append(value)
        return False

    app = app_with(sec_fetch_site=note, origin=note)
    assert run(status, app, fetched("bogus", EVIL)) == 403
    assert run(status, app, {}) == 403
    assert run(status, app, fetched("cross-site")) == 403
    assert seen == [EVIL, "cross-site"]


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])))
async def test_no_other_text_passes(text: str) -> None:
    text = text.strip(" ")
    if text != "same-origin":
        assert await status(app_with(), fetched(text, None)) == 403
    if text != OWN:
        assert await status(app_with(), fetched(None, text)) == 403


# --- the refusal --------------------------------------------------------------------------------


def test_on_error_sees_the_refusal(run: Callable[..., Any]) -> None:
    async def ask() -> tuple[int, str]:
        app = app_with()
        app.on_error(lambda error, c: c.text(f"{type(error).__name__} {error}", 418))
        response = await app.request("/x", {"method": "POST"})
        return response.status, await response.text()

    assert run(ask) == (418, "HTTPException 403 Forbidden")


def test_the_refusal_is_plain_text(run: Callable[..., Any]) -> None:
    async def ask() -> Any:
        return await app_with().request("/x", {"method": "POST"})

    response = run(ask)
    assert response.status == 403
    assert response.headers.get("content-type") == "text/plain; charset=UTF-8"


def test_no_handler_runs_before_it_is_decided(run: Callable[..., Any]) -> None:
    ran: list[str] = []
    app: Kit[Any, Any] = Kit()
    app.use(csrf())
    app.post("/x", lambda c: ran.append("handler"))  # type: ignore[arg-type, return-value]
    assert run(status, app, fetched("cross-site", EVIL)) == 403
    assert ran == []


def test_it_carries_its_refusal_as_a_fact() -> None:
    assert get_facts(csrf()).responses == {403: "The request may come from another site"}


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "csrf") is csrf
