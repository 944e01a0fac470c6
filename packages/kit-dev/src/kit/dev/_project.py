# SPDX-License-Identifier: MIT
"""The project that `kit new` makes of a template."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "_templates"
_COMMON = "common"
# What the names of files have in place of the name of the module.
_MODULE = "MODULE"
_SUFFIX = ".in"
# SPEC: the name format of the packaging specifications.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST_NAME = 100
_LONGEST_PLUGIN = 30
# A project that had the name of what it is made with would stand in its way.
_TAKEN = ("kit", "pytest")


class Template(NamedTuple):
    """A kind of project; its files are in the folder of its name in `_templates`.

    Attributes:
        name: What it is called, and its folder.
        summary: What it makes, for the help.
        hint: What to look at once `kit dev` serves it.
        watched: What `kit dev` is to watch besides Python files.
        description: The description of a distribution, which has placeholders of its own; None if
            it makes none.
    """

    name: str
    summary: str
    hint: str
    watched: tuple[str, ...] = ()
    description: str | None = None


_ALL = (
    Template(
        "api",
        "typed endpoints with documentation, settings, and a database",
        "; open http://127.0.0.1:8000/docs",
    ),
    Template(
        "site", "pages from templates, static files, forms, and sessions", "", ("pages", "static")
    ),
    Template("plain", "handlers of a context alone", ""),
    Template(
        "plugin-middleware",
        "a middleware to publish",
        "",
        (),
        "Middleware for the Kit web framework that sets the header {header}.",
    ),
    Template(
        "plugin-router",
        "a router to publish, with the conformance tests",
        "",
        (),
        "A router for the Kit web framework that compares segment by segment.",
    ),
)
TEMPLATES = {template.name: template for template in _ALL}


class ProjectError(ValueError):
    """A project of this name can't be made here."""


def make_project(name: str, folder: Path, template: Template) -> list[str]:
    """Makes a project in a new folder.

    Args:
        name: Its name, and that of the folder.
        folder: Where the folder is made.
        template: What it is made of.

    Returns:
        The names of its files, with `/` between folders.

    Raises:
        ProjectError: If the name can't be used, or something has it already.
    """
    _check(name, template)
    root = folder / name
    try:
        root.mkdir(exist_ok=True)
        if any(root.iterdir()):
            raise ProjectError(f"{root} is there already, and not empty: pick another name")
        files = render(template, name)
        for file, text in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            # Never over another file, whoever made one just now.
            with (root / file).open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise ProjectError(f"{error.filename} is there already: pick another name") from error
    except OSError as error:
        raise ProjectError(f"Can't make {root}: {error.strerror or error}") from error
    return list(files)


def render(template: Template, name: str) -> dict[str, str]:
    """Returns the files of a project of this name: their texts by their paths."""
    values = _values(template, name)
    files: dict[str, str] = {}
    for folder in (_FOLDER / template.name, _FOLDER / _COMMON):
        sources = folder.rglob(f"*{_SUFFIX}")
        for source in sorted(sources, key=lambda each: (".py" not in each.suffixes, each)):
            path = source.relative_to(folder).as_posix().removesuffix(_SUFFIX)
            text = _fill(source.read_text(encoding="utf-8"), values)
            if path == "pyproject.toml":
                text = re.sub(r'(?<=")kit-[\w-]+(?:\[\w+\])?(?=")', _with_range, text)
            files[path.replace(_MODULE, values["module"])] = text
    return files


def missing(pyproject: str) -> list[str]:
    """Returns what a project requires that is not installed here.

    Args:
        pyproject: The text of its pyproject.toml.
    """
    import tomllib
    from importlib.metadata import PackageNotFoundError, distribution

    found = []
    for requirement in tomllib.loads(pyproject)["project"]["dependencies"]:
        each = re.split("[<>]", requirement)[0]
        try:
            distribution(each.partition("[")[0])
            if each.endswith("[ui]"):
                distribution("kit-openapi-ui")
        except PackageNotFoundError:
            found.append(each)
    return found


def _values(template: Template, name: str) -> dict[str, str]:
    """The values of the placeholders."""
    plugin = _normalized(name)
    module = plugin.replace("-", "_")
    header = "-".join(["X", *(word.capitalize() for word in plugin.split("-"))])
    plain = plugin.removesuffix("-router") if template.name == "plugin-router" else plugin
    return {
        "name": name,
        "module": module,
        "function": module,
        "header": header,
        "plugin": plain,
        "class": "".join(word.capitalize() for word in plain.split("-")) + "Router",
        "description": (template.description or "").format(header=header),
    }


def _fill(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], text)


def _normalized(name: str) -> str:
    """The name as the packaging specifications compare it (names differing in `-_.` are one)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _check(name: str, template: Template) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        reason = "expected letters and digits, with '-', '_' and '.' between them, e.g. 'my-shop'"
        if "/" in name or "\\" in name:
            reason += "; the folder is made in the current one"
        raise ProjectError(f"{name!r} isn't a valid project name: {reason}")
    normalized = _normalized(name)
    if normalized in _TAKEN or normalized.startswith("kit-"):
        raise ProjectError(f"A project can't be called {name!r}, as a package that it uses is")
    if template.description is not None:
        _check_module(name, normalized.replace("-", "_"))


def _check_module(name: str, module: str) -> None:
    """Checks the name of a distribution, whose module and function are called the same."""
    reason = None
    if not module.isidentifier():
        reason = f"{module!r} can't be imported: expected a name that begins with a letter"
    elif keyword.iskeyword(module):
        reason = f"{module!r} is a keyword of Python"
    elif module in sys.stdlib_module_names or hasattr(builtins, module):
        reason = f"Python has {module!r} already"
    elif module.startswith("test"):
        reason = f"pytest would take {module!r} for a test"
    elif len(name) > _LONGEST_PLUGIN:
        reason = f"it has {len(name)} characters, at most {_LONGEST_PLUGIN} fit"
    if reason is not None:
        raise ProjectError(f"{name!r} isn't a valid name for a plugin: {reason}")


def _with_range(requirement: re.Match[str]) -> str:
    """Adds the versions that are like the installed one; none if that isn't known."""
    from importlib.metadata import PackageNotFoundError, version

    name = requirement[0]
    try:
        major, minor = map(int, version(name.partition("[")[0]).split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return name
    following = f"0.{minor + 1}" if major == 0 else f"{major + 1}"
    return f"{name}>={major}.{minor},<{following}"
