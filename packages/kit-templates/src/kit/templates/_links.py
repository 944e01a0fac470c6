# SPDX-License-Identifier: MIT
"""Links in templates: the global `path_to`, and which handlers templates link to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, nodes, pass_context
from jinja2.runtime import Context as Names

from ._loading import literal, parse

_NAME = "path_to"


@pass_context
def path_to(
    names: Names,
    handler: Callable[..., Any] | str,
    /,
    *,
    query: Any = None,
    **values: Any,
) -> str:
    """Returns the path of a handler's route, as `c.path_to` does.

    Args:
        names: The names of the template.
        handler: As for `c.path_to`.
        query: As for `c.path_to`.
        **values: As for `c.path_to`.

    Raises:
        RuntimeError: If the template has no request.
    """
    c = names.get("c")
    if c is None:
        raise RuntimeError(
            "path_to() in a template needs the context c: import macros 'with context'; outside "
            "requests, give the template path_to=app.path_to"
        )
    path: str = c.path_to(handler, query=query, **values)
    return path


def find_linked(environment: Environment, extensions: tuple[str, ...]) -> list[str]:
    """Returns the names that templates give to `path_to`, each once.

    Args:
        environment: Has the templates.
        extensions: The file extensions of templates, without dots.
    """
    found: dict[str, None] = {}
    for template in environment.list_templates(extensions=[*extensions]):
        for call in parse(environment, template).find_all(nodes.Call):
            if _is_link(call.node) and call.args:
                name = literal(call.args[0])
                if isinstance(name, str):
                    found[name] = None
    return [*found]


def _is_link(function: nodes.Expr) -> bool:
    """Returns whether an expression is `path_to` or `c.path_to`."""
    if isinstance(function, nodes.Getattr):
        return function.attr == _NAME
    return isinstance(function, nodes.Name) and function.name == _NAME
