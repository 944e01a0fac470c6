# SPDX-License-Identifier: MIT
"""Checks the options of `serve_static`, and prepares them for requests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kit.authoring.options import OptionChecks
from kit.interface import AnyContext

from ._caching import CacheControl
from ._paths import safe_segments
from ._static_root import EXTENSIONS

IS_WINDOWS = os.name == "nt"

Notify: TypeAlias = Callable[[str, AnyContext], object]
"""Called with a path: `def on_found(path, c)`, plain or async."""

GetContent: TypeAlias = Callable[[str, AnyContext], Any]
"""Returns content, a response, or None: `def get_content(path, c)`, plain or async."""

IsDir: TypeAlias = Callable[[str], Any]
"""Returns whether a path is a folder: `def is_dir(path)`, plain or async."""


def check_root(check: OptionChecks, root: Any) -> str:
    """Checks the option `root`, and returns the absolute path of the folder."""
    if not isinstance(root, (str, os.PathLike)):
        check.wrong_type("root", root, "the path of a folder")
    path = os.fspath(root)
    if not isinstance(path, str):
        check.wrong_type("root", root, "the path of a folder as a str")
    absolute = os.path.abspath(path)
    if not os.path.isdir(absolute):
        what = "is a file" if os.path.exists(absolute) else "is not a folder"
        raise ValueError(
            f"{check.factory}(root={path!r:.200}) can't be used: {absolute!r:.300} {what}; "
            "relative paths are resolved against the working directory"
        )
    return absolute


def package_folder(check: OptionChecks, package: Any, directory: Any) -> str:
    """Checks the options `package` and `directory`, and returns the absolute path of the folder."""
    from importlib.resources import files
    from pathlib import Path

    check.text("package", package)
    check.text("directory", directory)
    segments = safe_segments(directory, windows=IS_WINDOWS)
    if segments is None:
        check.unusable("directory", directory, "a path within the package, such as 'static'")
    try:
        found = files(package)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"serve_static(package={package!r:.100}) can't be used: {error.msg}"
        ) from None
    if not isinstance(found, Path):
        raise ValueError(
            f"serve_static(package={package!r:.100}) can't be used: the package isn't a folder on "
            "disk, but in an archive or in several places; install it unpacked, in one place"
        )
    path = found.joinpath(*segments)
    if not path.is_dir():
        raise ValueError(
            f"serve_static(directory={directory!r:.100}) can't be used: the package {package!r} "
            f"has no such folder; expected one at {str(path)!r:.300}"
        )
    return str(path)


def check_names(check: OptionChecks, name: str, value: Any) -> tuple[str, ...]:
    """Checks an option that is the path of a file below the root, and returns its names."""
    segments = safe_segments(check.text(name, value), dotfiles=True, windows=IS_WINDOWS)
    if not segments or value.endswith("/"):
        check.unusable(name, value, "the path of a file below the root, such as 'index.html'")
    return segments


def check_index(check: OptionChecks, index: Any) -> str | None:
    """Checks the option `index`: a name, or None."""
    if index is None:
        return None
    segments = check_names(check, "index", index)
    if len(segments) > 1:
        check.unusable("index", index, "the name of a file, such as 'index.html'")
    return segments[0]


def check_mimes(check: OptionChecks, mimes: Any) -> dict[str, str]:
    """Checks the option `mimes`: content types by extension, with or without a dot."""
    if mimes is None:
        return {}
    if not isinstance(mimes, Mapping):
        check.wrong_type(
            "mimes", mimes, "a mapping from extensions to types, e.g. {'foo': 'text/x-foo'}"
        )
    checked = {}
    for extension, kind in mimes.items():
        if not isinstance(extension, str) or not isinstance(kind, str) or "/" not in kind:
            raise ValueError(
                f"serve_static(mimes={{{extension!r:.50}: {kind!r:.50}}}) can't be used: expected "
                "an extension and a content type such as 'foo': 'text/x-foo'"
            )
        check.header_value("mimes", kind)
        checked[extension.removeprefix(".").lower()] = kind
    return checked


def check_precompressed(check: OptionChecks, value: Any) -> tuple[str, ...]:
    """Checks the option `precompressed`, and returns the codings, the preferred one first."""
    if isinstance(value, bool):
        return tuple(EXTENSIONS) if value else ()
    encodings = check.texts("precompressed", value)
    for each in encodings:
        if each not in EXTENSIONS:
            check.unusable("precompressed", each, "True, or some of 'br', 'zstd' and 'gzip'")
    return tuple(dict.fromkeys(encodings))


def check_cache_control(check: OptionChecks, value: Any) -> str | CacheControl | None:
    """Checks the option `cache_control`: a value, a function `(path)`, or None."""
    if value is None:
        return None
    if callable(value):
        function: CacheControl = check.function("cache_control", value, "(path)")
        return function
    if not isinstance(value, str):
        check.wrong_type("cache_control", value, "a value such as 'no-cache', or a function (path)")
    return check.header_value("cache_control", value)


def check_functions(check: OptionChecks, **functions: tuple[Any, str]) -> None:
    """Checks options that are functions, or None.

    Args:
        check: The checks of the factory.
        **functions: By option: its value, and the arguments of the function.
    """
    for name, (value, signature) in functions.items():
        if value is not None:
            check.function(name, value, signature, may_yield=name == "get_content")


def refuse_together(wanted: str, given: Mapping[str, Any], why: str) -> None:
    """Rejects options that have no effect in combination with another one.

    Args:
        wanted: The other option, as errors name it.
        given: The options by name; None and False mean that an option wasn't given.
        why: Why they can't be combined.

    Raises:
        TypeError: If one of them was given.
    """
    for name, value in given.items():
        if value is not None and value is not False:
            raise TypeError(f"serve_static({name}=...) can't be used with {wanted}: {why}")
