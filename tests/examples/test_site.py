# SPDX-License-Identifier: MIT
"""The site of examples/: as visitors use it, with JavaScript and without, and in Chromium."""

from __future__ import annotations

import gzip
import html
import re
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from linting import lint_response
from serving import ServedApp
from workspace import ROOT

# Example apps are served by one interpreter; what differs between them shows in smaller tests.
pytestmark = pytest.mark.once

SITE = ROOT / "examples" / "site"
HTMX = {"HX-Request": "true"}
PASSWORD = "correct horse"


class Visitor:
    """A browser without JavaScript: it keeps cookies, and says where a form was."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=30, verify=False)
        self.http.headers["Origin"] = url

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.http.get(path, headers=headers)

    def htmx(self, path: str) -> httpx.Response:
        return self.http.get(path, headers=HTMX)

    def post(self, path: str, headers: dict[str, str] | None = None, **form: str) -> httpx.Response:
        return self.http.post(path, data=form, headers=headers)

    def join(self, name: str) -> None:
        assert self.post("/join", name=name, password=PASSWORD).status_code == 303


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of `site`."""
    return tmp_path_factory.mktemp("site") / "club.db"


@pytest.fixture(scope="module")
def site(database: Path) -> Iterator[str]:
    """The address of the site, which the tests share; each has a book and names of its own.

    At most 20 members can join from one address in an hour.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITE_DB", str(database))
        log = database.with_name("site.log")
        with ServedApp("uvicorn", "app:app", log, "--app-dir", str(SITE)) as served:
            yield f"http://127.0.0.1:{served.port}"


@pytest.fixture
def visitors() -> Iterator[Callable[[str], Visitor]]:
    """Makes visitors of an address; their connections are closed with the test."""
    with ExitStack() as stack:

        def make(url: str) -> Visitor:
            visitor = Visitor(url)
            stack.enter_context(visitor.http)
            return visitor

        yield make


@pytest.fixture
def visitor(site: str, visitors: Callable[[str], Visitor]) -> Visitor:
    return visitors(site)


def text(response: httpx.Response) -> str:
    """What can be read on a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text)).split())


def is_whole(response: httpx.Response) -> bool:
    return response.text.startswith("<!doctype html>")


def test_first_look(visitor: Visitor) -> None:
    home = visitor.get("/")
    assert home.status_code == 200
    assert "What we are reading Middlemarch George Eliot, 1871" in text(home)
    assert "Newest notes" in text(home)
    assert "Mei , page 194" in text(visitor.get("/books/6"))
    assert "set-cookie" not in home.headers


def test_books_by_pages_and_search(visitor: Visitor) -> None:
    first, last = visitor.get("/books"), visitor.get("/books?page=3")
    assert "24 books" in text(first)
    assert first.text.count("<li>") == 9
    assert last.text.count("<li>") == 6
    assert 'href="/books?page=3"' in first.text
    found = visitor.get("/books?q=DICK")
    assert "3 books with “DICK”" in text(found)
    assert "Moby-Dick" in text(found)
    many = visitor.get("/books?q=e")
    assert 'href="/books?q=e&amp;page=2"' in many.text
    assert "0 books with “%”" in text(visitor.get("/books?q=%25"))
    hostile = visitor.get("/books?q=%22%3E%3Cscript%3E")
    assert 'with “"><script>”' in html.unescape(hostile.text)
    assert "<script>" not in hostile.text


def test_search_of_htmx_gets_the_rows(visitor: Visitor) -> None:
    part = visitor.htmx("/books?q=eliot")
    assert not is_whole(part)
    assert part.text.count("<li>") == 1
    assert 'hx-swap-oob="innerHTML:#count">1 book with “eliot”' in part.text
    assert "HX-Request" in part.headers["vary"]
    history = visitor.get(
        "/books?q=eliot", **{"HX-Request": "true", "HX-History-Restore-Request": "true"}
    )
    assert is_whole(history)


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/books/999",
        "/books/0",
        "/books/x",
        "/books/99999999999999999999",
        "/books?page=4",
        "/books?page=x",
        "/static/site.css",
        "/static/site.000000000000.css",
        "/static/..%2fapp.000000000000.py",
    ],
)
def test_pages_that_do_not_exist(visitor: Visitor, path: str) -> None:
    response = visitor.get(path)
    assert response.status_code == 404
    assert "404 Not Found There is no such page." in text(response)
    assert "The Thursday Book Club" in text(response)


