# SPDX-License-Identifier: MIT
"""Commands for an app that ASGI middleware is around: `app = Middleware(site)`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kit import Kit
from kit.dev import load_app
from kit.dev.cli import main

APP = """
from kit import Kit


class Shout:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        async def shout(message):
            if "body" in message:
                message["body"] = message["body"].upper()
            await send(message)

        await self.app(scope, receive, shout)


site = Kit()
site.get("/", lambda c: c.text("hello"))
app = Shout(site)


def create_app():
    return app
"""


@pytest.fixture
def app_file(folder: Path) -> Path:
    (folder / "app.py").write_text(APP)
    return folder / "app.py"


@pytest.mark.parametrize("target", ["app.py", "app:app", "app:create_app"])
def test_routes_are_those_of_the_app_within(target: str, app_file: Path) -> None:
    assert isinstance(load_app(target), Kit)
    result = CliRunner().invoke(main, ["routes", target])
    assert result.exit_code == 0
    assert "GET" in result.output


def test_a_request_passes_through_what_is_around(app_file: Path) -> None:
    result = CliRunner().invoke(main, ["request", "--body-only", "app.py", "/"])
    assert (result.exit_code, result.output.strip()) == (0, "HELLO")


LIFESPANS = """
from contextlib import asynccontextmanager
from kit import Kit
from kit.websocket import upgrade_websocket


class Pool:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            scope["state"]["pool"] = "a pool"
        await self.app(scope, receive, send)


@asynccontextmanager
async def lifespan(app):
    {start}
    yield {{"name": "ada"}}
    {stop}


site = Kit(lifespan=lifespan)


@site.get("/")
async def show(c):
    return c.text(c.env["name"] + " has " + c.req.raw.scope["state"]["pool"])


@site.get("/ws")
@upgrade_websocket
async def talk(c, ws):
    await ws.send(c.env["name"])


app = Pool(site)
"""


@pytest.mark.parametrize(
    ("arguments", "text"), [(["/"], "ada has a pool"), (["--ws", "/ws"], "ada")]
)
def test_a_request_finds_the_state_of_the_lifespans(
    arguments: list[str], text: str, folder: Path
) -> None:
    (folder / "app.py").write_text(LIFESPANS.format(start="", stop=""))
    result = CliRunner().invoke(main, ["request", "--body-only", "app.py", *arguments])
    assert (result.exit_code, result.output.strip()) == (0, text)


@pytest.mark.parametrize("place", ["start", "stop"])
def test_a_lifespan_that_fails_is_shown(place: str, folder: Path) -> None:
    lines = {"start": "", "stop": "", place: "raise ValueError('no database')"}
    (folder / "app.py").write_text(LIFESPANS.format(**lines))
    result = CliRunner().invoke(main, ["request", "app.py", "/"])
    assert result.exit_code == 1
    assert result.output.count("ValueError: no database") == 1


def test_what_is_around_needs_no_lifespan(folder: Path) -> None:
    text = APP.replace("await self.app", "if scope['type'] == 'http': await self.app")
    (folder / "app.py").write_text(text)
    result = CliRunner().invoke(main, ["request", "--body-only", "app.py", "/"])
    assert (result.exit_code, result.output.strip()) == (0, "HELLO")


@pytest.mark.parametrize("server", ["uvicorn", "granian"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_served_with_what_is_around_it(
    server: str, workers: str, kit: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(APP)
    process = kit("serve", "--port", "0", "--server", server, "--workers", workers)
    assert process.get() == "HELLO"


def test_developed_with_what_is_around_it(kit: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    process = kit("dev", "--port", "0")
    assert process.get() == "HELLO"


def test_what_granian_can_not_call(app_file: Path) -> None:
    arguments = ["serve", "--server", "granian", "--interface", "rsgi", "app:app"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "app:app is ASGI middleware around an app" in result.output
