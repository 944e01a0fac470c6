# SPDX-License-Identifier: MIT
"""Writes the reference from the docstrings, so that it can be read in the repository.

A page marks the section of an object with two comments; the text between them is generated:

    <!-- reference: kit.cors -->
    <!-- end of reference -->

`write` updates the pages, `check` fails if one is out of date. As a hook of MkDocs this module
replaces the sections with directives of mkdocstrings, which links the types of signatures.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"

_SECTION = re.compile(
    r"^<!-- reference: (?P<path>[\w.]+) -->\n(?P<text>.*?)^<!-- end of reference -->$",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(r"^(#+) ", re.MULTILINE)
_WIDTH = 88
_ITEMS = {
    "parameters": "Parameters",
    "attributes": "Attributes",
    "returns": "Returns",
    "yields": "Yields",
    "raises": "Raises",
    "warns": "Warns",
}
# Special methods that users call with an operator or a statement.
_SHOWN = re.compile(r"(?!_)\w+|__(?!init__|new__|slots__|all__|match_args__)\w+__")


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("write", "check"))
    if parser.parse_args().command == "write":
        for page in write():
            print(f"wrote {page.relative_to(ROOT)}")
    elif outdated := list(_outdated()):
        for page in outdated:
            print(f"{page.relative_to(ROOT)} isn't what the docstrings say")
        sys.exit("error: run `uv run python scripts/reference.py write`")


def write() -> list[Path]:
    """Updates the pages; returns those that changed."""
    outdated = _outdated()
    for page, text in outdated.items():
        page.write_text(text)
    return list(outdated)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replaces the generated sections of a page with directives of mkdocstrings.

    Args:
        markdown: The text of the page.

    Returns:
        The text for the site.
    """
    return _SECTION.sub(lambda match: _directive(match["path"], _level(match)), markdown)


def _outdated() -> dict[Path, str]:
    """Returns the pages that differ from the docstrings, with their expected text."""
    expected = {page: _expected(page) for page in sorted(PAGES.glob("*.md"))}
    return {page: text for page, text in expected.items() if text != page.read_text()}


def _expected(page: Path) -> str:
    return _SECTION.sub(
        lambda match: (
            f"<!-- reference: {match['path']} -->\n\n"
            f"{''.join(_object(match['path'], _level(match)))}"
            "<!-- end of reference -->"
        ),
        page.read_text(),
    )


def _level(section: re.Match[str]) -> int:
    """Returns the level of the headings in a section: one below that of the heading above it."""
    above = section.string[: section.start()]
    # A page's own sections are not above it, only what was written by hand.
    return len(_HEADING.findall(_SECTION.sub("", above))[-1]) + 1


def _directive(path: str, level: int) -> str:
    lines = [f"::: {path}", "    options:", f"      heading_level: {level}"]
    if isinstance(_find(path), griffe.Module):
        lines += ["      show_root_heading: false", "      show_root_toc_entry: false"]
    return "\n".join(lines)


@cache
def _root() -> griffe.Object:
    """Returns the namespace package with the modules of all distributions."""
    loader = griffe.GriffeLoader(
        search_paths=sorted(str(path) for path in ROOT.glob("packages/*/src")),
        docstring_parser=griffe.Parser.google,
        docstring_options={"returns_multiple_items": False, "returns_named_value": False},
    )
    root = loader.load("kit")
    assert isinstance(root, griffe.Object)
    return root


@cache
def _find(path: str) -> griffe.Object:
    found: griffe.Object | griffe.Alias = _root()
    for name in path.split(".")[1:]:
        found = _target(found).members[name]
    return _target(found)


def _target(found: griffe.Object | griffe.Alias) -> griffe.Object:
    return _find(found.target_path) if isinstance(found, griffe.Alias) else found


def _object(path: str, level: int) -> Iterator[str]:
    """Yields the text of an object and its public members."""
    shown = _find(path)
    if isinstance(shown, griffe.Module):
        yield _docstring(shown)
        for name in _public(shown):
            member = shown.members[name]
            if _is_ours(member) and not isinstance(_target(member), griffe.Module):
                yield from _named(f"{path}.{name}", name, _target(member), level)
    else:
        yield from _named(path, shown.name, shown, level)


def _public(module: griffe.Module) -> list[str]:
    """Returns the public names of a module in the order of its code."""
    names = {str(each).strip("'\"") for each in module.exports or ()}
    return [name for name in module.members if name in names]


