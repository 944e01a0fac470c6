# SPDX-License-Identifier: MIT
"""kit-proxy beside nginx in front of the same upstream server, request by request.

Each difference that is meant is in `ADDED` or `NGINX_PASSES`, with its reason.
"""

from __future__ import annotations

import http.client
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import nginx
import pytest
from ports import free_port
from serving import ServedApp

pytestmark = [
    pytest.mark.slow,
    pytest.mark.once,
    pytest.mark.skipif(nginx.missing() is not None, reason=str(nginx.missing())),
]

CONFIG = """
daemon off;
master_process off;
pid {own}/pid;
error_log stderr crit;
events {{ worker_connections 64; }}
http {{
    access_log off;
    absolute_redirect off;
    client_body_temp_path {own}/body;
    proxy_temp_path {own}/proxy;
    fastcgi_temp_path {own}/fastcgi;
    uwsgi_temp_path {own}/uwsgi;
    scgi_temp_path {own}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location /api/ {{
            proxy_pass http://127.0.0.1:{upstream}/base/;
            proxy_redirect default;
            proxy_redirect /base/ /api/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_request_buffering off;
        }}
    }}
}}
"""
# What kit-proxy adds; nginx adds it if the configuration says so.
ADDED = {
    "forwarded",
    "via",
    *(f"x-forwarded-{each}" for each in ("for", "host", "proto", "prefix")),
}
# RFC 9110 section 7.6.1 has a proxy remove these.
NGINX_PASSES = {"proxy-authorization", "proxy-connection", "trailer", "x-named", "http2-settings"}
COMPARED = ("content-length", "content-encoding", "content-type", "etag", "location", "set-cookie")

REQUESTS: list[tuple[str, str, dict[str, str], Any]] = [
    ("GET", "/api/fields/x?a=1&b=%20+&c", {}, None),
    ("GET", "/api/fields/%E2%82%AC/a+b;c=d@e", {"Accept-Encoding": "br", "Cookie": "a=1"}, None),
    ("PROPFIND", "/api/fields/x", {"Depth": "1"}, None),
    ("OPTIONS", "/api/fields/x", {"Origin": "http://a.example"}, None),
    ("POST", "/api/fields/x", {}, b"body"),
    ("POST", "/api/fields/x", {}, b""),
    ("PUT", "/api/fields/x", {"Transfer-Encoding": "chunked"}, [b"in ", b"chunks"]),
    ("DELETE", "/api/fields/x", {}, None),
    ("GET", "/api/fields/x", {"Range": "bytes=0-1", "If-None-Match": '"a"'}, None),
    ("GET", "/api/fields/x", {"Connection": "close, X-Named", "X-Named": "1"}, None),
    ("GET", "/api/fields/x", {"Connection": "TE", "TE": "trailers", "Trailer": "x"}, None),
    ("GET", "/api/fields/x", {"Keep-Alive": "timeout=5", "Proxy-Connection": "close"}, None),
    ("GET", "/api/fields/x", {"Proxy-Authorization": "Basic x", "Authorization": "Basic y"}, None),
    ("GET", "/api/fields/x", {"Upgrade": "h2c", "HTTP2-Settings": "AA"}, None),
    *(("GET", f"/api/status/{status}", {}, None) for status in (200, 201, 204, 302, 304, 404, 503)),
    ("HEAD", "/api/bytes/131072", {}, None),
    ("GET", "/api/bytes/131072", {}, None),
    ("GET", "/api/encoded", {}, None),
]


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """The ports of kit-proxy and of nginx."""
    logs = tmp_path_factory.mktemp("logs")
    with (
        ServedApp("uvicorn", "proxy_app:upstream", logs / "upstream") as upstream,
        ServedApp(
            "uvicorn",
            "proxy_app:app",
            logs / "proxy",
            environment={"UPSTREAM": str(upstream.port)},
        ) as served,
        tempfile.TemporaryDirectory() as folder,
    ):
        os.chmod(folder, 0o755)
        port, own = free_port(), Path(folder) / "own"
        own.mkdir()
        config = CONFIG.format(own=own, port=port, upstream=upstream.port)
        with nginx.NginxProcess(config, port, own):
            yield served.port, port


def ask(port: int, method: str, target: str, headers: dict[str, str], body: Any) -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(
            method, target, body, {"Host": "public.example", **headers}, encode_chunked=True
        )
        response = connection.getresponse()
        content = response.read()
    shown = {name: response.headers.get_all(name) for name in COMPARED}
    if response.headers.get_content_type() == "application/json" and content:
        seen = json.loads(content)
        shown.pop("content-length")  # of what is compared below
        seen["lines"] = sorted(
            tuple(line) for line in seen["lines"] if line[0] not in ADDED | NGINX_PASSES
        )
        return response.status, shown, seen
    return response.status, shown, content


@pytest.mark.parametrize(
    "request_", REQUESTS, ids=[f"{each[0]} {each[1]} {[*each[2]]}" for each in REQUESTS]
)
def test_as_nginx_does(ports: tuple[int, int], request_: Any) -> None:
    by_kit, by_nginx = (ask(port, *request_) for port in ports)
    assert by_kit == by_nginx


def test_where_nginx_differs(ports: tuple[int, int]) -> None:
    """The differences are there: otherwise the sets above hide something."""
    headers = {"Connection": "close, X-Named", "X-Named": "1", "Proxy-Authorization": "x"}
    seen = []
    for port in ports:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
            connection.request("GET", "/api/fields/x", headers=headers)
            found = json.loads(connection.getresponse().read())
            seen.append({name for name, _ in found["lines"]})
    by_kit, by_nginx = seen
    assert {"x-named", "proxy-authorization"} <= by_nginx - by_kit
    assert by_kit - by_nginx >= {"via", "forwarded"}