def test_method_that_a_page_does_not_have(visitor: Visitor) -> None:
    response = visitor.post("/books")
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, OPTIONS"
    assert is_whole(response)


def test_member_joins_logs_out_and_in(
    site: str, visitor: Visitor, visitors: Callable[[str], Visitor]
) -> None:
    joined = visitor.post("/join", name="Anna", password=PASSWORD, book="6")
    assert (joined.status_code, joined.headers["location"]) == (303, "/books/6")
    page = visitor.get("/books/6")
    assert "Welcome to the club, Anna" in text(page)
    assert "Log out Anna" in text(page)
    assert "Welcome" not in text(visitor.get("/books/6"))
    # A copy of the cookie is worth nothing after the logout.
    copy = visitors(site)
    copy.http.cookies.update(visitor.http.cookies)
    assert "Log out Anna" in text(copy.get("/"))
    assert visitor.post("/logout").status_code == 303
    assert "You are logged out" in text(visitor.get("/"))
    assert "Log out" not in text(copy.get("/"))
    wrong = visitor.post("/login", name="Anna", password="battery staple")
    assert wrong.status_code == 422
    assert "Name or password is wrong." in text(wrong)
    assert 'value="Anna"' in wrong.text
    assert "battery" not in wrong.text
    before = dict(visitor.http.cookies)
    right = visitor.post("/login", name="anna", password=PASSWORD)
    assert (right.status_code, right.headers["location"]) == (303, "/")
    assert dict(visitor.http.cookies) != before
    assert "Welcome back, Anna" in text(visitor.get("/"))


def test_a_session_survives_a_restart(
    serve: Callable[..., Any], visitors: Callable[[str], Visitor], tmp_path: Path
) -> None:
    settings = {"SITE_DB": str(tmp_path / "club.db")}
    served = serve(SITE, "app:app", **settings)
    visitor = visitors(served.url)
    visitor.join("Ida")
    assert served.stop() == 0
    again = visitors(serve(SITE, "app:app", **settings).url)
    again.http.cookies.update(dict(visitor.http.cookies))
    assert "Log out Ida" in text(again.get("/"))
    assert "24 books" in text(again.get("/books"))


def test_a_member_who_was_removed_is_logged_out(visitor: Visitor, database: Path) -> None:
    visitor.join("Removed")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM members WHERE name = 'Removed'")
    assert "Log in" in text(visitor.get("/"))
    assert visitor.post("/books/6/notes", text="still here").headers["location"] == "/login?book=6"


def test_forms_that_are_refused(visitor: Visitor) -> None:
    empty = visitor.post("/join")
    assert empty.status_code == 422
    assert "A name has 2 to 30 characters." in text(empty)
    assert "A password has 8 characters or more." in text(empty)
    assert 'aria-describedby="name-hint" aria-invalid="true"' in empty.text
    visitor.join("Bea")
    taken = visitor.post("/join", name="BEA", password=PASSWORD)
    assert "Another member has this name already." in text(taken)
    assert "At most 200" in text(visitor.post("/join", name="Bo", password="x" * 201))
    missing = text(visitor.post("/login"))
    assert "Your name is missing." in missing
    assert "Your password is missing." in missing
    # The members that the site begins with have no password.
    assert visitor.post("/login", name="Hanna", password="").status_code == 422
    assert visitor.post("/login", name="Hanna", password="nobody").status_code == 422


