# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Literal, assert_type

from kit import Headers
from kit.http.addresses import parse_address
from kit.http.conditional import evaluate
from kit.http.entity_tags import EntityTag, parse_entity_tag
from kit.http.fields import Accepted, parse_accept
from kit.http.forwarded import ForwardedNode, parse_forwarded
from kit.http.vary import add_vary

assert_type(parse_accept("text/html;q=0.5"), list[Accepted])
assert_type(parse_entity_tag('"v2"'), EntityTag | None)
assert_type(evaluate("GET", Headers().get, etag='"v2"'), Literal[304, 412] | None)
assert_type(parse_address("192.0.2.7"), IPv4Address | IPv6Address | None)
assert_type(parse_forwarded("for=192.0.2.7", 1), ForwardedNode | None)
add_vary(Headers(), "Accept-Language")
