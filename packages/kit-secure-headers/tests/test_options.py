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


def refused(options: dict[str, Any], error: type[Exception]) -> str:
    with pytest.raises(error) as raised:
        secure_headers(**options)
    return str(raised.value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"x_frame_options": 1}, TypeError, "takes a bool or a str, not 1"),
        ({"referrer_policy": None}, TypeError, "takes a bool or a str, not None"),
        ({"remove_powered_by": "no"}, TypeError, "takes a bool, not 'no'"),
        ({"overwrite": 0}, TypeError, "secure_headers(overwrite=...) takes a bool, not 0"),
        ({"x_download_options": "a\r\nb: c"}, ValueError, "expected latin-1 text without"),
        ({"x_frame_options": "SAMEORGIN"}, ValueError, "did you mean 'SAMEORIGIN'?"),
        (
            {"x_frame_options": "ALLOW-FROM https://example.com"},
            ValueError,
            "expected 'SAMEORIGIN' or 'DENY'",
        ),
        ({"cross_origin_opener_policy": "same_origin"}, ValueError, "did you mean"),
        (
            {"cross_origin_embedder_policy": "require-corp; report=a"},
            ValueError,
            "did you mean 'require-corp'?",
        ),
        ({"origin_agent_cluster": "1"}, ValueError, "did you mean '?1'?"),
        ({"referrer_policy": "no-referrer, strict"}, ValueError, "did you mean"),
        ({"x_xss_protection": "1; mode=blocked"}, ValueError, "expected '0', '1' or '1"),
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
            "secure_headers(strict_transport_security='max-age=1; max-age=2') can't be",
        ),
    ],
)
def test_headers(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert text in refused(options, error)


@pytest.mark.parametrize(
    "option", ["content_security_policy", "content_security_policy_report_only"]
)
@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        ("default-src 'self'", TypeError, "takes a mapping of directives, e.g."),
        ({}, ValueError, "={}) can't be used: expected at least one directive, or None"),
        ({"script-src": ["'self'"]}, ValueError, "has the unknown directive 'script-src': did"),
        ({"scriptSrcElem": ["'self'"]}, ValueError, "has the unknown directive"),
        ({"defualt_src": ["'self'"]}, ValueError, "has the unknown directive 'defualt_src'"),
        ({"xyz": ["'self'"]}, ValueError, "has the unknown directive 'xyz': expected one such"),
        ({7: ["'self'"]}, ValueError, "has the unknown directive 7: expected one such as"),
        ({"img_src": None}, TypeError, "takes a list of str and functions (c, directive), not"),
        ({"img_src": ["'self'", lambda c: "'self'"]}, TypeError, "takes a function (c"),
        ({"img_src": ["'self'", 7]}, TypeError, "takes a list of str and functions (c"),
        ({"upgrade_insecure_requests": True}, TypeError, "takes a list of str and functions"),
        ({"upgrade_insecure_requests": ["1"]}, ValueError, "expected [], since it takes no"),
        ({"img_src": [""]}, ValueError, "expected [] for a directive without values"),
        ({"img_src": ["'self'; script-src *"]}, ValueError, f"expected {SEPARATORS}"),
        ({"img_src": ["a.example,b.example"]}, ValueError, f"expected {SEPARATORS}"),
        (
            {"img_src": ["a\r\nb:"]},
            ValueError,
            rf"['img_src']='a\r\nb:') can't be used: expected {SEPARATORS}",
        ),
        ({"img_src": ["https://example.com/é"]}, ValueError, f"expected {SEPARATORS}"),
        ({"script_src": ["self"]}, ValueError, "expected quotes around it, \"'self'\""),
        ({"frame_ancestors": ["'unsafe-inline'"]}, ValueError, "expected \"'self'\", \"'none'\""),
        ({"style_src_attr": ["none"]}, ValueError, "expected quotes around it, \"'none'\""),
        ({"script_src": ["sha256-AAAA"]}, ValueError, "expected quotes around it"),
        ({"script_src": ["'nonce-abc'"]}, ValueError, "expected NONCE, since a nonce that can"),
        ({"script_src": ["'unsafe-inlin'"]}, ValueError, "did you mean \"'unsafe-inline'\"?"),
        ({"script_src": ["'x'"]}, ValueError, "expected a keyword such as \"'self'\""),
        ({"script_src": ["'none'", "https:"]}, ValueError, "expected \"'none'\" alone, or"),
        ({"script_src": ["'none'", NONCE]}, ValueError, "expected \"'none'\" alone, or sources"),
        ({"img_src": ["https://"]}, ValueError, f"expected {SOURCE}"),
        ({"img_src": ["https://example.com/a?b"]}, ValueError, f"expected {SOURCE}"),
        ({"img_src": ["a.*.example"]}, ValueError, f"expected {SOURCE}"),
        ({"img_src": ["'self'", NONCE]}, ValueError, "['img_src']=...) has NONCE, which has"),
        ({"sandbox": ["allow-script"]}, ValueError, "did you mean 'allow-scripts'?"),
        ({"require_trusted_types_for": ["script"]}, ValueError, "did you mean \"'script'\"?"),
        ({"trusted_types": ["allow-duplicates"]}, ValueError, "did you mean"),
        ({"report_to": ["a", "b"]}, ValueError, "expected the name of one endpoint"),
        ({"report_to": "a b"}, ValueError, "expected the name of one endpoint"),
        ({"report_uri": []}, ValueError, "expected at least one URL"),
        ({"report_uri": "/r?a=1,2;b"}, ValueError, "expected a URL without ';' and ','"),
    ],
)
def test_policies(option: str, policy: Any, error: type[Exception], text: str) -> None:
    assert text in refused({option: policy}, error)