def test_login_leads_to_no_other_site(visitor: Visitor) -> None:
    visitor.join("Cleo")
    for book in ("//evil.example", "1/../..//evil.example", "٣"):
        response = visitor.post("/login", name="Cleo", password=PASSWORD, book=book)
        assert response.headers["location"] == "/"


def test_login_is_limited(visitor: Visitor) -> None:
    guesses = [visitor.post("/login", name="Dora", password=f"guess {n}") for n in range(6)]
    assert [each.status_code for each in guesses] == [422] * 5 + [429]
    assert "Too many attempts. Try again in" in text(guesses[-1])
    assert int(guesses[-1].headers["retry-after"]) <= 60
    assert visitor.post("/login", name="Dan", password="guess").status_code == 422


def test_note_without_javascript(visitor: Visitor) -> None:
    assert "Log in or join to write a note." in text(visitor.get("/books/6"))
    visitor.join("Eva")
    refused = visitor.post("/books/6/notes", text=" ", page="881")
    assert refused.status_code == 422
    assert is_whole(refused)
    assert "Write something first." in text(refused)
    assert "The book has the pages 1 to 880." in text(refused)
    assert 'value="881"' in refused.text
    added = visitor.post("/books/6/notes", text="<b>bold</b>\r\nRosamond!", page="12")
    assert (added.status_code, added.headers["location"]) == (303, "/books/6#notes")
    page = visitor.get("/books/6")
    assert "Your note is on the page" in text(page)
    assert "<b>bold</b> Rosamond! Eva , page 12" in text(page)
    assert "&lt;b&gt;bold&lt;/b&gt;\nRosamond!" in page.text
    assert "Eva on Middlemarch , page 12" in text(visitor.get("/"))


def test_length_of_a_note_counts_as_browsers_do(visitor: Visitor) -> None:
    visitor.join("Fay")
    most = "\r\n".join("x" * 1000)  # 1,999 characters for a browser, 2,998 as they are sent
    assert visitor.post("/books/2/notes", text=most).status_code == 303
    more = visitor.post("/books/2/notes", text="x" * 2001)
    assert "At most 2000 characters: these are 2001." in text(more)


def test_note_by_htmx(visitor: Visitor) -> None:
    visitor.join("Gus")
    visitor.get("/")  # shows the welcome
    refused = visitor.post("/books/3/notes", HTMX, text="", page="0")
    assert refused.status_code == 422
    assert not is_whole(refused)
    assert refused.text.count("autofocus") == 1
    added = visitor.post("/books/3/notes", HTMX, text="Rosamond!")
    assert added.status_code == 200
    assert not is_whole(added)
    assert "Rosamond! Gus ·" in text(added)
    assert 'hx-swap-oob="innerHTML:#messages"><p class="message">Your note is on' in added.text
    # It was shown, so the next page doesn't show it again.
    assert "Your note is on the page" not in text(visitor.get("/"))


def test_book_that_was_read(visitor: Visitor) -> None:
    assert "1 member has read it" in text(visitor.get("/books/9"))
    visitor.join("Hal")
    for _ in range(2):  # a form that is sent twice counts once
        response = visitor.post("/books/9/readers", read="yes")
        assert (response.status_code, response.headers["location"]) == (303, "/books/9")
    page = visitor.get("/books/9")
    assert 'value="no" aria-pressed="true"' in page.text
    assert '<span class="number">2</span>' in page.text
    part = visitor.post("/books/9/readers", HTMX, read="no")
    assert not is_whole(part)
    assert 'value="yes" aria-pressed="false"' in part.text
    assert '<span class="number">1</span>' in part.text


def test_what_is_for_members_leads_to_the_login(visitor: Visitor) -> None:
    for path in ("/books/6/notes", "/books/6/readers"):
        plain = visitor.post(path, text="hello")
        assert (plain.status_code, plain.headers["location"]) == (303, "/login?book=6")
        part = visitor.post(path, HTMX, text="hello")
        assert (part.status_code, part.headers["hx-redirect"]) == (204, "/login?book=6")
    assert 'name="book" value="6"' in visitor.get("/login?book=6").text


