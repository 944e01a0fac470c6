# SPDX-License-Identifier: MIT
"""What scripts of another origin may do, by the word of a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser import Browser, ScriptError
from workspace import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

SUPPORT = ROOT / "tests" / "support"
# Returns what a script is told of a response.
FETCH = """
const response = await fetch(args[0], args[1]);
return {
  status: response.status,
  text: await response.text(),
  exposed: response.headers.get("X-Exposed"),
  hidden: response.headers.get("X-Hidden"),
};
"""
PUT = {"method": "PUT", "headers": {"X-Custom": "mine"}}
REFUSED = "TypeError: Failed to fetch"


class Sites:
    """Two servers, by their ports, and pages of theirs to ask from."""

    def __init__(self, browser: Browser, serve: Callable[..., Any]) -> None:
        self.browser = browser
        page = serve(SUPPORT, "browser_app:app")
        self.allowed = f"http://127.0.0.1:{page.port}"
        # Another origin of the same server, and another site.
        self.other = f"http://localhost:{page.port}"
        self.target = serve(SUPPORT, "browser_app:app", ALLOWED=self.allowed).url

    def fetch(self, page: str, path: str, init: Any = None) -> Any:
        """Fetches a path of the target from a page of an origin."""
        self.browser.open(f"{page}/")
        return self.browser.run(FETCH, self.target + path, init or {})

    def refused(self, page: str, path: str, init: Any = None) -> str:
        """Fetches, and returns what the browser says of its refusal."""
        self.browser.console()
        with pytest.raises(ScriptError) as raised:
            self.fetch(page, path, init)
        assert str(raised.value) == REFUSED
        return next(line for line in self.browser.console() if "CORS" in line)


@pytest.fixture
def sites(browser: Browser, serve: Callable[..., Any]) -> Sites:
    return Sites(browser, serve)


def test_preflighted_requests(sites: Sites) -> None:
    answer = sites.fetch(sites.allowed, "/shared/answer", PUT)
    assert (answer["status"], answer["text"]) == (200, "PUT mine")
    reason = sites.refused(sites.other, "/shared/answer", PUT)
    assert "Response to preflight request doesn't pass access control check" in reason
    assert "No 'Access-Control-Allow-Origin' header" in reason
    reason = sites.refused(sites.allowed, "/shared/answer", {"headers": {"X-Other": "1"}})
    assert "x-other is not allowed by Access-Control-Allow-Headers" in reason
    # All headers that are asked for are allowed, to all origins.
    for page in (sites.allowed, sites.other):
        answer = sites.fetch(page, "/public/answer", PUT)
        assert answer["text"] == "PUT mine"


def test_simple_requests_and_exposed_headers(sites: Sites) -> None:
    answer = sites.fetch(sites.allowed, "/shared/answer")
    assert (answer["text"], answer["exposed"], answer["hidden"]) == ("GET -", "seen", None)
    answer = sites.fetch(sites.other, "/public/answer")
    assert (answer["text"], answer["exposed"]) == ("GET -", None)
    assert "No 'Access-Control-Allow-Origin' header" in sites.refused(sites.other, "/shared/answer")
    assert "No 'Access-Control-Allow-Origin' header" in sites.refused(
        sites.allowed, "/closed/answer"
    )


@pytest.mark.parametrize("prefix", ["/shared", "/public"])
def test_errors_can_be_read(sites: Sites, prefix: str) -> None:
    answer = sites.fetch(sites.allowed, f"{prefix}/fault")
    assert (answer["status"], answer["text"]) == (500, "Internal Server Error")
    answer = sites.fetch(sites.allowed, f"{prefix}/absent", PUT)
    assert (answer["status"], answer["text"]) == (404, "404 Not Found")


def test_the_answer_of_a_guard_can_be_read(sites: Sites) -> None:
    init = {"headers": {"X-Custom": "refused"}}
    answer = sites.fetch(sites.allowed, "/shared/answer", init)
    assert (answer["status"], answer["text"]) == (401, "who are you?")


def test_credentials(sites: Sites) -> None:
    sites.browser.open(f"{sites.target}/enter")
    assert sites.browser.title == "Entered"
    cookies = {"credentials": "include"}
    assert sites.fetch(sites.allowed, "/private/user", cookies)["text"] == "user ada"
    assert sites.fetch(sites.allowed, "/private/user")["text"] == "user None"
    assert "No 'Access-Control-Allow-Origin' header" in sites.refused(
        sites.other, "/private/user", cookies
    )
    assert "'Access-Control-Allow-Credentials' header" in sites.refused(
        sites.allowed, "/shared/answer", cookies
    )
    assert "must not be the wildcard '*'" in sites.refused(sites.allowed, "/public/answer", cookies)


def test_opaque_origins(sites: Sites) -> None:
    sites.browser.open(f"{sites.allowed}/")
    script = """
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    const told = new Promise((resolve) => addEventListener("message", (e) => resolve(e.data)));
    frame.srcdoc = `<script>
      fetch(${JSON.stringify(args[0])}).then((r) => r.text(), (e) => String(e))
        .then((text) => parent.postMessage(origin + " " + text, "*"));
    </script>`;
    document.body.append(frame);
    return await told;
    """
    assert sites.browser.run(script, f"{sites.target}/public/answer") == "null GET -"
    assert sites.browser.run(script, f"{sites.target}/shared/answer") == f"null {REFUSED}"
