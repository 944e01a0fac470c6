# SPDX-License-Identifier: MIT
"""Content-Security-Policy, and the nonce that its policies share."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kit import Context, Kit
from kit.interface.metadata import get_facts
from kit.secure_headers import NONCE, secure_headers

ENFORCED, REPORTED = "content-security-policy", "content-security-policy-report-only"


def app_with(policy: Any, report_only: Any = None, **options: Any) -> Kit:
    app = Kit()
    app.use(
        secure_headers(
            content_security_policy=policy,
            content_security_policy_report_only=report_only,
            **options,
        )
    )
    app.get("/*", lambda c: c.text(c.get("secure_headers_nonce") or ""))
    return app


async def answer(app: Kit, path: str = "/") -> tuple[str | None, str | None, str]:
    """Both policies, and the text of the handler."""
    response = await app.request(path)
    headers = response.headers
    return headers.get(ENFORCED), headers.get(REPORTED), await response.text()


@pytest.mark.parametrize(
    ("policy", "header"),
    [
        ({"default_src": ["'self'"]}, "default-src 'self'"),
        ({"default_src": "'self' https:"}, "default-src 'self' https:"),
        (
            {
                "img_src": ("'self'", "data:", "https://*.example.com:*/a/"),
                "frame_ancestors": ["'none'"],
            },
            "img-src 'self' data: https://*.example.com:*/a/; frame-ancestors 'none'",
        ),
        ({"script_src": []}, "script-src"),
        ({"sandbox": [], "upgrade_insecure_requests": []}, "sandbox; upgrade-insecure-requests"),
        ({"sandbox": ["allow-scripts", "allow-forms"]}, "sandbox allow-scripts allow-forms"),
        (
            {"report_uri": ["/csp?a=%3B", "https://r.example/x"], "report_to": "csp"},
            "report-uri /csp?a=%3B https://r.example/x; report-to csp",
        ),
        (
            {
                "require_trusted_types_for": ["'script'"],
                "trusted_types": ["a-b", "'allow-duplicates'"],
            },
            "require-trusted-types-for 'script'; trusted-types a-b 'allow-duplicates'",
        ),
        ({"trusted_types": ["*"], "webrtc": ["'block'"]}, "trusted-types *; webrtc 'block'"),
        (
            {
                "script_src": [
                    "'SELF'",
                    "'unsafe-inline'",
                    "'sha256-AA/+_-=='",
                    "'strict-dynamic'",
                ],
                "connect_src": ["*", "wss://live.example", "localhost:3000", "[::1]:80", "blob:"],
                "style_src_attr": ["'none'"],
            },
            "script-src 'SELF' 'unsafe-inline' 'sha256-AA/+_-==' 'strict-dynamic'; "
            "connect-src * wss://live.example localhost:3000 [::1]:80 blob:; style-src-attr 'none'",
        ),
    ],
)
def test_a_policy_without_functions(run: Callable[..., Any], policy: Any, header: str) -> None:
    assert run(answer, app_with(policy)) == (header, None, "")
    assert run(answer, app_with(None, policy)) == (None, header, "")
    assert run(answer, app_with(policy, policy)) == (header, header, "")


NONCED = re.compile(r"'nonce-([A-Za-z0-9+/]{22}==)'")


def test_a_nonce_is_128_bits_and_fresh(run: Callable[..., Any]) -> None:
    app = app_with({"script_src": ["'self'", NONCE, "https:"], "style_src_elem": [NONCE]})
    seen = set()
    for _ in range(20):
        header, _, text = run(answer, app)
        nonces = NONCED.findall(header)
        assert header == f"script-src 'self' 'nonce-{text}' https:; style-src-elem 'nonce-{text}'"
        assert nonces == [text, text]
        assert len(base64.b64decode(text)) == 16
        seen.add(text)
    assert len(seen) == 20


def test_all_policies_of_a_response_share_it(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(secure_headers(content_security_policy={"script_src": [NONCE]}))
    app.use(
        secure_headers(
            content_security_policy_report_only={"style_src": [lambda c, d: NONCE(c, d)]},
            content_security_policy={"default_src": [NONCE]},
        )
    )
    app.get("/", lambda c: c.text(c.get("secure_headers_nonce")))
    enforced, reported, text = run(answer, app)
    assert enforced == f"script-src 'nonce-{text}'"
    assert reported == f"style-src 'nonce-{text}'"


def test_requests_at_the_same_time_have_their_own(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(secure_headers(content_security_policy={"script_src": [NONCE]}))

    @app.get("/")
    async def page(c: Context) -> Any:
        await anyio.sleep(0)
        return c.text(c.get("secure_headers_nonce"))

    answers: list[Any] = []

    async def ask() -> None:
        answers.append(await answer(app))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(ask)

    run(all_at_once)
    assert all(header == f"script-src 'nonce-{text}'" for header, _, text in answers)
    assert len({text for _, _, text in answers}) == 10


def test_an_error_page_has_a_nonce_too(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(secure_headers(content_security_policy={"script_src": [NONCE]}))
    app.not_found(lambda c: c.text(c.get("secure_headers_nonce"), 404))
    app.on_error(lambda error, c: c.text(c.get("secure_headers_nonce"), 500))

    @app.get("/fault")
    def fault(c: Context) -> Any:
        raise ValueError("x")

    for path in ("/fault", "/absent"):
        header, _, text = run(answer, app, path)
        assert text
        assert header == f"script-src 'nonce-{text}'"


def test_without_a_nonce_there_is_none(run: Callable[..., Any]) -> None:
    assert run(answer, app_with({"script_src": ["'self'"]}))[2] == ""
    assert run(answer, app_with(None))[2] == ""


def test_a_nonce_that_was_set_before_is_used(run: Callable[..., Any]) -> None:
    def app_after(value: Any) -> Kit:
        app = Kit()

        @app.use
        async def before(c: Context, next: Any) -> None:
            c.set("secure_headers_nonce", value)
            await next()

        app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
        app.route("/", app_with({"script_src": [NONCE]}))
        return app

    assert run(answer, app_after("abc-_+/="))[0] == "script-src 'nonce-abc-_+/='"
    header, _, text = run(answer, app_after(""))
    assert header == f"script-src 'nonce-{text}'"
    assert text
    for value in ("a'; script-src *", "a b", 7, "a\r\nb", "="):
        assert run(answer, app_after(value)) == (
            None,
            None,
            "ValueError: c.get('secure_headers_nonce') is not a nonce: expected base64, or no "
            "value to generate one",
        )


async def awaited(c: Context, directive: str) -> str:
    await anyio.sleep(0)
    return f"https://{directive.replace('_', '-')}.example{c.req.path}"


def plain(c: Context, directive: str) -> str:
    return f"https://{directive.replace('_', '-')}.example{c.req.path}"


@pytest.mark.parametrize("function", [plain, awaited])
def test_functions(run: Callable[..., Any], function: Any) -> None:
    app = app_with(
        {"default_src": ["'self'"], "img_src": [function, "data:", function], "font_src": function},
        {"script_src": ["'self'", NONCE, function]},
    )
    enforced, reported, text = run(answer, app, "/a/b")
    assert enforced == (
        "default-src 'self'; "
        "img-src https://img-src.example/a/b data: https://img-src.example/a/b; "
        "font-src https://font-src.example/a/b"
    )
    assert reported == f"script-src 'self' 'nonce-{text}' https://script-src.example/a/b"


def test_functions_run_before_the_handlers(run: Callable[..., Any]) -> None:
    app = app_with(
        {"img_src": [lambda c, directive: c.set("secure_headers_nonce", "x") or "data:"]}
    )
    assert run(answer, app) == ("img-src data:", None, "x")


def test_a_function_may_return_several_sources_or_none(run: Callable[..., Any]) -> None:
    app = app_with({"img_src": [lambda c, d: "a.example b.example"], "font_src": [lambda c, d: ""]})
    assert run(answer, app)[0] == "img-src a.example b.example; font-src"


def test_what_is_beyond_ascii_is_percent_encoded(run: Callable[..., Any]) -> None:
    app = app_with({"img_src": [lambda c, d: "https://example.com/caf\xe9/☃/\ud800 data:"]})
    expected = "img-src https://example.com/caf%C3%A9/%E2%98%83/%3F data:"
    assert run(answer, app)[0] == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            "a; script-src *",
            "ValueError: secure_headers: a function of content_security_policy['img_src'] returned "
            "'a; script-src *', expected text without ';', ',' and control characters",
        ),
        (
            "a, script-src *",
            "ValueError: secure_headers: a function of content_security_policy['img_src'] returned "
            "'a, script-src *', expected text without ';', ',' and control characters",
        ),
        (
            "a\r\nSet-Cookie: b",
            "ValueError: secure_headers: a function of content_security_policy['img_src'] returned "
            r"'a\r\nSet-Cookie: b', expected text without ';', ',' and control characters",
        ),
        (
            None,
            "TypeError: secure_headers: a function of content_security_policy['img_src'] returned "
            "NoneType, expected a str",
        ),
        (
            ["a"],
            "TypeError: secure_headers: a function of content_security_policy['img_src'] returned "
            "list, expected a str",
        ),
    ],
)
def test_what_a_function_must_not_return(run: Callable[..., Any], value: Any, text: str) -> None:
    app = app_with({"img_src": ["'self'", lambda c, directive: value]})
    app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
    assert run(answer, app) == (None, None, text)


def test_it_says_that_it_provides_a_nonce() -> None:
    with_nonce = secure_headers(content_security_policy={"script_src": [NONCE]})
    assert get_facts(with_nonce).provides == {"secure_headers_nonce": str}
    assert get_facts(secure_headers(content_security_policy={"img_src": plain})).provides == {}
    assert get_facts(secure_headers()).provides == {}