def test_forms_of_other_sites_are_refused(visitor: Visitor) -> None:
    visitor.join("Ivo")
    evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    response = visitor.post("/books/4/notes", evil, text="evil")
    assert response.status_code == 403
    assert is_whole(response)
    assert "403 Forbidden This form was sent from another site" in text(response)
    assert "Log out Ivo" in text(response)
    part = visitor.post("/books/4/notes", {**evil, **HTMX}, text="evil")
    assert part.status_code == 403
    assert part.text.strip().startswith('<p class="message wrong">This form was sent from another')
    assert "evil" not in text(visitor.get("/books/4"))


def test_body_that_is_too_large(visitor: Visitor) -> None:
    visitor.join("Jan")
    response = visitor.post("/books/6/notes", text="x" * 70_000)
    assert response.status_code == 413
    assert "That is more than this site takes at once." in text(response)


def test_other_hosts_are_refused(visitor: Visitor) -> None:
    response = visitor.get("/", Host="evil.example")
    assert response.status_code == 400
    assert is_whole(response)


def test_fault_is_a_page_and_a_line_in_the_log(
    serve: Callable[..., Any], visitors: Callable[[str], Visitor], tmp_path: Path
) -> None:
    database = tmp_path / "club.db"
    served = serve(SITE, "app:app", SITE_DB=str(database))
    visitor = visitors(served.url)
    visitor.join("Ida")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("ALTER TABLE notes RENAME TO lost")
    response = visitor.get("/")
    assert response.status_code == 500
    number = response.headers["x-request-id"]
    assert f"name the number {number}" in text(response)
    assert "no such table" not in response.text
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    printed = served.printed()
    assert f"[{number}] GET /" in printed
    assert "no such table: " in printed


