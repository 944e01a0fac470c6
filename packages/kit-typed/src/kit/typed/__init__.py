# SPDX-License-Identifier: MIT
"""Typed endpoints: parameters, bodies and dependencies from annotations."""

from ._endpoint.depends import Depends
from ._endpoint.endpoints import EndpointOptions, Endpoints
from ._endpoint.override import override
from ._endpoint.typed import Typed, typed
from ._partial.partial import Partial
from ._results.results import ResponseValidationError
from ._results.server_sent_event import ServerSentEvent
from ._signature.markers import Body, Cookie, Env, File, Form, Header, Path, Query, Var
from ._signature.socket import Socket

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
    "Socket",
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
    Socket,
    Typed,
    Var,
):
    _class.__module__ = __name__
