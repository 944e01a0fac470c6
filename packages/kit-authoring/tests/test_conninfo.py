# SPDX-License-Identifier: MIT
"""The client's address, from what servers put into the ASGI scope."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from kit import Kit
from kit.conninfo import ConnInfo, RemoteAddress, get_conn_info


async def served(**scope: Any) -> ConnInfo:
    """What a handler finds when a server calls the app with these fields in the scope."""
    found: list[ConnInfo] = []
    app = Kit()

    @app.get("/")
    def handler(c: Any) -> Any:
        found.append(get_conn_info(c))
        return c.body(None)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        pass

    base = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": [],
    }
    await app({**base, **scope}, receive, send)
    return found[0]


# The comments name servers that were seen to send this.
@pytest.mark.parametrize(
    ("scope", "address", "port", "transport"),
    [
        # uvicorn, hypercorn
        pytest.param(
            {"client": ("127.0.0.1", 5000), "server": ("127.0.0.1", 80)},
            *("127.0.0.1", 5000, "tcp"),
            id="IPv4",
        ),
        pytest.param({"client": ["::1", 5000]}, "::1", 5000, "tcp", id="IPv6, a list"),
        # granian
        pytest.param(
            {"client": ("127.0.0.1", "5000"), "server": ("127.0.0.1", "80")},
            *("127.0.0.1", 5000, "tcp"),
            id="port as text",
        ),
        pytest.param(
            {"client": ("192.0.2.1", 5000), "http_version": "2"},
            *("192.0.2.1", 5000, "tcp"),
            id="HTTP/2",
        ),
        pytest.param(
            {"client": ("192.0.2.1", 5000), "http_version": "3"},
            *("192.0.2.1", 5000, "udp"),
            id="HTTP/3",
        ),
        # uvicorn, hypercorn and granian, from a header of a proxy that they trust
        pytest.param(
            {"client": ("192.0.2.1", 0), "server": ("127.0.0.1", 80)},
            *("192.0.2.1", None, None),
            id="behind a proxy",
        ),
        pytest.param(
            {"client": ("192.0.2.1", 0), "server": ("/run/app.sock", None)},
            *("192.0.2.1", None, None),
            id="behind a proxy on a Unix socket",
        ),
        # uvicorn
        pytest.param(
            {"client": None, "server": ("/run/app.sock", None)},
            *(None, None, "unix"),
            id="Unix socket",
        ),
        # granian
        pytest.param(
            {"client": ("", "0"), "server": ("/run/app.sock", "0")},
            *(None, None, "unix"),
            id="Unix socket, empty address",
        ),
        # hypercorn on a Unix socket
        pytest.param({"client": None, "server": None}, None, None, None, id="None"),
        pytest.param({}, None, None, None, id="left out"),
        pytest.param({"server": ("127.0.0.1", 80)}, None, None, None, id="no client"),
        # Starlette's test client
        pytest.param({"client": ("testclient", 50000)}, "testclient", 50000, "tcp", id="a name"),
    ],
)
async def test_what_the_server_tells(
    scope: dict[str, Any], address: str | None, port: int | None, transport: Any
) -> None:
    info = await served(**scope)
    assert info == ConnInfo(RemoteAddress(address, port, transport))
    remote = info.remote
    assert (remote.address, remote.port, remote.transport) == (address, port, transport)


async def test_in_process_nothing_is_known() -> None:
    app = Kit().get("/", lambda c: c.text(repr(get_conn_info(c))))
    response = await app.request("/", {"headers": {"x-forwarded-for": "192.0.2.1"}})
    assert await response.text() == (
        "ConnInfo(remote=RemoteAddress(address=None, port=None, transport=None))"
    )


async def test_headers_are_not_trusted() -> None:
    headers = [(b"x-forwarded-for", b"192.0.2.1"), (b"forwarded", b"for=192.0.2.1")]
    info = await served(client=("127.0.0.1", 5000), headers=headers)
    assert info.remote.address == "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", "IPv4"),
        ("255.255.255.255", "IPv4"),
        ("::1", "IPv6"),
        ("2001:db8::7", "IPv6"),
        ("fe80::1%eth0", "IPv6"),
        ("::ffff:192.0.2.1", "IPv6"),
        ("256.0.0.1", None),
        ("[::1]", None),
        ("testclient", None),
        ("/run/app.sock", None),
        ("", None),
        (None, None),
    ],
)
def test_address_type(address: str | None, expected: str | None) -> None:
    assert RemoteAddress(address).address_type == expected


def test_values() -> None:
    remote = RemoteAddress("192.0.2.1", 5000, "tcp")
    assert remote == RemoteAddress(address="192.0.2.1", port=5000, transport="tcp")
    assert hash(ConnInfo(remote)) == hash(copy.deepcopy(ConnInfo(remote)))
    for change in ("address", "port", "transport"):
        with pytest.raises(FrozenInstanceError):
            setattr(remote, change, None)
    with pytest.raises(FrozenInstanceError):
        ConnInfo(remote).remote = remote  # type: ignore[misc]
