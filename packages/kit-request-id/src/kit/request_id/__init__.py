# SPDX-License-Identifier: MIT
"""Request ids for headers and logs."""

from ._logging import RequestIdFilter
from ._request_id import Generator, RequestIdVariables, current_request_id, request_id

__all__ = (
    "Generator",
    "RequestIdFilter",
    "RequestIdVariables",
    "current_request_id",
    "request_id",
)
