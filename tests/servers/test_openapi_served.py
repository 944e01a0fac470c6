# SPDX-License-Identifier: MIT
"""Documents, docs pages and clients beside served apps, as their users have them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
import schemathesis_run
from browser import Browser
from commands import run
from openapi_spec_validator import validate
from workspace import ROOT

from kit import Kit
from kit.openapi import build_document
from kit.router import SmartRouter, TrieRouter

SUPPORT = ROOT / "tests" / "support"
pytestmark = pytest.mark.once

BOOKSHELF = ROOT / "examples" / "bookshelf"

PAGES = '''
import asyncio
from collections.abc import AsyncIterator

from kit import Context, Kit, Response
from kit.openapi import openapi
from kit.typed import typed
from msgspec import Struct

app = Kit()
STRICT = (
    "default-src 'none'; script-src 'nonce-n0nce'; style-src 'self' 'nonce-n0nce'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'"
)


@app.use("/strict/*")
async def secure(c, next):
    c.set("secure_headers_nonce", "n0nce")
    await next()
    c.res.headers.set("content-security-policy", STRICT)


async def hello(c: Context) -> Response:
    """Greets somebody."""
    return c.json({"hello": c.req.param("name"), "lang": c.req.query("lang")})


def documented(app, ui):
    app.get("/hello/:name", hello)
    return openapi(app, ui=ui, info={"title": f"Shown by {ui}", "version": "1"})


documented(app, "swagger")
for ui in ("swagger", "scalar"):
    app.route(f"/{ui}", documented(Kit(), ui))
    app.route(f"/strict/{ui}", documented(Kit(), ui))



# What OpenAPI 3.2 adds: operations for QUERY (RFC 10008), and schemas for the items of streams.
class Search(Struct):
    q: str


class Row(Struct):
    row: int


@typed
async def search(search: Search) -> dict[str, str]:
    return {"searched": "QUERY", "for": search.q}


@typed
async def rows() -> AsyncIterator[Row]:
    for row in range(3):
        await asyncio.sleep(0.01)
        yield Row(row)


for ui in ("swagger", "scalar"):
    for name, register in {"query": lambda part: part.query("/search", search),
                           "stream": lambda part: part.get("/rows", rows)}.items():
        part = Kit()
        register(part)
        app.route(f"/{name}/{ui}", openapi(part, ui=ui, version="3.2"))
'''


# --- Documents --------------------------------------------------------------------------------


async def test_document_of_the_bookshelf_is_valid(example: ModuleType) -> None:
    document = await (await example.app.request("/openapi.json")).json()
    validate(document)
    paths = document["paths"]
    create = paths["/api/books"]["post"]
    assert create["security"] == [{"bearer": []}]
    # Its functions say all this by their annotations, and by what they do.
    assert [*create["responses"]] == ["201", "400", "401", "409", "413", "415"]
    assert create["requestBody"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/NewBook"}}
    }
    assert [*paths["/api/books/{id}/cover"]["put"]["responses"]] == [
        "204",
        "400",
        "401",
        "404",
        "413",
        "415",
    ]
    shown = [
        (each["name"], each["schema"]["default"])
        for each in paths["/api/books"]["get"]["parameters"]
    ]
    assert shown == [("page", 1), ("size", 20), ("q", "")]


def test_document_of_every_feature_is_valid() -> None:
    import everything
    import openapi_app

    for app in (everything.app, openapi_app.app):
        validate(build_document(app))


def test_document_of_the_plugin_examples_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("plugin-middleware", "plugin-router"):
        monkeypatch.syspath_prepend(str(BOOKSHELF.parent / name / "src"))
    from request_id_middleware import request_id
    from segment_hash_router import SegmentHashRouter

    app = Kit(router=SmartRouter(routers=[SegmentHashRouter(), TrieRouter()]))
    app.use(request_id(header_name="X-Correlation-Id"))
    app.get("/", lambda c: c.text(c.get("request_id")))
    app.get("/users/:id{[0-9]+}", lambda c: c.json({"id": c.req.param("id")}))
    document = build_document(app)
    validate(document)
    assert [*document["paths"]] == ["/", "/users/{id}"]


# --- Schemathesis -----------------------------------------------------------------------------


@pytest.mark.slow
def test_schemathesis_on_every_feature(serve: Callable[..., Any], tmp_path: Path) -> None:
    served = serve(SUPPORT, "openapi_app:app")
    said = schemathesis_run.run(tmp_path, served.url, "--header=Authorization: Bearer s3cret")
    assert "Coverage" in said
    assert "Fuzzing" in said


@pytest.mark.slow
def test_schemathesis_on_the_bookshelf(
    serve: Callable[..., Any], tmp_path: Path, database: Path
) -> None:
    served = serve(BOOKSHELF, "app:app", BOOKSHELF_DB=str(database), BOOKSHELF_TOKEN="s3cret")
    said = schemathesis_run.run(
        tmp_path,
        served.url,
        "--header=Authorization: Bearer s3cret",
        # A book is made without a cover, so that of a new book is not found.
        "--exclude-checks=ensure_resource_availability",
    )
    assert "Stateful" in said


# --- The page ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser that finds no host but this one."""
    import browser

    reason = browser.missing()
    if reason is not None:
        pytest.skip(reason)
    rules = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
    with Browser(tmp_path_factory.mktemp("offline"), [rules, "--window-size=1280,1000"]) as started:
        yield started


