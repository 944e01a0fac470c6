# SPDX-License-Identifier: MIT
"""The middleware, which also renders outside requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe, is_async
from kit.interface import AnyContext, Context, Next, Response

from ._layouts import Layouts, begin, check_layouts, current, vary_by_htmx, wants_part
from ._links import find_linked, path_to
from ._loading import check_all
from ._rendering import Page, Renderer
from ._streams import AwaitingPageBody, Chunks, PageBody

ContextFunction: TypeAlias = Callable[
    [AnyContext], Mapping[str, Any] | Awaitable[Mapping[str, Any]]
]
"""Returns values for every template: `def values(c)`, plain or async."""

_TEMPLATES = ("html", "htm", "xml", "svg", "txt", "jinja", "jinja2", "j2")
_ENDS_OF_JINJA = (".jinja2", ".jinja", ".j2")
_TYPES = {
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=UTF-8",
    "xml": "application/xml; charset=UTF-8",
}
_NONCE = "secure_headers_nonce"  # of kit-secure-headers
_CALL = OptionChecks("c.render")


class _Asked(NamedTuple):
    """A call to `c.render`.

    Attributes:
        c: The context.
        page: What to render.
        given: The values passed to the call.
        stream: Whether to send the page while rendering it.
    """

    c: Context[Any, Any]
    page: Page
    given: Mapping[str, Any]
    stream: bool


class Templates:
    """Middleware that lets `c.render` render templates, created by `templates(...)`.

    Attributes:
        environment: The Jinja environment.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        layouts: Layouts,
        context: tuple[ContextFunction, ...],
        htmx: bool,
    ) -> None:
        self.environment = environment
        environment.globals.setdefault("flush", _no_flush)
        environment.globals.setdefault("path_to", path_to)
        self._renderer = Renderer(environment)
        self._layouts = layouts
        self._context = context
        self._htmx = htmx
        self._awaits = environment.is_async or any(is_async(each) for each in context)

    def __call__(self, c: Context[Any, Any], next: Next) -> Awaitable[None]:
        """Sets `c.render`."""
        if self._layouts or current(c):
            begin(c, self._layouts)
        c.set_renderer(partial(self.render_response, c))
        return next()

    def render_response(
        self,
        c: Context[Any, Any],
        name: str,
        values: Any = None,
        /,
        *,
        layout: str | Iterable[str] | EllipsisType | None = ...,
        block: str | None = None,
        stream: bool = False,
        **named_values: Any,
    ) -> Any:
        """Renders a template as the response to a request; `c.render(name, ...)` calls it.

        Args:
            c: The context.
            name: The template. It is sent as HTML, except `.xml`, `.svg` and `.txt`.
            values: Values as a mapping, a dataclass or a msgspec Struct.
            layout: The layouts around the page instead of the current ones, from the innermost
                outwards; None for no layout.
            block: Render only this block of the template, without layout.
            stream: Send the page while rendering it, in chunks. An error before the end of the
                first chunk gets a normal error response. The layouts are rendered first, so they
                can't use variables that the template sets.
            **named_values: Values by name, which take precedence. Awaitables are awaited.

        Returns:
            The response, or an awaitable of it, if templates, values or context functions are
            async.

        Raises:
            TemplateNotFound: If there is no such template.
            LookupError: If the template has no such block.
        """
        layouts = current(c) if layout is ... else check_layouts(_CALL, layout)
        if block is not None or (self._htmx and wants_part(c)):
            layouts = ()
        page = Page(name, block, layouts)
        given = named_values if values is None else {**_list_fields(values), **named_values}
        known: dict[str, Any] = {"c": c, "request": c.req}
        nonce = c.get(_NONCE)
        if nonce is not None:
            known["csp_nonce"] = nonce
        awaits = self._awaits or _has_awaitable(given)
        if not (awaits or stream or self._context):
            # PERF: does the work of _respond().
            known.update(given)
            return self._answer(c, page.name, self._renderer.text(page, known))
        asked = _Asked(c, page, given, stream)
        if awaits:
            return self._respond_later(asked, known)
        for index, function in enumerate(self._context):
            added = function(c)
            if is_awaitable(added):
                return self._respond_later(asked, known, index, added)
            known.update(_checked(function, added))
        known.update(given)
        return self._respond(asked, known)

    def render(self, name: str, values: Any = None, /, **named_values: Any) -> str:
        """Renders a template outside requests, e.g. for an email, without layout.

        Args:
            name: The template.
            values: Values as a mapping, a dataclass or a msgspec Struct.
            **named_values: Values by name, which take precedence.

        Raises:
            TemplateNotFound: If there is no such template.
            RuntimeError: If the templates are async: `await render_async(...)`.
        """
        if self.environment.is_async:
            raise RuntimeError(
                "templates(enable_async=True) has no render(): await render_async(...)"
            )
        return self._renderer.text(Page(name, None, ()), {**_list_fields(values), **named_values})

    async def render_async(self, name: str, values: Any = None, /, **named_values: Any) -> str:
        """Does the same as `render`, also for async templates."""
        given = {**_list_fields(values), **named_values}
        if self.environment.is_async:
            return await self._renderer.text_later(Page(name, None, ()), given)
        return self._renderer.text(Page(name, None, ()), given)

    def check(self, *, extensions: Iterable[str] = _TEMPLATES) -> list[str]:
        """Compiles all templates, and checks those that they extend, include and import.

        Meant for a test, or for the startup of an app.

        Args:
            extensions: The file extensions of templates, without dots.

        Returns:
            The names of the templates.

        Raises:
            TemplateSyntaxError: If a template has an error.
            TemplateNotFound: If a template refers to one that doesn't exist.
        """
        return check_all(self.environment, OptionChecks("check").texts("extensions", extensions))

    def links(self, *, extensions: Iterable[str] = _TEMPLATES) -> list[str]:
        """Returns the names of the handlers that the templates link to by `path_to("name")`.

        With `app.link(*pages.links())`, an app doesn't start if one of them has no route.

        Args:
            extensions: The file extensions of templates, without dots.

        Returns:
            Each name once. Computed names aren't found.

        Raises:
            TemplateSyntaxError: If a template has an error.
        """
        return find_linked(self.environment, OptionChecks("links").texts("extensions", extensions))

    def check_layouts(self) -> None:
        """Compiles the layouts.

        Raises:
            TemplateSyntaxError: If one has an error.
            TemplateNotFound: If one doesn't exist.
        """
        for name in self._layouts:
            self._renderer.get(name)

    def _respond(self, asked: _Asked, values: dict[str, Any]) -> Response:
        if not asked.stream:
            return self._answer(asked.c, asked.page.name, self._renderer.text(asked.page, values))
        chunks = Chunks()
        body = PageBody(self._renderer.pieces(asked.page, {**values, "flush": chunks}), chunks)
        whole = body.begin()
        return self._answer(asked.c, asked.page.name, body if whole is None else whole)

    async def _respond_later(
        self, asked: _Asked, values: dict[str, Any], start: int = 0, added: Any = None
    ) -> Response:
        """Does the same as `_respond`, as soon as the values are available.

        Args:
            asked: The call.
            values: The values so far.
            start: Index of the first context function with missing values.
            added: Its return value, if it was called.
        """
        for function in self._context[start:]:
            if added is None:
                added = function(asked.c)
            if is_awaitable(added):
                added = await settle(added, function)
            values.update(_checked(function, added))
            added = None
        for name, value in asked.given.items():
            values[name] = await settle(value, name) if is_awaitable(value) else value
        if not self.environment.is_async:
            return self._respond(asked, values)
        if not asked.stream:
            return self._answer(
                asked.c, asked.page.name, await self._renderer.text_later(asked.page, values)
            )
        chunks = Chunks()
        pieces = self._renderer.pieces_later(asked.page, {**values, "flush": chunks})
        body = AwaitingPageBody(pieces, chunks)
        whole = await body.begin()
        return self._answer(asked.c, asked.page.name, body if whole is None else whole)

    def _answer(self, c: Context[Any, Any], name: str, content: Any) -> Response:
        kind = _find_type(name)
        if kind is None and isinstance(content, str):
            response = c.html(content)
        else:
            response = c.body(content, headers={"Content-Type": kind or "text/html; charset=UTF-8"})
        if self._htmx:
            vary_by_htmx(response.headers)
        return response


