# SPDX-License-Identifier: MIT
"""Key sets that are fetched over TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from jwt_keys import pem, private_key, public_jwk

from kit.jwk import JwksUnavailableError, jwk, verify_with_jwks
from kit.jwt import sign

KEY = private_key("ES256")
TOKEN = sign({"sub": "ann"}, KEY, "ES256", header={"kid": "1"})


def certificate() -> bytes:
    """A certificate that 127.0.0.1 has issued to itself, in PEM with its private key."""
    from cryptography.hazmat.primitives.serialization import Encoding

    name = x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, KEY.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=True
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(KEY, SHA256())
    )
    return made.public_bytes(Encoding.PEM) + pem(KEY).encode()


class Handler(BaseHTTPRequestHandler):
    drips = False
    left = Event()

    def do_GET(self) -> None:
        if self.drips:
            self.drip()
            return
        body = json.dumps({"keys": [public_jwk("ES256", kid="1")]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self) -> None:
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while True:
                self.wfile.write(b" ")
                self.left.wait(0.001)
        except OSError:
            self.left.set()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def handler() -> type[Handler]:
    class Own(Handler):
        left = Event()

    return Own


@pytest.fixture
def uri(tmp_path: Path, handler: type[Handler]) -> Iterator[str]:
    path = tmp_path / "issuer.pem"
    path.write_bytes(certificate())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # Handshakes in the threads of the requests, since a client that leaves fails in its own.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.handle_error = lambda *args: None  # type: ignore[method-assign]
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/jwks"
    server.shutdown()
    thread.join()
    server.server_close()


Run = Callable[..., Any]


def test_trusted_certificate(
    run: Run, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "issuer.pem"))

    async def main() -> None:
        claims = await verify_with_jwks(TOKEN, jwks_uri=uri, allowed_algorithms="ES256")
        assert claims == {"sub": "ann"}

    run(main)


def test_certificate_that_nobody_trusts(
    run: Run, uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        with pytest.raises(JwksUnavailableError):
            await verify_with_jwks(TOKEN, jwks_uri=uri, allowed_algorithms="ES256")

    run(main)
    assert "CERTIFICATE_VERIFY_FAILED" in caplog.text


def test_source_that_sends_byte_by_byte(
    run: Run,
    uri: str,
    handler: type[Handler],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kit import Kit

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "issuer.pem"))
    handler.drips = True
    app: Kit[Any, Any] = Kit()
    app.use(jwk(jwks_uri=uri, alg="ES256", timeout=1))

    async def main() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert (await app.request("/", {"headers": headers})).status == 503

    run(main)
    assert handler.left.wait(20)