@pytest.fixture
def pages(serve: Callable[..., Any], tmp_path: Path) -> str:
    (tmp_path / "pages_app.py").write_text(PAGES)
    return str(serve(tmp_path, "pages_app:app").url)


def wait_for(browser: Browser, script: str) -> Any:
    """Waits until a script in the page returns something; a page renders when it likes."""
    return browser.run(
        f"""
        const look = () => {{ {script} }};
        for (let turn = 0; turn < 600; turn++) {{
          const found = look();
          if (found) return found;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }}
        throw new Error("it did not come: " + document.body.innerText.slice(0, 500));
        """
    )


def try_it_out(browser: Browser, url: str) -> None:
    """Sends a request from Swagger UI, and reads the answer off the page."""
    browser.open(url)
    wait_for(browser, "return document.querySelector('.opblock-summary-control') !== null")
    browser.run("document.querySelector('.opblock-summary-control').click()")
    wait_for(browser, "return document.querySelector('.opblock input') !== null")
    # As typing does: React listens to the events of an input.
    browser.run(
        """
        const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
        for (const [index, text] of ["Ada", "en"].entries()) {
          const input = document.querySelectorAll(".opblock .parameters input")[index];
          set.call(input, text);
          input.dispatchEvent(new Event("input", {bubbles: true}));
          input.dispatchEvent(new Event("change", {bubbles: true}));
        }
        await new Promise((resolve) => setTimeout(resolve, 500));
        document.querySelector(".opblock button.execute").click();
        """
    )
    shown = wait_for(
        browser,
        "const found = document.querySelector('.live-responses-table .response');"
        "return found && found.innerText.includes('hello') ? found.innerText : null",
    )
    assert "200" in shown
    assert '"hello": "Ada"' in shown
    assert '"lang": "en"' in shown
    check_calls(browser)


def check_calls(browser: Browser) -> None:
    """Checks that the page violated no policy, and asked no other host than its own."""
    assert [line for line in browser.console() if not line.startswith("INFO: ")] == []
    names = "performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert browser.run(f"return {names}.filter((name) => !name.startsWith(location.origin))") == []
    assert len(browser.run(f"return {names}")) >= 4


@pytest.mark.parametrize("folder", ["", "/swagger", "/strict/swagger"])
def test_swagger_sends_a_request_and_shows_the_answer(
    offline: Browser, pages: str, folder: str
) -> None:
    offline.forget()
    try_it_out(offline, f"{pages}{folder}/docs")
    assert offline.title == "Shown by swagger"


