# SPDX-License-Identifier: MIT
"""The pages of examples/conduit on a real server, in Chromium and without JavaScript."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from serving import ServedApp
from workspace import ROOT

CONDUIT = ROOT / "examples" / "conduit"
PASSWORD = "correct horse"
COLOR_SCHEME = "prefers-color-scheme"

pytestmark = [pytest.mark.slow, pytest.mark.once]

WAIT = """
const end = Date.now() + 20000;
for (;;) {
  const found = document.querySelector(args[0]);
  if (found && found.textContent.includes(args[1])) return true;
  if (Date.now() > end) return document.body.innerText;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
"""
FILL = """
for (const [name, value] of Object.entries(args[0])) {
  document.getElementById(name).value = value;
}
"""
# The profile of a user from the example data.
AUTHOR = """
const page = new DOMParser().parseFromString(await (await fetch("/")).text(), "text/html");
const names = [...page.querySelectorAll(".articles .name")].map((each) => each.pathname);
return names.find((each) => !each.startsWith("/profiles/reader-"));
"""
FITS = "return document.documentElement.scrollWidth <= innerWidth"
# Texts whose contrast with their background is too low (WCAG 2.2, 1.4.3).
CONTRAST = """
const channel = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([red, green, blue]) =>
  0.2126 * channel(red / 255) + 0.7152 * channel(green / 255) + 0.0722 * channel(blue / 255);
const behind = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const color = numbers(getComputedStyle(each).backgroundColor);
    if (color[3] !== 0) return color;
  }
};
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!text || !element.checkVisibility() || element.closest("svg")) continue;
  const pair = [numbers(getComputedStyle(element).color), behind(element)].map(light);
  const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  if (contrast < 4.5) found.push([element.outerHTML.slice(0, 100), contrast]);
}
return found;
"""
# Fields without a label, buttons and links without a name, duplicate ids, and pages without a
# first-level heading.
NAMES = """
const found = [];
for (const field of document.querySelectorAll("input:not([type=hidden]), textarea"))
  if (!field.labels.length) found.push(field.outerHTML);
for (const each of document.querySelectorAll("button, a"))
  if (!(each.getAttribute("aria-label") || each.textContent).trim()) found.push(each.outerHTML);
const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(id);
if (document.querySelectorAll("h1").length !== 1) found.push("h1");
return found;
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the site, which the tests share; each test uses its own names."""
    folder = tmp_path_factory.mktemp("conduit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDUIT_DATABASE_URL", f"sqlite:///{folder / 'conduit.db'}")
        patch.delenv("CONDUIT_ENV", raising=False)
        log = folder / "server.log"
        with ServedApp("uvicorn", "app:app", log, "--app-dir", str(CONDUIT)) as served:
            yield f"http://127.0.0.1:{served.port}"


def text(response: httpx.Response) -> str:
    """Returns the visible text of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text)).split())


def send_form(http: httpx.Client, page: httpx.Response, action: str, **fields: str) -> Any:
    """Submits a form of a page with its hidden fields, and follows redirects."""
    form = re.search(rf'<form[^>]* action="{re.escape(action)}".*?</form>', page.text, re.DOTALL)
    assert form is not None, f"there is no form {action} on {page.url}"
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[0])
    values = {name: html.unescape(value) for name, value in hidden}
    button = re.search(r'<button[^>]* name="(\w+)" value="(\w+)"', form[0])
    if button is not None:
        values[button[1]] = button[2]
    response = http.post(action, data=values | fields)
    assert response.status_code == 200, response.text
    return response


