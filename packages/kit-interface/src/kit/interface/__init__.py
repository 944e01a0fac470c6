# SPDX-License-Identifier: MIT
"""The common interface of Kit, which routers, middleware and tools are written against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._app import App
from ._context import Context, ExecutionContext, Exit, KitRequest
from ._errors import (
    ClientDisconnectedError,
    HandlerError,
    HTTPException,
    KitError,
    MissingBindingError,
    RouterClosedError,
    UnsupportedPathError,
    ValidationTarget,
)
from ._handlers import AsyncMiddleware, ErrorHandler, Handler, HandlerResult, Middleware, Next
from ._router import (
    METHOD_NAME_ALL,
    ParamIndexMap,
    Params,
    ParamStash,
    Result,
    Router,
    RouterRoute,
)
from ._terminal import supports_color
from ._web import Blob, BodyProgress, File, FormData, Headers, Request, Response, is_response

if TYPE_CHECKING:
    from . import plugins
    from ._problems import FieldError, ProblemError, RequestValidationError, ValidationProblem

__all__ = (
    "METHOD_NAME_ALL",
    "App",
    "AsyncMiddleware",
    "Blob",
    "BodyProgress",
    "ClientDisconnectedError",
    "Context",
    "ErrorHandler",
    "ExecutionContext",
    "Exit",
    "FieldError",
    "File",
    "FormData",
    "HTTPException",
    "Handler",
    "HandlerError",
    "HandlerResult",
    "Headers",
    "KitError",
    "KitRequest",
    "Middleware",
    "MissingBindingError",
    "Next",
    "ParamIndexMap",
    "ParamStash",
    "Params",
    "ProblemError",
    "Request",
    "RequestValidationError",
    "Response",
    "Result",
    "Router",
    "RouterClosedError",
    "RouterRoute",
    "UnsupportedPathError",
    "ValidationProblem",
    "ValidationTarget",
    "is_response",
    "plugins",
    "supports_color",
)

# Names are shown as they are imported: kit.interface.HTTPException, not ..._errors.
for _class in (
    HandlerError,
    HTTPException,
    MissingBindingError,
    KitError,
    RouterClosedError,
    RouterRoute,
    UnsupportedPathError,
):
    _class.__module__ = __name__


# Imported on first use, since most apps never need them: name to module.
_LATER = {
    "FieldError": "_problems",
    "ProblemError": "_problems",
    "RequestValidationError": "_problems",
    "ValidationProblem": "_problems",
    "plugins": "",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name == "plugins":
        return import_module(f"{__name__}.plugins")
    found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    found.__module__ = __name__
    globals()[name] = found
    return found
