# SPDX-License-Identifier: MIT
"""What RSGI does in its own way, on a real granian; test_servers.py has what is the same."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import documents
import httpx
import pytest
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from ports import free_port
from servers import command
from serving import ServerProcess

pytestmark = pytest.mark.once

PATIENCE_S = 20
SHORT_S = 0.5  # for what would wait forever
APP = """
import asyncio

from behind_proxy import BehindProxy
from kit import Kit

site = Kit()
goes_on = asyncio.Event()


async def part():
    yield b"part"
    raise ValueError("broken")


@site.get("/broken")
def broken(c):
    return c.body(part())


@site.get("/short")
def short(c):
    return c.body(part(), headers={"content-length": "9"})


@site.get("/late")
def late(c):
    async def whole():
        try:
            yield b"whole"
            await asyncio.get_running_loop().create_future()
        finally:
            await goes_on.wait()
            raise ValueError("late")

    return c.body(whole(), headers={"content-length": "5"})


@site.get("/slow")
async def slow(c):
    others = len(asyncio.all_tasks())
    goes_on.set()
    while len(asyncio.all_tasks()) == others and c.req.query("other") == "ends":
        await asyncio.sleep(0)
    return c.text("slow")


@site.get("/tasks")
def tasks(c):
    return c.text(str(len(asyncio.all_tasks())))


@site.post("/size")
async def size(c):
    return c.text(str(len(await c.req.bytes())))


@site.post("/stream")
async def stream(c):
    return c.text(str(sum([len(chunk) async for chunk in c.req.raw.body])))


left = asyncio.Queue()


@site.post("/leave")
async def leave(c):
    await left.put("nobody")
    try:
        await c.req.bytes()
    except BaseException as error:
        await left.put(type(error).__name__)
        raise


@site.get("/left")
async def who_left(c):
    return c.text(await left.get())


@site.get("/other")
async def other(c):
    await asyncio.sleep(0)
    return c.text("other")
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("rsgi")
    blocks = documents.read("docs/deployment.md").blocks
    [wrapper] = [block.text for block in blocks if block.title == "behind_proxy.py"]
    (folder / "behind_proxy.py").write_text(wrapper)
    app = APP + '\nsite.route("/", __import__("behind_proxy").site)\n'
    (folder / "app.py").write_text(app + 'app = BehindProxy(site, "127.0.0.1")\n')
    port = free_port()
    line = command("granian-rsgi", "app:app", port)
    with ServerProcess(line, port, folder / "log", folder=folder):
        yield f"http://127.0.0.1:{port}"


# The first, since it counts what waits.
def test_failed_stream_is_forgotten_when_its_client_leaves(url: str) -> None:
    with httpx.Client(base_url=url, timeout=PATIENCE_S, verify=False) as client:

        def counts() -> Iterator[int]:
            for _ in range(1000):
                yield int(client.get("/tasks").text)

        before = min(counts())  # beginning, a server has more
        with httpx.stream("GET", f"{url}/broken", timeout=PATIENCE_S, verify=False) as response:
            chunks = response.iter_bytes()  # httpx closes the connection with its iterator
            assert next(chunks) == b"part"
            assert any(count > before for count in counts())
        assert any(count <= before for count in counts()), "something still waits for the client"


def test_failed_stream_never_ends(url: str) -> None:
    with (
        pytest.raises(httpx.ReadTimeout),
        httpx.Client(base_url=url, timeout=SHORT_S, verify=False) as client,
    ):
        client.get("/broken")


def test_failed_stream_of_known_length_is_seen_to_be_short(url: str) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{url}/short", timeout=PATIENCE_S, verify=False)


async def test_failed_stream_leaves_others_of_its_connection_alone(url: str) -> None:
    async with (
        httpx.AsyncClient(
            base_url=url, timeout=PATIENCE_S, http1=False, http2=True, verify=False
        ) as client,
        client.stream("GET", "/broken") as response,
    ):
        assert await anext(response.aiter_bytes()) == b"part"
        others = await asyncio.gather(*[client.get("/other") for _ in range(5)])
    assert [(each.text, each.http_version) for each in others] == [("other", "HTTP/2")] * 5


