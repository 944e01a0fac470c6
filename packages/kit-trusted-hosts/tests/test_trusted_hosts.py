# SPDX-License-Identifier: MIT
"""Which requests are let through, which are redirected, and which hosts can be trusted."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.trusted_hosts import trusted_hosts

INSIDE = (200, "inside")
REFUSED = (400, "Invalid Host header")
HOSTS = ("example.com", "*.example.org", "192.0.2.1", "[2001:db8::1]", "localhost", "a_b")


def app_with(*hosts: str, **options: Any) -> Kit:
    app = Kit()
    app.use(trusted_hosts(*hosts, **options))
    app.all("/*", lambda c: c.text("inside"))
    return app


async def served(
    app: Kit,
    *hosts: str | bytes,
    method: str = "GET",
    path: str = "/",
    query: bytes = b"",
    others: list[tuple[bytes, bytes]] | None = None,
    scheme: str = "http",
    root_path: str = "",
) -> tuple[int, str, str | None]:
    """Status, body and Location of the answer to a request with these Host headers."""
    sent: list[Any] = []
    lines = [(b"host", h if isinstance(h, bytes) else h.encode("latin-1")) for h in hosts]

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "scheme": scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": root_path,
        "query_string": query,
        "headers": [*lines, *(others or [])],
        "server": ("10.0.0.1", 8000),
    }
    await app(scope, receive, send)
    headers = dict(sent[0]["headers"])
    location = headers.get(b"location")
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], body.decode(), None if location is None else location.decode()


def ask(run: Callable[..., Any], app: Kit, *hosts: str | bytes, **request: Any) -> Any:
    return run(partial(served, **request), app, *hosts)


# --- who gets in --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "EXAMPLE.Com",
        "example.com.",
        "example.com:8000",
        "example.com:",
        "example.com.:443",
        "a.example.org",
        "A.B.example.ORG:1",
        "xn--bcher-kva.example.org",
        "-".join("ab") + ".example.org",
        "192.0.2.1",
        "192.0.2.1:80",
        "[2001:db8::1]",
        "[2001:DB8:0:0::0001]:8000",
        "localhost:65535",
        "a_b",
    ],
)
def test_a_trusted_host(run: Callable[..., Any], host: str) -> None:
    app = app_with(*HOSTS)
    for _ in range(2):
        assert ask(run, app, host)[:2] == INSIDE


@pytest.mark.parametrize(
    "host",
    [
        "other.example",
        "example.com.other.example",
        "www.example.com",
        "xexample.com",
        "example.org",
        "xexample.org",
        "example.org.",
        "192.0.2.10",
        "[2001:db8::2]",
        "[::ffff:192.0.2.1]",
        "3221225985",
        "0xc0.0.2.1",
        "192.0.513",
        "localhost.localdomain",
        "com",
    ],
)
def test_another_host(run: Callable[..., Any], host: str) -> None:
    assert ask(run, app_with(*HOSTS), host)[:2] == REFUSED


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        ".",
        "..",
        "example.com..",
        ".example.com",
        ".example.org",
        "a..example.org",
        "-a.example.org",
        "a-.example.org",
        "a" * 64 + ".example.org",
        "a." * 130 + "example.org",
        "example.com:80:80",
        "example.com:http",
        "example.com:-1",
        "example.com:65536",
        "example.com:000080",
        "example.com: 80",
        ":80",
        "example.com,example.com",
        "example.com, other.example",
        "example.com other.example",
        "user@example.com",
        "example.com@other.example",
        "http://example.com",
        "//example.com",
        "example.com\\.other.example",
        "exam%70le.com",
        "example.com%00",
        b"example.com\x00",
        b"b\xfccher.example.org",
        b"b\xc3\xbccher.example.org",
        b"example.com\xa0",
        b"\xe2\x84\xaa.example.org",
        "*.example.org",
        "[2001:db8::1",
        "2001:db8::1",
        "[2001:db8::1]x",
        "[2001:db8::1%25eth0]",
        "[2001:db8::1%eth0]",
        "[1:2]",
        "[192.0.2.1]",
        "[v1.a]",
        "[]",
        "[example.com]",
        "example.com;a",
        "example.com\t",
        "example.com\n",
    ],
)
def test_a_malformed_host(run: Callable[..., Any], host: str | bytes) -> None:
    assert ask(run, app_with(*HOSTS), host)[:2] == REFUSED


def test_a_missing_host(run: Callable[..., Any]) -> None:
    assert ask(run, app_with(*HOSTS))[:2] == REFUSED
    # Not even where the server itself is trusted, whose address the URL is then made of.
    assert ask(run, app_with("10.0.0.1"))[:2] == REFUSED


@pytest.mark.parametrize(
    "hosts",
    [("example.com", "example.com"), ("example.com", "other.example"), ("", "example.com")],
)
def test_a_repeated_host(run: Callable[..., Any], hosts: tuple[str, ...]) -> None:
    assert ask(run, app_with("example.com"), *hosts)[:2] == REFUSED


def test_longest_name(run: Callable[..., Any]) -> None:
    longest = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])
    assert len(longest) == 253
    for trusted in (longest, "*" + longest[63:]):
        app = app_with(trusted)
        assert ask(run, app, longest)[:2] == INSIDE
        assert ask(run, app, f"{longest}.:8000")[:2] == INSIDE
        assert ask(run, app, f"{longest}d")[:2] == REFUSED
    with pytest.raises(ValueError, match="can't be used"):
        trusted_hosts(f"{longest}d")


def test_cve_2026_25479_a_host_is_no_regular_expression(run: Callable[..., Any]) -> None:
    app = app_with("example.com", "*.example.org")
    for host in ("exampleXcom", "example-com", "aXexample.org", "a.exampleXorg", "a.b-example.org"):
        assert ask(run, app, host)[:2] == REFUSED
    for pattern in ("example.(com|org)", "example.com|.*", ".*", "[a-z]+.com", "^example.com$"):
        with pytest.raises(ValueError, match="can't be used"):
            trusted_hosts(pattern)


def test_cve_2026_48061_x_forwarded_host_is_never_trusted(run: Callable[..., Any]) -> None:
    app = app_with("example.com")
    forwarded = [
        (b"x-forwarded-host", b"example.com"),
        (b"forwarded", b"host=example.com"),
        (b"x-host", b"example.com"),
        (b"x-original-host", b"example.com"),
    ]
    for hosts in ([], [""], ["other.example"]):
        assert ask(run, app, *hosts, others=forwarded)[:2] == REFUSED
    others = [(name, b"other.example") for name, _ in forwarded]
    assert ask(run, app, "example.com", others=others)[:2] == INSIDE


@pytest.mark.parametrize("end", ["/admin", "/", "?a", "#a", "\\admin", "/admin?", "%2Fadmin"])
def test_cve_2026_48710_no_host_moves_the_path(run: Callable[..., Any], end: str) -> None:
    seen: list[str] = []
    app = Kit()
    app.use(trusted_hosts("example.com"))

    @app.use
    async def see(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        seen.append(c.req.url)
        await next()

    app.all("/*", lambda c: c.text(c.req.path))
    assert ask(run, app, f"example.com{end}", path="/public")[:2] == REFUSED
    assert seen == []
    assert ask(run, app, "example.com", path="/public")[:2] == (200, "/public")
    assert seen == ["http://example.com/public"]


def test_what_was_seen_once_is_not_trusted_for_others(run: Callable[..., Any]) -> None:
    app = app_with("*.example.org")
    for number in range(150):
        assert ask(run, app, f"a{number}.example.org")[:2] == INSIDE
        assert ask(run, app, f"a{number}.example.org.other.example")[:2] == REFUSED


def test_a_request_made_in_process_has_the_host_of_its_url(run: Callable[..., Any]) -> None:
    async def status(app: Kit, url: str, headers: dict[str, str]) -> int:
        return (await app.request(url, {"headers": headers})).status

    app = app_with("example.com", "[::1]")
    assert run(status, app, "https://example.com:8000/", {}) == 200
    assert run(status, app, "https://user:pass@example.com/", {}) == 200
    assert run(status, app, "http://[::1]:80/", {}) == 200
    assert run(status, app, "/", {}) == 400
    assert run(status, app, "https://example.com@other.example/", {}) == 400
    assert run(status, app, "https://example.com/", {"Host": "other.example"}) == 400
    assert run(status, app, "/", {"Host": "example.com"}) == 200
    assert run(status, app_with("localhost"), "/", {}) == 200


def test_on_error_sees_the_refusal(run: Callable[..., Any]) -> None:
    seen: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Any:
        seen.append(error)
        return c.text("own", 421)

    app = app_with("example.com")
    app.on_error(on_error)
    assert ask(run, app, "other.example")[:2] == (421, "own")
    assert isinstance(seen[0], HTTPException)
    assert str(seen[0]) == "400 Invalid Host header"


def test_it_can_be_used_for_a_part_of_the_app(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use("/admin/*", trusted_hosts("admin.example.com"))
    app.get("/*", lambda c: c.text("inside"))
    assert ask(run, app, "example.com", path="/health")[:2] == INSIDE
    assert ask(run, app, "example.com", path="/admin/x")[:2] == REFUSED


def test_it_says_which_answers_it_makes() -> None:
    assert get_facts(trusted_hosts("a")).responses == {
        400: "The Host header is malformed, or names another host"
    }


# --- redirects ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "status"),
    [("GET", 301), ("HEAD", 301), ("POST", 308), ("PUT", 308), ("OPTIONS", 308), ("PURGE", 308)],
)
def test_redirect_www(run: Callable[..., Any], method: str, status: int) -> None:
    app = app_with("www.example.com", "*.example.org", redirect_www=True)
    answer = ask(run, app, "example.com", method=method, path="/a%2Fb/c", query=b"d=%20&e")
    assert answer == (status, "", "//www.example.com/a%2Fb/c?d=%20&e")
    assert ask(run, app, "www.example.com", method=method)[0] == 200


@pytest.mark.parametrize(
    ("host", "location"),
    [
        ("example.com", "//www.example.com/"),
        ("EXAMPLE.com.", "//www.example.com/"),
        ("example.com:8000", "//www.example.com:8000/"),
        ("sub.example.net", "//www.sub.example.net/"),
    ],
)
def test_where_it_redirects_to(run: Callable[..., Any], host: str, location: str) -> None:
    app = app_with("www.example.com", "www.sub.example.net", redirect_www=True)
    for scheme in ("http", "https"):
        assert ask(run, app, host, scheme=scheme) == (301, "", location)


@pytest.mark.parametrize("root_path", ["", "/root", "/a b"])
def test_the_redirect_of_a_mounted_app_keeps_the_prefix(
    run: Callable[..., Any], root_path: str
) -> None:
    app, middle = Kit(), Kit()
    middle.mount("/é", app_with("www.example.com", redirect_www=True).fetch)
    app.mount("/k", middle.fetch)
    path = f"{quote(root_path)}/k/%C3%A9/x"
    answer = ask(run, app, "example.com", path=path, root_path=root_path)
    assert answer == (301, "", f"//www.example.com{path}")
    # The URL of an app that isn't mounted has the root path.
    app = app_with("www.example.com", redirect_www=True)
    answer = ask(run, app, "example.com", path=path, root_path=root_path)
    assert answer == (301, "", f"//www.example.com{path}")


async def test_names_that_clients_choose_are_not_kept_without_limit() -> None:
    app = app_with("*.example.org")
    tail = ".".join(["x" * 60] * 3) + ".example.org"
    await served(app, f"start.{tail}")
    tracemalloc.start()
    try:
        for number in range(2000):
            assert (await served(app, f"h{number}.{tail}"))[0] == 200
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 150_000  # 2,000 names alone are more than 400,000 bytes


@pytest.mark.parametrize(
    "host", ["example.org", "other.example", "a.example.com", "example.com@x", "example.com/x", ""]
)
def test_nothing_else_is_redirected(run: Callable[..., Any], host: str) -> None:
    app = app_with("www.example.com", "*.example.org", redirect_www=True)
    assert ask(run, app, host) == (*REFUSED, None)


def test_what_is_trusted_is_not_redirected(run: Callable[..., Any]) -> None:
    app = app_with("www.a.example.com", "*.example.com", "www.b.example", redirect_www=True)
    assert ask(run, app, "a.example.com") == (*INSIDE, None)
    app = app_with("www.example.com")
    assert ask(run, app, "example.com") == (*REFUSED, None)


@pytest.mark.parametrize("path", ["//other.example/", "/\\other.example", "/@other.example", "/."])
def test_the_redirect_stays_on_its_host(run: Callable[..., Any], path: str) -> None:
    app = app_with("www.example.com", redirect_www=True)
    status, _, location = ask(run, app, "example.com", path=path)
    assert status == 301
    assert location is not None
    assert location.startswith("//www.example.com/")


def test_a_target_that_is_no_path_is_refused(run: Callable[..., Any]) -> None:
    app = app_with("www.example.com", redirect_www=True)
    status, _, location = ask(run, app, "example.com", path="@other.example/", method="POST")
    assert (status, location) == (400, None)


# --- options ------------------------------------------------------------------------------------

EXAMPLES = "expected a host such as 'example.com', '*.example.com' or '[2001:db8::1]'"
IPV4 = "expected an IPv4 address with four decimal numbers, e.g. '192.0.2.1'"
NOTHING = (
    "trusted_hosts(redirect_www=True) has nothing to redirect: "
    "expected a host such as 'www.example.com' without 'example.com'"
)


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ((7,), "trusted_hosts() takes each host as a str, not 7"),
        ((b"a",), "trusted_hosts() takes each host as a str, not b'a'"),
        (
            (["a", "b"],),
            "trusted_hosts() takes each host as a str, not ['a', 'b']; write trusted_hosts(*hosts)",
        ),
        ((), "trusted_hosts() takes at least one host, but got none"),
        (("*",), "trusted_hosts('*') would trust every host: leave the middleware out"),
        (("a", "*"), "trusted_hosts('*') would trust every host: leave the middleware out"),
        (("",), f"trusted_hosts('') can't be used: {EXAMPLES}"),
        (("*.",), f"trusted_hosts('*.') can't be used: {EXAMPLES}"),
        (("*.*.example.com",), f"trusted_hosts('*.*.example.com') can't be used: {EXAMPLES}"),
        (("a.*.example.com",), f"trusted_hosts('a.*.example.com') can't be used: {EXAMPLES}"),
        (("*example.com",), f"trusted_hosts('*example.com') can't be used: {EXAMPLES}"),
        ((".example.com",), f"trusted_hosts('.example.com') can't be used: {EXAMPLES}"),
        (("example.com ",), f"trusted_hosts('example.com ') can't be used: {EXAMPLES}"),
        (("-a.example",), f"trusted_hosts('-a.example') can't be used: {EXAMPLES}"),
        (("[::1",), f"trusted_hosts('[::1') can't be used: {EXAMPLES}"),
        (("[::1%eth0]",), f"trusted_hosts('[::1%eth0]') can't be used: {EXAMPLES}"),
        (("*.[::1]",), f"trusted_hosts('*.[::1]') can't be used: {EXAMPLES}"),
        (
            ("bücher.example",),
            "trusted_hosts('bücher.example') can't be used: "
            "expected punycode, 'xn--bcher-kva.example'",
        ),
        (
            ("*.STRAßE.example",),
            "trusted_hosts('*.STRAßE.example') can't be used: "
            "expected punycode, '*.xn--strae-oqa.example'",
        ),
        *(
            (
                (url,),
                f"trusted_hosts({url!r}) can't be used: "
                "expected a host without the scheme 'https', 'example.com'",
            )
            for url in ("https://example.com/a", "https://example.com")
        ),
        (
            ("example.com:8000",),
            "trusted_hosts('example.com:8000') can't be used: "
            "ports are ignored, so expected 'example.com'",
        ),
        (
            ("*.example.com:8000",),
            "trusted_hosts('*.example.com:8000') can't be used: "
            "ports are ignored, so expected '*.example.com'",
        ),
        (
            ("[::1]:8000",),
            "trusted_hosts('[::1]:8000') can't be used: ports are ignored, so expected '[::1]'",
        ),
        (
            ("2001:DB8::0:1",),
            "trusted_hosts('2001:DB8::0:1') can't be used: "
            "expected an IPv6 address in brackets, '[2001:db8::1]'",
        ),
        (("127.1",), f"trusted_hosts('127.1') can't be used: {IPV4}"),
        (("192.0.2.256",), f"trusted_hosts('192.0.2.256') can't be used: {IPV4}"),
        (("0x7f000001",), f"trusted_hosts('0x7f000001') can't be used: {IPV4}"),
        (("*.0.0.1",), f"trusted_hosts('*.0.0.1') can't be used: {IPV4}"),
    ],
)
def test_wrong_hosts_are_refused(hosts: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        trusted_hosts(*hosts)
    assert str(raised.value) == text
    assert (raised.type is TypeError) == ("takes each host" in text)


@pytest.mark.parametrize(
    ("hosts", "redirect_www", "text"),
    [
        (("a",), "yes", "trusted_hosts(redirect_www=...) takes a bool, not 'yes'"),
        (("example.com",), True, NOTHING),
        (("example.com", "www.example.com"), True, NOTHING),
        (("www.example.com", "*.com"), True, NOTHING),
        (("*.example.com",), True, NOTHING),
    ],
)
def test_wrong_redirects_are_refused(hosts: Any, redirect_www: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        trusted_hosts(*hosts, redirect_www=redirect_www)
    assert str(raised.value) == text


def test_hosts_may_be_written_as_in_a_browser(run: Callable[..., Any]) -> None:
    app = app_with("EXAMPLE.com.", "*.Example.ORG", "[2001:DB8::0001]")
    for host in ("example.com", "a.example.org", "[2001:db8::1]"):
        assert ask(run, app, host)[:2] == INSIDE


labels = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)


@given(st.lists(labels, min_size=1, max_size=3).map(".".join), st.text(max_size=30), st.text())
def test_only_what_ends_in_the_trusted_name_gets_in(below: str, before: str, after: str) -> None:
    import asyncio

    app = app_with("example.com", "*.example.com")
    assert asyncio.run(served(app, f"{below}.example.com"))[:2] == INSIDE
    host = (before + "example.com" + after).encode("utf-8", "replace").replace(b"?", b"")
    name = host.decode("latin-1").lower().partition(":")[0].removesuffix(".")
    expected = INSIDE if name == "example.com" or name.endswith(".example.com") else REFUSED
    got = asyncio.run(served(app, host))[:2]
    assert got in (expected, REFUSED)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "trusted-hosts") is trusted_hosts
