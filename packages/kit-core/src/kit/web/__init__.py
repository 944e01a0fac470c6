# SPDX-License-Identifier: MIT
"""The Web-standard objects: Headers, Request, Response, FormData, File, Blob, URL and its query."""

from ._blob import Blob
from ._body import BodyBytes, BodyInit, BodyStream
from ._forms.form_data import File, FormData
from ._headers import Headers, HeadersInit
from ._received import ClientDisconnectedError
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

# Names are shown as they are imported: kit.web.Response, not kit.web._response.Response.
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
