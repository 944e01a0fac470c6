# SPDX-License-Identifier: MIT
"""A page in a real browser is reloaded when `kit dev` has reloaded the app."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from browser import Browser, ScriptError, WebDriverError, missing
from ports import free_port
from serving import ServerProcess

pytestmark = [
    pytest.mark.slow,
    pytest.mark.once,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

APP = """
import os
from pathlib import Path
from kit import Kit

app = Kit()

@app.get("/")
async def page(c):
    text = Path(__file__).with_name("page.txt").read_text()
    return c.html(f"<!doctype html><title>x</title><p>one {text}</p>")

@app.get("/cached")
async def cached(c):
    if c.req.header("if-none-match") == '"1"':
        return c.body(None, 304, {"etag": '"1"'})
    return c.html("<!doctype html><p id=loads>cached</p>", headers={"etag": '"1"'})

@app.get("/crash")
async def crash(c):
    os._exit(3)
"""
LIMIT_S = 30.0


def wait_for(browser: Browser, text: str) -> None:
    end = time.monotonic() + LIMIT_S
    found = ""
    while text not in found:
        assert time.monotonic() < end, f"no {text!r} in {found!r}"
        time.sleep(0.05)
        try:
            found = browser.run("return document.body.innerText")
        except (ScriptError, WebDriverError):  # in the midst of a reload
            continue


def open_until(browser: Browser, url: str, text: str) -> None:
    """Opens a page, again if the page before it was reloaded meanwhile, which ends a navigation."""
    end = time.monotonic() + LIMIT_S
    while True:
        browser.open(url)
        time.sleep(1)
        found = browser.run("return document.body.innerText")
        if text in found:
            return
        assert time.monotonic() < end, f"no {text!r} in {found!r}"


def test_pages_are_reloaded(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    file, words = folder / "app.py", folder / "page.txt"
    file.write_text(APP)
    words.write_text("cat")
    port = free_port()
    command = [sys.executable, "-m", "kit", "dev", "--port", str(port), "--watch", "page.txt"]
    (tmp_path / "browser").mkdir()
    with (
        ServerProcess(command, port, tmp_path / "log", folder=folder),
        Browser(tmp_path / "browser") as browser,
    ):
        url = f"http://127.0.0.1:{port}"
        browser.open(f"{url}/")
        wait_for(browser, "one cat")
        file.write_text(APP.replace("one {", "two {"))
        wait_for(browser, "two cat")
        words.write_text("dog")
        wait_for(browser, "two dog")
        file.write_text("def broken(:\n")
        wait_for(browser, "SyntaxError")
        file.write_text(APP)
        wait_for(browser, "one dog")
        # Changes that come at once: the last one counts.
        for number in range(5):
            file.write_text(APP.replace("one {", f"{number} {{"))
        wait_for(browser, "4 dog")
        # A script of the page makes the app crash: the page says so, and comes back.
        browser.run("fetch('/crash').catch(() => 0); return 0")
        wait_for(browser, "exit code 3, while it answered GET /crash")
        browser.open(f"{url}/")
        wait_for(browser, "4 dog")
        # A page that a cache keeps is reloaded once, not for ever.
        browser.open(f"{url}/cached")
        wait_for(browser, "cached")
        file.write_text(APP)
        open_until(browser, f"{url}/", "one dog")
        browser.open(f"{url}/cached")
        time.sleep(1)
        loads = (tmp_path / "log").read_text().count("GET /cached")
        assert loads <= 4
