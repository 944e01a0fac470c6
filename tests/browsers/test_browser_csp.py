# SPDX-License-Identifier: MIT
"""What Chromium does with the headers of kit-secure-headers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from workspace import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

SUPPORT = ROOT / "tests" / "support"
LOADED = """
return {
  ran: {...document.body.dataset},
  nonce: document.querySelector("#nonced").nonce,
  attribute: document.querySelector("#nonced").getAttribute("nonce"),
  colors: ["#allowed", "#bare"].map((id) => getComputedStyle(document.querySelector(id)).color),
};
"""
FRAME = """
const frame = document.createElement("iframe");
const loaded = new Promise((resolve) => { frame.onload = resolve; });
frame.src = args[0];
document.body.append(frame);
await loaded;
return frame.contentDocument && frame.contentDocument.querySelector("p").textContent;
"""
TOLD = """
const told = [];
const last = new Promise((resolve) => {
  window.onmessage = ({data}) => { told.push(data); if (data === "free") resolve(); };
});
for (const url of args[0]) {
  const frame = document.createElement("iframe");
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  frame.src = url;
  document.body.append(frame);
  await loaded;
}
await last;
return told;
"""
SCRIPT = """
const script = document.createElement("script");
const ended = new Promise((resolve) => {
  script.onload = () => resolve("loaded");
  script.onerror = () => resolve("refused");
});
script.src = args[0];
document.body.append(script);
return await ended;
"""


@pytest.fixture
def url(serve: Callable[..., Any]) -> str:
    return str(serve(SUPPORT, "csp_app:app").url)


def test_only_what_has_the_nonce_runs(browser: Any, url: str) -> None:
    browser.open(f"{url}/page")
    page = browser.run(LOADED)
    assert page["ran"] == {"nonced": "ran"}
    assert page["colors"] == ["rgb(1, 2, 3)", "rgb(0, 0, 0)"]
    refused = [line for line in browser.console() if "Content Security Policy" in line]
    assert len(refused) >= 4  # a style, two scripts, a handler


def test_a_script_that_is_added_needs_it_too(browser: Any, url: str) -> None:
    browser.open(f"{url}/page")
    assert browser.run(SCRIPT, "/taken.js") == "refused"
    browser.open(f"{url}/plain")
    assert browser.run(SCRIPT, "/taken.js") == "loaded"


def test_each_load_has_another_nonce(browser: Any, url: str) -> None:
    nonces = []
    for _ in range(3):
        browser.open(f"{url}/page")
        page = browser.run(LOADED)
        assert page["ran"] == {"nonced": "ran"}
        assert page["attribute"] == ""  # browsers hide it from selectors of styles
        nonces.append(page["nonce"])
    assert len(set(nonces)) == 3
    assert all(len(nonce) == 24 for nonce in nonces)


def test_a_policy_can_be_reported_alone(browser: Any, url: str) -> None:
    browser.open(f"{url}/reported")
    page = browser.run(LOADED)
    assert page["ran"].keys() >= {"nonced", "bare", "other"}
    # The browser sends its reports when it likes to; the script may take a minute.
    reports = browser.run("""
        for (;;) {
          const reports = await (await fetch("/reports/all")).json();
          if (reports.length) return reports;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
    """)
    report = reports[0]["csp-report"]
    assert report["disposition"] == "report"
    assert report["effective-directive"].startswith("script-src")
    assert f"'nonce-{page['nonce']}'" in report["original-policy"]


def test_frames(browser: Any, url: str) -> None:
    browser.open(f"{url}/plain")
    assert browser.run(FRAME, "/framed/same-origin") == "same-origin"
    browser.console()
    for name, reason in (("deny", "X-Frame-Options"), ("ancestors", "frame-ancestors")):
        assert browser.run(FRAME, f"/framed/{name}") is None
        assert any(reason in line for line in browser.console())


def test_frames_of_another_origin(browser: Any, url: str) -> None:
    browser.open(f"{url.replace('127.0.0.1', 'localhost')}/plain")
    # Each page in a frame tells its name. One that may be framed comes last.
    urls = [f"{url}/framed/{name}" for name in ("same-origin", "deny", "ancestors", "free")]
    assert browser.run(TOLD, urls) == ["free"]
    browser.open(f"{url}/plain")
    assert browser.run(TOLD, urls) == ["same-origin", "free"]


def test_features(browser: Any, url: str) -> None:
    allows = "return args[0].map((name) => document.featurePolicy.allowsFeature(name))"
    names = ["geolocation", "fullscreen", "midi", "usb"]
    browser.open(f"{url}/features")
    assert browser.run(allows, names) == [False, True, False, True]
    browser.open(f"{url}/plain")
    assert browser.run(allows, names) == [True] * 4


def test_types_are_not_sniffed(browser: Any, url: str) -> None:
    browser.open(f"{url}/plain")
    assert browser.run(SCRIPT, "/sniffed.js") == "refused"
    assert browser.run(SCRIPT, "/taken.js") == "loaded"
