# SPDX-License-Identifier: MIT
"""Finds the app that an import string means: `module:attr`, `path/to/app.py`, or a folder."""

from __future__ import annotations

import difflib
import inspect
import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from kit.authoring.wrapped_apps import find_app, is_app

from ._bindings import imported_names
from ._errors import AppFailedError, AttributeNotFoundError, ImportStringError, NotAnAppError
from ._importing import failed, find_file, import_place, top_folder
from ._settings import find_settings

_ATTRIBUTES = ("app", "application")
_FACTORIES = ("create_app", "make_app")
_MISSING = object()


def load_app(target: str) -> Any:
    """Imports the app that an import string means.

    The folder of a file, or the current one for a module, is put first on `sys.path`, so that
    the module finds its neighbours. For a file of a package it is the folder that has the package.

    Args:
        target: `module`, `module:attr`, `path/to/app.py`, `path/to/app.py:attr`, `folder` (which
            has an `app.py`, `main.py` or `__init__.py`) or `folder:attr`. The attribute may be
            a function without parameters that returns the app. Default: `app`, `application`, the
            only app there is, or what the function `create_app` or `make_app` returns; names that
            the module only imports count if it defines none of these itself.

    Returns:
        The app; of `app = Middleware(site)`, the Kit app that ASGI middleware wraps.

    Raises:
        ImportStringError: If this can't be the place of an app.
        AppNotFoundError: If there is no such module, file or folder.
        AttributeNotFoundError: If the module has no such attribute, or no app.
        NotAnAppError: If the attribute is something else.
        AppFailedError: If the user's own code raised, or registered a route by halves.
    """
    return load(target).app


def load_served(target: str) -> Any:
    """Imports an app, as `load_app` does, and returns it with the ASGI middleware around it."""
    return load(target).served


class Loaded(NamedTuple):
    """An app, and where it was found.

    Attributes:
        app: The app.
        served: What a server calls: the app, or ASGI middleware around it.
        module: The module that it is in.
        shown: What to call the module to the user.
    """

    app: Any
    served: Any
    module: ModuleType
    shown: str


def load(target: str) -> Loaded:
    """Imports an app, as `load_app` does, which says what it takes and raises."""
    place, attribute = _split(target)
    module, shown = import_place(place, attribute, target)
    served = _find_app(module, attribute or _usual_attribute(module, shown), shown)
    app = find_app(served)
    try:
        app.routes  # noqa: B018 - this is where the core tells of a decorator without a function
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).rstrip()
        raise AppFailedError(shown, text) from error
    return Loaded(app, served, module, shown)


def default_app() -> str:
    """Returns the import string of the app that commands use if they are given none.

    It is the environment variable `KIT_APP`, else `app` in the table `[tool.kit]` of the project's
    pyproject.toml, else the current folder. In a folder below that of the project, a path or
    module that the project's folder has is named by its path.

    Raises:
        SettingsError: If the pyproject.toml can't be read, or has something else there.
    """
    target = os.environ.get("KIT_APP")
    if target:
        return target
    settings = find_settings()
    if settings is None or settings.app is None:
        return "."
    if settings.folder == Path.cwd():
        return settings.app
    return _within(settings.folder, settings.app)


class Location(NamedTuple):
    """Where an app is.

    Attributes:
        folder: The folder that its modules are imported from.
        shown: What to call it: as it was asked for, but for a folder the file in it.
    """

    folder: Path
    shown: str


def locate(target: str) -> Location:
    """Finds out where an app is, without importing it.

    Args:
        target: As for `load_app`.

    Raises:
        ImportStringError: If this can't be the place of an app.
        AppNotFoundError: If there is no such file or folder.
    """
    place, attribute = _split(target)
    file = find_file(place, attribute, target)
    if file is None:
        return Location(Path.cwd(), target)
    return Location(top_folder(file), str(file) if Path(target).is_dir() else target)


