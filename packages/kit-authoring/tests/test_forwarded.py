# SPDX-License-Identifier: MIT
"""The client's address behind proxies, counted from the right of what they have added."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit, Limits, Request
from kit.conninfo import ConnInfo, RemoteAddress, forwarded_conn_info
from kit.http.addresses import parse_address

UNKNOWN = RemoteAddress()


async def found_by(get: Any, *lines: tuple[str, str]) -> RemoteAddress:
    """Returns what the function finds in a request with these lines of headers."""
    found: list[ConnInfo] = []
    app = Kit(limits=Limits(max_header_size_bytes=2**20))
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
    ("192.0.2.7:65535", "192.0.2.7", 65535),
]
# RFC 7239, section 6.3: a port that the proxy hides.
HIDDEN_PORTS = [
    ("192.0.2.7:_http", "192.0.2.7", None),
    ("[2001:db8::7]:_a.b-C_9", "2001:db8::7", None),
]
# X-Forwarded-For has no standard.
LISTED = [
    ("2001:db8::7", "2001:db8::7", None),
    ("2001:db8::7:5000", "2001:db8::7:5000", None),
    ("fe80::1%eth0", "fe80::1%eth0", None),
    ("[fe80::1%en-0.1]:5000", "fe80::1%en-0.1", 5000),
]
GARBAGE = [
    *("", " ", "unknown", "_hidden", "localhost", "192.0.2", "192.0.2.777", "192.0.2.07"),
    *(
        "192.0.2.7:",
        "192.0.2.7:65536",
        "192.0.2.7:66666",
        "192.0.2.7:5_0",
        "192.0.2.7:-1",
        "192.0.2.7/24",
    ),
    *("[192.0.2.7]", "[2001:db8::7", "2001:db8::7]", "[2001:db8::7]:x", "[2001:db8::7]5000"),
    *("192.0.2.7:_", "192.0.2.7:_a b", "192.0.2.7:123456", "192.0.2.7:\xb9"),
    *(
        "2001:db8::7%eth0",
        "fe80::1%",
        "fe80::1%a%b",
        "fe80::1%a b",
        ":",
        "::1::",
        "1" * 5000,
        "192.0.2.7 x",
    ),
]


@pytest.mark.parametrize(("text", "address", "port"), [*NODES, *LISTED])
async def test_an_address_with_or_without_a_port(text: str, address: str, port: int | None) -> None:
    assert await listed(text) == RemoteAddress(address, port)
    assert await listed(f"198.51.100.1,\t{text} ") == RemoteAddress(address, port)


@pytest.mark.parametrize(("text", "address", "port"), [*NODES, *HIDDEN_PORTS])
async def test_an_address_in_forwarded(text: str, address: str, port: int | None) -> None:
    assert await forwarded(f'for="{text}"') == RemoteAddress(address, port)
    value = f'for=198.51.100.1 ,\tproto=https;FOR="{text}";by=_proxy ; host="a,\\"b" '
    assert await forwarded(value) == RemoteAddress(address, port)


@pytest.mark.parametrize("text", [text for text, *_ in LISTED])
async def test_forwarded_has_ipv6_addresses_in_brackets_without_a_zone(text: str) -> None:
    assert await forwarded(f'for="{text}"') == UNKNOWN


@pytest.mark.parametrize("text", [text for text, *_ in HIDDEN_PORTS])
async def test_a_hidden_port_is_of_forwarded_alone(text: str) -> None:
    assert await listed(text) == UNKNOWN


async def test_names_of_parameters_are_taken_in_any_case() -> None:
    for name in ("for", "For", "FOR", "foR"):
        assert await forwarded(f"{name}=192.0.2.7") == RemoteAddress("192.0.2.7")
    assert await forwarded("For=192.0.2.7;foR=192.0.2.8") == UNKNOWN


@pytest.mark.parametrize(
    "value",
    [
        "for=192.0.2.7;",
        ";for=192.0.2.7",
        "for=192.0.2.7;;proto=http",
        " ; for=192.0.2.7 ; ;\t",
        "for=192.0.2.7,",
        "for=192.0.2.7,\t, ,",
        ", for=192.0.2.7",
        "for=198.51.100.1,,for=192.0.2.7",
    ],
)
async def test_empty_pairs_and_empty_members_of_forwarded(value: str) -> None:
    assert await forwarded(value) == RemoteAddress("192.0.2.7")


async def test_empty_members_of_forwarded_do_not_count() -> None:
    assert await forwarded("for=192.0.2.7, , for=198.51.100.1,", 2) == RemoteAddress("192.0.2.7")
    # An element without pairs is one nevertheless: a proxy has added it.
    assert await forwarded("for=192.0.2.7, ;") == UNKNOWN
    assert await forwarded("for=192.0.2.7, ;", 2) == RemoteAddress("192.0.2.7")


async def test_an_empty_member_of_x_forwarded_for_counts() -> None:
    assert await listed("192.0.2.7,") == UNKNOWN
    assert await listed("192.0.2.7,", 2) == RemoteAddress("192.0.2.7")


async def test_an_address_in_forwarded_without_quotes() -> None:
    assert await forwarded("for=192.0.2.7;proto=http") == RemoteAddress("192.0.2.7")
    assert await forwarded(r'for="192.0.2\.7"') == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize("text", GARBAGE)
async def test_what_is_no_address_is_unknown(text: str) -> None:
    assert await listed(f"192.0.2.7, {text}") == UNKNOWN
    assert await forwarded(f'for=192.0.2.7, for="{text}"') == UNKNOWN


async def test_every_element_that_proxies_have_added_has_to_be_well_formed() -> None:
    assert await forwarded('for=192.0.2.7, for="198.51.100.1"x', 2) == UNKNOWN
    assert await forwarded("for=192.0.2.7, by=a:80", 2) == UNKNOWN
    assert await forwarded("for=192.0.2.7, for=198.51.100.1", 2) == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize(
    "value",
    [
        'for="192.0.2.7',
        'for="192.0.2.7"x',
        'x"for=192.0.2.7',
        '"for=192.0.2.7',
        '"", for="192.0.2.7',
        r'for="192.0.2.7\"',
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


@given(forged=st.text('for="\\,; =1.[]:') | st.text('for=",6.7'))
async def test_nothing_that_a_client_sends_shifts_the_count_of_forwarded(forged: str) -> None:
    added = ['for=192.0.2.7;by="_a"', r'for="[2001:db8::1]:80";host="b,c\",;for=6.6.6.6\\"']
    value = ", ".join([forged, *added])
    assert await forwarded(value, 1) == RemoteAddress("2001:db8::1", 80)
    assert await forwarded(value, 2) == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize(
    "forged",
    [
        'for=203.0.113.66, for="',
        r'for="\\',
        'for="a", "',
        "for=6.6.6.6;host=a:80",
        "\xff",
        ",;=",
    ],
)
async def test_a_client_can_neither_forge_its_address_nor_hide_it(forged: str) -> None:
    value = f'{forged}, for=192.0.2.7, for="[2001:db8::1]"'
    assert await forwarded(value, 2) == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize(
    "junk", ['"', "\\", '\\"', ",", ";", '",', "for=", '"\\', "a=b;", 'a="b",']
)
async def test_long_values_take_time_in_proportion(junk: str) -> None:
    # A hundred kilobytes: whatever looked back as it goes on would not end within the test's time.
    forged = junk * 2**15
    assert await forwarded(f"{forged}, for=192.0.2.7") == RemoteAddress("192.0.2.7")
    assert await forwarded(f"for=192.0.2.7{forged}x ") == UNKNOWN
    assert await forwarded(f'for=192.0.2.7;host="{forged}x ') == UNKNOWN
    assert await listed(f"{forged}, 192.0.2.7") == RemoteAddress("192.0.2.7")


@pytest.mark.parametrize("header", ["x-forwarded-for", "X-FORWARDED-FOR", "forwarded", "FORWARDED"])
async def test_the_header_can_be_named_in_any_case(header: Any) -> None:
    lines = [("X-Forwarded-For", "192.0.2.7"), ("Forwarded", "for=192.0.2.7")]
    for line in lines:
        found = await found_by(forwarded_conn_info(header=header), line)
        assert (found == UNKNOWN) == (line[0].lower() != header.lower())


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"trusted_hops": 0}, ValueError, "expected at least 1"),
        ({"trusted_hops": "1"}, TypeError, "takes an int, not '1'"),
        ({"trusted_hops": 10**30}, ValueError, "expected at most 100"),
        *(
            (
                {"header": header},
                ValueError,
                f"forwarded_conn_info(header={header!r}) can't be used: "
                "expected 'X-Forwarded-For' or 'Forwarded'",
            )
            for header in ("x-real-ip", None)
        ),
    ],
)
def test_a_wrong_option_is_an_error(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        forwarded_conn_info(**options)
    assert text in str(raised.value)


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
        ("fe80::1%" + "a" * 100, "fe80::1"),
        ("1" * 5000, None),
        # What the standard library reads as an address.
        (1, None),
        (b"\xc0\x00\x02\x07", None),
        (None, None),
    ],
)
def test_equal_clients_have_equal_addresses(text: Any, address: str | None) -> None:
    found = parse_address(text)
    assert (None if found is None else str(found)) == address
