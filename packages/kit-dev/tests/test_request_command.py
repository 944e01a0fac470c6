# SPDX-License-Identifier: MIT
"""`kit request`: what is sent, what is printed, and how it ends."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit.dev.cli import main

SHOP = """
import json
from contextlib import asynccontextmanager
from pathlib import Path
from kit import Kit, HTTPException
from kit.conninfo import get_conn_info

notes = Path(__file__).parent / "notes"

def note(text):
    with notes.open("a") as file:
        file.write(text + "\\n")

@asynccontextmanager
async def lifespan(app):
    note("up")
    yield {"word": "hello"}
    note("down")

app = Kit(lifespan=lifespan)

@app.use()
async def log(c, next):
    print("-->", c.req.path)
    await next()

app.get("/", lambda c: c.text(c.env["word"]))
app.get("/data", lambda c: c.json({"b": [1, 2], "a": "é"}))
app.get("/bytes", lambda c: c.body(b"\\x89PNG\\0", headers={"content-type": "image/png"}))
app.get("/odd", lambda c: c.body("{", headers={"content-type": "application/json"}))
app.get("/teapot", lambda c: c.text("short and stout", 418))
app.get("/cookies", lambda c: (c.header("set-cookie", "a=1", append=True),
    c.header("set-cookie", "b=2", append=True), c.text("x"))[-1])

@app.all("/echo/:name?")
async def echo(c):
    return c.json({
        "method": c.req.method, "url": c.req.url, "name": c.req.param("name"),
        "headers": c.req.header(), "body": await c.req.text(),
    })

@app.get("/fails")
def fails(c):
    raise RuntimeError("no luck")

@app.get("/stream")
def stream(c):
    async def lines():
        yield "one\\n"
        yield "two\\n"
    return c.body(lines())

@app.get("/breaks")
def breaks(c):
    async def lines():
        yield "one\\n"
        raise ValueError("in the middle")
    return c.body(lines())

from kit.websocket import upgrade_websocket

@app.get("/ws")
@upgrade_websocket(protocols=["v1"])
async def ws(c, ws):
    await ws.send(f"{c.req.query('name')} {c.req.header('x-a')} {ws.protocol} {ws.url}")
    async for line in ws:
        for number in range(3):
            await ws.send(f"{line} {number}")
        if line == "bytes":
            await ws.send(b"12345")
        if line == "close":
            await ws.close(4000, "as told")
    note("left")

@app.get("/ws/fails")
@upgrade_websocket
async def ws_fails(c, ws):
    raise RuntimeError("no luck")

@app.get("/later")
def later(c):
    async def work():
        note("worked")
    c.execution_ctx.wait_until(work())
    return c.text("now")
