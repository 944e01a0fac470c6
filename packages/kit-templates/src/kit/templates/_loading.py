# SPDX-License-Identifier: MIT
"""Finds templates by name, and reports where it looked for missing ones."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    TemplateNotFound,
    TemplatesNotFound,
    nodes,
)

_MOST_SIMILAR = 3
_SIMILARITY = 0.8  # 1 means equal; most names share an extension
_IMPORTS = (nodes.Import, nodes.FromImport)


def explained(environment: Environment, error: TemplateNotFound) -> TemplateNotFound:
    """Returns the error for a missing template, with the places searched and similar names.

    Args:
        environment: The environment that was searched.
        error: The Jinja error, for the template itself or for one that it includes.
    """
    if isinstance(error, TemplatesNotFound) and len(error.templates) > 1:
        names = " and ".join(repr(each) for each in error.templates)
        text = f"There are no templates {names}"
    else:
        text = f"There is no template {error.name!r}"
    places = _places(environment.loader)
    if places:
        text += f" in {' or '.join(places)}"
    similar = _similar(environment, str(error.name))
    if similar:
        text += f": did you mean {' or '.join(repr(each) for each in similar)}?"
    return TemplateNotFound(error.name, text)


def check_all(environment: Environment, extensions: tuple[str, ...]) -> list[str]:
    """Compiles all templates, and checks those that they extend, include and import.

    Args:
        environment: Has the templates.
        extensions: The file extensions of templates, without dots.

    Returns:
        The names of the templates.

    Raises:
        TemplateSyntaxError: If one can't be compiled.
        TemplateNotFound: If one refers to a template that doesn't exist. Computed names aren't
            checked.
    """
    names = environment.list_templates(extensions=[*extensions])
    for name in names:
        environment.get_template(name)
        for node in parse(environment, name).find_all((nodes.Extends, nodes.Include, *_IMPORTS)):
            if not getattr(node, "ignore_missing", False):
                _require(environment, name, node)
    return names


def parse(environment: Environment, name: str) -> nodes.Template:
    """Returns the syntax tree of a template.

    Raises:
        TemplateNotFound: If it doesn't exist.
        TemplateSyntaxError: If it has an error.
    """
    loader: Any = environment.loader
    source, filename, _ = loader.get_source(environment, name)
    return environment.parse(source, name, filename)


def literal(expression: nodes.Node) -> Any:
    """Returns the value of a literal, or None for a computed expression."""
    try:
        return expression.as_const()  # type: ignore[attr-defined]  # it is an expression
    except nodes.Impossible:
        return None


def _require(environment: Environment, name: str, node: Any) -> None:
    wanted = literal(node.template)
    if not isinstance(wanted, str):
        if not isinstance(wanted, (list, tuple)):
            return
        wanted = [*wanted]
    try:
        environment.get_or_select_template(wanted, name)
    except TemplateNotFound as error:
        raise TemplateNotFound(
            error.name, f"{name}, line {node.lineno}: {explained(environment, error).message}"
        ) from None


def _places(loader: BaseLoader | None) -> list[str]:
    if isinstance(loader, FileSystemLoader):
        return [*loader.searchpath]
    if isinstance(loader, PackageLoader):
        return [f"{loader.package_name}:{loader.package_path}"]
    if isinstance(loader, ChoiceLoader):
        return [place for each in loader.loaders for place in _places(each)]
    return []


def _similar(environment: Environment, name: str) -> list[str]:
    try:
        names = environment.list_templates()
    except TypeError:  # a loader that can't list them
        return []
    found = [each for each in names if each.rpartition("/")[2] == name.rpartition("/")[2]]
    found += get_close_matches(name, names, _MOST_SIMILAR, _SIMILARITY)
    return [*dict.fromkeys(found)][:_MOST_SIMILAR]
