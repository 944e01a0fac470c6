# SPDX-License-Identifier: MIT
"""Kit: a tiny, very fast web framework on the Web-standard Request/Response model."""

# The other packages of Kit share this import root. In a normal install, they are next to this file;
# editable installs put each in its own folder, which this finds.
__path__ = __import__("pkgutil").extend_path(__path__, __name__)

from typing import TYPE_CHECKING, Any

try:
    from kit.interface import HTTPException, Next
except ImportError as error:
    raise ImportError(
        "The package 'kit' found here is not complete: 'kit.interface' is missing. Install it with "
        "'pip install kit-core'. If the distribution 'cased-kit', which has the same import name, "
        "is installed in this environment, uninstall it first."
    ) from error

from kit._support.limits import Limits
from kit.app import Kit
from kit.context import Context
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

if TYPE_CHECKING:
    from kit._app.in_thread import in_thread

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
)


def __getattr__(name: str) -> Any:
    # Imported lazily: most apps have no handler that blocks or sends files.
    if name == "in_thread":
        from kit._app.in_thread import in_thread as found
    elif name == "send_file":
        found = _find_send_file()
    else:
        from kit._app.foreign import IMPORTS

        if name in IMPORTS:
            raise ImportError(f"cannot import {name!r} from {__name__!r}: {IMPORTS[name]}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def _find_send_file() -> Any:
    """Imports `send_file` of kit-serve-static, on which this package doesn't depend."""
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
