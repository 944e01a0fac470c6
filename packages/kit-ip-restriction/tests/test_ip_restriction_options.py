# SPDX-License-Identifier: MIT
"""Mistakes in the options, and what the package offers."""

from __future__ import annotations

from typing import Any

import pytest

import kit.ip_restriction
from kit import Kit
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.ip_restriction import ip_restriction

EXPECTED = (
    "expected an address such as '192.0.2.7', a network such as '2001:db8::/32', '*', "
    "or a function (remote)"
)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"allow_list": ["192.0.2.7", lambda remote, c: True]},
            TypeError,
            "takes a function (remote): got the signature <lambda>(remote, c)",
        ),
        ({}, ValueError, "needs deny_list=... or allow_list=..., and got neither"),
        ({"rules": {}}, ValueError, "needs deny_list=... or allow_list=..., and got neither"),
        (
            {"rules": {"allow_list": ["*"]}, "deny_list": ["192.0.2.7"]},
            ValueError,
            "takes either rules=... or deny_list=... and allow_list=..., and got both",
        ),
        (
            {"rules": {"deny_list": []}, "allow_list": ["*"]},
            ValueError,
            "takes either rules=... or deny_list=... and allow_list=..., and got both",
        ),
        ({"rules": {"denyList": ["*"]}}, ValueError, "has the unknown key 'denyList'"),
        ({"rules": ["10.0.0.1"]}, TypeError, "takes a mapping with 'deny_list' or"),
        ({"get_ip": {"deny_list": ["*"]}}, TypeError, "takes a function (c), not"),
        ({"deny_list": ["*"], "on_error": 403}, TypeError, "takes a function (remote, c), not"),
        ({"allow_list": []}, ValueError, "ip_restriction(allow_list=...) is empty: leave it"),
        ({"allow_list": "10.0.0.1"}, TypeError, "takes a list of rules such as"),
        ({"allow_list": 7}, TypeError, "takes a list of rules such as ['192.0.2.0/24'], not 7"),
        (
            {"deny_list": ["10.0.0.1", "localhost"]},
            ValueError,
            f"ip_restriction(deny_list=...): rule 2, 'localhost', is not an IP address: {EXPECTED}",
        ),
        ({"deny_list": ["*", ""]}, ValueError, "ip_restriction(deny_list=...): rule 2, ''"),
        ({"deny_list": ["010.0.0.1"]}, ValueError, "ip_restriction(deny_list=...): rule 1"),
        ({"deny_list": [7]}, TypeError, "ip_restriction(deny_list=...): rule 1, 7, is int"),
        ({"allow_list": ["10.0.0.0/33"]}, ValueError, "ip_restriction(allow_list=...): rule"),
        ({"allow_list": ["10.0.0.0/255.0.0.0"]}, ValueError, "ip_restriction(allow_list=...)"),
        ({"allow_list": ["::/129"]}, ValueError, "ip_restriction(allow_list=...): rule 1"),
        ({"allow_list": ["10.1.2.3/8"]}, ValueError, "ip_restriction(allow_list=...): rule 1"),
        ({"allow_list": ["2001:db8::1/32"]}, ValueError, "ip_restriction(allow_list=...)"),
        ({"allow_list": ["fe80::1%eth0"]}, ValueError, "ip_restriction(allow_list=...): rule"),
    ],
)
def test_mistakes_are_errors_at_creation(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        ip_restriction(**options)
    assert text in str(caught.value)


def test_positional_and_keyword_forms() -> None:
    def get_ip(c: Any) -> str:
        return "192.0.2.1"

    rules: Any = {"deny_list": ["10.0.0.1"], "allow_list": iter(["*"])}
    ip_restriction(get_ip, rules, lambda remote, c: c.text("", 403))
    ip_restriction(rules={"deny_list": ("10.0.0.1",)})
    ip_restriction(get_ip, deny_list={"10.0.0.1"})
    with pytest.raises(TypeError):
        ip_restriction(get_ip, None, None, ["10.0.0.1"])  # type: ignore[call-arg]


def test_facts_for_tools() -> None:
    app = Kit().use("/*", ip_restriction(deny_list=["10.0.0.1"]))
    [route] = app.routes
    assert get_facts(route.handler).responses == {403: "The client's address isn't allowed"}


def test_public_names() -> None:
    assert kit.ip_restriction.__all__ == (
        "GetIP",
        "OnError",
        "Remote",
        "Rule",
        "Rules",
        "ip_restriction",
    )
    assert all(hasattr(kit.ip_restriction, name) for name in kit.ip_restriction.__all__)
    assert ip_restriction(deny_list=["*"]).__name__ == "ip_restriction"
    assert plugins.load("kit.middleware", "ip-restriction") is ip_restriction
