# SPDX-License-Identifier: MIT
"""Links in templates: `path_to`, and the check that their routes exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.templates import templates


def read_book(c: Context) -> Response:
    return c.text("book")


def app_of(middleware: Any, **values: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.get("/", lambda c: c.render("page.html", **values))
    app.get("/books/:id", read_book)
    return app


def text_of(app: Kit[Any, Any], path: str = "/") -> str:
    async def ask() -> str:
        response = await app.request(path)
        assert response.status == 200, await response.text()
        return await response.text()

    return anyio.run(ask)


SOURCE = """<a href="{{ path_to('read_book', id=id, query={'a': 1, 'b': 2}) }}">"""


@pytest.mark.parametrize("enable_async", [False, True])
def test_a_link_by_name_is_escaped(pages: Callable[..., Any], enable_async: bool) -> None:
    app = app_of(templates(pages(page=SOURCE), enable_async=enable_async), id='"7')
    assert text_of(app) == '<a href="/books/%227?a=1&amp;b=2">'


def test_a_link_has_the_root_path(pages: Callable[..., Any]) -> None:
    app = app_of(templates(pages(page=SOURCE)), id=7)
    assert "/shop/books/7?" in text_of(Kit().mount("/shop", app.fetch), "/shop/")


def test_a_handler_may_be_a_value_or_a_global(pages: Callable[..., Any]) -> None:
    source = "{{ path_to(read_book, id=7) }} {{ c.path_to(read_book, id=8) }}"
    folder = pages(page=source)
    app = app_of(templates(folder), read_book=read_book)
    assert text_of(app) == "/books/7 /books/8"
    app = app_of(templates(folder, globals={"read_book": read_book}))
    assert text_of(app) == "/books/7 /books/8"


def test_a_missing_route_is_an_error_of_the_page(pages: Callable[..., Any]) -> None:
    app = app_of(templates(pages(page="{{ path_to('gone') }}")))
    app.on_error(LookupError, lambda error, c: c.text(str(error)))
    assert "'gone' is the name of no handler" in text_of(app)


def test_macros_need_the_context(pages: Callable[..., Any]) -> None:
    macro = "{% macro link(id) %}{{ path_to('read_book', id=id) }}{% endmacro %}"
    use = "{{ link(7) }}"
    folder = pages(
        macros=macro,
        page="{% from 'macros.html' import link with context %}" + use,
        without="{% from 'macros.html' import link %}" + use,
    )
    app = app_of(templates(folder))
    assert text_of(app) == "/books/7"
    app = app_of(templates(folder)).get("/without", lambda c: c.render("without.html"))
    app.on_error(lambda error, c: c.text(str(error)))
    assert "with context" in text_of(app, "/without")


def test_outside_requests(pages: Callable[..., Any]) -> None:
    middleware = templates(pages(mail="https://example.com{{ path_to('read_book', id=7) }}"))
    app = app_of(middleware)
    text = middleware.render("mail.html", path_to=app.path_to)
    assert text == "https://example.com/books/7"
    with pytest.raises(RuntimeError, match=r"path_to=app\.path_to"):
        middleware.render("mail.html")


def test_an_own_global_takes_precedence(pages: Callable[..., Any]) -> None:
    folder = pages(page="{{ path_to() }}")
    assert text_of(app_of(templates(folder, globals={"path_to": lambda: "own"}))) == "own"


def test_the_app_does_not_start_if_a_template_links_to_nothing(pages: Callable[..., Any]) -> None:
    folder = pages(
        page=SOURCE + "{{ c.path_to('about') }}{{ path_to(computed) }}{{ path_to() }}",
        **{"other.txt": "{{ path_to('read_book') }}{{ other('none') }}"},
    )
    middleware = templates(folder)
    assert sorted(middleware.links()) == ["about", "read_book"]
    assert middleware.links(extensions=["txt"]) == ["read_book"]
    app = app_of(middleware).link(*middleware.links())
    with pytest.raises(LookupError, match="'about'"):
        text_of(app)
    app = app_of(middleware).link(*middleware.links(extensions=["txt"]))
    assert text_of(app, "/books/7") == "book"