def test_page_of_the_bookshelf(offline: Browser, serve: Callable[..., Any], database: Path) -> None:
    """Authorizes with the token, adds a book with the example that is filled in, and sees it."""
    served = serve(BOOKSHELF, "app:app", BOOKSHELF_DB=str(database))
    offline.forget()
    offline.open(f"{served.url}/docs")
    shown = "document.querySelectorAll('.opblock').length"
    assert wait_for(offline, f"return {shown} >= 9 && {shown}") == 9
    offline.run(
        """
        const until = async (find) => {
          for (let turn = 0; turn < 400; turn++) {
            const found = find();
            if (found) return found;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
          throw new Error("it did not come: " + find);
        };
        const one = (selector) => until(() => document.querySelector(selector));
        (await one(".auth-wrapper .authorize")).click();
        const input = await one(".auth-container input");
        const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
        set.call(input, "bookshelf");
        input.dispatchEvent(new Event("input", {bubbles: true}));
        input.dispatchEvent(new Event("change", {bubbles: true}));
        (await one(".auth-container .authorize[type=submit]")).click();
        (await one(".auth-container .btn-done")).click();
        (await one("#operations-api-create_book .opblock-summary-control")).click();
        const press = "#operations-api-create_book .btn.";
        const start = document.querySelector(press + "try-out__btn");
        if (start) start.click();
        (await one(press + "execute")).click();
        """
    )
    answer = wait_for(
        offline,
        "const found = document.querySelector('.live-responses-table .response');"
        "return found && found.innerText.includes('201') ? found.innerText : null",
    )
    assert '"title": "Dune"' in answer
    assert offline.console() == []


PRESS = """
  const until = async (find) => {
    for (let turn = 0; turn < 400; turn++) {
      const found = find();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("it did not come: " + find + document.body.innerText.slice(0, 500));
  };
  const press = async (text, inside = "body") =>
    (await until(() => [...document.querySelectorAll(inside + " button")].find(
      (each) => each.innerText.trim().startsWith(text) && each.checkVisibility()
    ))).click();
"""


@pytest.mark.parametrize("folder", ["/scalar", "/strict/scalar"])
def test_scalar_sends_a_request_and_shows_the_answer(
    offline: Browser, pages: str, folder: str
) -> None:
    offline.forget()
    offline.open(f"{pages}{folder}/docs")
    text = wait_for(
        offline,
        "const text = document.body.innerText;"
        "return text.includes('/hello/{name}') && text.includes('Greets somebody') && text",
    )
    assert "Shown by scalar" in text
    font = "return getComputedStyle(document.querySelector('.scalar-app')).fontFamily"
    assert "sans-serif" in offline.run(font)  # its styles are there
    offline.run(
        PRESS
        + """
        await press("Test Request");
        for (const [name, text] of [["name", "Ada"], ["lang", "en"]]) {
          const rows = () => [...document.querySelectorAll("[role=dialog] :is(tr, [role=row])")];
          const named = (row) => row.querySelector("[contenteditable]")?.innerText.trim() === name;
          const row = await until(() => rows().find(named));
          row.querySelectorAll("[contenteditable]")[1].focus();
          document.execCommand("insertText", false, text);
        }
        """
    )
    offline.run(PRESS + "await press('Send', '[role=dialog]');")
    answer = wait_for(
        offline,
        "const text = document.querySelector('[role=dialog]').innerText;"
        "return text.includes('\"hello\"') ? text : null",
    )
    assert '"hello": "Ada"' in answer
    assert '"lang": "en"' in answer
    assert "200 OK" in answer
    check_calls(offline)


@pytest.mark.parametrize("ui", ["swagger", "scalar"])
@pytest.mark.parametrize(("name", "answer"), [("query", '"QUERY"'), ("stream", '"row":2')])
def test_page_sends_what_openapi_3_2_adds(
    offline: Browser, pages: str, ui: str, name: str, answer: str
) -> None:
    offline.forget()
    offline.open(f"{pages}/{name}/{ui}/docs")
    if ui == "swagger":
        offline.run(
            PRESS
            + """
            (await until(() => document.querySelector(".opblock-summary-control"))).click();
            (await until(() => document.querySelector(".opblock button.execute"))).click();
            """
        )
        place = ".live-responses-table .response"
    else:
        offline.run(PRESS + "await press('Test Request'); await press('Send', '[role=dialog]');")
        place = "[role=dialog]"
    shown = wait_for(
        offline,
        f"const text = document.querySelector('{place}')?.innerText;"
        f"return text?.replaceAll(' ', '').includes('{answer}') ? text : null",
    )
    assert "200" in shown
    check_calls(offline)


