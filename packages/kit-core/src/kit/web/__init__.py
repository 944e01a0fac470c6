# SPDX-License-Identifier: MIT
"""Web-standard objects: Headers, Request, Response, FormData, File, Blob, URL, URLSearchParams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# PERF: imported on first use, since an app needs few of them.
_MODULES = {
    "URL": "_url",
    "Blob": "_blob",
    "BodyBytes": "_body",
    "BodyInit": "_body",
    "BodyStream": "_body",
    "ClientDisconnectedError": "_body_reader",
    "File": "_forms.form_data",
    "FormData": "_forms.form_data",
    "Headers": "_headers",
    "HeadersInit": "_headers",
    "Request": "_request",
    "RequestInit": "_request",
    "Response": "_response",
    "URLSearchParams": "_url_search_params",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
