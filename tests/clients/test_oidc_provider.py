# SPDX-License-Identifier: MIT
"""kit-oidc and another implementation of the provider: node-oidc-provider, which is certified.

The app is served by uvicorn, both are on the loopback interface, and httpx is the browser.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest
import uvicorn
from ports import free_port

from kit import Context, Kit, Response
from kit.oidc import access_token, oidc, require_scopes
from kit.oidc.testing import TestKey
from kit.session import session
from kit.session.stores import MemoryStore

pytestmark = pytest.mark.slow

VERSION = "9.13.3"
RESOURCE = "https://api.example/books"
PAGE = {"accept": "text/html"}
START_S = 30.0
_PROGRAM = Path(__file__).parents[1] / "support" / "oidc_provider.mjs"
_INPUTS = re.compile("<input[^>]*>")
_ATTRIBUTES = re.compile(r'(\w+)="([^"]*)"')


class Browser:
    """A browser, whose cookies for the app can be dropped without those for the provider.

    Args:
        app: The origin of the app.
        issuer: The provider.

    Attributes:
        prompts: What the provider has asked.
    """

    def __init__(self, app: str, issuer: str) -> None:
        self.app = app
        self._issuer = issuer
        self.prompts: list[str] = []
        # Cookies don't tell ports apart, so each has its own jar.
        self._clients = {origin: httpx.Client(headers=PAGE) for origin in (app, issuer)}

    def close(self) -> None:
        for each in self._clients.values():
            each.close()

    def forget_the_app(self) -> None:
        self._clients[self.app].cookies.clear()

    def send(self, method: str, url: str, **options: Any) -> httpx.Response:
        parts = urlsplit(url)
        return self._clients[f"{parts.scheme}://{parts.netloc}"].request(method, url, **options)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.send("GET", self.app + path, headers=headers)

    def follow(self, response: httpx.Response) -> httpx.Response:
        """Follows redirects, and fills in the forms of the provider, until a page of the app."""
        for _ in range(20):
            url = str(response.url)
            if response.is_redirect:
                response = self.send("GET", urljoin(url, response.headers["location"]))
            elif url.startswith(self._issuer):
                response = self._submit(response)
            else:
                return response
        raise AssertionError(f"too many steps, the last one to {response.url}")

    def _submit(self, page: httpx.Response) -> httpx.Response:
        assert page.status_code == 200, page.text
        form = re.search(r'<form[^>]*action="([^"]+)"', page.text)
        assert form is not None, page.text
        inputs = [dict(_ATTRIBUTES.findall(each)) for each in _INPUTS.findall(page.text)]
        fields = {each["name"]: each["value"] for each in inputs if each.get("value")}
        if "prompt" in fields:
            self.prompts.append(fields["prompt"])
        if "xsrf" in fields:
            fields["logout"] = "yes"
        elif fields["prompt"] == "login":
            fields |= {"login": "ann", "password": "any"}
        return self.send("POST", urljoin(str(page.url), form[1]), data=fields)


def new_app(issuer: str, origin: str, client_key: TestKey) -> Kit[Any, Any]:
    """Returns an app with a login for each way in which a client authenticates, and an API."""
    options: dict[str, Any] = {
        "issuer": issuer,
        "origin": origin,
        "scopes": ["openid", "profile", "email", "offline_access"],
        "prompt": "consent",
    }
    login = oidc(client_id="books:1", client_secret="s3cret/with+signs", **options)
    key = oidc(client_id="books-key", client_key=client_key.private, **options)
    public = oidc(client_id="books-public", **options)
    app = Kit()
    app.use(session(store=MemoryStore(), secure=False))
    for each, path in ((login, "/auth"), (key, "/key"), (public, "/public")):
        each.register(app, path)
        app.get(f"{path}/me", each.required, lambda c: c.json(c.get("user")))

    @app.get("/token")
    async def token(c: Context) -> Response:
        return c.text(await login.get_access_token(c))

    @app.get("/silent")
    async def silent(c: Context) -> Response:
        return await login.start(c, prompt="none", return_to="/auth/me")

    @app.get("/again")
    async def again(c: Context) -> Response:
        return await login.start(c, max_age=0, return_to="/auth/me")

    app.use("/api/*", access_token(issuer=issuer, audience=RESOURCE, scopes="books:read"))
    app.get("/api/me", lambda c: c.text(c.get("access_token").client_id))
    app.post("/api/books", require_scopes("books:write"), lambda c: c.text("made"))
    return app


class Setup:
    """A provider and an app, both served.

    Args:
        npm: Where the provider is installed.
        folder: A folder for its program.
    """

    def __init__(self, npm: Path, folder: Path) -> None:
        port, app_port = free_port(), free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        self.app = f"http://127.0.0.1:{app_port}"
        client_key = TestKey("client")
        # Node looks for packages next to the program.
        program = npm / _PROGRAM.name
        program.write_text(_PROGRAM.read_text())
        self._errors = (folder / "errors.txt").open("w+")
        self._provider = subprocess.Popen(
            ["node", program.name],
            cwd=npm,
            env={
                **os.environ,
                "APP": self.app,
                "CLIENT_KEY": json.dumps(client_key.public),
                "PORT": str(port),
                "RESOURCE": RESOURCE,
            },
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )
        config = uvicorn.Config(
            new_app(self.issuer, self.app, client_key), port=app_port, log_level="warning"
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run)
        self._thread.start()
        end = time.monotonic() + START_S
        while not self._is_ready():
            assert self._provider.poll() is None, self.errors
            assert time.monotonic() < end, self.errors
            time.sleep(0.05)

    @property
    def errors(self) -> str:
        """What the provider has reported."""
        self._errors.seek(0)
        return self._errors.read()

    def _is_ready(self) -> bool:
        try:
            httpx.get(f"{self.issuer}/jwks")
        except httpx.HTTPError:
            return False
        return self._server.started

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._provider.terminate()
        self._provider.wait()
        self._errors.close()


@pytest.fixture(scope="module")
def setup(
    npm: Callable[[Mapping[str, str]], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Setup]:
    found = Setup(npm({"oidc-provider": VERSION}), tmp_path_factory.mktemp("oidc"))
    yield found
    found.close()


@pytest.fixture
def browser(setup: Setup) -> Iterator[Browser]:
    found = Browser(setup.app, setup.issuer)
    yield found
    found.close()


@pytest.mark.parametrize("path", ["/auth", "/key", "/public"])
def test_log_in(setup: Setup, browser: Browser, path: str) -> None:
    """With a secret, with a private key, and without either."""
    page = browser.follow(browser.get(f"{path}/me"))
    assert page.status_code == 200, page.text
    found = page.json()
    assert found["issuer"] == setup.issuer
    assert (found["sub"], found["name"]) == ("ann", "Ann")
    assert (found["email"], found["email_verified"]) == ("ann@example.com", True)


def test_log_out(setup: Setup, browser: Browser) -> None:
    browser.follow(browser.get("/auth/me"))
    sent = browser.send("POST", f"{setup.app}/auth/logout", headers={"origin": setup.app})
    assert sent.headers["location"].startswith(f"{setup.issuer}/session/end?")
    back = sent
    for _ in range(10):
        if urlsplit(str(back.url)).path == "/auth/logged-out":
            break
        if back.is_redirect:
            back = browser.send("GET", urljoin(str(back.url), back.headers["location"]))
        else:
            back = browser._submit(back)
    assert (back.status_code, back.headers["location"]) == (303, "/")
    assert browser.get("/auth/me", accept="*/*").status_code == 401
    # The provider asks who it is again.
    login = browser.get("/auth/me")
    page = browser.send("GET", login.headers["location"])
    assert "/interaction/" in page.headers["location"]


def test_refresh_with_rotation(setup: Setup, browser: Browser) -> None:
    browser.follow(browser.get("/auth/me"))
    tokens = []
    for _ in range(3):
        response = browser.get("/token")
        assert response.status_code == 200, setup.errors
        tokens.append(response.text)
    assert len({*tokens}) == 3
    userinfo = httpx.get(f"{setup.issuer}/me", headers={"Authorization": f"Bearer {tokens[-1]}"})
    assert userinfo.json()["sub"] == "ann"


def test_concurrent_refreshes(setup: Setup, browser: Browser) -> None:
    """The provider ends the login if a refresh token is used twice."""
    browser.follow(browser.get("/auth/me"))
    statuses: list[int] = []
    threads = [
        Thread(target=lambda: statuses.append(browser.get("/token").status_code)) for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert statuses == [200] * 8
    assert browser.get("/token").status_code == 200


def test_back_channel_logout(setup: Setup, browser: Browser) -> None:
    browser.follow(browser.get("/auth/me"))
    first = dict(browser._clients[setup.app].cookies)
    browser.forget_the_app()
    assert browser.follow(browser.get("/auth/me")).status_code == 200
    second = dict(browser._clients[setup.app].cookies)
    assert first != second
    other = Browser(setup.app, setup.issuer)
    other.follow(other.get("/auth/me"))  # the same user at another place
    # The user logs out at the provider, of which the app learns behind the browser.
    page = browser.send("GET", f"{setup.issuer}/session/end")
    fields = {"xsrf": re.search(r'name="xsrf" value="([^"]+)"', page.text)[1], "logout": "yes"}  # type: ignore[index]
    browser.send("POST", f"{setup.issuer}/session/end/confirm", data=fields)
    for cookies in (first, second):
        browser.forget_the_app()
        browser._clients[setup.app].cookies.update(cookies)
        assert browser.get("/auth/me", accept="*/*").status_code == 401, setup.errors
    assert other.get("/auth/me").status_code == 200
    other.close()


def test_prompt_none(setup: Setup, browser: Browser) -> None:
    back = browser.get("/silent")
    for _ in range(2):
        back = browser.send("GET", urljoin(str(back.url), back.headers["location"]))
    assert (back.status_code, back.headers["location"]) == (303, "/auth/me")
    assert browser.get("/auth/me", accept="*/*").status_code == 401
    browser.follow(browser.get("/auth/me"))
    browser.forget_the_app()
    assert browser.follow(browser.get("/silent")).json()["sub"] == "ann"


def test_max_age(browser: Browser) -> None:
    browser.follow(browser.get("/auth/me"))
    assert browser.prompts == ["login", "consent"]
    browser.follow(browser.get("/auth/me"))
    assert browser.follow(browser.get("/again")).status_code == 200
    # The provider asks for the password again, and says when it was given.
    assert browser.prompts[2:] == ["login", "consent"]


def test_replayed_callback(browser: Browser) -> None:
    seen: list[str] = []
    send = browser.send

    def note(method: str, url: str, **options: Any) -> httpx.Response:
        if "/auth/callback" in url:
            seen.append(url)
        return send(method, url, **options)

    browser.send = note  # type: ignore[method-assign]
    browser.follow(browser.get("/auth/me"))
    parameters = parse_qs(urlsplit(seen[0]).query)
    assert parameters.keys() == {"code", "state", "iss"}
    assert send("GET", seen[0]).status_code == 400
    # The code with the state of a new attempt: the provider has seen it, too.
    location = browser.get("/auth/login").headers["location"]
    state = parse_qs(urlsplit(location).query)["state"][0]
    again = seen[0].replace(parameters["state"][0], state)
    assert send("GET", again).status_code == 400


def test_denied(setup: Setup, browser: Browser) -> None:
    page = browser.get("/auth/me")
    while page.is_redirect:
        page = browser.send("GET", urljoin(str(page.url), page.headers["location"]))
    page = browser.send("GET", f"{page.url}/abort")
    while page.is_redirect:
        page = browser.send("GET", urljoin(str(page.url), page.headers["location"]))
    assert page.status_code == 403
    assert page.text == "The login was cancelled, or you may not use this app"


def machine_token(setup: Setup, scope: str) -> str:
    response = httpx.post(
        f"{setup.issuer}/token",
        data={"grant_type": "client_credentials", "scope": scope, "resource": RESOURCE},
        auth=("machine", "s3cret"),
    )
    assert response.status_code == 200, response.text
    return str(response.json()["access_token"])


def test_access_tokens_of_a_machine(setup: Setup) -> None:
    token = machine_token(setup, "books:read")
    headers = {"Authorization": f"Bearer {token}"}
    response = httpx.get(f"{setup.app}/api/me", headers=headers)
    assert (response.status_code, response.text) == (200, "machine")
    refused = httpx.post(f"{setup.app}/api/books", headers=headers)
    assert refused.status_code == 403
    assert "insufficient_scope" in refused.headers["www-authenticate"]
    token = machine_token(setup, "books:read books:write")
    made = httpx.post(f"{setup.app}/api/books", headers={"Authorization": f"Bearer {token}"})
    assert (made.status_code, made.text) == (200, "made")
    altered = token[:-4] + "AAAA"
    for bad in (altered, "abc"):
        response = httpx.get(f"{setup.app}/api/me", headers={"Authorization": f"Bearer {bad}"})
        assert response.status_code == 401
