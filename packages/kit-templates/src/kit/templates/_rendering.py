# SPDX-License-Identifier: MIT
"""Renders a page, or a block of it, and the layouts around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from secrets import token_hex
from typing import Any, NamedTuple, NoReturn

from jinja2 import Environment, Template, TemplateNotFound
from jinja2.runtime import Context as Names
from markupsafe import Markup

from ._fragments import Fragments, build_context, remember
from ._layouts import Layouts
from ._loading import explained

# Placeholder for the page in a layout that is rendered first. Random: text that looks like it would
# be replaced by the page.
_PLACE = Markup(f"[page {token_hex(16)}]")  # noqa: S704 - it has nothing to escape


class Page(NamedTuple):
    """A page to render.

    Attributes:
        name: The template.
        block: Its block; None for the whole template.
        layouts: The layouts around it.
    """

    name: str
    block: str | None
    layouts: Layouts


class Renderer:
    """Renders pages to strings and to pieces.

    Args:
        environment: Has the templates.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._fragments = Fragments(environment)
        self._loaded: dict[str, Template] = {}

    def get(self, name: str) -> Template:
        """Returns a template.

        Raises:
            TemplateNotFound: If it doesn't exist, with the places searched.
        """
        environment = self._environment
        # PERF: takes a third of the time of get_template() with its own cache.
        template = self._loaded.get(name)
        if template is not None and (not environment.auto_reload or template.is_up_to_date):
            return template
        try:
            template = environment.get_template(name)
        except TemplateNotFound as error:
            raise explained(environment, error) from error
        remember(self._loaded, name, template)
        return template

    def text(self, page: Page, values: dict[str, Any]) -> str:
        """Renders a page."""
        template, names = self._opened(page, values)
        text = self._run(template, names)
        for layout in page.layouts:
            values = {**values, **names.get_exported()}
            template, names = self._around(layout, values, text)
            text = self._run(template, names)
        return text

    async def text_later(self, page: Page, values: dict[str, Any]) -> str:
        """Renders a page with async templates."""
        template, names = self._opened(page, values)
        text = await self._run_later(template, names)
        for layout in page.layouts:
            values = {**values, **names.get_exported()}
            template, names = self._around(layout, values, text)
            text = await self._run_later(template, names)
        return text

    def pieces(self, page: Page, values: dict[str, Any]) -> Generator[str, None, None]:
        """Renders a page piece by piece, after the layouts, which get only the values."""
        template, names = self._opened(page, values)
        text: str = _PLACE
        for layout in page.layouts:
            text = self._run(*self._around(layout, values, text))
        before, after = _split(text, page) if page.layouts else ("", "")
        try:
            yield before
            yield from template.root_render_func(names)
            yield after
        except Exception as error:
            self._fail(error)

    async def pieces_later(self, page: Page, values: dict[str, Any]) -> AsyncGenerator[str, None]:
        """Like `pieces`, with async templates."""
        template, names = self._opened(page, values)
        text: str = _PLACE
        for layout in page.layouts:
            text = await self._run_later(*self._around(layout, values, text))
        before, after = _split(text, page) if page.layouts else ("", "")
        found: Any = template.root_render_func(names)
        try:
            yield before
            async for piece in found:
                yield piece
            yield after
        except Exception as error:
            self._fail(error)
        finally:
            await found.aclose()

    def _opened(self, page: Page, values: dict[str, Any]) -> tuple[Template, Names]:
        if page.block is None:
            template = self.get(page.name)
            return template, build_context(template, values)
        try:
            fragment = self._fragments.get(page.name, page.block)
        except TemplateNotFound as error:
            raise explained(self._environment, error) from error
        return fragment.template, fragment.names(values)

    def _around(self, layout: str, values: dict[str, Any], text: str) -> tuple[Template, Names]:
        """Returns a layout to run around what was rendered so far."""
        template = self.get(layout)
        content = Markup(text)  # noqa: S704 - a template's output
        return template, build_context(template, {**values, "content": content})

    def _run(self, template: Template, names: Names) -> str:
        try:
            return "".join(template.root_render_func(names))
        except Exception as error:
            self._fail(error)

    async def _run_later(self, template: Template, names: Names) -> str:
        found: Any = template.root_render_func(names)
        try:
            return "".join([piece async for piece in found])
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        """Raises the current error, with the template lines in its traceback."""
        if isinstance(error, TemplateNotFound):
            raise explained(self._environment, error) from error
        self._environment.handle_exception()


def _split(text: str, page: Page) -> tuple[str, str]:
    parts = text.split(_PLACE)
    if len(parts) != 2:
        raise ValueError(
            f"{page.name!r} can't be streamed in {' in '.join(map(repr, page.layouts))}: a layout "
            f"must print {{{{ content }}}} once and unchanged, but did so {len(parts) - 1} times"
        )
    return parts[0], parts[1]
