# SPDX-License-Identifier: MIT
"""The Web-standard objects: Headers, Request, Response, FormData, File, Blob, URL and its query."""

from kit.web._body import Blob, BodyInit
from kit.web._forms.form_data import File, FormData
from kit.web._headers import Headers, HeadersInit
from kit.web._received import ClientDisconnectedError
from kit.web._request import Request, RequestInit
from kit.web._response import Response
from kit.web._url import URL
from kit.web._url_search_params import URLSearchParams

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
    "URLSearchParams",
)

# Names are shown as they are imported: kit.web.Response, not kit.web._response.Response.
for _class in (
    URL,
    Blob,
    ClientDisconnectedError,
    File,
    FormData,
    Headers,
    Request,
    Response,
    URLSearchParams,
):
    _class.__module__ = __name__
