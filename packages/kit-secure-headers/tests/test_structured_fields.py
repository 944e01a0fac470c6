# SPDX-License-Identifier: MIT
"""Permissions-Policy and Reporting-Endpoints, read by another implementation of RFC 9651."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, get_args

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit
from kit.secure_headers import Feature, secure_headers

FEATURES = get_args(Feature)


async def header(name: str, **options: Any) -> str | None:
    app = Kit()
    app.use(secure_headers(**options))
    app.get("/", lambda c: c.text("x"))
    return (await app.request("/")).headers.get(name)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"camera": True}, "camera=*"),
        ({"camera": ["*"]}, "camera=*"),
        ({"camera": False}, "camera=()"),
        ({"camera": []}, "camera=()"),
        ({"camera": ["none"]}, "camera=()"),
        ({"camera": ["self"]}, "camera=(self)"),
        (
            {"geolocation": ("self", "https://a.example:8443"), "ch_ua_wow64": True},
            'geolocation=(self "https://a.example:8443"), ch-ua-wow64=*',
        ),
        (
            {"usb": ["https://*.a.example", "http://[::1]:1"]},
            'usb=("https://*.a.example" "http://[::1]:1")',
        ),
        (
            {"local_network": ["self"], "loopback_network": False, "ch_prefers_color_scheme": True},
            "local-network=(self), loopback-network=(), ch-prefers-color-scheme=*",
        ),
        ({}, None),
    ],
)
def test_permissions_policy(run: Callable[..., Any], policy: Any, expected: str | None) -> None:
    async def got() -> str | None:
        return await header("permissions-policy", permissions_policy=policy)

    assert run(got) == expected


labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?", fullmatch=True)
origins = st.builds(
    lambda scheme, below, host, port: f"{scheme}://{below}{host}.example{port}",
    st.sampled_from(["https", "http", "wss", "app+x"]),
    st.sampled_from(["", "*."]),
    labels,
    st.sampled_from(["", ":8000"]),
)
allowlists = st.booleans() | st.lists(st.just("self") | origins, max_size=4)


@given(st.dictionaries(st.sampled_from(FEATURES), allowlists, min_size=1))
def test_every_policy_can_be_read(policy: Any) -> None:
    import asyncio

    text = asyncio.run(header("permissions-policy", permissions_policy=policy))
    assert text is not None
    read = http_sf.parse(text.encode(), tltype="dictionary")
    assert list(read) == [feature.replace("_", "-") for feature in policy]
    for (value, parameters), allowed in zip(read.values(), policy.values(), strict=True):
        assert parameters == {}
        if allowed is True:
            assert value == http_sf.Token("*")
        else:
            assert [member for member, _ in value] == (allowed or [])
            tokens = [member for member, _ in value if isinstance(member, http_sf.Token)]
            assert tokens == [each for each in allowed or [] if each == "self"]


endpoints = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.from_regex(r"[a-z*][a-z0-9_.*-]{0,8}", fullmatch=True),
            "url": st.builds(
                lambda start, rest: start + rest,
                st.sampled_from(["https://a.example/", "/r", "http://localhost:8000/"]),
                st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=10),
            ),
        }
    ),
    min_size=1,
    unique_by=lambda each: each["name"],
)


@given(endpoints)
def test_every_list_of_endpoints_can_be_read(given_endpoints: Any) -> None:
    import asyncio

    text = asyncio.run(header("reporting-endpoints", reporting_endpoints=given_endpoints))
    assert text is not None
    read = http_sf.parse(text.encode(), tltype="dictionary")
    assert [{"name": name, "url": url} for name, (url, _) in read.items()] == given_endpoints
    assert http_sf.ser(read) == text


def test_reporting(run: Callable[..., Any]) -> None:
    options: dict[str, Any] = {
        "reporting_endpoints": [
            {"name": "csp", "url": "https://example.com/r"},
            {"name": "b", "url": '/r?a=1,2"\\'},
        ],
        "report_to": [
            {"group": "csp", "max_age": 10886400, "endpoints": [{"url": "https://a.example/"}]},
            {
                "max_age": 1,
                "group": "G2",
                "include_subdomains": True,
                "endpoints": [{"url": "/b", "priority": 1, "weight": 2}, {"url": "/c"}],
            },
        ],
        "content_security_policy": {"default_src": ["'self'"], "report_to": "G2"},
        "content_security_policy_report_only": {"default_src": ["'none'"], "report_to": ["csp"]},
    }

    async def both() -> tuple[str | None, str | None]:
        return await header("reporting-endpoints", **options), await header("report-to", **options)

    endpoints, groups = run(both)
    assert endpoints == r'csp="https://example.com/r", b="/r?a=1,2\"\\"'
    assert groups == (
        '{"group":"csp","max_age":10886400,"endpoints":[{"url":"https://a.example/"}]}, '
        '{"max_age":1,"group":"G2","include_subdomains":true,'
        '"endpoints":[{"url":"/b","priority":1,"weight":2},{"url":"/c"}]}'
    )
    assert json.loads(f"[{groups}]") == options["report_to"]


def test_no_endpoints_are_no_header(run: Callable[..., Any]) -> None:
    async def both() -> list[str | None]:
        names = ("reporting-endpoints", "report-to")
        return [await header(name, reporting_endpoints=[], report_to=[]) for name in names]

    assert run(both) == [None, None]
