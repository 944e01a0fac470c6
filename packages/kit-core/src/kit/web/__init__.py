# SPDX-License-Identifier: MIT
"""Web-standard objects: Headers, Request, Response, FormData, File, Blob, URL, URLSearchParams."""

from kit.interface import ClientDisconnectedError

from ._blob import Blob
from ._body import BodyBytes, BodyInit, BodyStream
from ._forms.form_data import File, FormData
from ._headers import Headers, HeadersInit
from ._request import Request, RequestInit
from ._response import Response
from ._url import URL
from ._url_search_params import URLSearchParams

__all__ = (
    "URL",
    "Blob",
    "BodyBytes",
    "BodyInit",
    "BodyStream",
    "ClientDisconnectedError",
    "File",
    "FormData",
    "Headers",
    "HeadersInit",
    "Request",
    "RequestInit",
    "Response",
    "URLSearchParams",
)

# Public classes show the module that they are imported from: kit.web.Response.
for _class in (
    URL,
    Blob,
    BodyBytes,
    BodyStream,
    ClientDisconnectedError,
    File,
    FormData,
    Headers,
    Request,
    Response,
    URLSearchParams,
):
    _class.__module__ = __name__