def test_stream_that_fails_after_its_end_leaves_the_next_request_alone(url: str) -> None:
    with httpx.Client(base_url=url, timeout=PATIENCE_S, verify=False) as client:
        assert client.get("/late").text == "whole"
        assert client.get("/slow?other=ends").text == "slow"


@pytest.mark.parametrize(
    ("forwarded", "seen"),
    [
        ([], ("http", "127.0.0.1")),
        ([("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")], "203.0.113.9"),
        (
            [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", "192.0.2.2, 203.0.113.9")],
            None,
        ),
        ([("x-forwarded-for", "2001:db8::1"), ("x-forwarded-proto", "https")], "2001:db8::1"),
        ([("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "file")], None),
    ],
)
def test_documented_wrapper(url: str, forwarded: list[tuple[str, str]], seen: object) -> None:
    answer = httpx.get(f"{url}/", headers=forwarded, timeout=PATIENCE_S, verify=False).json()
    is_forwarded = isinstance(seen, str)
    assert answer["client"] == (seen if is_forwarded else "127.0.0.1")
    assert answer["url"] == (url.replace("http:", "https:") if is_forwarded else url) + "/"


@pytest.mark.parametrize("path", ["/size", "/stream"])
@pytest.mark.parametrize("size", [0, 1, 16_384, 300_000])
async def test_streamed_upload_over_http_2(url: str, path: str, size: int) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(size // 10_000):
            yield b"x" * 10_000
        yield b"x" * (size % 10_000)

    options = {"base_url": url, "timeout": PATIENCE_S, "http1": False, "http2": True}
    options["verify"] = False
    async with httpx.AsyncClient(**options) as client:  # type: ignore[arg-type]
        response = await client.post(path, content=chunks())
    assert (response.status_code, response.text) == (200, str(size))


def h2_upload(url: str, *headers: tuple[str, str]) -> tuple[socket.socket, H2Connection]:
    """Opens a connection with an upload over HTTP/2 that has begun."""
    address = urlsplit(url)
    peer = socket.create_connection((address.hostname, address.port), PATIENCE_S)
    connection = H2Connection()
    connection.initiate_connection()
    head = [(":method", "POST"), (":path", "/leave"), (":authority", "x"), (":scheme", "http")]
    connection.send_headers(1, [*head, *headers])
    connection.send_data(1, b"abc")
    peer.sendall(connection.data_to_send())
    return peer, connection


@pytest.mark.parametrize("headers", [[], [("content-length", "9")]])
@pytest.mark.parametrize("resets", [True, False])
def test_client_that_leaves_within_an_upload_over_http_2(
    url: str, headers: list[tuple[str, str]], resets: bool
) -> None:
    def who_left() -> str:
        return httpx.get(f"{url}/left", timeout=PATIENCE_S, verify=False).text

    peer, connection = h2_upload(url, *headers)
    with peer:
        assert who_left() == "nobody"  # until now, the server may drop a request that is reset
        if resets:
            connection.reset_stream(1, ErrorCodes.CANCEL)
            peer.sendall(connection.data_to_send())
            assert who_left() == "ClientDisconnectedError"
    if not resets:
        assert who_left() == "ClientDisconnectedError"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("version", ["--http1.1", "--http2-prior-knowledge"])
@pytest.mark.parametrize("sent", [b"", b"x" * 100_000])
def test_upload_of_curl(url: str, version: str, sent: bytes) -> None:
    line = ["curl", "-sS", version, "-X", "POST", "-T", "-", f"{url}/size"]
    found = subprocess.run(line, input=sent, capture_output=True, check=True, timeout=PATIENCE_S)
    assert found.stdout == str(len(sent)).encode()
