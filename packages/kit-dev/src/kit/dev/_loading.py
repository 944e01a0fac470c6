# SPDX-License-Identifier: MIT
"""Finds the app that an import string means: `module:attr`, `path/to/app.py`, or a folder."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from ._errors import AppFailedError, AppNotFoundError, AttributeNotFoundError, NotAnAppError

_FILES = ("app.py", "main.py", "__init__.py")
_ATTRIBUTES = ("app", "application", "create_app", "make_app")


def load_app(target: str) -> Any:
    """Imports the app that an import string means.

    The folder of a file, or the current one for a module, is put first on `sys.path`, so that
    the module finds its neighbours.

    Args:
        target: `module`, `module:attr`, `path/to/app.py`, `path/to/app.py:attr`, `folder` (which
            has an `app.py`, `main.py` or `__init__.py`) or `folder:attr`. The attribute may be
            a function without parameters that gives the app. Default: `app`, `application`,
            `create_app`, `make_app`, or the only app there is.

    Returns:
        The app.

    Raises:
        AppNotFoundError: If there is no such module, file or folder.
        AttributeNotFoundError: If the module has no such attribute, or no app.
        NotAnAppError: If the attribute is something else.
        AppFailedError: If the user's own code raised.
    """
    place, attribute = _split(target)
    path = Path(place)
    if path.is_dir() and (file := _file_in(path)) is not None:
        module, shown = _import_file(file), str(file)
    elif path.is_file():
        module, shown = _import_file(path), str(path)
    elif place.endswith(".py") or os.sep in place or path.is_dir():
        raise _not_found(target, path)
    else:
        sys.path.insert(0, str(Path.cwd()))
        module, shown = _import(place, target), place
    return _find_app(module, attribute, shown)


def is_app(value: Any) -> bool:
    """Whether a value is a Kit app, told by what it has; the core is not imported for it."""
    return not isinstance(value, type) and hasattr(value, "routes") and hasattr(value, "fetch")


def _split(target: str) -> tuple[str, str | None]:
    place, colon, attribute = target.rpartition(":")
    if colon and place and all(part.isidentifier() for part in attribute.split(".")):
        return place, attribute
    return target, None


def _file_in(folder: Path) -> Path | None:
    return next((folder / name for name in _FILES if (folder / name).is_file()), None)


def _not_found(target: str, path: Path) -> AppNotFoundError:
    if path.is_dir():
        return AppNotFoundError(target, tuple(str(path / name) for name in _FILES), ())
    names: list[str] = []
    if path.parent.is_dir():
        names = [p.name for p in path.parent.iterdir() if p.suffix == ".py" or p.is_dir()]
    near = difflib.get_close_matches(path.name, names, n=1)
    return AppNotFoundError(target, (str(path),), tuple(str(path.parent / n) for n in near))


def _import_file(file: Path) -> ModuleType:
    """Imports a file as what it is: a module of its folder, or of the package it belongs to."""
    file = file.resolve()
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    name = ".".join(parts)
    # A module of this name from elsewhere, e.g. another `app`, is not the one that was asked for.
    earlier = sys.modules.get(name)
    if earlier is not None and getattr(earlier, "__file__", None) != str(file):
        del sys.modules[name]
    return _import(name, str(file), str(file))


def _import(name: str, target: str, shown: str | None = None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            file = name.replace(".", os.sep) + ".py"
            found = [p.stem for p in Path.cwd().glob("*.py")] + [p.parent.name for p in _packages()]
            near = tuple(difflib.get_close_matches(name, found, n=1))
            raise AppNotFoundError(target, (f"the module {name!r}", file), near) from error
        raise _failed(shown or name, error) from error
    except (Exception, SystemExit) as error:
        raise _failed(shown or name, error) from error


def _packages() -> list[Path]:
    return list(Path.cwd().glob("*/__init__.py"))


def _find_app(module: ModuleType, attribute: str | None, shown: str) -> Any:
    name = attribute or _usual_attribute(module, shown)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            near = tuple(difflib.get_close_matches(part, dir(value), n=1))
            raise AttributeNotFoundError(shown, name, near)
        value = getattr(value, part)
    if is_app(value):
        return value
    if isinstance(value, type) or not callable(value):
        raise NotAnAppError(shown, name, _kind(value))
    made = _call_factory(value, name, shown)
    if not is_app(made):
        raise NotAnAppError(shown, name, f"a function that gave {_kind(made)}")
    return made


def _usual_attribute(module: ModuleType, shown: str) -> str:
    for name in _ATTRIBUTES:
        if hasattr(module, name):
            return name
    names = [name for name, value in vars(module).items() if is_app(value)]
    if len({id(getattr(module, name)) for name in names}) != 1:
        raise AttributeNotFoundError(shown, None, tuple(names))
    return names[0]


def _call_factory(factory: Any, name: str, shown: str) -> Any:
    signature = inspect.signature(factory)
    try:
        signature.bind()
    except TypeError:
        raise NotAnAppError(shown, name, f"a function with {signature}") from None
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise _failed(shown, error) from error


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "None" if value is None else f"of type {type(value).__name__}"


def _failed(shown: str, error: BaseException) -> AppFailedError:
    """The error with the traceback from the user's own code on."""
    place: TracebackType | None = error.__traceback__
    while place is not None and _is_ours(place.tb_frame.f_code.co_filename):
        place = place.tb_next
    text = "".join(traceback.format_exception(type(error), error, place))
    return AppFailedError(shown, text.rstrip())


def _is_ours(filename: str) -> bool:
    return filename in (__file__, importlib.__file__) or filename.startswith("<frozen importlib")
