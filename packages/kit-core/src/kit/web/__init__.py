# SPDX-License-Identifier: MIT
"""The Web-standard objects: Headers, Request, Response, FormData, File, Blob, URL."""

from ._body import Blob, BodyInit
from ._form_data import File, FormData
from ._headers import Headers, HeadersInit
from ._received import ClientDisconnectedError
from ._request import Request, RequestInit
from ._response import Response
from ._url import URL

__all__ = (
    "URL",
    "Blob",
    "BodyInit",
    "ClientDisconnectedError",
    "File",
    "FormData",
    "Headers",
    "HeadersInit",
    "Request",
    "RequestInit",
    "Response",
)

# Names are shown as they are imported: kit.web.Response, not kit.web._response.Response.
for _class in (URL, Blob, ClientDisconnectedError, File, FormData, Headers, Request, Response):
    _class.__module__ = __name__