@pytest.mark.parametrize(
    ("policy", "error", "text"),
    [
        (["camera"], TypeError, "takes a mapping of features, e.g. {'camera': False}, not"),
        ({"xrSpatialTracking": True}, ValueError, "has the unknown feature"),
        ({"picture-in-picture": True}, ValueError, "has the unknown feature"),
        ({"geolocaton": True}, ValueError, "has the unknown feature 'geolocaton': did you"),
        ({"q=(), x": True}, ValueError, "has the unknown feature 'q=(), x': expected one such"),
        ({"camera": "self"}, TypeError, "['camera']=...) takes a bool, or a list of"),
        ({"camera": [True]}, TypeError, f"['camera']=...) takes a list of {ORIGIN}, not True"),
        ({"camera": ["*", "self"]}, ValueError, "expected '*' alone, or a list without it"),
        ({"camera": ["none", "self"]}, ValueError, "expected 'none' alone, or a list without"),
        ({"camera": ["src"]}, ValueError, f"expected {ORIGIN}; 'src' is for the attribute"),
        ({"camera": ["'self'"]}, ValueError, f"expected {ORIGIN}"),
        ({"camera": ["example.com"]}, ValueError, f"expected {ORIGIN}"),
        ({"camera": ["https://example.com/"]}, ValueError, f"expected {ORIGIN}"),
        ({"camera": ['https://a.example" *']}, ValueError, f"expected {ORIGIN}"),
    ],
)
def test_permissions(policy: Any, error: type[Exception], text: str) -> None:
    assert text in refused({"permissions_policy": policy}, error)


GROUP = {"group": "a", "max_age": 1, "endpoints": [{"url": "/r"}]}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"reporting_endpoints": {"a": "/r"}}, TypeError, "takes a list of dicts, not {'a'"),
        ({"reporting_endpoints": ["a"]}, TypeError, "takes a mapping with 'name' or 'url'"),
        (
            {"reporting_endpoints": [{"name": "a"}]},
            ValueError,
            "secure_headers(reporting_endpoints[0]=...) has no 'url'",
        ),
        (
            {"reporting_endpoints": [{"name": "a", "url": "/r", "x": 1}]},
            ValueError,
            "has the unknown key 'x': expected 'name' or 'url'",
        ),
        (
            {"reporting_endpoints": [{"name": "A", "url": "/r"}]},
            ValueError,
            "expected a name in lower case, such as 'csp-endpoint'",
        ),
        (
            {"reporting_endpoints": [{"name": "a", "url": "/r"}, {"name": "a", "url": "/s"}]},
            ValueError,
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
        ({"report_to": [{**GROUP, "group": 7}]}, TypeError, "takes a str, not 7"),
        ({"report_to": [{**GROUP, "group": "a b"}]}, ValueError, "expected a name in ASCII"),
        ({"report_to": [GROUP, GROUP]}, ValueError, "expected a name that no other group has"),
        ({"report_to": [{**GROUP, "max_age": -1}]}, ValueError, "expected at least 0 seconds"),
        (
            {"report_to": [{**GROUP, "include_subdomains": 1}]},
            TypeError,
            "secure_headers(report_to[0]['include_subdomains']=...) takes a bool, not 1",
        ),
        (
            {"report_to": [{**GROUP, "endpoints": [{"url": "http://a.example"}]}]},
            ValueError,
            f"expected {HTTPS}",
        ),
        (
            {"report_to": [{**GROUP, "endpoints": [{"url": "/", "weight": -1}]}]},
            ValueError,
            "expected at least 0",
        ),
        (
            {
                "reporting_endpoints": [{"name": "csp", "url": "/r"}],
                "report_to": [GROUP],
                "content_security_policy": {"report_to": "cps"},
            },
            ValueError,
            "expected an endpoint that was given, 'csp' or 'a'",
        ),
    ],
)
def test_reporting(options: dict[str, Any], error: type[Exception], text: str) -> None:
    assert text in refused(options, error)


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