"""


@pytest.fixture(autouse=True)
def shop(folder: Path) -> Path:
    (folder / "app.py").write_text(SHOP)
    return folder


def kit(*arguments: str, **options: Any) -> Any:
    return CliRunner().invoke(main, ["request", "app.py", *arguments], **options)


def echoed(*arguments: str, **options: Any) -> Any:
    result = kit(*arguments, "--body-only", **options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_status_headers_and_body(shop: Path) -> None:
    result = kit("/")
    assert (result.exit_code, result.stdout) == (
        0,
        "HTTP/1.1 200 OK\ncontent-type: text/plain; charset=UTF-8\ncontent-length: 5\n\nhello",
    )
    assert result.stderr == "--> /\n"  # what the app prints is no part of the response
    assert (shop / "notes").read_text() == "up\ndown\n"


def test_body_only() -> None:
    assert kit("/data", "--body-only").stdout_bytes == '{"b":[1,2],"a":"é"}'.encode()
    assert kit("/bytes", "--body-only").stdout_bytes == b"\x89PNG\0"


def test_each_cookie_has_a_line() -> None:
    assert "\nset-cookie: a=1\nset-cookie: b=2\n" in kit("/cookies").stdout


def test_status_without_a_usual_phrase() -> None:
    assert kit("/teapot").stdout.startswith("HTTP/1.1 418 I'm a Teapot\n")


def test_stream_is_printed_as_it_comes() -> None:
    assert kit("/stream").stdout.endswith("\n\none\ntwo\n")


def test_tasks_after_the_response_are_done(shop: Path) -> None:
    assert kit("/later").stdout.endswith("\n\nnow")
    assert (shop / "notes").read_text() == "up\nworked\ndown\n"


def test_head_has_no_body() -> None:
    assert kit("/", "-X", "HEAD").stdout.endswith("content-length: 5\n\n")


@pytest.mark.parametrize(
    ("path", "url", "name"),
    [
        ("/echo/Ada", "http://localhost/echo/Ada", "Ada"),
        ("echo/Ada", "http://localhost/echo/Ada", "Ada"),
        ("/echo/a%2Fb?q=1&r", "http://localhost/echo/a%2Fb?q=1&r", "a/b"),
        ("/echo/a b", "http://localhost/echo/a%20b", "a b"),
        ("/echo/é?ü=%20", "http://localhost/echo/%C3%A9?%C3%BC=%20", "é"),
        ("/echo/x#part", "http://localhost/echo/x", "x"),
        ("https://shop.example:8443/echo/x", "https://shop.example:8443/echo/x", "x"),
        ("/echo?u=http://a/b", "http://localhost/echo?u=http://a/b", None),
        ("/echo//x", "http://localhost/echo//x", None),
    ],
)
def test_paths_and_urls(path: str, url: str, name: str | None) -> None:
    if path == "/echo//x":
        assert kit(path).stdout.startswith("HTTP/1.1 404")
        return
    found = echoed(path)
    assert (found["url"], found["name"]) == (url, name)


@pytest.mark.parametrize(
    ("data", "method", "content_type", "body"),
    [
        ('{"a": 1}', "POST", "application/json", '{"a": 1}'),
        (" [1]", "POST", "application/json", " [1]"),
        ("a=1&b=2", "POST", "application/x-www-form-urlencoded", "a=1&b=2"),
        ("{no json", "POST", "application/x-www-form-urlencoded", "{no json"),
        ("@body.json", "POST", "application/json", "[1, 2]"),
        ("@notes.csv", "POST", "text/csv", "a;b\n"),
        ("@blob", "POST", "application/octet-stream", "?"),
        ("@-", "POST", "application/json", '{"from": "stdin"}'),
    ],
)
def test_data(data: str, method: str, content_type: str, body: str, shop: Path) -> None:
    (shop / "body.json").write_text("[1, 2]")
    (shop / "notes.csv").write_text("a;b\n")
    (shop / "blob").write_text("?")
    found = echoed("/echo", "-d", data, input='{"from": "stdin"}')
    assert (found["method"], found["body"]) == (method, body)
    assert found["headers"] == {
        "host": "localhost",
        "content-type": content_type,
        "content-length": str(len(body)),
    }


def test_method_and_headers_that_are_given_win() -> None:
    found = echoed(
        *("/echo", "-X", "put", "-d", "{}", "-H", "Content-Type: text/plain"),
        *("-H", "X-A: 1", "-H", "x-a:2", "-H", "Host: shop.example", "-H", "content-length: 2"),
    )
    assert found["method"] == "PUT"
    assert found["headers"] == {
        "content-type": "text/plain",
        "x-a": "1, 2",
        "host": "shop.example",
        "content-length": "2",
    }
    assert echoed("/echo", "-X", "GET", "-d", "{}")["body"] == "{}"
    assert echoed("/echo", "-X", "PURGE")["method"] == "PURGE"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("/nothing",), 0),
        (("/nothing", "--fail"), 22),
        (("/fails", "--fail"), 22),
        (("/teapot", "--fail"), 22),
        (("/", "--fail"), 0),
    ],
)
def test_exit_code(arguments: tuple[str, ...], code: int) -> None:
    result = kit(*arguments)
    assert result.exit_code == code
    assert result.stdout.startswith("HTTP/1.1 ")


def test_handler_that_raises_shows_its_traceback(shop: Path) -> None:
    command = [sys.executable, "-m", "kit", "request", "app.py", "/fails"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith("HTTP/1.1 500 Internal Server Error\n")
    line = SHOP[: SHOP.index('raise RuntimeError("no luck")')].count("\n") + 1
    assert done.stderr.splitlines()[:4] == [
        "--> /fails",
        "Exception in GET /fails",
        "Traceback (most recent call last):",
        f'  File "{shop / "app.py"}", line {line}, in fails',
    ]
    assert done.stderr.endswith("RuntimeError: no luck\n")


def test_response_that_breaks_off(shop: Path) -> None:
    result = kit("/breaks")
    assert result.exit_code == 1
    assert result.stdout.endswith("\n\none\n")
    lines = result.stderr.splitlines()
    assert lines[1] == "Traceback (most recent call last):"
    assert lines[2].startswith(f'  File "{shop / "app.py"}"')
    assert lines[-1] == "ValueError: in the middle"


def test_startup_that_fails(shop: Path) -> None:
    (shop / "app.py").write_text(SHOP.replace('note("up")', "1 / 0"))
    result = kit("/")
    assert (result.exit_code, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert lines[1].startswith(f'  File "{shop / "app.py"}"')
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_app_without_an_answer(shop: Path) -> None:
    (shop / "app.py").write_text(
        "from kit import Kit\nclass Silent(Kit):\n    async def __call__(self, *scope): ...\n"
        "app = Silent()\n"
    )
    result = kit("/")
    assert (result.exit_code, result.stderr) == (1, "Error: The app gave no response\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("/", "-H", "bad"),
            "Invalid value for '--header': expected 'name: value', e.g. 'accept: text/html', "
            "not 'bad'",
        ),
        (
            ("/", "-H", "a b: c"),
            "Invalid value for '--header': expected 'name: value', e.g. 'accept: text/html', "
            "not 'a b: c'",
        ),
        (
            ("/", "-H", "a: €"),
            "Invalid value for '--header': '€' has characters that no header can have, "
            "expected latin-1",
        ),
        (("/", "-X", "a b"), "Invalid value for '--method': expected e.g. PUT"),
        (
            ("/", "-d", "@missing"),
            "Invalid value for '--data': can't read 'missing': No such file or directory",
        ),
        (
            ("ftp://x/",),
            "Invalid value for 'PATH': Can't send a request to 'ftp://x/': expected a path, "
            "http:// or https://",
        ),
        (("http://[x/",), "Invalid value for 'PATH': Invalid IPv6 URL"),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], text: str) -> None:
    result = kit(*arguments)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"\nError: {text}\n")


def test_app_that_is_not_there() -> None:
    result = CliRunner().invoke(main, ["request", "nothing.py", "/"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: There is no app at 'nothing.py'")


def test_no_port_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("a socket listens")

    monkeypatch.setattr(socket.socket, "listen", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert kit("/").exit_code == 0


# On a terminal --------------------------------------------------------------------------------


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(folder: Path) -> Callable[..., str]:
    """What a terminal shows of a response with a body in chunks."""

    def shown(chunks: list[bytes], content_type: str, **environment: str) -> str:
        (folder / "streaming.py").write_text(
            "from kit import Kit\n"
            f"headers = {{'content-type': {content_type!r}}}\n"
            f"app = Kit().get('/', lambda c: c.body({chunks!r}, headers=headers))\n"
        )
        terminal = Terminal(io.BytesIO(), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdout", terminal)
            main(["request", "streaming.py", "/"], standalone_mode=False)
            terminal.flush()
        data: bytes = terminal.buffer.getvalue()  # type: ignore[attr-defined]
        return data.decode()

    return shown


@pytest.mark.parametrize(
    ("chunks", "content_type", "body"),
    [
        ([b'{"a":', b"[1]}"], "application/json", '{\n  "a": [\n    1\n  ]\n}\n'),
        (['{"a":"é"}'.encode()], "application/problem+json; x=y", '{\n  "a": "é"\n}\n'),
        ([b"{"], "application/json", "{\n"),
        ([], "application/json", ""),
        ([b"text"], "text/plain", "text\n"),
        ([b"text\n"], "text/plain", "text\n"),
        ([b"\x89PNG\0", b"more"], "image/png", ""),
    ],
)
def test_terminal(shown: Any, chunks: list[bytes], content_type: str, body: str) -> None:
    assert shown(chunks, content_type, NO_COLOR="1") == (
        f"HTTP/1.1 200 OK\ncontent-type: {content_type}\n\n{body}"
    )


def test_terminal_with_colors(shown: Any) -> None:
    assert shown([b"x"], "text/plain", TERM="xterm") == (
        "HTTP/1.1 \x1b[32m200 OK\x1b[0m\n\x1b[2mcontent-type:\x1b[0m text/plain\n\nx\n"
    )


def test_what_is_not_shown_is_told(shown: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shown([b"\x89PNG\0", b"more"], "image/png")
    assert capsys.readouterr().err == "(9 bytes of image/png are not shown on a terminal)\n"


# --- WebSockets ----------------------------------------------------------------------------------


def test_lines_are_sent_and_messages_printed(shop: Path) -> None:
    result = kit("/ws?name=n", "-H", "x-a: 1", "--ws", input="one\r\nbytes\n\nlast")
    assert (result.exit_code, result.stderr) == (0, "--> /ws\n")
    lines = [f"{line} {number}" for line in ("one", "bytes", "", "last") for number in range(3)]
    lines.insert(6, "(5 bytes)")
    assert result.stdout.splitlines() == ["n 1  ws://localhost/ws?name=n", *lines]
    assert (shop / "notes").read_text() == "up\nleft\ndown\n"


def test_subprotocols() -> None:
    result = kit("/ws", "--ws", "-H", "sec-websocket-protocol: v2, v1", input="")
    assert result.stdout == "None None v1 ws://localhost/ws\n"


def test_close_by_the_app() -> None:
    result = kit("/ws", "--ws", input="close\nnever\n")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (1, "close 2")
    assert result.stderr == "--> /ws\nclosed with 4000 as told\n"
    result = kit("/ws/fails", "--ws", input="")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "closed with 1011 Internal Server Error" in result.stderr


def test_refused_handshake() -> None:
    result = kit("/teapot", "--ws", input="never\n")
    assert result.exit_code == 22
    assert result.stdout.startswith("HTTP/1.1 418 I'm a Teapot\n")
    assert result.stdout.endswith("\n\nshort and stout")


def test_options_that_open_no_connection() -> None:
    result = kit("/ws", "--ws", "-d", "x")
    assert result.exit_code == 2
    assert "--ws opens a connection by GET: leave --data and --method out" in result.stderr
