# SPDX-License-Identifier: MIT
"""Reads a document over HTTP, without a client library.

Imported when the first document is fetched, since programs without a remote key set need neither
http nor ssl.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

MOST_BYTES = 512 * 1024
_CHUNK_BYTES = 65536
_HEADERS = {
    "Accept": "application/jwk-set+json, application/json",
    # Firewalls in front of many issuers answer the default, `Python-urllib`, with a 403.
    "User-Agent": "kit-jwt",
}


def read(uri: str, timeout_s: float) -> bytes:
    """Reads a document; see `fetch_keys`."""
    deadline = _Deadline(timeout_s)
    # APPSEC: the caller has checked the URI; a redirect could lead anywhere.
    opener = build_opener(_NoRedirection, _Http(deadline), _Https(deadline))
    request = Request(uri, headers=_HEADERS)  # noqa: S310
    with deadline:
        try:
            response = opener.open(request, timeout=timeout_s)
        except HTTPError as error:
            with error:  # closes the connection
                raise OSError(f"the status is {error.code}, expected 200") from None
        with response:
            if response.status != 200:
                raise OSError(f"the status is {response.status}, expected 200")
            return _body(response, deadline)


def _body(response: HTTPResponse, deadline: _Deadline) -> bytes:
    body = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        body += chunk
        if len(body) > MOST_BYTES:
            raise ValueError(f"the key set is larger than {MOST_BYTES} bytes")
    deadline.check()
    return bytes(body)


class _Deadline:
    """Closes the connection of a request that takes too long.

    The timeout of a socket restarts with every byte, so a source that sends byte by byte could keep
    the thread busy forever.

    Args:
        timeout_s: Seconds that the request may take.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._timer = Timer(timeout_s, self._end)
        self._timer.daemon = True
        self._connections: list[socket] = []
        self._is_over = False

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *args: object) -> None:
        self._timer.cancel()

    def watch(self, connection: socket) -> None:
        """Closes this connection when the timeout expires."""
        self._connections.append(connection)
        self.check()  # the timeout may have expired before there was a socket

    def check(self) -> None:
        """Raises an OSError if the timeout has expired."""
        if self._is_over:
            raise OSError(f"the key set takes longer than {self._timeout_s:g} seconds")

    def _end(self) -> None:
        self._is_over = True
        for connection in self._connections:
            with suppress(OSError):  # it may be closed already
                # SSLSocket.shutdown would let the reading thread continue without decryption.
                socket.shutdown(connection, SHUT_RDWR)


class _Connection(HTTPConnection):
    def __init__(self, *args: Any, deadline: _Deadline, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.watch(self.sock)


class _TlsConnection(_Connection, HTTPSConnection):
    pass


class _Http(HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_Connection, deadline=self._deadline), req)


class _Https(HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_TlsConnection, deadline=self._deadline), req)


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None
