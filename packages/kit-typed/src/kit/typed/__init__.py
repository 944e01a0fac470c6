# SPDX-License-Identifier: MIT
"""Typed endpoints: parameters, bodies and dependencies from annotations."""

from ._depends import Depends
from ._endpoints import EndpointOptions, Endpoints
from ._markers import Body, Cookie, Env, File, Form, Header, Path, Query, Var
from ._override import override
from ._partial import Partial
from ._results import ResponseValidationError
from ._server_sent_event import ServerSentEvent
from ._typed import Typed, typed

__all__ = (
    "Body",
    "Cookie",
    "Depends",
    "EndpointOptions",
    "Endpoints",
    "Env",
    "File",
    "Form",
    "Header",
    "Partial",
    "Path",
    "Query",
    "ResponseValidationError",
    "ServerSentEvent",
    "Typed",
    "Var",
    "override",
    "typed",
)

# Public classes show the module that users import them from.
for _class in (
    Body,
    Cookie,
    EndpointOptions,
    Endpoints,
    Env,
    File,
    Form,
    Header,
    Partial,
    Path,
    Query,
    ResponseValidationError,
    ServerSentEvent,
    Typed,
    Var,
):
    _class.__module__ = __name__
