# SPDX-License-Identifier: MIT
"""The common interface of Kit, which routers, middleware and tools are written against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import plugins
    from ._app import App
    from ._codecs import Codecs
    from ._context import Cleanup, Context, ExecutionContext, KitRequest
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
    from ._handlers import (
        AnyContext,
        AsyncMiddleware,
        ErrorHandler,
        Handler,
        HandlerResult,
        Middleware,
        Next,
    )
    from ._problems import (
        FieldError,
        Problem,
        ProblemError,
        RequestValidationError,
        ValidationProblem,
    )
    from ._router import ParamIndexMap, Params, ParamStash, Result, Router
    from ._routes import METHOD_NAME_ALL, RouterRoute, is_cacheable
    from ._web import (
        Blob,
        BodyProgress,
        File,
        FormData,
        Headers,
        PathBody,
        Request,
        Response,
        is_response,
    )

__all__ = (
    "METHOD_NAME_ALL",
    "AnyContext",
    "App",
    "AsyncMiddleware",
    "Blob",
    "BodyProgress",
    "Cleanup",
    "ClientDisconnectedError",
    "Codecs",
    "Context",
    "ErrorHandler",
    "ExecutionContext",
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
    "PathBody",
    "Problem",
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
    "is_cacheable",
    "is_response",
    "plugins",
)

# Imported at first use, by module: an app needs few of them, and protocols take long to create.
_NAMES = {
    "_app": "App",
    "_codecs": "Codecs",
    "_context": "Cleanup Context ExecutionContext KitRequest",
    "_errors": (
        "ClientDisconnectedError HandlerError HTTPException KitError MissingBindingError "
        "RouterClosedError UnsupportedPathError ValidationTarget"
    ),
    "_handlers": "AnyContext AsyncMiddleware ErrorHandler Handler HandlerResult Middleware Next",
    "_problems": "FieldError Problem ProblemError RequestValidationError ValidationProblem",
    "_router": "ParamIndexMap Params ParamStash Result Router",
    "_routes": "METHOD_NAME_ALL RouterRoute is_cacheable",
    "_web": "Blob BodyProgress File FormData Headers PathBody Request Response is_response",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "plugins":
        return import_module(f"{__name__}.plugins")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
