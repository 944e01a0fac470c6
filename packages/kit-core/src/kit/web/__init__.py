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
