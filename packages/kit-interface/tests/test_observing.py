# SPDX-License-Identifier: MIT
"""Redaction of queries; what else is in `kit.interface.observing` is tested where it is used."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.interface.observing import SECRET_NAMES, redact_query


@pytest.mark.parametrize(
    ("query", "redacted"),
    [
        ("", ""),
        ("a=1&b=2", "a=1&b=2"),
        ("token=x&a=1&token=y", "token=REDACTED&a=1&token=REDACTED"),
        ("Access_Token=x", "Access_Token=REDACTED"),
        ("%74oken=x&+token=x", "%74oken=REDACTED&+token=REDACTED"),
        ("token[]=x&token%5Bid%5D=y", "token[]=REDACTED&token%5Bid%5D=REDACTED"),
        ("token", "token"),
        ("token=a=b", "token=REDACTED"),
        ("tokens=x&&=", "tokens=x&&="),
        ("%ff=x", "%ff=x"),
    ],
)
def test_redact_query(query: str, redacted: str) -> None:
    assert redact_query(query) == redacted


def test_own_names() -> None:
    assert redact_query("token=x&key=y", {"key"}) == "token=x&key=REDACTED"
    assert redact_query("token=x", ()) == "token=x"


_NAMES = st.one_of(st.sampled_from(sorted(SECRET_NAMES)), st.text(max_size=8))


@given(st.lists(st.tuples(_NAMES, st.just("s3cr3t"))))
def test_no_secret_is_left(pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{quote(name)}={value}" for name, value in pairs)
    redacted = parse_qsl(redact_query(query), keep_blank_values=True)
    assert len(redacted) == len(parse_qsl(query, keep_blank_values=True))
    for name, value in redacted:
        if name in SECRET_NAMES:
            assert value == "REDACTED"
