# SPDX-License-Identifier: MIT
"""HTTP/2 and HTTP/3: the servers that speak them serve a Kit app as they do by HTTP/1.1."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from ports import free_port
from serving import ServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.once]

PATIENCE_S = 15
APP = textwrap.dedent(
    """
    import anyio

    from kit import Kit

    app = Kit()
    app.get("/users/:id", lambda c: c.json([c.req.param("id"), c.req.query("q")]))
    app.get("/url", lambda c: c.json([c.req.url, c.req.raw.scope["http_version"]]))
    app.get("/cookies", lambda c: c.json(c.req.header("cookie")))


    @app.post("/echo")
    async def echo(c):
        return c.body(await c.req.bytes())


    @app.get("/stream")
    async def stream(c):
        async def chunks():
            for number in range(3):
                await anyio.sleep(0.01)
                yield f"{number};"

        return c.body(chunks())


    @app.get("/both")
    async def both(c):
        met["waiting"].set() if "waiting" in met else met.setdefault("waiting", anyio.Event())
        with anyio.fail_after(10):
            await met["waiting"].wait()
        return c.text("met")


    met = {}
    """
)
# What speaks HTTP/2 without TLS, to a client that knows it.
PLAIN = {
    "uvicorn": ["uvicorn", "--port={port}", "--http=zttp", "--http2", "app:app"],
    "anycorn": ["anycorn", "--bind=127.0.0.1:{port}", "app:app"],
    "anycorn-trio": ["anycorn", "--bind=127.0.0.1:{port}", "--worker-class=trio", "app:app"],
    "hypercorn": ["hypercorn", "--bind=127.0.0.1:{port}", "app:app"],
    "gunicorn": [
        "gunicorn",
        "--worker-class=asgi",
        "--bind=127.0.0.1:{port}",
        "--http-protocols=h2,h1",
        "--http2-cleartext=prior-knowledge",
        "app:app",
    ],
    "granian": ["granian", "--interface=asgi", "--http=2", "--port={port}", "app:app"],
}


def command(parts: list[str], port: int) -> list[str]:
    return [sys.executable, "-m", *(part.format(port=port) for part in parts)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app is, with a certificate for the loopback interface."""
    folder = tmp_path_factory.mktemp("http2")
    (folder / "app.py").write_text(APP)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    loopback = ipaddress.ip_address("127.0.0.1")
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(loopback)]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder


@pytest.fixture(scope="module", params=PLAIN)
def served(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """The URL of a server."""
    port = free_port()
    log = folder / f"{request.param}.log"
    with ServerProcess(command(PLAIN[request.param], port), port, log, folder=folder):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def client(served: str) -> Iterator[httpx.Client]:
    """Speaks HTTP/2 from its first byte on."""
    with httpx.Client(
        base_url=served, http1=False, http2=True, timeout=PATIENCE_S, verify=False
    ) as client:
        yield client


def test_requests(client: httpx.Client, request: pytest.FixtureRequest) -> None:
    response = client.get("/users/caf%C3%A9", params={"q": "a b"})
    assert (response.http_version, response.status_code) == ("HTTP/2", 200)
    # SPEC: ASGI: the path is decoded. gunicorn 27.0 doesn't decode it in HTTP/2; docs/deployment.md
    # says so.
    is_decoded = request.node.callspec.params["served"] != "gunicorn"
    assert response.json() == ["café" if is_decoded else "caf%C3%A9", "a b"]
    assert client.get("/nowhere").status_code == 404
    assert client.head("/users/7").content == b""
    url, version = client.get("/url").json()
    assert (url, version) == (f"{client.base_url}/url".replace("//url", "/url"), "2")


def test_bodies_both_ways(client: httpx.Client) -> None:
    body = b"0123456789" * 200_000
    assert client.post("/echo", content=body).content == body
    parts = (body[start : start + 50_000] for start in range(0, len(body), 50_000))
    assert client.post("/echo", content=parts).content == body
    assert client.get("/stream").text == "0;1;2;"


def test_cookies_in_several_fields_are_one(client: httpx.Client) -> None:
    """SPEC: RFC 9113 section 8.2.3: clients may split the field, servers join it."""
    headers = [("cookie", "a=1"), ("cookie", "b=2")]
    assert client.get("/cookies", headers=headers).json() in ("a=1; b=2", "a=1, b=2")


async def test_requests_on_one_connection_run_side_by_side(served: str) -> None:
    limits = httpx.Limits(max_connections=1)
    async with httpx.AsyncClient(
        base_url=served, http1=False, http2=True, timeout=PATIENCE_S, limits=limits, verify=False
    ) as client:
        first, second = await asyncio.gather(client.get("/both"), client.get("/both"))
    assert (first.text, second.text) == ("met", "met")


class Http3Client(QuicConnectionProtocol):
    """Sends requests by HTTP/3."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._http = H3Connection(self._quic)
        self._events: dict[int, list[H3Event]] = {}
        self._waiting: dict[int, asyncio.Future[list[H3Event]]] = {}

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Returns the status and the body of the response."""
        stream = self._quic.get_next_available_stream_id()
        self._events[stream] = []
        self._waiting[stream] = asyncio.get_running_loop().create_future()
        fields = {":method": method, ":scheme": "https", ":authority": "localhost", ":path": path}
        headers = [(name.encode(), value.encode()) for name, value in fields.items()]
        self._http.send_headers(stream, headers, end_stream=not body)
        if body:
            self._http.send_data(stream, body, end_stream=True)
        self.transmit()
        events = await asyncio.wait_for(self._waiting[stream], PATIENCE_S)
        [head] = [dict(each.headers) for each in events if isinstance(each, HeadersReceived)]
        data = b"".join(each.data for each in events if isinstance(each, DataReceived))
        return int(head[b":status"]), data

    def quic_event_received(self, event: QuicEvent) -> None:
        for each in self._http.handle_event(event):
            if isinstance(each, HeadersReceived | DataReceived):
                self._events[each.stream_id].append(each)
                if each.stream_ended:
                    self._waiting[each.stream_id].set_result(self._events[each.stream_id])


@pytest.mark.parametrize("worker", ["asyncio", "trio"])
async def test_http3_of_anycorn(folder: Path, worker: str) -> None:
    port, quic = free_port(), free_port()
    parts = [
        "anycorn",
        "--bind=127.0.0.1:{port}",
        f"--quic-bind=127.0.0.1:{quic}",
        "--certfile=cert.pem",
        "--keyfile=key.pem",
        f"--worker-class={worker}",
        "app:app",
    ]
    settings = QuicConfiguration(is_client=True, alpn_protocols=H3_ALPN)
    settings.load_verify_locations(str(folder / "cert.pem"))
    create: Callable[..., QuicConnectionProtocol] = Http3Client
    with ServerProcess(command(parts, port), port, folder / "quic.log", folder=folder):
        async with connect(
            "127.0.0.1", quic, configuration=settings, create_protocol=create
        ) as client:
            assert isinstance(client, Http3Client)
            assert await client.ask("GET", "/url") == (200, b'["https://localhost/url","3"]')
            body = b"0123456789" * 20_000
            assert await client.ask("POST", "/echo", body) == (200, body)
            assert await client.ask("GET", "/stream") == (200, b"0;1;2;")
            assert (await client.ask("GET", "/nowhere"))[0] == 404
        # It tells clients of HTTP/1.1 and HTTP/2 where to find it.
        verify = ssl.create_default_context(cafile=folder / "cert.pem")
        async with httpx.AsyncClient(verify=verify) as http:
            response = await http.get(f"https://127.0.0.1:{port}/url")
        assert f'h3=":{quic}"' in response.headers["alt-svc"]
