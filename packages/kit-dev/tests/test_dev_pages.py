# SPDX-License-Identifier: MIT
"""What `kit dev` adds: the script that reloads pages, and a line for each request.

All tests ask one app, by paths of their own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPMessage
from typing import Any

import pytest
from ports import free_port

# Processes, which behave alike on each interpreter.
pytestmark = pytest.mark.once

APP = """
import asyncio
from kit import Kit, Response

PAGE = "<!doctype html><title>x</title><p>Hello</p>"
app = Kit()

def add(path, body, **headers):
    async def show(c):
        fields = {name.replace("_", "-"): text for name, text in headers.items()}
        return Response(body, headers=fields)
    app.get(path, show)

HTML = "text/html; charset=utf-8"
add("/page", PAGE, content_type=HTML, content_length=str(len(PAGE)))
add("/fragment", "<p>Hello</p>", content_type=HTML)
add("/text", PAGE, content_type="text/plain")
add("/download", PAGE, content_type=HTML, content_disposition="attachment")
add("/compressed", PAGE, content_type=HTML, content_encoding="gzip")
POLICIES = [
    "default-src 'self'",
    "default-src 'none'; script-src 'self'; connect-src 'self'",
    "script-src 'nonce-abc' 'strict-dynamic'",
    "img-src 'none'; script-src *; script-src 'none'",
    "default-src 'none'",
    "script-src 'strict-dynamic'",
    "script-src 'self', script-src 'none'",
    "connect-src 'none'",
    "sandbox",
    "script-src 'nonce-a', script-src 'nonce-b'",
]
for number, policy in enumerate(POLICIES):
    add(f"/policy/{number}", PAGE, content_type=HTML, content_security_policy=policy)

@app.get("/stream")
async def stream(c):
    async def parts():
        yield PAGE.encode()
        await asyncio.sleep(0)
        yield b"<p>more</p>"
    return Response(parts(), headers={"content-type": HTML})

@app.all("/asked")
async def asked(c):
    return c.html(f"<!doctype html>{c.req.header('accept-encoding')}")

@app.get("/broken")
async def broken(c):
    raise ValueError("no <luck>")

def handled(error, c):
    return c.text("Internal Server Error", 500)

def mine(error, c):
    return c.text("mine", 500)

async def replaces(c, next):
    await next()
    c.res = c.html("<!doctype html>sorry", 500)

async def shares(c, next):
    await next()
    c.header("access-control-allow-origin", "https://elsewhere.example")
    c.header("access-control-allow-credentials", "true")

async def guards(c, next):
    await next()
    c.header("content-security-policy", "default-src 'none'")

for path, on_error, middleware in [
    ("/handled", handled, guards), ("/mine", mine, guards), ("/replaced", None, replaces),
    ("/guarded", None, guards), ("/shared", None, shares),
]:
    part = Kit()
    part.use(middleware)
    if on_error is not None:
        part.on_error(on_error)
    part.get("/", broken)
    app.route(path, part)
