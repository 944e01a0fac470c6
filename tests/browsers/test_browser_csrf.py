# SPDX-License-Identifier: MIT
"""Forged requests, sent by a browser that has the cookies of the site that is attacked."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest
from browser import Browser
from workspace import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

SUPPORT = ROOT / "tests" / "support"
TYPES = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]


class Sites:
    """A site that a browser is known to, and others that attack it."""

    def __init__(self, browser: Browser, serve: Callable[..., object]) -> None:
        self.browser = browser
        self.own = serve(SUPPORT, "browser_app:app").url  # type: ignore[attr-defined]
        other = serve(SUPPORT, "browser_app:app")
        # The same site by another port, and another site.
        self.sibling = other.url  # type: ignore[attr-defined]
        self.stranger = self.own.replace("127.0.0.1", "localhost")
        browser.open(f"{self.own}/enter")
        assert browser.title == "Entered"

    def send_form(self, page: str, kind: str) -> str:
        """Sends a form of a page to the site; returns what the browser then shows."""
        to = quote(f"{self.own}/act/change", safe="")
        self.browser.open(f"{page}/form?to={to}&type={quote(kind, safe='')}")
        self.browser.click("button", leads_to=f"{self.own}/act/change")
        return self.browser.text()

    def changes(self) -> list[str]:
        found: list[str] = httpx.get(f"{self.own}/changes", trust_env=False).json()
        return found


@pytest.fixture
def sites(browser: Browser, serve: Callable[..., object]) -> Sites:
    return Sites(browser, serve)


@pytest.mark.parametrize("kind", TYPES)
def test_forms_of_other_sites_are_refused(sites: Sites, kind: str) -> None:
    assert sites.send_form(sites.stranger, kind) == "Forbidden"
    assert sites.send_form(sites.sibling, kind) == "Forbidden"
    assert sites.changes() == []


@pytest.mark.parametrize("kind", TYPES)
def test_forms_of_the_same_origin_pass(sites: Sites, kind: str) -> None:
    assert sites.send_form(sites.own, kind) == "POST by ada"
    assert sites.changes() == ["POST by ada"]


@pytest.mark.parametrize(
    "init",
    [
        {"headers": {"Content-Type": "text/plain"}, "body": '{"a": 1}'},
        {"headers": {"Content-Type": "TEXT/PLAIN"}, "body": '{"a": 1}'},
        {"body": "a=1"},
        {},
    ],
)
def test_scripts_of_other_sites_are_refused(sites: Sites, init: dict[str, object]) -> None:
    init = {"method": "POST", "mode": "no-cors", "credentials": "include", **init}
    script = "return (await fetch(args[0], args[1])).type"
    for page in (sites.stranger, sites.sibling):
        sites.browser.open(f"{page}/")
        # It was sent; its response can't be read.
        assert sites.browser.run(script, f"{sites.own}/act/change", init) == "opaque"
    assert sites.changes() == []


def test_a_body_without_a_type_is_refused(sites: Sites) -> None:
    script = """
    const init = {method: "POST", mode: "no-cors", credentials: "include", body: new Blob(["a=1"])};
    return [(await fetch(args[0], init)).type, navigator.sendBeacon(args[0], new Blob(["a=1"]))];
    """
    sites.browser.open(f"{sites.stranger}/")
    assert sites.browser.run(script, f"{sites.own}/act/change") == ["opaque", True]
    # What the beacon did can't be told from here: a request that passes is waited for instead.
    assert sites.send_form(sites.own, TYPES[0]) == "POST by ada"
    assert sites.changes() == ["POST by ada"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_scripts_of_the_same_origin_pass(sites: Sites, method: str) -> None:
    sites.browser.open(f"{sites.own}/")
    script = "return (await fetch('/act/change', {method: args[0]})).status"
    assert sites.browser.run(script, method) == 200
    assert sites.changes() == [f"{method} by ada"]


def test_a_sandboxed_form_is_refused(sites: Sites) -> None:
    script = """
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-forms allow-scripts";
    const loaded = (wanted) => new Promise((resolve) => {
      let count = 0;
      frame.onload = () => ++count === wanted && resolve();
    });
    const done = loaded(2);
    frame.srcdoc = `<form method=post action="${args[0]}"></form>
      <script>onload = () => setTimeout(() => document.forms[0].submit())</script>`;
    document.body.append(frame);
    await done;
    """
    sites.browser.open(f"{sites.own}/")
    sites.browser.run(script, f"{sites.own}/act/change")
    assert sites.changes() == []


def test_links_pass(sites: Sites) -> None:
    sites.browser.open(f"{sites.stranger}/")
    sites.browser.run(
        "document.body.innerHTML = `<a href=${args[0]}>Go</a>`", f"{sites.own}/act/change"
    )
    sites.browser.click("a", leads_to=f"{sites.own}/act/change")
    assert sites.browser.text() == "GET by ada"