def _named(path: str, heading: str, shown: griffe.Object, level: int) -> Iterator[str]:
    yield f'{"#" * level} <a id="{path}"></a>`{heading}`\n\n'
    yield f"```py\n{_signature(path.rpartition('.')[2], shown)}\n```\n\n"
    yield _docstring(shown)
    if isinstance(shown, griffe.Class):
        for member, found in shown.all_members.items():
            target = _target(found) if _SHOWN.fullmatch(member) and _is_ours(found) else None
            if target is not None and target.has_docstring:
                yield from _named(f"{path}.{member}", f"{heading}.{member}", target, level + 1)


def _is_ours(found: griffe.Object | griffe.Alias) -> bool:
    """Returns whether Kit defines an object, rather than another library that documents it."""
    path = found.target_path if isinstance(found, griffe.Alias) else found.path
    return path.startswith("kit.")


def _signature(name: str, shown: griffe.Object) -> str:
    """Returns how an object is called, or what it is, as code."""
    if isinstance(shown, griffe.Class):
        parameters = [each for each in shown.parameters if each.name != "self"]
        return f"class {_call(name, parameters, '')}" if parameters else f"class {name}"
    if isinstance(shown, griffe.Function):
        calls = [_one_call(name, each) for each in (getattr(shown, "overloads", None) or [shown])]
        return "\n".join(calls)
    if isinstance(shown, griffe.Attribute):
        annotation = f": {shown.annotation}" if shown.annotation is not None else ""
        is_alias = "TypeAlias" in annotation or not annotation
        value = f" = {shown.value}" if is_alias and shown.value is not None else ""
        return f"{name}{annotation}{value}"
    return name


def _one_call(name: str, function: griffe.Function) -> str:
    returns = f" -> {function.returns}" if function.returns is not None else ""
    first = [*function.parameters][:1]
    drops = first and first[0].name in ("self", "cls") and first[0].annotation is None
    parameters = [*function.parameters][1 if drops else 0 :]
    prefix = "async " if "async" in function.labels else ""
    return f"{prefix}{_call(name, parameters, returns)}"


def _call(name: str, parameters: list[griffe.Parameter], returns: str) -> str:
    """Returns a signature, on one line or with a line for each parameter."""
    shown = []
    kind: griffe.ParameterKind | None = None
    for each in parameters:
        if kind is griffe.ParameterKind.positional_only and each.kind is not kind:
            shown.append("/")
        starts_keywords = each.kind is griffe.ParameterKind.keyword_only
        if starts_keywords and kind not in (each.kind, griffe.ParameterKind.var_positional):
            shown.append("*")
        kind = each.kind
        shown.append(_parameter(each))
    if kind is griffe.ParameterKind.positional_only:
        shown.append("/")
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in shown), f"){returns}"])


def _parameter(parameter: griffe.Parameter) -> str:
    stars = (
        {
            griffe.ParameterKind.var_positional: "*",
            griffe.ParameterKind.var_keyword: "**",
        }.get(parameter.kind, "")
        if parameter.kind
        else ""
    )
    annotation = f": {parameter.annotation}" if parameter.annotation is not None else ""
    # griffe reports an empty call as the default of a variadic parameter.
    if parameter.default is None or stars:
        return f"{stars}{parameter.name}{annotation}"
    equals = " = " if annotation else "="
    return f"{parameter.name}{annotation}{equals}{parameter.default}"


def _docstring(shown: griffe.Object) -> str:
    if shown.docstring is None:
        return ""
    try:
        return "".join(_section(each) for each in shown.docstring.parsed)
    except ValueError as error:
        sys.exit(f"error: the docstring of {shown.path}: {error}")


def _section(section: griffe.DocstringSection) -> str:
    kind = section.kind.value
    if kind == "text":
        return f"{section.value}\n\n"
    if kind in _ITEMS:
        return f"{_ITEMS[kind]}:\n\n{''.join(_item(kind, each) for each in section.value)}\n"
    if kind == "admonition":
        # Of the sections unknown to griffe, only examples are used.
        return f"{section.title}:\n\n```py\n{inspect.cleandoc(section.value.description)}\n```\n\n"
    if kind == "examples":
        return f"Examples:\n\n```py\n{_examples(section)}\n```\n\n"
    raise ValueError(f"expected one of {[*_ITEMS, 'examples']}, found a section {kind!r}")


def _examples(section: griffe.DocstringSection) -> str:
    return "\n\n".join(text for _, text in section.value)


def _item(kind: str, item: griffe.DocstringElement) -> str:
    name = getattr(item, "name", "")
    annotation = str(item.annotation) if item.annotation is not None else ""
    if kind in ("parameters", "attributes"):
        label = f"`{name}`"
    else:
        label = f"`{annotation}`" if annotation else ""
    text = textwrap.indent(inspect.cleandoc(item.description), "  ").strip()
    return f"- {label}: {text}\n" if label else f"- {text}\n"


if __name__ == "__main__":
    main()