def test_page_that_is_known_is_not_sent_again(visitor: Visitor) -> None:
    page = visitor.get("/books")
    assert page.headers["cache-control"] == "private, no-cache"
    again = visitor.get("/books", **{"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "Cookie" in again.headers["vary"]
    visitor.join("Kim")
    assert visitor.get("/books", **{"If-None-Match": page.headers["etag"]}).status_code == 200


def test_pages_are_compressed(visitor: Visitor) -> None:
    with visitor.http.stream("GET", "/books", headers={"Accept-Encoding": "gzip"}) as response:
        content = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(content).startswith(b"<!doctype html>")
    etag = response.headers["etag"]
    assert etag.startswith("W/")
    headers = {"Accept-Encoding": "gzip", "If-None-Match": etag}
    assert visitor.get("/books", **headers).status_code == 304


def test_static_files_are_kept_for_a_year(visitor: Visitor) -> None:
    page = visitor.get("/").text
    paths = re.findall(r'(?:href|src)="(/(?:static|vendor)/[^"]+)"', page)
    types = {".svg": "image/svg+xml", ".css": "text/css", ".js": "text/javascript"}
    assert {Path(path).suffix for path in paths} == set(types)
    for path in paths:
        response = visitor.get(path)
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["content-type"].startswith(types[Path(path).suffix])
        assert "set-cookie" not in response.headers
        assert visitor.get(path, **{"If-None-Match": response.headers["etag"]}).status_code == 304


def test_headers_of_a_page(visitor: Visitor) -> None:
    page = visitor.get("/")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["referrer-policy"] == "same-origin"
    assert "strict-transport-security" not in page.headers
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", page.text)
    visitor.join("Lea")
    assert [each.name for each in visitor.http.cookies.jar] == ["session"]


def test_with_an_https_address(
    serve: Callable[..., Any], visitors: Callable[[str], Visitor], tmp_path: Path
) -> None:
    database = str(tmp_path / "club.db")
    served = serve(SITE, "app:app", SITE_DB=database, SITE_URL="https://club.example/")
    visitor = visitors(served.url)
    headers = {"Host": "club.example", "Origin": "https://club.example"}
    joined = visitor.post("/join", headers, name="Ida", password=PASSWORD)
    cookie = joined.headers["set-cookie"]
    assert cookie.startswith("__Host-session=")
    assert {"Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    assert "max-age" in visitor.get("/").headers["strict-transport-security"]
    robots = visitor.get("/robots.txt")
    assert robots.headers["content-type"] == "text/plain; charset=UTF-8"
    assert "Sitemap: https://club.example/sitemap.xml" in robots.text
    sitemap = visitor.get("/sitemap.xml")
    assert sitemap.headers["content-type"].startswith("application/xml")
    assert sitemap.text.count("<loc>https://club.example/") == 26


@pytest.mark.once
@pytest.mark.parametrize("path", ["/", "/books?q=dick", "/login", "/sitemap.xml", "/nowhere"])
def test_httplint_finds_no_fault(site: str, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    received = b""
    with socket.create_connection(("127.0.0.1", int(site.rpartition(":")[2])), 20) as connection:
        connection.sendall(request.encode())
        while data := connection.recv(65536):
            received += data
    expected = (
        # By what htmx asks for, by encoding, and by who asks.
        "This resource varies in",
        # A 404 has no ETag.
        "This response cannot be served from cache without validation, and doesn't have a",
        # Date is uvicorn's, and httplint compares it with the time at which it runs itself.
        "The server's clock is",
    )
    faults = [note for level, note in lint_response(received) if level in ("BAD", "WARN")]
    assert [note for note in faults if not note.startswith(expected)] == []


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
const field = document.querySelector(args[0]);
field.value = args[1];
field.dispatchEvent(new Event("input", {bubbles: true}));
"""
FITS = "return document.documentElement.scrollWidth <= innerWidth"


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_in_a_browser(browser: Any, site: str, width: int, height: int) -> None:
    def expect(selector: str, content: str) -> None:
        assert browser.run(WAIT, selector, content) is True
        assert browser.run(FITS), f"wider than the window: {browser.url}"

    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.devtools("Emulation.setDeviceMetricsOverride", **size)
    try:
        browser.open(site)
        expect("h1", "Middlemarch")
        browser.click("nav a[href='/books']", f"{site}/books")
        browser.run(FILL, "#q", "dick")
        expect("#count", "3 books with “dick”")
        assert browser.url == f"{site}/books?q=dick"
        browser.run(FILL, "#q", "")
        expect("#count", "24 books")
        browser.click(".pages a:last-child")
        expect(".pages [aria-current]", "3")
        browser.run("history.back()")
        expect(".pages [aria-current]", "1")
        browser.open(f"{site}/join?book=6")
        expect("h1", "Join")
        browser.run(FILL, "#name", f"Reader {width}")
        browser.run(FILL, "#password", PASSWORD)
        browser.click("main button", f"{site}/books/6")
        expect("#messages", "Welcome to the club, Reader")
        browser.click("#read")
        expect("#read[aria-pressed=true]", "I")
        assert browser.run("return document.activeElement.id") == "read"
        browser.run(FILL, "#text", "Rosamond!")
        browser.click("#add")
        expect("#messages", "Your note is on the page")
        expect(".notes", f"Reader {width}")
        assert browser.run("return document.activeElement.id") == "add"
        assert browser.console() == []
        # An invalid form is an answer with the status 422, which the browser reports.
        browser.run(FILL, "#text", "Again")
        browser.run(FILL, "#page", "9999")
        browser.click("#add")
        expect(".wrong .hint", "The book has the pages 1 to 880.")
        expect("#page:focus", "")
        assert browser.run("return document.querySelector('#text').value") == "Again"
        expected = ("INFO", "422")  # e.g. that the focus was set already
        lines = browser.console()
        assert [line for line in lines if not any(each in line for each in expected)] == []
    finally:
        browser.devtools("Emulation.clearDeviceMetricsOverride")
