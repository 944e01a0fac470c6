# SPDX-License-Identifier: MIT
"""Who is let through, and what the others are answered."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.conninfo import ConnInfo, RemoteAddress
from kit.http.fields import list_members
from kit.ip_restriction import Remote, ip_restriction

INSIDE = (200, "inside")
REFUSED = (403, "Forbidden")


def from_header(c: Context) -> str:
    return c.req.header("x-ip") or ""


def app_with(*arguments: Any, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use("/*", ip_restriction(*arguments, **options))
    app.all("/*", lambda c: c.text("inside"))
    return app


async def answer(app: Kit[Any, Any], address: str, header: str = "x-ip") -> tuple[int, str]:
    response = await app.request("/x", {"headers": {header: address}})
    return response.status, await response.text()


async def served(
    app: Kit[Any, Any], client: tuple[str, int], headers: dict[str, str]
) -> tuple[int, str]:
    """The answer to a request that comes by a server."""
    transport = httpx.ASGITransport(app, client=client)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as asking:
        response = await asking.get("/x", headers=headers)
        return response.status_code, response.text


async def verdict(address: str, **lists: Any) -> bool:
    """Whether an address is let through."""
    got = await answer(app_with(from_header, **lists), address)
    assert got in (INSIDE, REFUSED)
    return got == INSIDE


# --- rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "matching", "others"),
    [
        (
            "192.0.2.7",
            ["192.0.2.7", "::ffff:192.0.2.7"],
            ["192.0.2.8", "::192.0.2.7", "2001:db8::"],
        ),
        ("192.0.2.7/32", ["192.0.2.7"], ["192.0.2.6"]),
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0", "::a00:0"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"], ["::", "::1"]),
        ("2001:DB8::1", ["2001:db8::1", "2001:db8:0:0::1"], ["2001:db8::2"]),
        ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db9::", "32.1.13.184"]),
        ("::/0", ["::", "::1", "fe80::1%eth0"], ["1.2.3.4", "::ffff:1.2.3.4"]),
        ("::ffff:10.9.9.9", ["10.9.9.9", "::ffff:a09:909"], ["10.9.9.8"]),
        ("::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["11.0.0.0"]),
        ("fe80::1", ["fe80::1", "fe80::1%eth0", "FE80::1%1"], ["fe80::2%eth0"]),
        ("*", ["192.0.2.7", "::1"], []),
        (ip_address("192.0.2.7"), ["192.0.2.7"], ["192.0.2.8"]),
        (ip_network("2001:db8::/32"), ["2001:db8::1"], ["2001:db9::"]),
        (lambda remote: remote.addr.startswith("10."), ["10.0.0.1"], ["11.0.0.1"]),
        (lambda remote: remote.type == "IPv6", ["::1", "fe80::1%eth0"], ["1.2.3.4"]),
    ],
)
def test_rules(run: Callable[..., Any], rule: Any, matching: list[str], others: list[str]) -> None:
    unrelated = "203.0.113.0/24"
    for address in matching:
        assert run(lambda a=address: verdict(a, allow_list=[unrelated, rule]))
        assert not run(lambda a=address: verdict(a, deny_list=[rule, unrelated]))
    for address in others:
        assert not run(lambda a=address: verdict(a, allow_list=[unrelated, rule]))
        assert run(lambda a=address: verdict(a, deny_list=[rule, unrelated]))


def test_deny_beats_allow(run: Callable[..., Any]) -> None:
    app = app_with(from_header, allow_list=["10.0.0.0/8"], deny_list=["10.1.0.0/16"])
    assert run(answer, app, "10.2.0.1") == INSIDE
    assert run(answer, app, "10.1.0.1") == REFUSED
    assert run(answer, app, "192.0.2.1") == REFUSED
    app = app_with(from_header, allow_list=["10.0.0.0/8"], deny_list=["*"])
    assert run(answer, app, "10.2.0.1") == REFUSED


def test_functions_plain_and_async(run: Callable[..., Any]) -> None:
    seen: list[Remote] = []

    def is_even(remote: Remote) -> bool:
        seen.append(remote)
        return int(ip_address(remote.addr)) % 2 == 0

    async def is_even_async(remote: Remote) -> bool:
        return is_even(remote)

    for function in (is_even, is_even_async):
        app = app_with(from_header, allow_list=["192.0.2.1", function])
        assert run(answer, app, "192.0.2.1") == INSIDE
        assert seen == []  # a table is asked before a function
        assert run(answer, app, "192.0.2.2") == INSIDE
        assert run(answer, app, "192.0.2.3") == REFUSED
        app = app_with(from_header, deny_list=[function])
        assert run(answer, app, "192.0.2.2") == REFUSED
        assert run(answer, app, "192.0.2.3") == INSIDE
        assert seen == [Remote(f"192.0.2.{n}", "IPv4") for n in (2, 3, 2, 3)]
        seen.clear()


async def yields(remote: Remote) -> Any:
    yield False


def yields_plainly(remote: Remote) -> Any:
    yield False


def returns_an_exception(remote: Remote) -> Any:
    return HTTPException(403)


async def returns_a_response(remote: Remote) -> Any:
    return Response("no", status=403)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (lambda *arguments: yields(*arguments), "async_generator"),
        (lambda *arguments: yields_plainly(*arguments), "generator"),
        (returns_an_exception, "HTTPException"),
        (returns_a_response, "Response"),
    ],
)
async def test_what_is_no_answer_lets_nobody_in(rule: Any, kind: str) -> None:
    for name in ("allow_list", "deny_list"):
        app = app_with(from_header, **{name: [rule]})
        app.on_error(lambda error, c: c.text(str(error), 500))
        status, text = await answer(app, "192.0.2.1")
        assert status == 500
        assert text.startswith(f"ip_restriction: the rule {rule.__name__} (")
        assert text.endswith(
            f") returned {kind}: expected True or False; await coroutines, "
            "raise exceptions, and write return, not yield"
        )


async def test_functions_are_asked_about_every_request() -> None:
    banned: set[str] = set()
    app = app_with(from_header, deny_list=[lambda remote: remote.addr in banned])
    assert await answer(app, "192.0.2.1") == INSIDE
    banned.add("192.0.2.1")
    assert await answer(app, "192.0.2.1") == REFUSED


async def test_an_empty_deny_list_denies_nobody() -> None:
    assert await answer(app_with(from_header, deny_list=[]), "192.0.2.1") == INSIDE


async def test_changing_a_list_later_has_no_effect() -> None:
    rules = ["192.0.2.1"]
    app = app_with(from_header, allow_list=rules)
    rules.append("192.0.2.2")
    assert await answer(app, "192.0.2.2") == REFUSED


@given(address=st.ip_addresses(), network=st.ip_addresses(), bits=st.integers(0, 128))
async def test_networks_are_those_of_the_standard_library(
    address: IPv4Address | IPv6Address, network: Any, bits: int
) -> None:
    inside = ip_network((network, bits % (network.max_prefixlen + 1)), strict=False)
    for each in (address, inside.network_address, inside.broadcast_address):
        mapped = getattr(each, "ipv4_mapped", None)
        of_network = getattr(inside.network_address, "ipv4_mapped", None)
        if mapped or of_network:
            continue  # what differs on purpose
        expected = each.version == inside.version and each in inside
        assert await verdict(str(each), allow_list=[str(inside)]) == expected
        exploded = each.exploded.upper()
        assert await verdict(exploded, deny_list=[str(inside)]) == (not expected)


@given(address=st.ip_addresses(v=4), bits=st.integers(0, 32))
async def test_mapped_networks_are_those_of_ipv4(address: IPv4Address, bits: int) -> None:
    network = ip_network((address, bits), strict=False)
    rule = f"::ffff:{network.network_address}/{96 + bits}"
    assert await verdict(f"::ffff:{address}", allow_list=[str(network)])
    assert await verdict(str(address), allow_list=[rule])
    assert await verdict(
        f"::ffff:{int(address) >> 16:x}:{int(address) & 0xFFFF:x}", allow_list=[rule]
    )


# --- addresses ------------------------------------------------------------------------------------

UNKNOWN = [
    "",
    "unknown",
    "localhost",
    "not an ip",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.4:80",
    "010.9.9.9",
    "999.1.1.1",
    "0x7f.0.0.1",
    "2130706433",
    "[::1]",
    "1::2::3",
    ":::1",
    "192.168.0.1%eth0",
    "::1%lo",  # a zone is for link-local addresses (RFC 4007)
    "fe80::1%",
    "1.2.3.4, 10.0.0.1",
    "10.0.0.1/8",
    "*",
    "fe80::1%" + "e" * 10_000,
]


@pytest.mark.parametrize("address", UNKNOWN)
async def test_an_unknown_address_is_refused_by_every_list(address: str) -> None:
    called: list[Any] = []

    def on_error(remote: Remote, c: Context) -> Any:
        called.append(remote)
        return c.text("", 418)

    def rule(remote: Remote) -> bool:
        called.append(remote)
        return True

    lists: list[dict[str, Any]] = [
        {"allow_list": ["*"]},
        {"allow_list": ["0.0.0.0/0", "::/0", rule]},
        {"deny_list": ["10.0.0.0/8"]},
        {"deny_list": []},
    ]
    for options in lists:
        assert await answer(app_with(from_header, on_error=on_error, **options), address) == REFUSED
        assert await answer(app_with(from_header, **options), address) == REFUSED
    assert called == []


@given(text=st.text())
async def test_any_text_gets_an_answer(text: str) -> None:
    app = app_with(lambda c: text, allow_list=["*"])
    try:
        ip_address(text)
    except ValueError:
        assert await answer(app, "") == REFUSED


# --- get_ip ---------------------------------------------------------------------------------------


async def get_ip_async(c: Context) -> str:
    return from_header(c)


@pytest.mark.parametrize(
    "get_ip",
    [from_header, get_ip_async, lambda c: ConnInfo(RemoteAddress(c.req.header("x-ip")))],
)
def test_get_ip_plain_async_and_of_a_connection(run: Callable[..., Any], get_ip: Any) -> None:
    app = app_with(get_ip, {"allow_list": ["192.0.2.1"]})
    assert run(answer, app, "192.0.2.1") == INSIDE
    assert run(answer, app, "192.0.2.2") == REFUSED
    assert run(answer, app, "192.0.2.1", "x-other") == REFUSED


def test_the_default_is_what_the_server_reports(run: Callable[..., Any]) -> None:
    app = app_with(rules={"allow_list": ["192.0.2.1", "2001:db8::/32"]})
    assert run(served, app, ("192.0.2.1", 1), {}) == INSIDE
    assert run(served, app, ("::ffff:192.0.2.1", 1), {}) == INSIDE
    assert run(served, app, ("2001:db8::5", 1), {}) == INSIDE
    assert run(served, app, ("192.0.2.2", 1), {}) == REFUSED
    # Made in process, or over a Unix socket: there is no address.
    assert run(answer, app, "192.0.2.1") == REFUSED


async def test_get_ip_that_returns_something_else_is_an_error() -> None:
    for found, text in ((7, "int"), (ip_address("192.0.2.1"), "IPv4Address")):
        app = app_with(lambda c, found=found: found, allow_list=["192.0.2.1"])
        app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
        assert (await answer(app, "192.0.2.1"))[1] == (
            f"TypeError: ip_restriction(get_ip=...) returned {text}: "
            "expected a str, a ConnInfo or None"
        )


# --- advisories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("octet", ["256", "999", "300", "0377", "1e1", "-1", "+1", "\uff11"])
async def test_cve_2026_24398_octets_out_of_range(octet: str) -> None:
    """An address with impossible octets was computed to be another one."""
    for address in (f"{octet}.0.0.1", f"10.0.0.{octet}", f"::ffff:10.0.0.{octet}"):
        app = app_with(lambda c, address=address: address, allow_list=["0.0.0.0/0", "::/0"])
        assert await answer(app, "") == REFUSED
        app = app_with(lambda c, address=address: address, deny_list=["192.0.2.1"])
        assert await answer(app, "") == REFUSED
        with pytest.raises(ValueError, match="is not an IP address"):
            ip_restriction(deny_list=[address])


@pytest.mark.parametrize("address", ["::ffff:127.0.0.1", "::FFFF:7f00:1", "0:0:0:0:0:ffff:7f00:1"])
@pytest.mark.parametrize("rule", ["127.0.0.1", "127.0.0.0/8", "::ffff:127.0.0.0/104"])
async def test_cve_2026_39409_ipv4_mapped_clients(address: str, rule: str) -> None:
    """What a dual-stack socket reports did not match the rules for IPv4."""
    assert not await verdict(address, deny_list=[rule])
    assert await verdict(address, allow_list=[rule])
    # Nor can a function tell the two apart.
    assert not await verdict(address, deny_list=[lambda remote: remote.addr == "127.0.0.1"])
    assert not await verdict(address, deny_list=[lambda remote: remote.type == "IPv4"])


@pytest.mark.parametrize(
    ("rule", "addresses"),
    [
        (
            "2001:db8::1",
            ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001"],
        ),
        ("2001:db8:0:0:0:0:0:1", ["2001:db8::1"]),
        ("127.0.0.1", ["::ffff:7f00:1", "::ffff:7f00:0001"]),
        ("::ffff:7f00:1", ["127.0.0.1", "::ffff:127.0.0.1"]),
        ("fe80::1", ["fe80::1%eth0", "fe80:0::1%2"]),
    ],
)
async def test_cve_2026_47674_other_spellings_of_an_address(
    rule: str, addresses: list[str]
) -> None:
    """A denied address that was written in another way was let through."""
    for address in addresses:
        assert not await verdict(address, deny_list=[rule])
        assert await verdict(address, allow_list=[rule])


def test_cve_2026_27700_forwarded_headers_are_not_believed(run: Callable[..., Any]) -> None:
    """The leftmost address of X-Forwarded-For, which the client writes, was taken."""
    app = app_with(allow_list=["192.0.2.1"])
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP"):
        for value in ("192.0.2.1", "192.0.2.1, 203.0.113.9", "for=192.0.2.1"):
            assert run(served, app, ("203.0.113.9", 1), {name: value}) == REFUSED


PROXIES = 2


def behind_proxies(c: Context) -> str | None:
    addresses = list_members(c.req.header("x-forwarded-for"))
    return addresses[-PROXIES] if len(addresses) >= PROXIES else None


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("192.0.2.1, 10.0.0.1", INSIDE),
        ("203.0.113.9, 10.0.0.1", REFUSED),
        # What the client sends itself stands on the left.
        ("192.0.2.1, 203.0.113.9, 10.0.0.1", REFUSED),
        ("192.0.2.1, 192.0.2.1, 203.0.113.9, 10.0.0.1", REFUSED),
        ("192.0.2.1", REFUSED),  # past a proxy
        ("", REFUSED),
        ("unknown, 10.0.0.1", REFUSED),
    ],
)
async def test_trusted_hops_are_counted_from_the_right(
    forwarded: str, expected: tuple[int, str]
) -> None:
    app = app_with(behind_proxies, allow_list=["192.0.2.1"])
    assert await answer(app, forwarded, "x-forwarded-for") == expected


# --- the answer -----------------------------------------------------------------------------------


def shown(remote: Remote, c: Context) -> Any:
    return c.text(f"{remote.addr} {remote.type} {c.req.path}", 451)


async def shown_async(remote: Remote, c: Context) -> Any:
    return shown(remote, c)


@pytest.mark.parametrize("on_error", [shown, shown_async])
def test_on_error_plain_and_async(run: Callable[..., Any], on_error: Any) -> None:
    app = app_with(from_header, {"deny_list": ["10.0.0.0/8", "2001:DB8::1"]}, on_error)
    assert run(answer, app, "10.0.0.1") == (451, "10.0.0.1 IPv4 /x")
    assert run(answer, app, "::ffff:a00:1") == (451, "10.0.0.1 IPv4 /x")
    assert run(answer, app, "2001:db8:0::1") == (451, "2001:db8:0::1 IPv6 /x")
    assert run(answer, app, "192.0.2.1") == INSIDE
    app = app_with(from_header, {"allow_list": ["10.0.0.0/8"]}, on_error)
    assert run(answer, app, "192.0.2.1") == (451, "192.0.2.1 IPv4 /x")


async def test_on_error_of_who_denies_all_sees_what_is_no_address() -> None:
    app = app_with(from_header, {"deny_list": ["*"]}, shown)
    assert await answer(app, "1.2.3.4") == (451, "1.2.3.4 IPv4 /x")
    assert await answer(app, "nonsense") == (451, "nonsense None /x")
    assert await answer(app, "") == REFUSED


async def test_the_app_sees_the_exception() -> None:
    seen: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Any:
        seen.append(error)
        return c.json({"error": "no"}, 403)

    app = app_with(from_header, deny_list=["10.0.0.1"])
    app.on_error(on_error)
    assert await answer(app, "10.0.0.1") == (403, '{"error":"no"}')
    assert await answer(app, "") == (403, '{"error":"no"}')
    assert all(isinstance(error, HTTPException) and error.status == 403 for error in seen)
    assert len(seen) == 2


async def test_the_handler_does_not_run_for_a_refused_client() -> None:
    ran: list[str] = []

    def handler(c: Context) -> Any:
        ran.append(c.req.path)
        return c.text("inside")

    app: Kit[Any, Any] = Kit()
    app.use(ip_restriction(from_header, deny_list=["10.0.0.1"])).get("/x", handler)
    assert await answer(app, "10.0.0.1") == REFUSED
    assert ran == []


async def test_what_is_no_address_reaches_no_rule_of_an_allow_list() -> None:
    app = app_with(
        deny_list=["*"], allow_list=[lambda remote: True], get_ip=lambda c: c.req.header("x-ip")
    )
    for address in ("unknown", "192.0.2.256", "192.0.2.7"):
        assert await answer(app, address) == (403, "Forbidden")


@pytest.mark.parametrize("bits", range(90, 129))
async def test_networks_around_the_mapped_addresses(bits: int) -> None:
    """`::ffff:0:0/96` and what it contains are IPv4; a larger network is IPv6."""
    network = ip_network(f"::ffff:0:0/{bits}", strict=False)
    app = app_with(allow_list=[network], get_ip=lambda c: c.req.header("x-ip"))
    first = str(network.network_address)
    assert (await answer(app, first))[0] == 200
    assert (await answer(app, "0.0.0.0"))[0] == (200 if bits >= 96 else 403)
    assert (await answer(app, "2001:db8::1"))[0] == 403