def test_page_below_a_prefix_that_a_proxy_takes_away(
    offline: Browser, pages: str, serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "stripping_app.py").write_text(
        PAGES
        + '''
inner = app


async def app(scope, receive, send):
    """Takes a prefix away, and tells nobody."""
    if scope["type"] == "http":
        path = scope["path"].removeprefix("/behind")
        scope = {**scope, "path": path, "raw_path": path.encode()}
    await inner(scope, receive, send)
'''
    )
    offline.forget()
    served = serve(tmp_path, "stripping_app:app")
    try_it_out(offline, f"{served.url}/behind/swagger/docs")
    assert f"{served.url}/behind/swagger" in offline.text(".servers")


def test_page_tells_that_the_document_can_not_be_read(
    offline: Browser, serve: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "broken_app.py").write_text(
        "from kit import Kit\nfrom kit.openapi import openapi\n"
        "app = Kit()\napp.get('/openapi.json', lambda c: c.text('no', 403))\nopenapi(app)\n"
    )
    served = serve(tmp_path, "broken_app:app")
    offline.forget()
    offline.open(f"{served.url}/docs")
    text = wait_for(offline, "return document.querySelector('[role=alert]')?.innerText")
    assert text == f"The document at {served.url}/openapi.json can't be read: status 403."


# --- Clients ----------------------------------------------------------------------------------


def write_client(app: Path, folder: Path) -> ModuleType:
    """Has `kit client` write a client, checks its types, and imports it."""
    name = f"{app.stem}_client"
    file = folder / f"{name}.py"
    run("kit", "client", app, "--lang", "python", "--output", file)
    run(sys.executable, "-m", "mypy", "--strict", "--config-file=", file, cwd=folder)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.once
def test_client_of_every_feature(serve: Callable[..., Any], tmp_path: Path) -> None:
    module = write_client(SUPPORT / "openapi_app.py", tmp_path)
    served = serve(SUPPORT, "openapi_app:app")
    with module.Client(served.url, token="s3cret") as api:
        assert api.list_things(page=3, tag=["a", "b"]) == module.PageThing(items=[], total=3)
        assert api.read_thing(7).id == 7
        assert api.read_shape(2) == module.Square(side=2)
        assert api.secret("x") == "secret"
        api.set_cover(7, module.Upload(cover=b"123"))
        with pytest.raises(module.ClientError) as caught:
            api.read_thing(2000)
        assert caught.value.status == 404
        assert caught.value.problem == module.Problem(
            title="Not found", status=404, detail="There is no 2000"
        )


@pytest.mark.once
def test_client_of_the_bookshelf(serve: Callable[..., Any], tmp_path: Path, database: Path) -> None:
    module = write_client(BOOKSHELF, tmp_path)
    served = serve(BOOKSHELF, "app:app", BOOKSHELF_DB=str(database), BOOKSHELF_TOKEN="s3cret")

    async def use() -> None:
        async with module.AsyncClient(served.url, token="s3cret") as api:
            book = await api.create_book(module.NewBook(title="Emma", year=1815))
            assert await api.read_book(book.id) == book
            page = await api.list_books(q="emm")
            assert (page.total, page.items) == (1, [book])
            changed = await api.update_book(book.id, module.NewBook(title="Persuasion"))
            assert (changed.title, changed.year) == ("Persuasion", None)
            assert "Persuasion" in await api.export_books()
            await api.delete_book(book.id)
            with pytest.raises(module.ClientError) as caught:
                await api.read_book(book.id)
            assert caught.value.problem.error.message == f"There is no book {book.id}"
        async with module.AsyncClient(served.url) as api:
            with pytest.raises(module.ClientError) as caught:
                await api.create_book(module.NewBook(title="Emma"))
            assert caught.value.status == 401

    anyio.run(use)
