# SPDX-License-Identifier: MIT
"""Layouts, blocks alone, htmx, and pages that are sent while they are rendered."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import anyio
import pytest
from jinja2 import TemplateNotFound

from kit import Context, Kit
from kit.templates import layout, templates

BASE = "<title>{{ title }}</title>{{ content }}"
NOTHING: Mapping[str, str] = {}


def app_of(middleware: Any, handler: Callable[[Context], Any]) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.get("/", handler)
    return app


def text_of(
    run: Callable[..., Any],
    app: Kit[Any, Any],
    path: str = "/",
    headers: Mapping[str, str] = NOTHING,
) -> str:
    async def ask() -> str:
        response = await app.request(path, {"headers": headers})
        assert response.status == 200, await response.text()
        return await response.text()

    result: str = run(ask)
    return result


def error_of(run: Callable[..., Any], app: Kit[Any, Any]) -> Exception:
    caught: list[Exception] = []

    @app.on_error()
    def keep(error: Exception, c: Context) -> Any:
        caught.append(error)
        return c.text("", 500)

    async def ask() -> None:
        assert (await app.request("/")).status == 500

    run(ask)
    return caught[0]


# Layouts


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_layout_is_around_each_page(run: Any, pages: Any, enable_async: bool) -> None:
    folder = pages(base=BASE, page="<p>{{ title }}</p>")
    made = templates(folder, layout="base.html", enable_async=enable_async)
    app = app_of(made, lambda c: c.render("page.html", title="A & B"))
    assert text_of(run, app) == "<title>A &amp; B</title><p>A &amp; B</p>"


@pytest.mark.parametrize("enable_async", [False, True])
def test_what_a_page_sets_is_known_to_its_layout(run: Any, pages: Any, enable_async: bool) -> None:
    folder = pages(base=BASE, page="{% set title = 'Books' %}<p></p>")
    made = templates(folder, layout="base.html", enable_async=enable_async)
    app = app_of(made, lambda c: c.render("page.html"))
    assert text_of(run, app) == "<title>Books</title><p></p>"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("own.html", "(page)"),
        (None, "page"),
        (["own.html", "base.html"], "<title>t</title>(page)"),
        ([], "page"),
    ],
)
def test_a_call_chooses_its_layouts(
    run: Any, pages: Any, chosen: Any, expected: str, stream: bool, enable_async: bool
) -> None:
    folder = pages(base=BASE, own="({{ content }})", page="page")
    app = app_of(
        templates(folder, layout="base.html", enable_async=enable_async),
        lambda c: c.render("page.html", title="t", layout=chosen, stream=stream),
    )
    assert text_of(run, app) == expected


def test_layouts_nest(run: Any, pages: Any) -> None:
    folder = pages(base="base({{ content }})", admin="admin({{ content }})", users="{{ content }}!")
    pages(page="page")
    app: Kit[Any, Any] = Kit()
    app.use(templates(folder, layout="base.html"))
    app.use("/admin/*", layout("admin.html"))
    app.use("/admin/users/*", layout("users.html"))
    for path in ("/", "/admin/", "/admin/users/1"):
        app.get(path, lambda c: c.render("page.html"))
    assert text_of(run, app) == "base(page)"
    assert text_of(run, app, "/admin/") == "base(admin(page))"
    assert text_of(run, app, "/admin/users/1") == "base(admin(page!))"


def test_a_layout_without_templates_is_a_missing_template(run: Any, pages: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(templates(pages(page="")))
    app.use(layout("absent.html"))
    app.get("/", lambda c: c.render("page.html"))
    error = error_of(run, app)
    assert isinstance(error, TemplateNotFound)
    assert str(error).startswith("There is no template 'absent.html' in ")


def test_templates_may_extend_others(run: Any, pages: Any) -> None:
    folder = pages(
        frame="<main>{% block main %}{% endblock %}</main>",
        page="{% extends 'frame.html' %}{% block main %}page{% endblock %}",
    )
    app = app_of(templates(folder), lambda c: c.render("page.html"))
    assert text_of(run, app) == "<main>page</main>"


# Blocks

ROWS = """{% from 'macros.html' import row with context %}{% set sign = '#' %}
<table>{% block rows %}{% for book in books %}{{ row(book) }}{{ sign }}{% endfor %}{% endblock %}
{% block total %}{{ undefined_here }}{% endblock %}</table>"""


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_block_is_rendered_alone(run: Any, pages: Any, enable_async: bool) -> None:
    folder = pages(
        page=ROWS, macros="{% macro row(b) %}<tr>{{ b }}</tr>{% endmacro %}", base="{{ content }}"
    )
    app = app_of(
        templates(folder, layout="base.html", enable_async=enable_async),
        lambda c: c.render("page.html", block="rows", books=["Dune", "A & B"]),
    )
    assert text_of(run, app) == "<tr>Dune</tr>#<tr>A &amp; B</tr>#"


def test_a_block_within_others_and_in_parents(run: Any, pages: Any) -> None:
    folder = pages(
        frame="{% set a = 'frame' %}{% block nav %}nav of {{ a }}{% endblock %}"
        "{% block main %}<{% block inner %}base{% endblock %}>{% endblock %}",
        page="{% extends 'frame.html' %}{% set a = 'page' %}"
        "{% block main %}main {{ super() }}{% block deep %}{{ a }}{% endblock %}{% endblock %}"
        "{% block inner %}[{{ super() }}]{% endblock %}",
    )
    made = templates(folder)
    for block, expected in {
        "nav": "nav of page",
        "deep": "page",
        "inner": "[base]",
    }.items():
        app = app_of(made, lambda c, block=block: c.render("page.html", block=block))
        assert text_of(run, app) == expected


def test_a_changed_block_is_compiled_anew(run: Any, pages: Any) -> None:
    folder = pages(
        frame="{% block a %}old{% endblock %}", page="{% extends 'frame.html' %}", base=""
    )
    made = templates(folder)
    app = app_of(made, lambda c: c.render("page.html", block="a"))
    assert text_of(run, app) == text_of(run, app) == "old"
    pages(frame="{% block a %}new{% endblock %}")
    later = os.stat(folder / "frame.html").st_mtime + 10
    os.utime(folder / "frame.html", (later, later))
    assert text_of(run, app) == "new"


def test_a_missing_block_is_explained(run: Any, pages: Any) -> None:
    folder = pages(
        frame="{% block nav %}{% endblock %}",
        page="{% extends 'frame.html' %}{% block rows %}{% endblock %}",
        plain="",
    )
    made = templates(folder)
    error = error_of(run, app_of(made, lambda c: c.render("page.html", block="row")))
    assert error.args == ("The template 'page.html' has no block 'row': it has rows, nav",)
    error = error_of(run, app_of(made, lambda c: c.render("plain.html", block="row")))
    assert error.args == ("The template 'plain.html' has no block 'row': it has no blocks",)
    error = error_of(run, app_of(made, lambda c: c.render("plian.html", block="row")))
    assert str(error) == (
        f"There is no template 'plian.html' in {folder}: did you mean 'plain.html'?"
    )


def test_what_computes_its_parent_has_its_own_blocks(run: Any, pages: Any) -> None:
    folder = pages(page="{% extends parent %}{% block a %}a{% endblock %}")
    app = app_of(templates(folder), lambda c: c.render("page.html", block="a"))
    assert text_of(run, app) == "a"


# htmx


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, "<title>t</title>page"),
        ({"HX-Request": "true"}, "page"),
        ({"HX-Request": "true", "HX-Boosted": "true"}, "<title>t</title>page"),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, "<title>t</title>page"),
    ],
)
def test_htmx_gets_the_page_without_the_layout(
    run: Any, pages: Any, headers: dict[str, str], expected: str
) -> None:
    folder = pages(base=BASE, page="page")
    app = app_of(
        templates(folder, layout="base.html", htmx=True), lambda c: c.render("page.html", title="t")
    )

    async def ask() -> None:
        response = await app.request("/", {"headers": headers})
        assert await response.text() == expected
        assert response.headers.get("vary") == "HX-Request, HX-Boosted, HX-History-Restore-Request"

    run(ask)


def test_unless_opted_in_nothing_depends_on_htmx(run: Any, pages: Any) -> None:
    app = app_of(
        templates(pages(base=BASE, page="page"), layout="base.html"),
        lambda c: c.render("page.html", title="t"),
    )

    async def ask() -> None:
        response = await app.request("/", {"headers": {"HX-Request": "true"}})
        assert await response.text() == "<title>t</title>page"
        assert response.headers.get("vary") is None

    run(ask)


# Streams

LARGE = "{% for n in numbers %}{{ n }} {% endfor %}"


async def chunks_of(response: Any) -> list[bytes]:
    return [bytes(chunk) async for chunk in response.body]


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_large_page_is_sent_in_chunks(run: Any, pages: Any, enable_async: bool) -> None:
    folder = pages(base="<{{ content }}>", page=LARGE)
    app = app_of(
        templates(folder, layout="base.html", enable_async=enable_async),
        lambda c: c.render("page.html", numbers=range(9000), stream=True),
    )

    async def ask() -> None:
        chunks = await chunks_of(await app.request("/"))
        assert len(chunks) > 4
        assert b"".join(chunks).decode() == "<" + "".join(f"{n} " for n in range(9000)) + ">"

    run(ask)


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_small_page_is_sent_whole(run: Any, pages: Any, enable_async: bool) -> None:
    app = app_of(
        templates(pages(page="page"), enable_async=enable_async),
        lambda c: c.render("page.html", stream=True),
    )

    async def ask() -> None:
        assert (await app.request("/")).body == b"page"

    run(ask)


@pytest.mark.parametrize("enable_async", [False, True])
def test_values_are_rendered_when_their_chunk_is_sent(
    run: Any, pages: Any, enable_async: bool
) -> None:
    seen = []

    def numbers() -> Iterator[int]:
        for number in range(100_000):
            seen.append(number)
            yield number

    app = app_of(
        templates(pages(page=LARGE), enable_async=enable_async),
        lambda c: c.render("page.html", numbers=numbers(), stream=True),
    )

    async def ask() -> None:
        response: Any = await app.request("/")
        assert 0 < len(seen) < 10_000
        body = response.body.__aiter__()
        await body.__anext__()
        await body.__anext__()
        assert len(seen) < 20_000
        await body.aclose()

    run(ask)
    assert len(seen) < 20_000


@pytest.mark.parametrize("enable_async", [False, True])
def test_an_error_in_the_first_chunk_is_a_500(run: Any, pages: Any, enable_async: bool) -> None:
    app = app_of(
        templates(pages(page="begun {{ 1 // 0 }}"), enable_async=enable_async),
        lambda c: c.render("page.html", stream=True),
    )
    assert isinstance(error_of(run, app), ZeroDivisionError)


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_later_error_breaks_the_stream_off(run: Any, pages: Any, enable_async: bool) -> None:
    app = app_of(
        templates(pages(page=LARGE + "{{ 1 // 0 }}"), enable_async=enable_async),
        lambda c: c.render("page.html", numbers=range(9000), stream=True),
    )

    async def ask() -> None:
        response = await app.request("/")
        assert response.status == 200
        with pytest.raises(ZeroDivisionError):
            await response.text()

    run(ask)


@pytest.mark.parametrize("enable_async", [False, True])
def test_flush_sends_what_there_is(run: Any, pages: Any, enable_async: bool) -> None:
    app = app_of(
        templates(
            pages(page="{{ flush() }}head{{ flush() }} body {{ flush() }}"),
            enable_async=enable_async,
        ),
        lambda c: c.render("page.html", stream=True),
    )

    async def ask() -> None:
        chunks = await chunks_of(await app.request("/"))
        assert b"".join(chunks) == b"head body "
        assert chunks[0] == b"head"

    run(ask)


def test_the_head_is_sent_before_what_is_slow(run: Any, pages: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(
        templates(
            pages(page="head{{ flush() }}{% for book in books %}{{ book }}{% endfor %}"),
            enable_async=True,
        )
    )
    events: list[str] = []

    async def ask() -> None:
        ready = anyio.Event()

        async def books() -> AsyncIterator[str]:
            await ready.wait()
            events.append("slow")
            yield "Dune"

        app.get("/", lambda c: c.render("page.html", books=books(), stream=True))
        response: Any = await app.request("/")
        body = response.body.__aiter__()
        events.append(bytes(await body.__anext__()).decode())
        ready.set()
        assert b"".join([chunk async for chunk in body]) == b"Dune"

    run(ask)
    assert events == ["head", "slow"]


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_template_is_ended_if_its_client_leaves(run: Any, pages: Any, enable_async: bool) -> None:
    ended = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(100_000)
        finally:
            ended.append(True)

    app = app_of(
        templates(pages(page=LARGE), enable_async=enable_async),
        lambda c: c.render("page.html", numbers=numbers(), stream=True),
    )

    async def ask() -> None:
        response: Any = await app.request("/")
        body = response.body.__aiter__()
        await body.__anext__()
        await body.aclose()
        del body, response

    run(ask)
    import gc

    gc.collect()
    assert ended == [True]


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize(
    ("base", "times"), [("none", 0), ("{{ content }}{{ content }}", 2), ("{{ content|upper }}", 0)]
)
def test_a_streamed_layout_has_to_print_its_content_once(
    run: Any, pages: Any, base: str, times: int, enable_async: bool
) -> None:
    app = app_of(
        templates(pages(base=base, page="page"), layout="base.html", enable_async=enable_async),
        lambda c: c.render("page.html", stream=True),
    )
    assert str(error_of(run, app)) == (
        "'page.html' can't be streamed in 'base.html': a layout must print {{ content }} once "
        f"and unchanged, but did so {times} times"
    )


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_block_can_be_streamed(run: Any, pages: Any, enable_async: bool) -> None:
    folder = pages(page="head{% block a %}" + LARGE + "{% endblock %}")
    app = app_of(
        templates(folder, enable_async=enable_async),
        lambda c: c.render("page.html", block="a", numbers=range(3), stream=True),
    )
    assert text_of(run, app) == "0 1 2 "
