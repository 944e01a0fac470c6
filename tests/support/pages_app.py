# SPDX-License-Identifier: MIT
"""Pages from templates behind a cache, for real servers and clients."""

from __future__ import annotations

from typing import Any

from jinja2 import DictLoader

from kit import Context, Kit, Response
from kit.cache import cache
from kit.templates import templates

PAGES = {
    "base.html": "<title>{{ title }}</title>{{ content }}",
    "page.html": "{% set title = 'Page' %}<p>{{ number }} {{ request.query('q') }}</p>",
    "large.html": "{% for n in numbers %}<i>{{ n }}</i>{% endfor %}",
}
numbers = iter(range(1_000_000))
app: Kit[Any, Any] = Kit()
app.use(templates(loader=DictLoader(PAGES), layout="base.html"))
app.use("/cached/*", cache(app=app, cache_control="max-age=1000"))


@app.get("/cached/page")
@app.get("/page")
def page(c: Context) -> Response:
    number = next(numbers)
    c.header("ETag", f'"{number}"')
    response: Response = c.render("page.html", number=number)
    return response


@app.get("/cached/swr")
def stale(c: Context) -> Response:
    return c.text(
        str(next(numbers)), headers={"Cache-Control": "max-age=0, stale-while-revalidate=1000"}
    )


@app.get("/cached/large")
@app.get("/large")
def large(c: Context) -> Response:
    next(numbers)
    response: Response = c.render("large.html", numbers=range(20_000), title="Large", stream=True)
    return response


@app.post("/cached/:name")
def change(c: Context) -> Response:
    return c.text("changed")
