# SPDX-License-Identifier: MIT
"""The chat of examples/: over WebSockets, in two workers that share a Redis, and in browsers."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import browser as chromium
import httpx
import pytest
from redis_server import RedisServer, running
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from workspace import ROOT

# Example apps are served by one interpreter; what differs between them shows in smaller tests.
pytestmark = pytest.mark.once

FOLDER = ROOT / "examples" / "chat"
PATIENCE_S = 20.0


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with running() as server:
        yield server


class Member:
    """A client in a room."""

    def __init__(self, served: Any, name: str, room: str = "general") -> None:
        url = f"ws://127.0.0.1:{served.port}/rooms/{room}/ws?name={name}"
        self._stack = ExitStack()
        self._socket = self._stack.enter_context(connect(url, proxy=None))

    def send(self, **said: str) -> None:
        self._socket.send(json.dumps(said))

    def next(self) -> dict[str, str]:
        return json.loads(self._socket.recv(PATIENCE_S))

    def until(self, **wanted: str) -> None:
        """Receives until something that is wanted comes."""
        while True:
            event = self.next()
            if wanted.items() <= event.items():
                return

    def leave(self) -> None:
        self._stack.close()


def test_two_members(serve: Any) -> None:
    served = serve(FOLDER, "app:app")
    ann = Member(served, "ann")
    assert ann.next() == {"type": "joined", "name": "ann", "text": ""}
    bob, eve = Member(served, "bob"), Member(served, "eve", "random")
    assert ann.next() == {"type": "joined", "name": "bob", "text": ""}
    assert bob.next() == {"type": "joined", "name": "bob", "text": ""}
    ann.send(type="typing")
    assert bob.next() == {"type": "typing", "name": "ann", "text": ""}
    ann.send(type="message", text="  ")
    ann.send(type="message", text=" hello ")
    assert bob.next() == {"type": "message", "name": "ann", "text": "hello"}
    bob.leave()
    ann.until(type="left", name="bob")
    eve.send(type="message", text="alone")
    eve.until(type="message", text="alone")
    ann.leave()
    eve.leave()
    assert served.stop() == 0
    assert "Traceback" not in served.printed()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/rooms/other/ws?name=ann", 404),
        ("/rooms/general/ws", 400),
        ("/rooms/general/ws?name=+", 400),
    ],
)
def test_refused(serve: Any, path: str, status: int) -> None:
    served = serve(FOLDER, "app:app")
    url = f"ws://127.0.0.1:{served.port}{path}"
    with pytest.raises(InvalidStatus) as caught, connect(url, proxy=None):
        pass
    assert caught.value.response.status_code == status


def test_files(serve: Any, client: Callable[..., httpx.Client]) -> None:
    page = client(serve(FOLDER, "app:app")).get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_two_workers_and_a_restart(serve: Any, redis: RedisServer) -> None:
    """Members of different workers hear each other; all stay while Redis is away, and are told."""
    served = [serve(FOLDER, "app:app", CHAT_REDIS=redis.url) for _ in range(2)]
    ann, bob = Member(served[0], "ann"), Member(served[1], "bob")
    ann.until(type="joined", name="bob")
    bob.send(type="message", text="hello")
    ann.until(type="message", name="bob", text="hello")
    redis.stop()
    bob.send(type="message", text="lost")
    bob.until(type="failed", text="lost")
    redis.start()
    ann.until(type="gap")
    bob.until(type="gap")
    end = time.monotonic() + PATIENCE_S
    bob.send(type="message", text="again")
    while (event := bob.next())["type"] == "failed" and time.monotonic() < end:
        bob.send(type="message", text="again")
    assert event["text"] == "again"
    ann.until(type="message", name="bob", text="again")
    ann.leave()
    bob.leave()
    for each in served:
        assert each.stop(signal.SIGTERM) in (0, -signal.SIGTERM)


WAIT = """
const end = Date.now() + 60000;
while (Date.now() < end) {
  const found = [...document.querySelectorAll(args[0])];
  if (found.some((each) => each.textContent.includes(args[1]))) return true;
  await new Promise((done) => setTimeout(done, 20));
}
throw new Error(`no ${args[1]} in: ${document.body.innerText}`);
"""
# Without its script, the page would be loaded anew by the form.
TYPE_AND_CLICK = """
const form = document.getElementById(args[0]).form;
while (!form.onsubmit) await new Promise((done) => setTimeout(done, 20));
document.getElementById(args[0]).value = args[1];
form.querySelector("button").click();
"""
FITS = "return document.documentElement.scrollWidth <= innerWidth;"


@pytest.mark.slow
@pytest.mark.once
def test_two_browsers(serve: Any, tmp_path: Path) -> None:
    reason = chromium.missing()
    if reason is not None:
        pytest.skip(reason)
    served = serve(FOLDER, "app:app")
    with ExitStack() as stack:
        pages = []
        for name, size in (("ann", "1280,800"), ("bob", "390,844")):
            folder = tmp_path / name
            folder.mkdir()
            page = stack.enter_context(chromium.Browser(folder, [f"--window-size={size}"]))
            page.open(served.url)
            page.run(TYPE_AND_CLICK, "name", name)
            page.run(WAIT, "#people li", f"{name} (you)")
            pages.append(page)
        ann, bob = pages
        ann.run(WAIT, "#people li", "bob")
        bob.run(WAIT, "#people li", "ann")
        ann.run(TYPE_AND_CLICK, "text", "<b>hello</b> bob")
        bob.run(WAIT, ".message p", "<b>hello</b> bob")
        bob.run(TYPE_AND_CLICK, "text", "hello ann")
        ann.run(WAIT, ".message p", "hello ann")
        ann.run(WAIT, ".message.mine p", "hello")
        bob.run("document.getElementById('text').dispatchEvent(new Event('input'));")
        ann.run(WAIT, "#typing", "bob is typing")
        bob.run("location.hash = 'random';")
        ann.run(WAIT, ".notice", "bob has left")
        bob.run(WAIT, "#room", "random")
        for page in pages:
            assert page.run(FITS)
            assert page.console() == []
