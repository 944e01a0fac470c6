# SPDX-License-Identifier: MIT
"""The factories: `templates`, which sets `c.render`, and `layout`."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from jinja2 import BaseLoader, BytecodeCache, StrictUndefined, Undefined

from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, Next

from ._environment import make_environment
from ._layouts import check_layouts, nest
from ._templates import ContextFunction, Templates, check_context


def templates(
    directory: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    *,
    package: str | None = None,
    loader: BaseLoader | None = None,
    layout: str | Iterable[str] | None = None,
    context: ContextFunction | Iterable[ContextFunction] = (),
    globals: Mapping[str, Any] | None = None,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    tests: Mapping[str, Callable[..., Any]] | None = None,
    extensions: Iterable[str | type] = (),
    undefined: type[Undefined] = StrictUndefined,
    enable_async: bool = False,
    auto_reload: bool = True,
    bytecode_cache: str | os.PathLike[str] | BytecodeCache | None = None,
    environment_options: Mapping[str, Any] | None = None,
    htmx: bool = False,
) -> Templates:
    """Returns middleware that lets `c.render` render Jinja templates.

        app.use(templates("pages", layout="base.html"))
        app.get("/books/:id", lambda c: c.render("book.html", book=find(c.req.param("id"))))

    Values are escaped in every template, whatever its name. Besides the given values, a template
    can use `c`, `request` (`c.req`), `path_to` (`c.path_to`), and `csp_nonce` if kit-secure-headers
    created one.

    `c.render(name, values=None, *, layout, block, stream, **named_values)` returns a response with
    the current status and headers, or an awaitable of one if something has to be awaited. A handler
    may return either. See `Templates.render_response`.

    Args:
        directory: The folder with the templates, or several folders, searched in order.
        package: Name of a package with a folder `templates`, or package and folder, e.g.
            `shop:pages`. Searched after `directory`.
        loader: A Jinja loader, instead of both.
        layout: The template around each page, which gets the page as `content`; or several
            templates, from the innermost outwards. A call to `c.render` can override it.
        context: Functions `(c)`, plain or async, that return values for every template as a
            mapping. Values given to `c.render` take precedence.
        globals: Values and functions for every template, including macros and imported ones.
        filters: Filters by name.
        tests: Tests by name.
        extensions: Jinja extensions, e.g. `"jinja2.ext.i18n"`.
        undefined: The class for unknown names. Default: an error if the name is printed or tested.
        enable_async: Compile templates so that they await the values of expressions, e.g. the
            result of an async function or method. Rendering takes about twice as long.
        auto_reload: Check a template for changes each time it is rendered.
        bytecode_cache: A folder for compiled templates, for a faster start; it is created if it
            doesn't exist. Only the app may have write access to it, since it contains code. Or a
            Jinja bytecode cache.
        environment_options: Further arguments for `jinja2.Environment`, e.g. `trim_blocks`.
        htmx: Leave out the layout in responses to htmx, which swaps parts of a page, and add the
            relevant request headers to Vary.

    Returns:
        The middleware, for `app.use(...)`. It can also render outside requests, e.g. for emails,
        and check all templates, see `Templates`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used, a folder doesn't exist, or a layout has an error.
        LookupError: If the layout doesn't exist.
    """
    check = OptionChecks("templates")
    environment = make_environment(
        check,
        directory=directory,
        package=package,
        loader=loader,
        globals=globals,
        filters=filters,
        tests=tests,
        extensions=extensions,
        undefined=undefined,
        enable_async=enable_async,
        auto_reload=auto_reload,
        bytecode_cache=bytecode_cache,
        environment_options=environment_options,
    )
    made = Templates(
        environment,
        layouts=check_layouts(check, layout),
        context=check_context(check, context),
        htmx=check.flag("htmx", htmx),
    )
    made.check_layouts()
    return made


def layout(name: str, /) -> AsyncMiddleware:
    """Returns middleware that puts a layout around the pages of the routes that it covers.

    The layout is nested inside those of outer middleware:

        app.use(templates("pages", layout="base.html"))
        app.use("/admin/*", layout("admin.html"))

    Args:
        name: The template, which gets the page as `content`.

    Returns:
        The middleware, for `app.use(...)`. Register it after `templates`.

    Raises:
        TypeError: If `name` is not a str.
        ValueError: If it is empty.
    """
    OptionChecks("layout").text("name", name, ".+", "the name of a template")

    def layout(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        nest(c, name)
        return next()

    return layout