def test_without_javascript(site: str) -> None:
    with httpx.Client(base_url=site, follow_redirects=True, timeout=30) as http:
        http.headers["Origin"] = site
        page = http.get("/register?next=/editor")
        account = {"username": "plain", "email": "plain@example.com", "password": PASSWORD}
        page = send_form(http, page, "/register", **account)
        assert "Welcome to Conduit, plain" in text(page)
        article = {"title": "Plain forms", "description": "They work", "body": "One.\r\n\r\nTwo."}
        page = send_form(http, page, "/editor", **article, tags="plain")
        assert str(page.url) == f"{site}/articles/plain-forms"
        assert "<p>One.</p>" in page.text
        page = send_form(http, http.get("/?tag=plain"), "/articles/plain-forms/favorite")
        assert str(page.url) == f"{site}/?tag=plain"
        assert '<span class="number">1</span>' in page.text
        page = http.get("/editor/plain-forms")
        page = send_form(http, page, "/editor/plain-forms", **article | {"title": "Plain enough"})
        assert "Your changes are saved" in text(page)
        path = "/articles/plain-enough"
        page = send_form(http, page, f"{path}/comments", body="Indeed.")
        assert "1 comment Your comment" in text(page)
        number = re.findall(rf"{path}/comments/(\d+)/delete", page.text)[0]
        page = send_form(http, page, f"{path}/comments/{number}/delete")
        assert "No comments" in text(page)
        author = re.findall(r'class="name" href="/profiles/(?!plain)([^"]+)"', http.get("/").text)[
            0
        ]
        page = send_form(http, http.get(f"/profiles/{author}"), f"/profiles/{author}/follow")
        assert "Following" in text(page)
        assert author in text(http.get("/?feed=following"))
        page = send_form(http, page, "/logout")
        assert "You are logged out" in text(page)
        page = http.get("/editor")
        assert page.url.path == "/login"
        page = send_form(http, page, "/login", email=account["email"], password=PASSWORD)
        assert page.url.path == "/editor"
        page = send_form(http, http.get(path), f"{path}/delete")
        assert "Your article is deleted" in text(page)
        assert http.get(path).status_code == 404


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 800, "light"), (390, 844, "dark")])
def test_in_a_browser(browser: Any, site: str, width: int, height: int, scheme: str) -> None:
    name, slug = f"reader-{width}", f"seen-at-{width}"
    account = {"username": name, "email": f"{name}@example.com", "password": PASSWORD}

    def expect(selector: str, content: str) -> None:
        assert browser.run(WAIT, selector, content) is True

    def is_sound() -> None:
        assert browser.run(FITS), f"wider than the window: {browser.url}"
        assert browser.run(CONTRAST) == []
        assert browser.run(NAMES) == []

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.devtools("Emulation.setDeviceMetricsOverride", **size)
    browser.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": COLOR_SCHEME, "value": scheme}]
    )
    try:
        browser.open(site)
        expect("h1", "Share what you know.")
        is_sound()
        browser.click(".top a[href='/register']", f"{site}/register")
        is_sound()
        browser.run(FILL, account)
        browser.click("main button", f"{site}/")
        expect("#messages", f"Welcome to Conduit, {name}")
        browser.click(".top a[href='/editor']", f"{site}/editor")
        is_sound()
        written = {"title": f"Seen at {width}", "description": "Wide & narrow", "tags": "seen"}
        browser.run(FILL, written | {"body": "One <b>and</b>\n\ntwo."})
        browser.click("main button", f"{site}/articles/{slug}")
        expect(".text p:first-child", "One <b>and</b>")
        is_sound()

        browser.open(f"{site}/")
        expect(".articles .card:first-child h2", f"Seen at {width}")
        is_sound()
        browser.click(f"#favorite-{slug}")
        expect(f"#favorite-{slug}[aria-pressed=true] .number", "1")
        assert browser.run("return document.activeElement.id") == f"favorite-{slug}"
        browser.click(".articles .card:first-child h2 a", f"{site}/articles/{slug}")
        expect(f"#favorite-{slug}[aria-pressed=true] .number", "1")

        browser.run(FILL, {"body": "Very\nwell."})
        browser.click("#post")
        expect("#messages", "Your comment is posted")
        expect(".comment .said", "Very\nwell.")
        assert browser.run("return document.activeElement.id") == "post"
        is_sound()
        browser.run("window.confirm = () => true")
        browser.click(".comment .plain")
        expect("#comments-heading:focus", "No comments")
        expect("#messages", "Your comment is deleted")

        browser.click(".actions a", f"{site}/editor/{slug}")
        browser.run(FILL, {"description": "Narrow & wide"})
        browser.click("main button", f"{site}/articles/{slug}")
        expect(".lead", "Narrow & wide")

        author = browser.run(AUTHOR)
        browser.open(f"{site}{author}")
        is_sound()
        browser.click("#follow")
        expect("#follow[aria-pressed=true]", "Following")
        browser.open(f"{site}/?feed=following")
        expect(".articles .name", author.rpartition("/")[2])
        browser.open(f"{site}/settings")
        is_sound()

        browser.click(".me")
        expect(".menu:popover-open", "Log out")
        browser.click(".menu form button", f"{site}/")
        expect("#messages", "You are logged out")
        # A click without a login leads to the login page, and back.
        browser.open(f"{site}/articles/{slug}")
        browser.click(f"#favorite-{slug}", f"{site}/login?next=%2Farticles%2F{slug}")
        browser.run(FILL, {"email": account["email"], "password": PASSWORD})
        browser.click("main button", f"{site}/articles/{slug}")
        expect("#messages", f"Welcome back, {name}")
        browser.click("button[popovertarget=delete]")
        expect("#delete:popover-open", "Delete this article?")
        is_sound()
        browser.click("#delete .danger", f"{site}/")
        expect("#messages", "Your article is deleted")
        # Messages of the level INFO, such as one about autofocus, are harmless.
        assert [line for line in browser.console() if not line.startswith("INFO")] == []

        browser.open(f"{site}/login")
        browser.run(FILL, {"email": account["email"], "password": "wrong"})
        browser.run("document.querySelector('main form').submit()")
        expect(".wrong .hint", "Email or password is wrong.")
        assert browser.run("return document.activeElement.id") == "password"
        assert browser.run("return document.getElementById('email').value") == account["email"]
        is_sound()
    finally:
        browser.devtools("Emulation.setEmulatedMedia", features=[])
        browser.devtools("Emulation.clearDeviceMetricsOverride")
