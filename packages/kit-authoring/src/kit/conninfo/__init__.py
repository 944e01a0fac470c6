# SPDX-License-Identifier: MIT
"""Where a request came from, as the server or trusted proxies report it."""

from ._conn_info import ConnInfo, RemoteAddress, get_conn_info
from ._forwarded import forwarded_conn_info

__all__ = ("ConnInfo", "RemoteAddress", "forwarded_conn_info", "get_conn_info")
