# SPDX-License-Identifier: MIT
"""Kit: a tiny, very fast web framework on the Web-standard Request/Response model."""

from typing import TYPE_CHECKING, Any


def _all_folders() -> list[str]:
    """Finds the folders of the other Kit packages, which share this import root.

    In a normal install, they are next to this file; editable installs put each in its own folder.
    PERF: `pkgutil` takes longer to import than any module of Kit, so it is used only if there are
    places other than folders, such as zip files.
    """
    from os.path import isdir, isfile, join
    from sys import path

    folders = dict.fromkeys(__path__)
    for each in path:
        folder = join(each, __name__)
        if isdir(folder):
            folders[folder] = None
        elif isfile(each) or each.startswith("__editable__"):
            from pkgutil import extend_path

            return extend_path(__path__, __name__)
    return list(folders)


if TYPE_CHECKING:  # tools recognize this line
    __path__ = __import__("pkgutil").extend_path(__path__, __name__)
else:
    __path__ = _all_folders()

try:
    from kit.interface import METHOD_NAME_ALL  # noqa: F401 - whether it is there
except ImportError as error:
    raise ImportError(
        "The package 'kit' found here is not complete: 'kit.interface' is missing. Install it with "
        "'pip install kit-core'. If the distribution 'cased-kit', which has the same import name, "
        "is installed in this environment, uninstall it first."
    ) from error

if TYPE_CHECKING:
    from kit._engine.paths import path_of_request
    from kit._registration.in_thread import in_thread
    from kit.app import Kit
    from kit.context import Context
    from kit.interface import HTTPException, Next
    from kit.request import KitRequest
    from kit.web import (
        URL,
        Blob,
        File,
        FormData,
        Headers,
        Request,
        RequestInit,
        Response,
        URLSearchParams,
    )
    from kit.web._limits import Limits

__all__ = (
    "URL",
    "Blob",
    "Context",
    "File",
    "FormData",
    "HTTPException",
    "Headers",
    "Kit",
    "KitRequest",
    "Limits",
    "Next",
    "Request",
    "RequestInit",
    "Response",
    "URLSearchParams",
    "in_thread",
    "path_of_request",
)


# Names by module, imported on first use. PERF: an app needs few of them.
_NAMES = {
    "kit._registration.in_thread": "in_thread",
    "kit._engine.paths": "path_of_request",
    "kit.web._limits": "Limits",
    "kit.app": "Kit",
    "kit.context": "Context",
    "kit.interface": "HTTPException Next",
    "kit.request": "KitRequest",
    "kit.web": "URL Blob File FormData Headers Request RequestInit Response URLSearchParams",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        found = getattr(import_module(_MODULES[name]), name)
    elif name == "send_file":
        found = _find_send_file()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _find_send_file() -> Any:
    """Imports `send_file` from kit-serve-static, which is optional."""
    from importlib import import_module

    try:
        return import_module("kit.serve_static").send_file
    except ModuleNotFoundError as error:
        if error.name != "kit.serve_static":
            raise
        raise ImportError(
            "kit.send_file is part of kit-serve-static, which is not installed here. "
            "Install it with 'pip install kit-serve-static'."
        ) from None
