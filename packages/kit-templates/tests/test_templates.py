# SPDX-License-Identifier: MIT
"""Pages by `c.render`: values, escaping, status and headers, errors."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader, TemplateNotFound, UndefinedError

from kit import Context, Kit, Response
from kit.interface import plugins
from kit.secure_headers import NONCE, secure_headers
from kit.templates import templates


@dataclass
class Book:
    title: str


class Page(msgspec.Struct):
    title: str
    books: list[Book]


def asked(run: Callable[..., Any], app: Kit[Any, Any], path: str = "/") -> tuple[int, str]:
    async def ask() -> tuple[int, str]:
        response = await app.request(path)
        return response.status, await response.text()

    result: tuple[int, str] = run(ask)
    return result


def app_of(middleware: Any, handler: Callable[[Context], Any]) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.get("/", handler)
    return app


def test_a_handler_renders_a_template(run: Any, pages: Any) -> None:
    folder = pages(page="<h1>{{ book.title }}</h1>")
    app = app_of(templates(folder), lambda c: c.render("page.html", book=Book("Dune")))

    async def ask() -> None:
        response = await app.request("/")
        assert response.headers.get("content-type") == "text/html; charset=UTF-8"
        assert await response.text() == "<h1>Dune</h1>"

    run(ask)


def test_status_and_headers_that_were_set_before_are_sent(run: Any, pages: Any) -> None:
    def gone(c: Context) -> Any:
        c.status(410)
        c.header("X-Reason", "sold")
        return c.render("page.html")

    app = app_of(templates(pages(page="gone")), gone)

    async def ask() -> None:
        response = await app.request("/")
        assert response.status == 410
        assert response.headers.get("x-reason") == "sold"

    run(ask)


@pytest.mark.parametrize(
    "values",
    [
        {"title": "New", "books": [Book("Dune")]},
        Page("New", [Book("Dune")]),
        dataclass(type("Made", (), {"__annotations__": {"title": str, "books": list}}))(
            "New", [Book("Dune")]
        ),
    ],
    ids=["mapping", "struct", "dataclass"],
)
def test_values_may_be_an_object(run: Any, pages: Any, values: Any) -> None:
    folder = pages(page="{{ title }}: {% for book in books %}{{ book.title }}{% endfor %}")
    app = app_of(templates(folder), lambda c: c.render("page.html", values))
    assert asked(run, app) == (200, "New: Dune")
    app = app_of(templates(folder), lambda c: c.render("page.html", values, title="Old"))
    assert asked(run, app) == (200, "Old: Dune")


@pytest.mark.parametrize("values", [7, Book, "title", Response("x")])
def test_other_objects_are_refused(pages: Any, run: Any, values: Any) -> None:
    caught: list[Exception] = []
    app = app_of(templates(pages(page="")), lambda c: c.render("page.html", values))

    @app.on_error()
    def keep(error: Exception, c: Context) -> Response:
        caught.append(error)
        return c.text("", 500)

    assert asked(run, app)[0] == 500
    assert str(caught[0]) == (
        "c.render() takes values as a mapping, a dataclass or a Struct, not "
        f"{type(values).__name__}"
    )


@pytest.mark.parametrize("name", ["page.html", "page.txt", "page.xml", "page", "page.html.j2"])
def test_every_template_escapes(run: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{{ value }}")
    app = app_of(templates(tmp_path), lambda c: c.render(name, value="<script>'\""))
    assert asked(run, app) == (200, "&lt;script&gt;&#39;&#34;")


@given(st.text())
def test_no_text_becomes_a_tag_or_ends_an_attribute(value: str) -> None:
    made = templates(loader=DictLoader({"a.html": '<p title="{{ value }}">{{ value }}</p>'}))
    page = made.render("a.html", value=value)
    assert page.count("<") == 2
    assert page.count('"') == 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page.html", "text/html; charset=UTF-8"),
        ("page.htm", "text/html; charset=UTF-8"),
        ("page.html.j2", "text/html; charset=UTF-8"),
        ("page", "text/html; charset=UTF-8"),
        ("feed.xml", "application/xml; charset=UTF-8"),
        ("feed.xml.jinja", "application/xml; charset=UTF-8"),
        ("image.svg", "image/svg+xml"),
        ("robots.txt", "text/plain; charset=UTF-8"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_name_decides_the_type(
    run: Any, tmp_path: Path, name: str, kind: str, stream: bool
) -> None:
    (tmp_path / name).write_text("text")
    app = app_of(templates(tmp_path), lambda c: c.render(name, stream=stream))

    async def ask() -> None:
        response = await app.request("/")
        assert response.headers.get("content-type") == kind
        assert await response.text() == "text"

    run(ask)


def test_templates_see_the_request(run: Any, pages: Any) -> None:
    folder = pages(page="{{ c.req.path }} {{ request.query('page') }}")
    app = app_of(templates(folder), lambda c: c.render("page.html"))
    assert asked(run, app, "/?page=2") == (200, "/ 2")


def test_the_nonce_of_the_policy_is_there(run: Any, pages: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(secure_headers(content_security_policy={"script_src": [NONCE]}))
    app.use(templates(pages(page='<script nonce="{{ csp_nonce }}"></script>')))
    app.get("/", lambda c: c.render("page.html"))

    async def ask() -> None:
        response = await app.request("/")
        nonce = (await response.text()).split('"')[1]
        policy = response.headers.get("content-security-policy") or ""
        assert nonce
        assert f"'nonce-{nonce.replace('&#43;', '+')}'" in policy

    run(ask)


def test_without_a_policy_there_is_no_nonce(run: Any, pages: Any) -> None:
    app = app_of(
        templates(pages(page="{{ csp_nonce is defined }}")), lambda c: c.render("page.html")
    )
    assert asked(run, app) == (200, "False")


def test_an_unknown_name_is_an_error(run: Any, pages: Any) -> None:
    made = templates(pages(page="{{ tilte }}", test="{% if tilte %}{% endif %}"))
    with pytest.raises(UndefinedError, match="'tilte' is undefined"):
        made.render("page.html", title="")
    with pytest.raises(UndefinedError, match="'tilte' is undefined"):
        made.render("test.html", title="")


def test_context_functions_add_values(run: Any, pages: Any) -> None:
    async def user(c: Context) -> dict[str, str]:
        return {"user": "ann", "title": "of the function"}

    folder = pages(page="{{ user }} {{ path }} {{ title }}")
    for functions in (
        [user, lambda c: {"path": c.req.path}],
        [lambda c: {"path": c.req.path}, lambda c: user(c)],
        [lambda c: user(c), lambda c: {"path": c.req.path}],
    ):
        app = app_of(
            templates(folder, context=functions), lambda c: c.render("page.html", title="own")
        )
        assert asked(run, app) == (200, "ann / own")


def test_context_functions_are_called_once(run: Any, pages: Any) -> None:
    calls = []

    def count(c: Context) -> dict[str, int]:
        calls.append(c)
        return {"number": len(calls)}

    async def nothing(c: Context) -> dict[str, int]:
        return {}

    made = templates(pages(page="{{ number }}"), context=[count, lambda c: nothing(c)])
    assert asked(run, app_of(made, lambda c: c.render("page.html"))) == (200, "1")


@pytest.mark.parametrize("returned", [None, "text"])
def test_a_context_function_has_to_return_a_mapping(run: Any, pages: Any, returned: Any) -> None:
    def values(c: Context) -> Any:
        return returned

    async def later(c: Context) -> Any:
        return returned

    for function in (values, later):
        app = app_of(templates(pages(page=""), context=function), lambda c: c.render("page.html"))
        app.on_error(lambda error, c: c.text(str(error), 500))
        status, text = asked(run, app)
        assert status == 500
        assert text.startswith("templates(context=...): ")
        assert function.__name__ in text
        assert text.endswith(f"returned {type(returned).__name__}, expected a mapping of values")


def test_awaitable_values_are_awaited(run: Any, pages: Any) -> None:
    async def find() -> Book:
        return Book("Dune")

    app = app_of(
        templates(pages(page="{{ book.title }} {{ n }}")),
        lambda c: c.render("page.html", book=find(), n=1),
    )
    assert asked(run, app) == (200, "Dune 1")


def test_async_templates_await_what_they_call(run: Any, pages: Any) -> None:
    async def books() -> list[str]:
        return ["Dune", "Momo"]

    async def shout(text: str) -> str:
        return text.upper()

    made = templates(
        pages(page="{% for book in books() %}{{ book|shout }} {% endfor %}"),
        enable_async=True,
        globals={"books": books},
        filters={"shout": shout},
    )
    assert asked(run, app_of(made, lambda c: c.render("page.html"))) == (200, "DUNE MOMO ")
    assert run(made.render_async, "page.html") == "DUNE MOMO "
    with pytest.raises(RuntimeError) as raised:
        made.render("page.html")
    assert str(raised.value) == (
        "templates(enable_async=True) has no render(): await render_async(...)"
    )


def test_an_error_of_an_async_template_is_a_500(run: Any, pages: Any) -> None:
    made = templates(pages(page="{{ 1 // 0 }}"), enable_async=True)
    assert asked(run, app_of(made, lambda c: c.render("page.html")))[0] == 500


def test_globals_filters_tests_and_extensions(run: Any, pages: Any) -> None:
    made = templates(
        pages(
            page="{% import 'macros.html' as m %}{{ site }} {{ 3|double }} {{ 4 is even_number }} "
            "{{ m.name() }}{% do [] %}",
            macros="{% macro name() %}{{ site }}{% endmacro %}",
        ),
        globals={"site": "Shop"},
        filters={"double": lambda n: n * 2},
        tests={"even_number": lambda n: n % 2 == 0},
        extensions=["jinja2.ext.do"],
    )
    assert made.render("page.html") == "Shop 6 True Shop"


def test_pages_outside_of_requests(run: Any, pages: Any) -> None:
    made = templates(pages(mail="Hello {{ name }}{{ flush() }}", base=""), layout="base.html")
    assert made.render("mail.html", name="Ann") == "Hello Ann"
    assert made.render("mail.html", {"name": "Ann"}) == "Hello Ann"
    assert run(made.render_async, "mail.html", {"name": "Ann"}) == "Hello Ann"


def test_error_pages_are_rendered(run: Any, pages: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(templates(pages(missing="no {{ request.path }}", broken="sorry")))
    app.get("/fault", lambda c: c.render("missing.html", path=1 // 0))

    @app.not_found()
    def missing(c: Context) -> Any:
        c.status(404)
        return c.render("missing.html")

    @app.on_error()
    def broken(error: Exception, c: Context) -> Any:
        c.status(500)
        return c.render("broken.html")

    assert asked(run, app, "/absent") == (404, "no /absent")
    assert asked(run, app, "/fault") == (500, "sorry")


def test_the_middleware_nearest_to_the_handler_renders(run: Any, tmp_path: Path) -> None:
    app: Kit[Any, Any] = Kit()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_text(f"of {name}")
        (tmp_path / name / "base.html").write_text("[{{ content }}]")
    app.use(templates(tmp_path / "a", layout="base.html"))
    app.use("/b/*", templates(tmp_path / "b"))
    app.get("/a/page", lambda c: c.render("page.html"))
    app.get("/b/page", lambda c: c.render("page.html"))
    assert asked(run, app, "/a/page") == (200, "[of a]")
    assert asked(run, app, "/b/page") == (200, "of b")


def test_several_folders_are_searched_in_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.html").write_text(f"only {name}")
        (tmp_path / name / "both.html").write_text(f"of {name}")
    made = templates([tmp_path / "a", str(tmp_path / "b")])
    assert [made.render(f"{name}.html") for name in ("a", "b", "both")] == [
        "only a",
        "only b",
        "of a",
    ]


def test_templates_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("templates", "pages"):
        (tmp_path / "kit_shop" / folder).mkdir(parents=True)
        (tmp_path / "kit_shop" / folder / "a.html").write_text(f"of {folder}")
    (tmp_path / "kit_shop" / "__init__.py").write_text("")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.html").write_text("own")
    monkeypatch.syspath_prepend(tmp_path)
    assert templates(package="kit_shop").render("a.html") == "of templates"
    assert templates(package="kit_shop:pages").render("a.html") == "of pages"
    assert templates(tmp_path / "own", package="kit_shop").render("a.html") == "own"
    with pytest.raises(TemplateNotFound) as raised:
        templates(tmp_path / "own", package="kit_shop").render("b.html")
    assert str(raised.value).startswith(f"There is no template 'b.html' in {tmp_path / 'own'} or")


def test_a_changed_template_is_rendered_anew(pages: Any) -> None:
    folder = pages(page="old", base="{{ content }}")
    reloading, fixed = templates(folder), templates(folder, auto_reload=False)
    assert reloading.render("page.html") == fixed.render("page.html") == "old"
    pages(page="new")
    later = os.stat(folder / "page.html").st_mtime + 10
    os.utime(folder / "page.html", (later, later))
    assert reloading.render("page.html") == "new"
    assert fixed.render("page.html") == "old"


def test_compiled_templates_are_kept_on_disk(pages: Any, tmp_path: Path) -> None:
    cache = tmp_path / "compiled" / "pages"
    folder = pages(page="{{ 1 + 1 }}")
    assert templates(folder, bytecode_cache=cache).render("page.html") == "2"
    assert [*cache.iterdir()]
    assert templates(folder, bytecode_cache=cache).render("page.html") == "2"


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("pgae.html", ": did you mean 'page.html'?"),
        ("page.htm", ": did you mean 'page.html'?"),
        ("nothing-alike", ""),
    ],
)
def test_a_missing_template_is_explained(pages: Any, name: str, similar: str) -> None:
    folder = pages(page="")
    with pytest.raises(TemplateNotFound) as raised:
        templates(folder).render(name)
    assert str(raised.value) == f"There is no template {name!r} in {folder}{similar}"


def test_a_missing_part_of_a_template_is_explained(run: Any, pages: Any) -> None:
    folder = pages(page="{% include 'navv.html' %}", some="{% include ['a', 'b'] %}", nav="")
    with pytest.raises(TemplateNotFound) as raised:
        templates(folder).render("page.html")
    assert str(raised.value) == (
        f"There is no template 'navv.html' in {folder}: did you mean 'nav.html'?"
    )
    with pytest.raises(TemplateNotFound) as raised:
        templates(folder).render("some.html")
    assert str(raised.value) == f"There are no templates 'a' and 'b' in {folder}"


@pytest.mark.parametrize("block", [None, "a"])
def test_not_every_spelling_of_a_name_is_kept(run: Any, pages: Any, block: str | None) -> None:
    made = templates(pages(page="{% block a %}a{% endblock %}"))
    app: Kit[Any, Any] = Kit()
    app.use(made)
    app.get("/", lambda c: c.render(f"page.html{c.req.query('slashes')}", block=block))

    async def ask() -> None:
        await app.request("/?slashes=/")
        first = weakref.ref(made.environment.get_template("page.html/"))
        for number in range(2, 1100):
            assert (await app.request(f"/?slashes={'/' * number}")).status == 200
        gc.collect()
        assert first() is None

    run(ask)


def test_a_loader_that_lists_nothing_is_said_nothing_of() -> None:
    from jinja2 import FunctionLoader

    with pytest.raises(TemplateNotFound) as raised:
        templates(loader=FunctionLoader(lambda name: None)).render("a.html")
    assert str(raised.value) == "There is no template 'a.html'"


def test_all_templates_are_checked(pages: Any) -> None:
    folder = pages(
        page="{% extends 'base.html' %}{% import 'macros.html' as m %}",
        base="{% include 'absent.html' ignore missing %}{% include ['no.html', 'macros.html'] %}"
        "{% include computed %}",
        macros="",
    )
    made = templates(folder)
    assert sorted(made.check()) == ["base.html", "macros.html", "page.html"]
    assert made.check(extensions=["txt"]) == []
    pages(broken="\n{% include 'marcos.html' %}")
    with pytest.raises(TemplateNotFound) as raised:
        made.check()
    assert str(raised.value).startswith("broken.html, line 2: There is no template")


def test_no_template_is_found_outside_of_the_folder(pages: Any, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text("secret")
    made = templates(pages(page=""))
    for name in ("../secret.html", f"{tmp_path}/secret.html", "a/../../secret.html"):
        with pytest.raises(TemplateNotFound):
            made.render(name)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "templates") is templates