def check_context(check: OptionChecks, context: Any) -> tuple[ContextFunction, ...]:
    """Checks the option `context`."""
    if callable(context):
        context = (context,)
    elif not isinstance(context, Iterable) or isinstance(context, (str, bytes, Mapping)):
        check.wrong_type("context", context, "a function (c) or a list of them")
    return tuple(check.function("context", each, "(c)") for each in context)


def _checked(function: ContextFunction, added: Any) -> Mapping[str, Any]:
    if not isinstance(added, Mapping):
        raise TypeError(
            f"templates(context=...): {describe(function)} returned {type(added).__name__}, "
            "expected a mapping of values"
        )
    return added


def _list_fields(values: Any) -> Mapping[str, Any]:
    if values is None:
        return {}
    if isinstance(values, Mapping):
        return values
    names = getattr(values, "__struct_fields__", None)
    if names is None:
        names = getattr(values, "__dataclass_fields__", None)
    if names is None or isinstance(values, type):
        raise TypeError(
            "c.render() takes values as a mapping, a dataclass or a Struct, not "
            f"{type(values).__name__}"
        )
    return {name: getattr(values, name) for name in names}


def _has_awaitable(values: Mapping[str, Any]) -> bool:
    # PERF: a generator expression would take three times as long.
    for value in values.values():  # noqa: SIM110
        if is_awaitable(value):
            return True
    return False


def _find_type(name: str) -> str | None:
    """Returns the Content-Type of a template's output; None for HTML."""
    # PERF: nearly all names end like this.
    if name.endswith(".html"):
        return None
    for end in _ENDS_OF_JINJA:
        name = name.removesuffix(end)
    return _TYPES.get(name.rpartition(".")[2].lower())


def _no_flush() -> str:
    """The `flush` function of a template that isn't streamed."""
    return ""
