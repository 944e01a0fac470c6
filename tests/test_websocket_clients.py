# SPDX-License-Identifier: MIT
"""WebSockets by the word of other clients: Chromium, which decides on origins, and Node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import Browser
from serving import ServedApp

pytestmark = [pytest.mark.slow, pytest.mark.once]

PATIENCE_S = 60

SERVERS = {
    "uvicorn-websockets": ("uvicorn", "--ws=websockets-sansio"),
    "uvicorn-wsproto": ("uvicorn", "--ws=wsproto"),
    "granian": ("granian",),
    "hypercorn": ("hypercorn",),
}

# Sends messages once the connection is open, and returns what it saw when it is closed. The client
# closes with a code, if there is one, when it has as many messages as it sent.
CONVERSE = """
const converse = (url, protocols, messages, code, reason) => new Promise((resolve) => {
  const seen = {opened: false, messages: [], errors: 0};
  const ws = new WebSocket(url, protocols);
  ws.binaryType = "arraybuffer";
  ws.onopen = () => {
    seen.opened = true;
    seen.protocol = ws.protocol;
    for (const message of messages)
      ws.send(Array.isArray(message) ? new Uint8Array(message) : message);
  };
  ws.onmessage = ({data}) => {
    seen.messages.push(typeof data === "string" ? data : [...new Uint8Array(data)]);
    if (code && seen.messages.length === messages.length) ws.close(code, reason);
  };
  ws.onerror = () => {
    seen.errors += 1;
    // Node 20 tells of no close if the handshake was refused.
    setTimeout(() => resolve({...seen, code: 1006, reason: "", wasClean: false}), 500);
  };
  ws.onclose = ({code, reason, wasClean}) => resolve({...seen, code, reason, wasClean});
});
"""

Converse = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", params=SERVERS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    server, *options = SERVERS[request.param]
    log = tmp_path_factory.mktemp(request.param) / "log"
    with ServedApp(server, "websocket_app:app", log, *options) as served:
        yield served


def by_node(tmp_path: Path, served: ServedApp) -> Converse:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    options = [] if _major(version.stdout) >= 22 else ["--experimental-websocket"]

    def converse(path: str, *args: Any) -> dict[str, Any]:
        given = json.dumps([f"ws://127.0.0.1:{served.port}{path}", *args])
        script = tmp_path / "client.mjs"
        script.write_text(
            f"{CONVERSE}\nconst seen = await converse(...{given});\n"
            "console.log(JSON.stringify(seen));\n"
        )
        done = subprocess.run(
            [node, *options, str(script)], capture_output=True, text=True, timeout=PATIENCE_S
        )
        if "bad option" in done.stderr or "WebSocket is not defined" in done.stderr:
            pytest.skip("this node has no WebSocket")
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return converse


def _major(version: str) -> int:
    found = re.match(r"v(\d+)", version)
    return int(found[1]) if found else 0


def by_browser(browser: Browser, served: ServedApp, page: str) -> Converse:
    browser.open(f"{page}/page")

    def converse(path: str, *args: Any) -> dict[str, Any]:
        script = f"{CONVERSE}\nreturn await converse(...args);"
        found: dict[str, Any] = browser.run(script, f"ws://127.0.0.1:{served.port}{path}", *args)
        return found

    return converse


@pytest.fixture(params=["node", "chromium"])
def converse(
    request: pytest.FixtureRequest, served: ServedApp, tmp_path: Path
) -> Iterator[Converse]:
    if request.param == "node":
        yield by_node(tmp_path, served)
    else:
        browser = request.getfixturevalue("browser")
        yield by_browser(browser, served, f"http://127.0.0.1:{served.port}")


def test_messages_and_close_codes(converse: Converse) -> None:
    sent = ["text", [0, 255], "", [], "aé€\U0001f600", "x" * 100_000]
    seen = converse("/echo", [], sent, 4001, "bye")
    assert seen["messages"] == sent
    assert (seen["code"], seen["reason"], seen["wasClean"]) == (4001, "bye", True)
    seen = converse("/close/4002?reason=%C3%A9", [], [], 0, "")
    assert (seen["code"], seen["reason"], seen["wasClean"]) == (4002, "é", True)
    seen = converse("/raise/fault", [], [], 0, "")
    assert (seen["code"], seen["reason"]) == (1011, "Internal Server Error")


def test_subprotocols(converse: Converse) -> None:
    seen = converse("/protocols", ["v1.chat", "v2.chat"], [], 0, "")
    # Node 20 drops a message that comes together with the acceptance.
    assert seen["protocol"] == "v2.chat"
    seen = converse("/protocols", ["v0.chat"], [], 0, "")
    assert (seen["opened"], seen["code"]) == (False, 1006)


@pytest.mark.parametrize("path", ["/nowhere", "/only"])
def test_refused_handshakes(converse: Converse, path: str) -> None:
    seen = converse(path, [], [], 0, "")
    assert (seen["opened"], seen["code"], seen["errors"]) == (False, 1006, 1)


def test_browser_of_another_origin(browser: Browser, served: ServedApp) -> None:
    own, other = (f"http://{host}:{served.port}" for host in ("127.0.0.1", "localhost"))
    assert by_browser(browser, served, own)("/own", [], [], 0, "")["opened"]
    refused = by_browser(browser, served, other)
    assert not refused("/own", [], [], 0, "")["opened"]
    assert not refused("/listed", [], [], 0, "")["opened"]
    assert refused("/echo", [], ["in"], 1000, "")["messages"] == ["in"]
    log = served.printed()
    assert f"Refused a WebSocket at /own: pages of {other} may not connect" in log


def test_cookies_of_the_acceptance_reach_the_browser(browser: Browser, served: ServedApp) -> None:
    if served.server == "granian":
        pytest.skip("granian sends no headers with the acceptance")
    converse = by_browser(browser, served, f"http://127.0.0.1:{served.port}")
    browser.run("document.cookie = 'from=page; path=/';")
    seen = converse("/with/echo/den?name=Bob", [], ["hi"], 1000, "")
    assert seen["messages"] == ["ann den Bob page 'hi'"]
    assert "last=xyz" in browser.run("return document.cookie;")


def test_page_that_is_left_ends_its_connections(browser: Browser, served: ServedApp) -> None:
    converse = by_browser(browser, served, f"http://127.0.0.1:{served.port}")
    assert converse("/echo", [], ["x"], 1000, "")["messages"] == ["x"]
    browser.run(
        "const ws = new WebSocket(args[0]);"
        "await new Promise((resolve) => { ws.onmessage = resolve; });",
        f"ws://127.0.0.1:{served.port}/crowd",
    )
    http = f"http://127.0.0.1:{served.port}"
    assert httpx.get(f"{http}/state").json()["clients"] == 1
    browser.open(f"{http}/only")
    for _ in range(100):
        if httpx.get(f"{http}/state").json()["clients"] == 0:
            return
        browser.run("await new Promise((resolve) => setTimeout(resolve, 50));")
    raise AssertionError("the connection is still there")
