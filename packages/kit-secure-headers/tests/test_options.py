# SPDX-License-Identifier: MIT
"""What is refused when the middleware is made, and what the errors say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.secure_headers import NONCE, secure_headers

NONCED = "'default_src' or 'script_src' or 'script_src_elem' or 'style_src' or 'style_src_elem'"
HSTS = "expected 'max-age=SECONDS', optionally with '; includeSubDomains' and '; preload'"
ORIGIN = "'self' or an origin such as 'https://example.com'"
SOURCE = "a keyword, a scheme such as 'https:', or a host such as 'cdn.example.com'"
HTTPS = "an https URL, or a path such as '/reports'"
SEPARATORS = "ASCII without blanks, control characters, ';' and ','"


def refused(options: dict[str, Any]) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, ValueError)) as raised:
        secure_headers(**options)
    return raised.type, str(raised.value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"x_frame_options": 1},
            TypeError,
            "secure_headers(x_frame_options=...) takes a bool or a str, not 1",
        ),
        (
            {"referrer_policy": None},
            TypeError,
            "secure_headers(referrer_policy=...) takes a bool or a str, not None",
        ),
        (
            {"remove_powered_by": "no"},
            TypeError,
            "secure_headers(remove_powered_by=...) takes a bool, not 'no'",
        ),
        ({"overwrite": 0}, TypeError, "secure_headers(overwrite=...) takes a bool, not 0"),
        (
            {"x_download_options": "a\r\nb: c"},
            ValueError,
            r"secure_headers(x_download_options='a\r\nb: c') can't be used: "
            "expected latin-1 text without control characters or surrounding spaces",
        ),
        (
            {"x_frame_options": "SAMEORGIN"},
            ValueError,
            "secure_headers(x_frame_options='SAMEORGIN') can't be used: did you mean 'SAMEORIGIN'?",
        ),
        (
            {"x_frame_options": "ALLOW-FROM https://example.com"},
            ValueError,
            "secure_headers(x_frame_options='ALLOW-FROM https://example.com') can't be used: "
            "expected 'SAMEORIGIN' or 'DENY'",
        ),
        (
            {"cross_origin_opener_policy": "same_origin"},
            ValueError,
            "secure_headers(cross_origin_opener_policy='same_origin') can't be used: "
            "did you mean 'same-origin'?",
        ),
        (
            {"cross_origin_embedder_policy": "require-corp; report=a"},
            ValueError,
            "secure_headers(cross_origin_embedder_policy='require-corp; report=a') can't be used: "
            "did you mean 'require-corp'?",
        ),
        (
            {"origin_agent_cluster": "1"},
            ValueError,
            "secure_headers(origin_agent_cluster='1') can't be used: did you mean '?1'?",
        ),
        (
            {"referrer_policy": "no-referrer, strict"},
            ValueError,
            "secure_headers(referrer_policy='no-referrer, strict') can't be used: "
            "did you mean 'strict-origin'?",
        ),
        (
            {"x_xss_protection": "1; mode=blocked"},
            ValueError,
            "secure_headers(x_xss_protection='1; mode=blocked') can't be used: "
            "expected '0', '1' or '1; mode=block'",
        ),
        (
            {"strict_transport_security": "includeSubDomains"},
            ValueError,
            f"secure_headers(strict_transport_security='includeSubDomains') can't be used: {HSTS}",
        ),
        (
            {"strict_transport_security": "max-age=1, preload"},
            ValueError,
            f"secure_headers(strict_transport_security='max-age=1, preload') can't be used: {HSTS}",
        ),
        (
            {"strict_transport_security": "max-age=1; max-age=2"},
            ValueError,
            "secure_headers(strict_transport_security='max-age=1; max-age=2') can't be used: "
            f"{HSTS}",
        ),
    ],
)
def test_headers(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert refused(options) == (error, text)


@pytest.mark.parametrize(
    "option", ["content_security_policy", "content_security_policy_report_only"]
)
@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        (
            "default-src 'self'",
            TypeError,
            "=...) takes a mapping of directives, e.g. {'default_src': [\"'self'\"]}, "
            "not \"default-src 'self'\"",
        ),
        ({}, ValueError, "={}) can't be used: expected at least one directive, or None"),
        (
            {"script-src": ["'self'"]},
            ValueError,
            "=...) has the unknown directive 'script-src': did you mean 'script_src'?",
        ),
        (
            {"scriptSrcElem": ["'self'"]},
            ValueError,
            "=...) has the unknown directive 'scriptSrcElem': did you mean 'script_src_elem'?",
        ),
        (
            {"defualt_src": ["'self'"]},
            ValueError,
            "=...) has the unknown directive 'defualt_src': did you mean 'default_src'?",
        ),
        (
            {"xyz": ["'self'"]},
            ValueError,
            "=...) has the unknown directive 'xyz': expected one such as 'default_src'",
        ),
        (
            {7: ["'self'"]},
            ValueError,
            "=...) has the unknown directive 7: expected one such as 'default_src'",
        ),
        (
            {"img_src": None},
            TypeError,
            "['img_src']=...) takes a list of str and functions (c, directive), not None",
        ),
        (
            {"img_src": ["'self'", lambda c: "'self'"]},
            TypeError,
            "['img_src']=...) takes a function (c, directive): got the signature <lambda>(c)",
        ),
        (
            {"img_src": ["'self'", 7]},
            TypeError,
            "['img_src']=...) takes a list of str and functions (c, directive), not 7",
        ),
        (
            {"upgrade_insecure_requests": True},
            TypeError,
            "['upgrade_insecure_requests']=...) takes a list of str and functions (c, directive), "
            "not True",
        ),
        (
            {"upgrade_insecure_requests": ["1"]},
            ValueError,
            "['upgrade_insecure_requests']=['1']) can't be used: expected [], since it takes no "
            "values",
        ),
        (
            {"img_src": [""]},
            ValueError,
            "['img_src']='') can't be used: expected [] for a directive without values",
        ),
        (
            {"img_src": ["'self'; script-src *"]},
            ValueError,
            f"['img_src']=\"'self';\") can't be used: expected {SEPARATORS}",
        ),
        (
            {"img_src": ["a.example,b.example"]},
            ValueError,
            f"['img_src']='a.example,b.example') can't be used: expected {SEPARATORS}",
        ),
        (
            {"img_src": ["a\r\nb:"]},
            ValueError,
            rf"['img_src']='a\r\nb:') can't be used: expected {SEPARATORS}",
        ),
        (
            {"img_src": ["https://example.com/é"]},
            ValueError,
            f"['img_src']='https://example.com/é') can't be used: expected {SEPARATORS}",
        ),
        (
            {"script_src": ["self"]},
            ValueError,
            "['script_src']='self') can't be used: expected quotes around it, \"'self'\"",
        ),
        (
            {"frame_ancestors": ["'unsafe-inline'"]},
            ValueError,
            "['frame_ancestors']=\"'unsafe-inline'\") can't be used: "
            "expected \"'self'\", \"'none'\", schemes or hosts",
        ),
        (
            {"style_src_attr": ["none"]},
            ValueError,
            "['style_src_attr']='none') can't be used: expected quotes around it, \"'none'\"",
        ),
        (
            {"script_src": ["sha256-AAAA"]},
            ValueError,
            "['script_src']='sha256-AAAA') can't be used: "
            "expected quotes around it, \"'sha256-AAAA'\"",
        ),
        (
            {"script_src": ["'nonce-abc'"]},
            ValueError,
            "['script_src']=\"'nonce-abc'\") can't be used: "
            "expected NONCE, since a nonce that can be guessed protects nothing",
        ),
        (
            {"script_src": ["'unsafe-inlin'"]},
            ValueError,
            "['script_src']=\"'unsafe-inlin'\") can't be used: did you mean \"'unsafe-inline'\"?",
        ),
        (
            {"script_src": ["'x'"]},
            ValueError,
            "['script_src']=\"'x'\") can't be used: expected a keyword such as \"'self'\"",
        ),
        (
            {"script_src": ["'none'", "https:"]},
            ValueError,
            "['script_src']=[\"'none'\", 'https:']) can't be used: "
            "expected \"'none'\" alone, or sources without it",
        ),
        (
            {"script_src": ["'none'", NONCE]},
            ValueError,
            "['script_src']=[\"'none'\"]) can't be used: "
            "expected \"'none'\" alone, or sources without it",
        ),
        (
            {"img_src": ["https://"]},
            ValueError,
            f"['img_src']='https://') can't be used: expected {SOURCE}",
        ),
        (
            {"img_src": ["https://example.com/a?b"]},
            ValueError,
            f"['img_src']='https://example.com/a?b') can't be used: expected {SOURCE}",
        ),
        (
            {"img_src": ["a.*.example"]},
            ValueError,
            f"['img_src']='a.*.example') can't be used: expected {SOURCE}",
        ),
        (
            {"img_src": ["'self'", NONCE]},
            ValueError,
            f"['img_src']=...) has NONCE, which has no effect there: expected it in {NONCED}",
        ),
        (
            {"sandbox": ["allow-script"]},
            ValueError,
            "['sandbox']='allow-script') can't be used: did you mean 'allow-scripts'?",
        ),
        (
            {"require_trusted_types_for": ["script"]},
            ValueError,
            "['require_trusted_types_for']='script') can't be used: did you mean \"'script'\"?",
        ),
        (
            {"trusted_types": ["allow-duplicates"]},
            ValueError,
            "['trusted_types']='allow-duplicates') can't be used: "
            "did you mean \"'allow-duplicates'\"?",
        ),
        (
            {"report_to": ["a", "b"]},
            ValueError,
            "['report_to']=['a', 'b']) can't be used: expected the name of one endpoint",
        ),
        (
            {"report_to": "a b"},
            ValueError,
            "['report_to']=['a b']) can't be used: expected the name of one endpoint",
        ),
        (
            {"report_uri": []},
            ValueError,
            "['report_uri']=[]) can't be used: expected at least one URL",
        ),
        (
            {"report_uri": "/r?a=1,2;b"},
            ValueError,
            "['report_uri']='/r?a=1,2;b') can't be used: "
            "expected a URL without ';' and ',', '/r?a=1%2C2%3Bb'",
        ),
    ],
)
def test_policies(option: str, policy: Any, error: type[Exception], text: str) -> None:
    assert refused({option: policy}) == (error, f"secure_headers({option}{text}")


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        (
            ["camera"],
            TypeError,
            "=...) takes a mapping of features, e.g. {'camera': False}, not ['camera']",
        ),
        (
            {"xrSpatialTracking": True},
            ValueError,
            "=...) has the unknown feature 'xrSpatialTracking': "
            "did you mean 'xr_spatial_tracking'?",
        ),
        (
            {"picture-in-picture": True},
            ValueError,
            "=...) has the unknown feature 'picture-in-picture': "
            "did you mean 'picture_in_picture'?",
        ),
        (
            {"geolocaton": True},
            ValueError,
            "=...) has the unknown feature 'geolocaton': did you mean 'geolocation'?",
        ),
        (
            {"q=(), x": True},
            ValueError,
            "=...) has the unknown feature 'q=(), x': expected one such as 'geolocation'",
        ),
        (
            {"camera": "self"},
            TypeError,
            f"['camera']=...) takes a bool, or a list of {ORIGIN}, not 'self'",
        ),
        (
            {"camera": [True]},
            TypeError,
            f"['camera']=...) takes a list of {ORIGIN}, not True",
        ),
        (
            {"camera": ["*", "self"]},
            ValueError,
            "['camera']=['*', 'self']) can't be used: expected '*' alone, or a list without it",
        ),
        (
            {"camera": ["none", "self"]},
            ValueError,
            "['camera']=['none', 'self']) can't be used: "
            "expected 'none' alone, or a list without it",
        ),
        (
            {"camera": ["src"]},
            ValueError,
            f"['camera']='src') can't be used: expected {ORIGIN}; "
            "'src' is for the attribute allow of iframes",
        ),
        (
            {"camera": ["'self'"]},
            ValueError,
            f"['camera']=\"'self'\") can't be used: expected {ORIGIN}",
        ),
        (
            {"camera": ["example.com"]},
            ValueError,
            f"['camera']='example.com') can't be used: expected {ORIGIN}",
        ),
        (
            {"camera": ["https://example.com/"]},
            ValueError,
            f"['camera']='https://example.com/') can't be used: expected {ORIGIN}",
        ),
        (
            {"camera": ['https://a.example" *']},
            ValueError,
            f"['camera']='https://a.example\" *') can't be used: expected {ORIGIN}",
        ),
    ],
)
def test_permissions(policy: Any, error: type[Exception], text: str) -> None:
    expected = f"secure_headers(permissions_policy{text}"
    assert refused({"permissions_policy": policy}) == (error, expected)


GROUP = {"group": "a", "max_age": 1, "endpoints": [{"url": "/r"}]}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"reporting_endpoints": {"a": "/r"}},
            TypeError,
            "secure_headers(reporting_endpoints=...) takes a list of dicts, not {'a': '/r'}",
        ),
        (
            {"reporting_endpoints": ["a"]},
            TypeError,
            "secure_headers(reporting_endpoints[0]=...) takes a mapping with 'name' or 'url', "
            "not 'a'",
        ),
        (
            {"reporting_endpoints": [{"name": "a"}]},
            ValueError,
            "secure_headers(reporting_endpoints[0]=...) has no 'url'",
        ),
        (
            {"reporting_endpoints": [{"name": "a", "url": "/r", "x": 1}]},
            ValueError,
            "secure_headers(reporting_endpoints[0]=...) has the unknown key 'x': "
            "expected 'name' or 'url'",
        ),
        (
            {"reporting_endpoints": [{"name": "A", "url": "/r"}]},
            ValueError,
            "secure_headers(reporting_endpoints[0]['name']='A') can't be used: "
            "expected a name in lower case, such as 'csp-endpoint'",
        ),
        (
            {"reporting_endpoints": [{"name": "a", "url": "/r"}, {"name": "a", "url": "/s"}]},
            ValueError,
            "secure_headers(reporting_endpoints[1]['name']='a') can't be used: "
            "expected a name that no other endpoint has",
        ),
        *[
            (
                {"reporting_endpoints": [{"name": "a", "url": url}]},
                ValueError,
                f"secure_headers(reporting_endpoints[0]['url']={url!r}) can't be used: "
                f"expected {HTTPS}",
            )
            for url in (
                "",
                "http://example.com/r",
                "http://localhost.example/",
                "//example.com/r",
                "/\\example.com",
                "r",
                "https://",
                "https:///r",
                "/a b",
                "/é",
                "/a\n",
            )
        ],
        (
            {"report_to": [{**GROUP, "group": 7}]},
            TypeError,
            "secure_headers(report_to[0]['group']=...) takes a str, not 7",
        ),
        (
            {"report_to": [{**GROUP, "group": "a b"}]},
            ValueError,
            "secure_headers(report_to[0]['group']='a b') can't be used: expected a name in ASCII",
        ),
        (
            {"report_to": [GROUP, GROUP]},
            ValueError,
            "secure_headers(report_to[1]['group']='a') can't be used: "
            "expected a name that no other group has",
        ),
        (
            {"report_to": [{**GROUP, "max_age": -1}]},
            ValueError,
            "secure_headers(report_to[0]['max_age']=-1) can't be used: expected at least 0 seconds",
        ),
        (
            {"report_to": [{**GROUP, "include_subdomains": 1}]},
            TypeError,
            "secure_headers(report_to[0]['include_subdomains']=...) takes a bool, not 1",
        ),
        (
            {"report_to": [{**GROUP, "endpoints": [{"url": "http://a.example"}]}]},
            ValueError,
            "secure_headers(report_to[0]['endpoints'][0]['url']='http://a.example') "
            f"can't be used: expected {HTTPS}",
        ),
        (
            {"report_to": [{**GROUP, "endpoints": [{"url": "/", "weight": -1}]}]},
            ValueError,
            "secure_headers(report_to[0]['endpoints'][0]['weight']=-1) can't be used: "
            "expected at least 0",
        ),
        (
            {
                "reporting_endpoints": [{"name": "csp", "url": "/r"}],
                "report_to": [GROUP],
                "content_security_policy": {"report_to": "cps"},
            },
            ValueError,
            "secure_headers(content_security_policy['report_to']='cps') can't be used: "
            "expected an endpoint that was given, 'csp' or 'a'",
        ),
    ],
)
def test_reporting(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert refused(options) == (error, text)


def test_unknown_options_are_refused_by_python() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'hsts'"):
        secure_headers(hsts=True)  # type: ignore[call-arg]


@given(st.text(max_size=20))
def test_no_text_gets_out_of_its_directive(text: str) -> None:
    import asyncio

    from kit import Kit

    try:
        middleware = secure_headers(content_security_policy={"img_src": [text], "font_src": ["x"]})
    except ValueError:
        return
    app = Kit()
    app.use(middleware)
    response = asyncio.run(app.request("/"))
    header = response.headers["content-security-policy"]
    assert header == f"img-src {text}; font-src x"
    assert header.count(";") == 1
    assert "," not in header
    assert header.isascii()
    assert header.isprintable()
