# SPDX-License-Identifier: MIT
"""Imports the module that an app is in, from a file or by name."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ._errors import AppFailedError, AppNotFoundError, ImportStringError
from ._tracebacks import their_code

_FILES = ("app.py", "main.py", "__init__.py")
# A file of such a name would hide the module from everyone, uvicorn included.
_TAKEN = sys.stdlib_module_names | {"click", "kit", "uvicorn"}


def import_place(place: str, attribute: str | None, target: str) -> tuple[ModuleType, str]:
    """Imports what stands before the colon of an import string.

    Args:
        place: A file, a folder or a module.
        attribute: What stands behind the colon, if anything.
        target: The import string, for errors.

    Returns:
        The module, and what to call it to the user.

    Raises:
        ImportStringError: If this can't be a module.
        AppNotFoundError: If there is no such module, file or folder.
        AppFailedError: If the user's own code raised.
    """
    file = find_file(place, attribute, target)
    if file is not None:
        return _import_file(file, str(file), target), str(file)
    if not all(place.split(".")):
        raise ImportStringError(target, f"{place!r} is no name of a module: expected e.g. 'shop'")
    _put_first(Path.cwd())
    module = _import(place, place)
    if module is None or _is_bare_folder(module):
        raise _no_module(place, attribute, target)
    return module, place


def import_from(folder: Path, name: str) -> ModuleType | None:
    """Imports a module of a folder, or one that is installed.

    Args:
        folder: Where to look first.
        name: The full name of the module.

    Returns:
        The module; None if there is none.

    Raises:
        AppFailedError: If the user's own code raised.
    """
    _put_first(folder)
    return _import(name, name)


def find_file(place: str, attribute: str | None, target: str) -> Path | None:
    """Finds the file that an import string means; None if it means a module by its name.

    Args:
        place: A file, a folder or a module.
        attribute: What stands behind the colon, if anything.
        target: The import string, for errors.

    Raises:
        ImportStringError: If it is no Python file.
        AppNotFoundError: If there is no such file or folder.
    """
    path = Path(place)
    is_path = place.endswith(".py") or "/" in place or os.sep in place or place in (".", "..")
    file = _file_in(path, attribute is not None and not is_path)
    if file is not None:
        return file
    if path.is_file() and (is_path or path.suffix):
        if path.suffix != ".py":
            raise ImportStringError(target, "it is no Python file: expected a name ending in .py")
        return path
    if is_path:
        raise _no_file(path, attribute, target)
    return None


def top_folder(file: Path) -> Path:
    """The folder that a file is imported from: its own, or the one that has its package."""
    folder = file.resolve().parent
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return folder


def failed(shown: str, error: BaseException) -> AppFailedError:
    """The error that shows what the user's code raised, from that code on."""
    # Without their code, a syntax error say, there is nothing to be seen in the traceback.
    text = "".join(traceback.format_exception(type(error), error, their_code(error)))
    return AppFailedError(shown, text.rstrip())


def _file_in(folder: Path, as_module: bool) -> Path | None:
    """The file that stands for a folder; with an attribute, `shop:app` is that of a package."""
    names = reversed(_FILES) if as_module else _FILES
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _import_file(file: Path, shown: str, target: str) -> ModuleType:
    """Imports a file as what it is: a module of its folder, or of the package it belongs to."""
    file = file.resolve()
    folder = top_folder(file)
    parts = list(file.relative_to(folder).with_suffix("").parts)
    if file.name == "__init__.py":
        parts.pop()
    if any("." in part for part in parts):
        raise ImportStringError(target, "Python can't import a name with a dot in it: rename it")
    if parts[0] in _TAKEN:
        reason = f"it would hide the module {parts[0]!r}, which others import: rename it"
        raise ImportStringError(target, reason)
    _put_first(folder)
    _forget_other(parts[0], folder)
    module = _import(".".join(parts), shown)
    if module is None:
        raise AppNotFoundError(target, (str(file),), str(Path.cwd()), ())
    return module


def _put_first(folder: Path) -> None:
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))


def _forget_other(top: str, folder: Path) -> None:
    """Forgets a module of this name from elsewhere, e.g. another `app`: it is not this one."""
    here = {str(folder / f"{top}.py"), str(folder / top / "__init__.py")}
    earlier = sys.modules.get(top)
    if earlier is not None and getattr(earlier, "__file__", None) not in here:
        for name in [n for n in sys.modules if n == top or n.startswith(f"{top}.")]:
            del sys.modules[name]


def _import(name: str, shown: str) -> ModuleType | None:
    """Imports a module; None if there is none, and not if there is none that it imports."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if f"{name}.".startswith(f"{missing}.") and their_code(error) is None:
            return None
        raise failed(shown, error) from error
    except (Exception, SystemExit) as error:
        raise failed(shown, error) from error


def _is_bare_folder(module: ModuleType) -> bool:
    """Whether it has no code: Python imports any folder, as a namespace package."""
    return hasattr(module, "__path__") and getattr(module, "__file__", None) is None


def _no_file(path: Path, attribute: str | None, target: str) -> AppNotFoundError:
    if path.is_dir():
        looked_for = tuple(str(path / name) for name in _FILES)
        return AppNotFoundError(target, looked_for, str(Path.cwd()), ())
    names: list[str] = []
    if path.parent.is_dir():
        names = [p.name for p in path.parent.iterdir() if p.suffix == ".py" or _file_in(p, False)]
    near = [str(path.parent / name) for name in difflib.get_close_matches(path.name, names, n=1)]
    return AppNotFoundError(target, (str(path),), str(Path.cwd()), _with(near, attribute))


def _no_module(name: str, attribute: str | None, target: str) -> AppNotFoundError:
    path = Path(*name.split("."))
    looked_for: tuple[str, ...] = (f"the module {name!r}", f"{path}.py")
    if path.is_dir():
        looked_for += tuple(str(path / file) for file in _FILES)
    before, _, last = name.rpartition(".")
    if before and path.parent.with_suffix(".py").is_file():  # a dot where a colon was meant
        return AppNotFoundError(target, looked_for, str(Path.cwd()), (f"{before}:{last}",))
    names: list[str] = []
    for other in path.parent.iterdir() if path.parent.is_dir() else ():
        if other.suffix == ".py" and other.stem != "__init__":
            names += [f"{before}.{other.stem}".lstrip("."), str(other)]
        elif _file_in(other, False):
            names.append(f"{before}.{other.name}".lstrip("."))
    near = difflib.get_close_matches(name, names, n=1)
    return AppNotFoundError(target, looked_for, str(Path.cwd()), _with(near, attribute))


def _with(near: list[str], attribute: str | None) -> tuple[str, ...]:
    return tuple(near if attribute is None else [f"{name}:{attribute}" for name in near])