"""

Ask = Callable[..., tuple[int, HTTPMessage, str]]


@pytest.fixture(scope="module")
def process(kit_in: Callable[..., Any]) -> Any:
    started = kit_in({"app.py": APP}, "dev", "--port", "0")
    started.address()
    return started


@pytest.fixture
def ask(process: Any) -> Ask:
    def send(path: str, method: str = "GET", **headers: str) -> tuple[int, HTTPMessage, str]:
        with closing(HTTPConnection("")) as http:
            http.sock = process.connect()
            given = {"accept": "text/html", **headers}
            fields = {name.replace("_", "-"): text for name, text in given.items()}
            http.request(method, path, headers=fields)
            response = http.getresponse()
            return response.status, response.headers, response.read().decode()

    return send


TAG = re.compile(
    r'<script src="/__kit_dev/reload\.js" data-run="[0-9a-f]{16}"(?: nonce="(\w+)")?>'
    r"</script>\n$"
)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/page", {}),
        ("/page", {"sec_fetch_dest": "document"}),
        ("/page", {"sec_fetch_dest": "iframe"}),
        ("/fragment", {"sec_fetch_dest": "document"}),
        ("/stream", {}),
    ],
)
def test_pages_get_the_script(path: str, headers: dict[str, str], ask: Ask) -> None:
    _, fields, body = ask(path, **headers)
    assert TAG.search(body)
    assert body.startswith("<p>" if path == "/fragment" else "<!doctype html>")
    assert fields["content-length"] == (None if path == "/stream" else str(len(body)))


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/fragment", {}),
        ("/text", {"sec_fetch_dest": "document"}),
        ("/download", {"sec_fetch_dest": "document"}),
        ("/compressed", {"sec_fetch_dest": "document"}),
        ("/page", {"hx_request": "true"}),
        ("/page", {"sec_fetch_dest": "empty"}),
        ("/page", {"accept": "*/*"}),
    ],
)
def test_other_responses_are_left_alone(path: str, headers: dict[str, str], ask: Ask) -> None:
    _, fields, body = ask(path, **headers)
    assert "__kit_dev" not in body
    assert fields["content-length"] in (None, str(len(body)))


def test_pages_are_not_compressed_for_browsers(ask: Ask) -> None:
    said = {"accept_encoding": "gzip"}
    assert "None" in ask("/asked", sec_fetch_dest="document", **said)[2]
    assert "None" in ask("/asked", accept="text/html,*/*", **said)[2]
    assert ask("/asked", accept="application/json", **said)[2].startswith("<!doctype html>gzip")
    assert ask("/asked", "POST", sec_fetch_dest="document", **said)[2] == "<!doctype html>gzip"


@pytest.mark.parametrize(("number", "nonce"), [(0, None), (1, None), (2, "abc"), (3, None)])
def test_policies_that_allow_the_script(number: int, nonce: str | None, ask: Ask) -> None:
    found = TAG.search(ask(f"/policy/{number}")[2])
    assert found is not None
    assert found[1] == nonce


def test_policies_that_forbid_the_script(process: Any, ask: Ask) -> None:
    for number in range(4, 10):
        assert ask(f"/policy/{number}")[2].endswith("<p>Hello</p>")
    process.wait_for(
        r"^/policy/\d isn't reloaded in the browser: its Content-Security-Policy allows no script "
        r"or no connection of 'self'$"
    )
    assert process.said.count("isn't reloaded") == 1


def test_the_script_and_its_events(process: Any, ask: Ask) -> None:
    status, fields, script = ask("/__kit_dev/reload.js")
    assert (status, fields["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert fields["cache-control"] == "no-store"
    assert "EventSource" in script
    run = TAG.search(ask("/page")[2])
    assert run is not None
    with closing(HTTPConnection("")) as http:
        http.sock = process.connect()
        http.request("GET", "/__kit_dev/events")
        response = http.getresponse()
        assert response.headers["content-type"] == "text/event-stream"
        assert response.fp.readline() != b""  # the size of a chunk
        assert response.fp.readline() == b"retry: 100\n"
        assert response.fp.readline().decode().strip().removeprefix("data: ") in run[0]
    assert ask("/__kit_dev/else")[0] == 404


def test_a_line_for_each_request(process: Any, ask: Ask) -> None:
    assert ask("/broken?secret")[0] == 500
    process.wait_for(r"^GET /broken 500 [\d.]+ ms$")
    ask("/a%1b%20b", "DELETE")
    process.wait_for(r"^DELETE /a%1b%20b 404 [\d.]+ ms$")
    assert not re.search(r"^GET /__kit_dev/(reload|events)", process.said, re.MULTILINE)


@pytest.fixture(scope="module")
def quiet(kit_in: Callable[..., Any]) -> Iterator[Any]:
    text = APP + "from kit.logger import access_log\napp.use(access_log())\n"
    return kit_in({"app.py": text}, "dev", "--port", "0", "--no-browser-reload")


def test_no_lines_beside_those_of_kit_logger_and_no_script(quiet: Any) -> None:
    assert quiet.get("/page") == "<!doctype html><title>x</title><p>Hello</p>"
    assert quiet.ask("/__kit_dev/reload.js")[0] == 404
    quiet.wait_for(r"^ALL +/\* +\[access_log\] +doesn't run for GET /page \(show\), ")
    quiet.interrupt()
    assert quiet.end() == 0
    assert " ms\n" not in quiet.said


@pytest.mark.parametrize("path", ["/broken", "/guarded"])
def test_browsers_get_the_traceback_of_a_handler_that_raises(path: str, ask: Ask) -> None:
    status, headers, text = ask(path, accept="text/html", sec_fetch_dest="document")
    assert (status, headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert headers["content-security-policy"] is None
    assert "<h1>An exception was raised</h1>\n<p>GET " in text
    assert "ValueError: no &lt;luck&gt;</pre>" in text
    assert re.findall(r"  File &quot;.*/([^/]+)&quot;, line", text) == ["app.py"]
    assert TAG.search(text)


@pytest.mark.parametrize(
    ("path", "accept", "expected"),
    [
        ("/broken", "*/*", "Internal Server Error"),
        ("/broken", "application/json", "Internal Server Error"),
        ("/handled", "text/html", "Internal Server Error"),
        ("/mine", "text/html", "mine"),
    ],
)
def test_other_errors_are_left_alone(path: str, accept: str, expected: str, ask: Ask) -> None:
    status, headers, text = ask(path, accept=accept)
    assert (status, headers["content-type"]) == (500, "text/plain; charset=UTF-8")
    assert text == expected


def test_a_page_that_middleware_made_of_an_error_is_kept(ask: Ask) -> None:
    status, _, text = ask("/replaced", accept="text/html")
    assert (status, TAG.sub("", text)) == (500, "<!doctype html>sorry")


HOSTS = [
    ("localhost:8000", True),
    ("LOCALHOST.", True),
    ("app.localhost:8000", True),
    ("127.0.0.1:8000", True),
    ("127.1.2.3", True),
    ("192.0.2.7:8000", True),
    ("[::1]:8000", True),
    ("", True),
    ("elsewhere.example:8000", False),
    ("localhost.elsewhere.example", False),
    ("127.0.0.1.elsewhere.example", False),
    ("elsewhere.example@localhost", False),
    ("localhost, elsewhere.example", False),
    ("[::1", False),
    ("l" * 400, False),
]


@pytest.mark.parametrize(("host", "is_shown"), HOSTS)
def test_only_local_hosts_get_the_traceback_of_a_handler(
    host: str, is_shown: bool, ask: Ask
) -> None:
    status, _, text = ask("/broken", sec_fetch_dest="document", host=host)
    assert status == 500
    assert ("ValueError" in text) is is_shown
    assert is_shown or text == "Internal Server Error"


def test_the_page_of_an_exception_is_not_shared_with_other_origins(ask: Ask) -> None:
    origin = "https://elsewhere.example"
    _, shared, _ = ask("/shared", accept="*/*", origin=origin)
    assert shared["access-control-allow-origin"] == origin
    _, headers, text = ask("/shared", origin=origin)
    assert "ValueError" in text
    assert not [name for name in headers if name.lower().startswith("access-control-")]
    assert headers["cache-control"] == "no-store"


@pytest.fixture(scope="module")
def stopped(kit_in: Callable[..., Any]) -> tuple[Any, int]:
    files = {"app.py": "SECRET = 'hunter2'\nraise ValueError(SECRET)"}
    process = kit_in(files, "dev", "--port", str(port := free_port()))
    process.wait_for("^Waiting for a change$")
    return process, port


@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/plain"])
@pytest.mark.parametrize(("host", "is_shown"), HOSTS)
def test_only_local_hosts_get_the_traceback_of_an_app(
    accept: str, host: str, is_shown: bool, stopped: tuple[Any, int]
) -> None:
    process, port = stopped
    with closing(HTTPConnection("")) as http:
        http.sock = process.connect(port)
        http.request("GET", "/", headers={"accept": accept, "host": host})
        response = http.getresponse()
        text = response.read().decode()
    assert response.status == 500
    assert ("hunter2" in text) is is_shown
    assert is_shown or "The app doesn't run" in text.replace("&#x27;", "'")


def test_the_host_that_it_listens_on_is_local(kit_in: Callable[..., Any]) -> None:
    name = socket.gethostname()
    process = kit_in({"app.py": APP}, "dev", "--port", "0", "--host", name)
    port = int(process.address().rpartition(":")[2])
    for host, is_shown in ((f"{name}:{port}", True), ("elsewhere.example", False)):
        with closing(HTTPConnection(name, port)) as http:
            http.request("GET", "/broken", headers={"accept": "text/html", "host": host})
            assert ("ValueError" in http.getresponse().read().decode()) is is_shown