def _within(folder: Path, target: str) -> str:
    """An import string, as it is in a folder, for use in another one."""
    place, attribute = _split(target)
    above = os.path.relpath(folder)
    module = place.replace(".", "/")
    names = (place, f"{module}.py", f"{module}/__init__.py")
    # With an attribute a folder means its package, as for `find_file`.
    for each in names if attribute is None else reversed(names):
        if (folder / each).exists():
            path = os.path.join(above, each)
            return path if attribute is None else f"{path}:{attribute}"
    return target


def _split(target: str) -> tuple[str, str | None]:
    place, colon, attribute = target.rpartition(":")
    if not target or (colon and not place):
        reason = "it names no module: expected module:attr, path/to/app.py or a folder"
        raise ImportStringError(target, reason)
    if not colon or Path(target).exists() or attribute.startswith(("/", "\\")):
        return target, None  # also a path with a colon in it, as that of a drive
    if not all(part.isidentifier() for part in attribute.split(".")):
        reason = f"{attribute!r} is no name of an attribute: expected e.g. '{place}:app'"
        if attribute.endswith(")"):
            reason += "; a function is named without parentheses, and called without arguments"
        raise ImportStringError(target, reason)
    return place, attribute


def _usual_attribute(module: ModuleType, shown: str) -> str:
    """Returns the name of the app; what the module itself defines comes before what it imports."""
    imported = imported_names(module)
    for name in _ATTRIBUTES:
        if name not in imported and _may_be_app(module, name, shown):
            return name
    own = {name: value for name, value in vars(module).items() if name not in imported}
    apps, factories = _apps(own), _factories(own)
    if len({id(own[name]) for name in apps}) > 1:
        raise AttributeNotFoundError(shown, None, (*apps, *factories))
    for name in (*apps, *factories):
        return name
    for name in _ATTRIBUTES:
        if _may_be_app(module, name, shown):
            return name
    for name in _factories(vars(module)):
        return name
    apps = _apps(vars(module))
    if len({id(vars(module)[name]) for name in apps}) == 1:
        return apps[0]
    raise AttributeNotFoundError(shown, None, tuple(apps))


def _may_be_app(module: ModuleType, name: str, shown: str) -> bool:
    """Returns whether there is a value of this name; a package may have a submodule instead."""
    value = _get(module, name, shown)
    return value is not _MISSING and not isinstance(value, ModuleType)


def _apps(values: Mapping[str, Any]) -> list[str]:
    return [name for name, value in values.items() if is_app(value)]


def _factories(values: Mapping[str, Any]) -> list[str]:
    return [name for name in _FACTORIES if callable(values.get(name))]


def _find_app(module: ModuleType, name: str, shown: str) -> Any:
    value: Any = module
    for part in name.split("."):
        found = _get(value, part, shown)
        if found is _MISSING:
            near = difflib.get_close_matches(part, dir(value), n=1)
            if not near and value is module:
                near = _apps(vars(module))
            raise AttributeNotFoundError(shown, name, tuple(near))
        value = found
    if find_app(value) is not None:
        return value
    if isinstance(value, type) or not callable(value):
        raise NotAnAppError(shown, name, _kind(value))
    made = _call_factory(value, name, shown)
    if find_app(made) is None:
        if inspect.iscoroutine(made):
            made.close()
        raise NotAnAppError(shown, name, f"a function that gave {_kind(made)}")
    return made


def _get(value: Any, name: str, shown: str) -> Any:
    """An attribute, or `_MISSING`; a property or a module's `__getattr__` may raise anything."""
    try:
        return getattr(value, name, _MISSING)
    except Exception as error:
        raise failed(shown, error) from error


def _call_factory(factory: Any, name: str, shown: str) -> Any:
    if inspect.iscoroutinefunction(factory):
        raise NotAnAppError(shown, name, "an async function")
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # some that are written in C have none
        raise NotAnAppError(shown, name, _kind(factory)) from None
    try:
        signature.bind()
    except TypeError:
        what = "a function" if inspect.isroutine(factory) else f"{_kind(factory)}, called"
        raise NotAnAppError(shown, name, f"{what} with {signature}") from None
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise failed(shown, error) from error


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    return "None" if value is None else f"an object of type {type(value).__name__}"
