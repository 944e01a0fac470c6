# SPDX-License-Identifier: MIT
"""The client's address behind proxies, counted from the right of what they have added."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit, Request
from kit.conninfo import ConnInfo, RemoteAddress, forwarded_conn_info, parse_address

UNKNOWN = RemoteAddress()


async def found_by(get: Any, *lines: tuple[str, str]) -> RemoteAddress:
    """Returns what the function finds in a request with these lines of headers."""
    found: list[ConnInfo] = []
    app = Kit()
    app.get("/", lambda c: (found.append(get(c)), c.body(None))[1])
    assert (await app.fetch(Request("http://app.test/", headers=lines))).status == 200
    return found[0].remote


async def listed(value: str, hops: int = 1) -> RemoteAddress:
    return await found_by(forwarded_conn_info(hops), ("X-Forwarded-For", value))


async def forwarded(value: str, hops: int = 1) -> RemoteAddress:
    get = forwarded_conn_info(hops, header="Forwarded")
    return await found_by(get, ("Forwarded", value))


NODES = [
    ("192.0.2.7", "192.0.2.7", None),
    ("192.0.2.7:5000", "192.0.2.7", 5000),
    ("192.0.2.7:0", "192.0.2.7", None),
    ("[2001:db8::7]", "2001:db8::7", None),
    ("[2001:db8::7]:5000", "2001:db8::7", 5000),
    ("[::ffff:192.0.2.7]:5000", "::ffff:192.0.2.7", 5000),
]
GARBAGE = [
    *("", " ", "unknown", "_hidden", "localhost", "192.0.2", "192.0.2.777", "192.0.2.07"),
    *("192.0.2.7:", "192.0.2.7:66666", "192.0.2.7:5_0", "192.0.2.7:-1", "192.0.2.7/24"),
    *("[192.0.2.7]", "[2001:db8::7", "2001:db8::7]", "[2001:db8::7]:x", "[2001:db8::7]5000"),
    *("fe80::1%eth0", "[fe80::1%eth0]", ":", "::1::", "1" * 5000, "192.0.2.7 x"),
]


@pytest.mark.parametrize(
    ("text", "address", "port"), [*NODES, ("2001:db8::7", "2001:db8::7", None)]
)
async def test_an_address_with_or_without_a_port(text: str, address: str, port: int | None) -> None:
    assert await listed(text) == RemoteAddress(address, port)
    assert await listed(f"198.51.100.1,\t{text} ") == RemoteAddress(address, port)


@pytest.mark.parametrize(("text", "address", "port"), NODES)
async def test_an_address_in_forwarded(text: str, address: str, port: int | None) -> None:
    assert await forwarded(f'for="{text}"') == RemoteAddress(address, port)
    value = f'for=198.51.100.1 ,\tproto=https;FOR="{text}";by=_proxy ; host="a,\\"b" '
    assert await forwarded(value) == RemoteAddress(address, port)


async def test_an_address_in_forwarded_without_quotes() -> None:
    assert await forwarded("for=192.0.2.7;proto=http") == RemoteAddress("192.0.2.7")
    assert await forwarded(r'for="192.0.2\.7"') == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize("text", GARBAGE)
async def test_what_is_no_address_is_unknown(text: str) -> None:
    assert await listed(f"192.0.2.7, {text}") == UNKNOWN
    assert await forwarded(f'for=192.0.2.7, for="{text}"') == UNKNOWN


@pytest.mark.parametrize(
    "value",
    [
        'for="192.0.2.7',
        'for="192.0.2.7"x',
        "for=192.0.2.7;",
        "for=192.0.2.7,",
        ", for=192.0.2.7",
        "for=192.0.2.7;for=192.0.2.8",
        "for =192.0.2.7",
        "for=192.0.2.7 by=_x",
        "192.0.2.7",
        "by=192.0.2.7",
        "for=[2001:db8::7]",
        "for=2001:db8::7",
        "=",
    ],
)
async def test_a_malformed_forwarded_is_unknown(value: str) -> None:
    assert await forwarded(value) == UNKNOWN


async def test_hops_are_counted_from_the_right() -> None:
    addresses = [f"192.0.2.{number}" for number in range(1, 5)]
    for hops in range(1, 5):
        expected = RemoteAddress(addresses[-hops])
        assert await listed(", ".join(addresses), hops) == expected
        assert await forwarded(", ".join(f"for={each}" for each in addresses), hops) == expected
    assert await listed(", ".join(addresses), 5) == UNKNOWN
    assert await forwarded(", ".join(f"for={each}" for each in addresses), 5) == UNKNOWN


async def test_several_lines_are_one_list() -> None:
    lines = [("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-For", "192.0.2.2, 192.0.2.3")]
    assert await found_by(forwarded_conn_info(3), *lines) == RemoteAddress("192.0.2.1")


async def test_only_the_named_header_is_read() -> None:
    lines = [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.2")]
    assert await found_by(forwarded_conn_info(), *lines) == RemoteAddress("192.0.2.1")
    get = forwarded_conn_info(header="Forwarded")
    assert await found_by(get, *lines) == RemoteAddress("192.0.2.2")
    assert await found_by(get, lines[0]) == UNKNOWN
    assert await found_by(forwarded_conn_info(), lines[1]) == UNKNOWN


async def test_cve_2026_27700_the_leftmost_address_is_never_taken() -> None:
    assert await listed("203.0.113.66, 192.0.2.7") == RemoteAddress("192.0.2.7")
    assert await listed("203.0.113.66, 192.0.2.7, 198.51.100.1", 2) == RemoteAddress("192.0.2.7")


@given(forged=st.text(st.characters(codec="latin-1", exclude_categories=["Cc"])))
async def test_nothing_that_a_client_sends_shifts_the_count(forged: str) -> None:
    found = await listed(f"{forged}, 192.0.2.7, 198.51.100.1", 2)
    assert found == RemoteAddress("192.0.2.7")


# Only what is well-formed counts, so the client can hide its address, and forge none.
@given(forged=st.text('for="\\,; =1.[]:') | st.text('for=",6.7'))
async def test_no_quote_that_a_client_leaves_open_shifts_the_count(forged: str) -> None:
    added = 'for=192.0.2.7;by="_a", for="[2001:db8::1]:80";host="b"'
    found = await forwarded(f"{forged}, {added}", 2)
    assert found in (RemoteAddress("192.0.2.7"), UNKNOWN)


async def test_a_quote_that_a_client_leaves_open_forges_nothing() -> None:
    value = 'for=203.0.113.66, for=", for=192.0.2.7, for="[2001:db8::1]"'
    assert await forwarded(value, 2) == UNKNOWN


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"trusted_hops": 0},
            ValueError,
            "forwarded_conn_info(trusted_hops=0) can't be used: expected at least 1",
        ),
        (
            {"trusted_hops": "1"},
            TypeError,
            "forwarded_conn_info(trusted_hops=...) takes an int, not '1'",
        ),
        (
            {"header": "x-real-ip"},
            ValueError,
            "forwarded_conn_info(header='x-real-ip') can't be used: "
            "expected 'X-Forwarded-For' or 'Forwarded'",
        ),
    ],
)
def test_a_wrong_option_is_an_error(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        forwarded_conn_info(**options)
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:DB8:0::7", "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("2001:db8::7%eth0", None),
        ("::ffff:169.254.1.1%eth0", None),
        ("unix", None),
        ("", None),
    ],
)
def test_equal_clients_have_equal_addresses(text: str, address: str | None) -> None:
    found = parse_address(text)
    assert (None if found is None else str(found)) == address
