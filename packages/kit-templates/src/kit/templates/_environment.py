# SPDX-License-Identifier: MIT
"""Creates the Jinja environment from the options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import signature
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from jinja2 import (
    BaseLoader,
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    PackageLoader,
    Undefined,
)

from kit.authoring.maybe_await import plain_result, settle
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import copy_names, is_async

_FOLDER_OF_PACKAGE = "templates"
# Arguments of Environment that have their own option, or mustn't be changed.
_OWN = frozenset(
    (
        "auto_reload",
        "bytecode_cache",
        "enable_async",
        "extensions",
        "filters",
        "globals",
        "loader",
        "tests",
        "undefined",
    )
)


def make_environment(
    check: OptionChecks,
    *,
    directory: Any,
    package: Any,
    loader: Any,
    globals: Any,
    filters: Any,
    tests: Any,
    extensions: Any,
    undefined: Any,
    enable_async: Any,
    auto_reload: Any,
    bytecode_cache: Any,
    environment_options: Any,
) -> Environment:
    """Checks the options, and creates the environment; see `templates`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.
    """
    if not (isinstance(undefined, type) and issubclass(undefined, Undefined)):
        check.wrong_type("undefined", undefined, "a class of jinja2, such as StrictUndefined")
    check.flag("enable_async", enable_async)
    check.flag("auto_reload", auto_reload)
    environment = Environment(
        loader=_loader(check, directory, package, loader),
        autoescape=True,
        undefined=undefined,
        enable_async=enable_async,
        auto_reload=auto_reload,
        bytecode_cache=_bytecode_cache(check, bytecode_cache),
        extensions=_extensions(check, extensions),
        **_further(check, environment_options),
    )
    added: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("globals", globals, environment.globals),
        ("filters", filters, environment.filters),
        ("tests", tests, environment.tests),
    )
    for name, values, target in added:
        if values is not None:
            target.update(_named(check, name, values, enable_async))
    return environment


def _loader(check: OptionChecks, directory: Any, package: Any, loader: Any) -> BaseLoader:
    if loader is not None:
        if directory is not None or package is not None:
            raise ValueError(
                "templates(loader=...) can't be used with directory or package: combine loaders by "
                "jinja2.ChoiceLoader"
            )
        if not isinstance(loader, BaseLoader):
            check.wrong_type("loader", loader, "a loader of jinja2")
        return loader
    loaders: list[BaseLoader] = []
    if directory is not None:
        loaders.append(FileSystemLoader(_folders(check, directory)))
    if package is not None:
        loaders.append(_package_loader(check, package))
    if not loaders:
        raise ValueError("templates() needs a directory, a package or a loader")
    return loaders[0] if len(loaders) == 1 else ChoiceLoader(loaders)


def _folders(check: OptionChecks, directory: Any) -> list[str]:
    if isinstance(directory, (str, os.PathLike)):
        directory = (directory,)
    elif not isinstance(directory, Iterable) or isinstance(directory, (bytes, Mapping)):
        check.wrong_type("directory", directory, "a path or a list of them")
    folders = []
    for each in directory:
        if not isinstance(each, (str, os.PathLike)) or isinstance(os.fspath(each), bytes):
            check.wrong_type("directory", each, "a path or a list of them")
        # An empty path is the working directory, but probably means that a setting is missing.
        if not os.fspath(each):
            check.unusable("directory", each, "a folder: write '.' for the working directory")
        folder = Path(each).absolute()
        if not folder.is_dir():
            check.unusable("directory", str(each), f"a folder, but {folder} is none")
        folders.append(str(folder))
    if not folders:
        check.unusable("directory", directory, "a path or several")
    return folders


def _package_loader(check: OptionChecks, package: Any) -> PackageLoader:
    name, colon, folder = check.text("package", package).partition(":")
    if not name or (colon and not folder):
        check.unusable("package", package, "a package such as 'shop', or 'shop:pages'")
    try:
        return PackageLoader(name, folder or _FOLDER_OF_PACKAGE)
    except (ImportError, ValueError) as error:
        raise ValueError(f"templates(package={package!r}) can't be used: {error}") from error


def _bytecode_cache(check: OptionChecks, cache: Any) -> BytecodeCache | None:
    if cache is None or isinstance(cache, BytecodeCache):
        return cache
    if not isinstance(cache, (str, os.PathLike)):
        check.wrong_type("bytecode_cache", cache, "a path or a BytecodeCache of jinja2")
    if not os.fspath(cache):
        check.unusable("bytecode_cache", cache, "a folder")
    folder = Path(cache).absolute()
    # Its files are code: nobody else may have write access.
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix" and folder.stat().st_mode & 0o022:
        check.unusable(
            "bytecode_cache", str(cache), "a folder that only the app can write to: chmod go-w"
        )
    return FileSystemBytecodeCache(str(folder))


def _extensions(check: OptionChecks, extensions: Any) -> list[Any]:
    if not isinstance(extensions, Iterable) or isinstance(extensions, (str, bytes, Mapping)):
        check.wrong_type("extensions", extensions, "a list of extensions of jinja2")
    made = [*extensions]
    for each in made:
        if not isinstance(each, (str, type)):
            check.wrong_type("extensions", each, "a list of extensions of jinja2")
    return made


def _further(check: OptionChecks, options: Any) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        check.wrong_type("environment_options", options, "a mapping")
    if "autoescape" in options:
        raise ValueError(
            "templates(environment_options=...) can't set autoescape, which is always on: "
            "put {% autoescape false %} into templates that aren't HTML or XML"
        )
    for name in options:
        if name in _OWN:
            raise ValueError(
                f"templates(environment_options=...) can't set {name}: write templates({name}=...)"
            )
    return dict(check.keys("environment_options", options, _known_options()))


def _known_options() -> list[str]:
    parameters = [*signature(Environment).parameters]
    return [name for name in parameters if name not in _OWN and name != "autoescape"]


def _named(
    check: OptionChecks, option: str, values: Any, enable_async: bool
) -> Mapping[str, Callable[..., Any]]:
    if not isinstance(values, Mapping):
        check.wrong_type(option, values, "a mapping of names")
    for name, value in values.items():
        if not isinstance(name, str):
            check.wrong_type(option, values, "a mapping of names")
        if option != "globals" and not callable(value):
            raise TypeError(f"templates({option}=...): {name!r} is {value!r:.100}, not a function")
        if is_async(value) and not enable_async:
            raise ValueError(
                f"templates({option}=...): {name!r} is async, which needs enable_async=True"
            )
    wrap = _awaiting if enable_async else _plain
    return {name: wrap(option, value) for name, value in values.items()}


def _awaiting(option: str, value: Any) -> Any:
    """Returns a function that awaits what another one returns.

    Jinja calls a plain filter with constant arguments when it compiles a template, and would render
    an awaitable. It awaits the results of globals itself.
    """
    if option == "globals":
        return value

    async def function(*args: Any, **kwargs: Any) -> Any:
        return await settle(value(*args, **kwargs), value, may_yield=option != "tests")

    return _marked(function, value)


def _plain(option: str, value: Any) -> Any:
    """Returns a function that refuses to render what nothing awaits."""
    if option == "globals" and type(value) not in (FunctionType, MethodType, partial):
        return value  # templates may use its attributes

    def function(*args: Any, **kwargs: Any) -> Any:
        where = f"templates({option}=...) without enable_async=True"
        return plain_result(value(*args, **kwargs), value, where, may_yield=option != "tests")

    return _marked(function, value)


def _marked(function: Any, original: Any) -> Any:
    """Copies the names and marks of a function to another one, such as `jinja2.pass_context`."""
    copy_names(function, original)
    function.__wrapped__ = original  # path_to() finds the routes of a handler
    if type(original) in (FunctionType, MethodType):
        function.__dict__.update(original.__dict__)
    return function
