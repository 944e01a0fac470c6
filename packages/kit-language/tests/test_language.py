# SPDX-License-Identifier: MIT
"""Which language is detected, where, and what the response says of it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.language import (
    detect_from_cookie,
    detect_from_header,
    detect_from_path,
    detect_from_query,
    language_detector,
)

Run = Callable[..., Any]
LANGUAGES = ["en", "de", "de-CH", "zh-Hant", "pt_BR"]
COOKIE = "Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Strict"


def app_with(handler: Callable[[Context], Any] | None = None, **options: Any) -> Kit:
    app = Kit()
    app.use(language_detector(**{"supported_languages": LANGUAGES, **options}))
    app.all("*", handler or (lambda c: c.text(c.get("language"))))
    return app


def ask(run: Run, app: Kit, path: str = "/", **headers: str) -> Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    response: Response = run(app.request, path, {"headers": fields})
    return response


def language(run: Run, app: Kit, path: str = "/", **headers: str) -> str:
    text: str = run(ask(run, app, path, **headers).text)
    return text


# --- lookup -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("de", "de"),
        ("DE", "de"),
        ("de-CH", "de-CH"),
        ("de-AT", "de"),
        ("de-CH-1996", "de-CH"),
        ("de-AT-1996-x-y", "de"),
        ("zh-hant-tw", "zh-Hant"),
        # Only a whole prefix counts.
        ("zh-Hans", "en"),
        ("zh", "en"),
        ("deu", "en"),
        ("d", "en"),
        ("-", "en"),
        ("-de", "en"),
        ("de-", "de"),
        ("pt_br", "pt_BR"),
        ("pt-BR", "en"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_lookup(run: Run, value: str, found: str) -> None:
    assert language(run, app_with(order=["header"]), accept_language=value) == found
    assert language(run, app_with(order=["querystring"]), f"/?lang={value}") == found
    assert language(run, app_with(order=["cookie"]), cookie=f"language={value}") == found
    assert language(run, app_with(order=["path"]), f"/{value}/page") == found


def test_case_counts_if_asked_for(run: Run) -> None:
    app = app_with(ignore_case=False, supported_languages=["en", "DE", "de"])
    assert language(run, app, accept_language="De, DE-AT") == "DE"
    assert language(run, app, accept_language="zh, dE, de-ch") == "de"
    # Without case the first of two counts.
    app = app_with(supported_languages=["en", "DE", "de"])
    assert language(run, app, accept_language="de") == "DE"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("fr, de;q=0.8, zh-Hant;q=0.9", "zh-Hant"),
        ("de, zh-Hant", "de"),
        ("zh-Hant;q=0.5,de;q=0.5", "zh-Hant"),
        ("fr-CH, fr;q=0.9, *;q=0.5", "en"),
        # A refusal.
        ("de;q=0", "en"),
        ("de;q=0.000, zh-Hant;q=0.001", "zh-Hant"),
        ("de;q=0, de;q=0.5", "de"),
        ('fr;x="a,de", zh-Hant;q=0.1', "zh-Hant"),
    ],
)
def test_accept_language(run: Run, value: str, found: str) -> None:
    app = app_with(order=["header"])
    # Twice: values are kept.
    assert language(run, app, accept_language=value) == found
    assert language(run, app, accept_language=value) == found
    long = value + ", x" * 200
    assert language(run, app, accept_language=long) == found


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"])))
async def test_any_value_leads_to_a_supported_language(value: str) -> None:
    app = app_with(order=["header"])
    response = await app.request("/", {"headers": {"accept-language": value.strip()}})
    assert await response.text() in LANGUAGES


@pytest.mark.parametrize(
    "value",
    [
        # As long as headers may be: what looks back as it goes on would not end within the time.
        "-" * 2**15,
        "de" + "-" * 2**15,
        "a-" * 2**14,
        "a-" * 2**14 + ";q=0.5",
        "," * 2**15,
        'de;x="' + '\\"' * 2**14,
        "de;q=0.1,de;q=0.2," * 2**11,
    ],
    ids=lambda value: value[:8],
)
def test_ghsa_54fx_42gc_7vw4_complexity_of_accept_language(run: Run, value: str) -> None:
    assert language(run, app_with(order=["header"]), accept_language=value) in LANGUAGES
    assert language(run, app_with(order=["cookie"]), cookie=f"language={value}") in LANGUAGES
    convert = app_with(order=["header"], convert_detected_language=lambda tag: tag)
    assert language(run, convert, accept_language=value) in LANGUAGES


# --- places -------------------------------------------------------------------------------------


def test_the_first_place_that_has_a_language_counts(run: Run) -> None:
    everywhere = {"cookie": "language=de-CH", "accept_language": "zh-Hant"}
    assert language(run, app_with(), "/?lang=de", **everywhere) == "de"
    assert language(run, app_with(), "/?lang=fr", **everywhere) == "de-CH"
    assert language(run, app_with(), "/", accept_language="zh-Hant") == "zh-Hant"
    assert language(run, app_with(), "/", cookie="language=fr", accept_language="de") == "de"
    app = app_with(order=["header", "path", "cookie"])
    assert language(run, app, "/de/?lang=pt_BR", cookie="language=de-CH") == "de"
    assert language(run, app, "/x", cookie="language=de-CH") == "de-CH"
    assert language(run, app_with(order=[]), "/?lang=de", **everywhere) == "en"
    assert language(run, app_with(fallback_language="de")) == "de"


def test_places_have_names(run: Run) -> None:
    app = app_with(
        lookup_query_string="l", lookup_cookie="lng", lookup_from_header_key="X-Language"
    )
    assert language(run, app, "/?lang=de", cookie="language=de", accept_language="de") == "en"
    assert language(run, app, "/?l=de&l=zh") == "de"
    assert language(run, app, cookie="a=b; lng=%64e") == "de"
    assert language(run, app, x_language="de") == "de"


@pytest.mark.parametrize(
    ("path", "index", "found"),
    [
        ("/de", 0, "de"),
        ("//de//books?x=/zh-Hant#/zh-Hant", 0, "de"),
        ("/books/de", 1, "de"),
        ("/books/de", 2, "en"),
        ("/?/de", 0, "en"),
        ("/", 0, "en"),
        # As it was sent.
        ("/%64e", 0, "en"),
    ],
)
def test_path(run: Run, path: str, index: int, found: str) -> None:
    assert language(run, app_with(order=["path"], lookup_from_path_index=index), path) == found


# --- the response -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "path", "headers", "vary"),
    [
        # What was looked at before there was a language.
        ({}, "/?lang=de", {}, None),
        ({}, "/", {"cookie": "language=de"}, "Cookie"),
        ({}, "/", {"accept_language": "de"}, "Cookie, Accept-Language"),
        ({}, "/?lang=fr", {}, "Cookie, Accept-Language"),
        ({"order": ["path", "querystring"]}, "/", {}, None),
        ({"order": ["header", "cookie", "header"]}, "/", {}, "Accept-Language, Cookie"),
        ({"order": ["header"], "lookup_from_header_key": "x-lang"}, "/", {}, "X-Lang"),
    ],
)
def test_vary(
    run: Run, options: dict[str, Any], path: str, headers: dict[str, str], vary: str | None
) -> None:
    assert ask(run, app_with(**options), path, **headers).headers.get("vary") == vary


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Origin", "Origin, Cookie, Accept-Language"),
        # A name may come twice, and `*` stands for all of them.
        ("accept-language", "accept-language, Cookie, Accept-Language"),
        ("*", "*, Cookie, Accept-Language"),
    ],
)
def test_vary_of_the_handler_stays(run: Run, before: str, after: str) -> None:
    app = app_with(lambda c: c.text("Hello", 200, {"vary": before}))
    assert ask(run, app).headers.get("vary") == after


@pytest.mark.parametrize(
    ("found", "sent"),
    [("en", "en"), ("de-CH", "de-CH"), ("pt_BR", "pt-BR"), ("the best", None), ("é", None)],
)
def test_content_language(run: Run, found: str, sent: str | None) -> None:
    app = app_with(fallback_language=found, supported_languages=[found], caches=False)
    assert ask(run, app).headers.get("content-language") == sent


def test_content_language_of_the_handler_stays(run: Run) -> None:
    app = app_with(lambda c: c.text("Bonjour", 200, {"content-language": "fr"}))
    assert ask(run, app).headers.get("content-language") == "fr"


@pytest.mark.parametrize(
    "options",
    [{}, {"order": ["querystring"]}, {"order": ["path"]}],
    ids=["header", "query", "path"],
)
@pytest.mark.parametrize("headers", [{}, {"x-more": "1"}])
def test_a_response_that_is_returned_again_has_the_language_of_each_request(
    run: Run, options: dict[str, Any], headers: dict[str, str]
) -> None:
    logo = Response(b"<svg/>", headers=headers)
    app = app_with(lambda c: logo, **options)
    sent = [
        ask(run, app, f"/{tag}?lang={tag}").headers.get("content-language") for tag in ("de", "en")
    ]
    sent += [ask(run, app, accept_language=tag).headers.get("content-language") for tag in ("de",)]
    assert sent == ["de", "en", "en" if options else "de"]
    assert [*logo.headers.items()] == [*Response(b"<svg/>", headers=headers).headers.items()]


@pytest.mark.parametrize("status", [204, 205, 304])
def test_nothing_has_no_language(run: Run, status: int) -> None:
    response = ask(run, app_with(lambda c: c.body(None, status)))
    assert not response.headers.has("content-language")
    assert response.headers.get("vary") == "Cookie, Accept-Language"


def test_errors_have_a_language(run: Run) -> None:
    def fail(c: Context) -> Response:
        raise ValueError("a fault")

    response = ask(run, app_with(fail), accept_language="de")
    assert response.status == 500
    assert response.headers.get("content-language") == "de"
    assert response.headers.get("vary") == "Cookie, Accept-Language"


# --- the cookie ---------------------------------------------------------------------------------


def cookies(run: Run, app: Kit, path: str = "/?lang=de") -> list[str]:
    return ask(run, app, path).headers.get_set_cookie()


def test_what_was_detected_is_kept_in_a_cookie(run: Run) -> None:
    assert cookies(run, app_with()) == [f"language=de; {COOKIE}"]
    assert cookies(run, app_with(lookup_cookie="lng"), "/?lang=DE-ch-x") == [f"lng=de-CH; {COOKIE}"]
    # The fallback was not detected.
    assert cookies(run, app_with(), "/") == []
    assert cookies(run, app_with(caches=False)) == []
    assert cookies(run, app_with(caches=[])) == []


@pytest.mark.parametrize(
    ("options", "cookie"),
    [
        (
            {"max_age": 60, "http_only": False},
            "language=de; Max-Age=60; Path=/; Secure; SameSite=Strict",
        ),
        (
            {"same_site": "Lax", "secure": False},
            "language=de; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax",
        ),
        (
            {"domain": "example.com", "path": "/app"},
            "language=de; Max-Age=31536000; Domain=example.com; Path=/app; HttpOnly; Secure; "
            "SameSite=Strict",
        ),
    ],
)
def test_cookie_options(run: Run, options: dict[str, Any], cookie: str) -> None:
    assert cookies(run, app_with(cookie_options=options)) == [cookie]


def test_cookie_with_a_prefix(run: Run) -> None:
    app = app_with(cookie_options={"prefix": "host"})
    assert cookies(run, app) == [f"__Host-language=de; {COOKIE}"]
    assert language(run, app, cookie="language=de") == "en"
    assert language(run, app, cookie="__Host-language=de") == "de"


# --- conversion ---------------------------------------------------------------------------------


async def hyphens(tag: str) -> str:
    return tag.replace("_", "-")


@pytest.mark.parametrize("convert", [hyphens, lambda tag: tag.replace("_", "-")])
def test_conversion(run: Run, convert: Any) -> None:
    app = app_with(convert_detected_language=convert)
    assert language(run, app, "/?lang=de_AT") == "de"
    assert language(run, app, cookie="language=zh_Hant") == "zh-Hant"
    response = ask(run, app, accept_language="fr, de_CH;q=0.5, zh_Hant;q=0")
    assert run(response.text) == "de-CH"
    assert response.headers.get("vary") == "Cookie, Accept-Language"
    assert language(run, app, accept_language="fr") == "en"


def test_conversion_gets_tags_without_blanks(run: Run) -> None:
    seen = []

    def convert(tag: str) -> str:
        seen.append(tag)
        return "none"

    language(
        run,
        app_with(convert_detected_language=convert),
        "/?lang=%20a%20",
        accept_language="b;q=0, c ; q=1",
    )
    assert seen == ["a", "c"]


@pytest.mark.parametrize("convert", [lambda tag: tag.split("-")[1], lambda tag: None])
def test_what_can_not_be_converted_is_not_supported(
    run: Run, convert: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = app_with(convert_detected_language=convert)
    assert language(run, app, "/?lang=de") == "en"
    assert caplog.messages == []
    caplog.set_level(logging.DEBUG)
    app = app_with(convert_detected_language=convert, debug=True)
    assert language(run, app, "/?lang=de") == "en"
    (record,) = (each for each in caplog.records if each.name == "kit.language")
    assert record.getMessage() == "'de' can't be converted"
    assert record.exc_info is not None


def test_debug(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "kit.language")
    language(run, app_with(), "/?lang=de")
    assert caplog.messages == []
    language(run, app_with(debug=True), "/?lang=de")
    language(run, app_with(debug=True, convert_detected_language=str.lower), accept_language="DE")
    assert caplog.messages == ["querystring: de", "header: de"]


# --- on their own -------------------------------------------------------------------------------


def test_detectors_on_their_own(run: Run) -> None:
    app = Kit()

    @app.get("*")
    def handler(c: Context) -> Response:
        found = [
            detect_from_query(c, LANGUAGES),
            detect_from_cookie(c, LANGUAGES),
            detect_from_header(c, LANGUAGES),
            detect_from_path(c, LANGUAGES),
            detect_from_query(c, LANGUAGES, lookup_query_string="l", ignore_case=False),
            detect_from_cookie(c, LANGUAGES, lookup_cookie="l", ignore_case=False),
            detect_from_header(c, LANGUAGES, lookup_from_header_key="l", ignore_case=False),
            detect_from_path(c, LANGUAGES, lookup_from_path_index=1, ignore_case=False),
        ]
        return c.json(found)

    headers = {"cookie": "language=DE-ch; l=de-CH", "accept-language": "de;q=0, EN-gb", "l": "DE"}
    response = run(app.request, "/Zh-hant-tw/de/?lang=De-x&l=De", {"headers": headers})
    assert run(response.json) == ["de", "de-CH", "en", "zh-Hant", None, "de-CH", None, "de"]
    assert run(run(app.request, "/").json) == [None] * 8


# --- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"supported_languages": 7}, TypeError, "takes a str or a list of them, not 7"),
        ({"supported_languages": []}, ValueError, "expected one language or more, such as"),
        ({"supported_languages": ["en", " "]}, ValueError, "expected one language or more"),
        ({"fallback_language": None}, TypeError, "takes a str, not None"),
        ({"fallback_language": "DE"}, ValueError, "expected one of supported_languages ('en'"),
        ({"order": ["nose"]}, ValueError, "expected only 'querystring', 'cookie', 'header'"),
        ({"order": None}, TypeError, "takes a str or a list of them, not None"),
        ({"lookup_query_string": 1}, TypeError, "takes a str, not 1"),
        ({"lookup_cookie": "a b"}, ValueError, "expected a name such as 'language'"),
        ({"lookup_from_header_key": "a b"}, ValueError, "expected a header name such as"),
        ({"lookup_from_path_index": -1}, ValueError, "expected at least 0"),
        ({"lookup_from_path_index": "1"}, TypeError, "takes an int, not '1'"),
        ({"caches": True}, TypeError, "takes a str or a list of them, not True"),
        ({"caches": ["session"]}, ValueError, "expected ['cookie'], [] or False"),
        ({"ignore_case": 1}, TypeError, "language_detector(ignore_case=...) takes a bool, not 1"),
        ({"debug": "yes"}, TypeError, "language_detector(debug=...) takes a bool, not 'yes'"),
        ({"convert_detected_language": "upper"}, TypeError, "takes a function (language), not"),
        ({"cookie_options": 1}, TypeError, "takes a mapping with 'path', 'domain', 'expires'"),
        ({"cookie_options": {"maxAge": 1}}, ValueError, "has the unknown key 'maxAge'"),
        ({"cookie_options": {"path": "/x;y"}}, ValueError, "language_detector() can't set its"),
        (
            {"cookie_options": {"same_site": "None", "secure": False}},
            ValueError,
            "needs secure=True, since it has same_site='None'",
        ),
        (
            {"lookup_cookie": "__Host-l", "cookie_options": {"domain": "a.example"}},
            ValueError,
            "needs no domain, since its name begins with __Host-",
        ),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        language_detector(**{"supported_languages": LANGUAGES, **options})
    assert text in str(raised.value)


def test_the_cookie_is_not_checked_where_it_is_not_set() -> None:
    language_detector(caches=False, cookie_options={"path": "/x;y"})


def test_facts_and_name() -> None:
    assert get_facts(language_detector()).provides == {"language": str}
    assert plugins.load("kit.middleware", "language") is language_detector
