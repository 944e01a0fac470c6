# SPDX-License-Identifier: MIT
"""Refreshes stale responses after they were sent (RFC 5861, section 3)."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping
from contextvars import ContextVar
from inspect import CORO_CLOSED, getcoroutinestate
from typing import Any
from weakref import WeakValueDictionary

from kit.interface import Context

from ._entries import Key

_logger = logging.getLogger("kit.cache")
# Fields of the client's request that the cache leaves out of its own request.
_OF_THE_CLIENT = ("cache-control", "if-modified-since", "if-none-match", "pragma")

_refreshed: ContextVar[Any] = ContextVar("kit.cache.refreshed", default=None)


class Refreshing:
    """The responses that are being refreshed.

    Args:
        app: The app; None if it is unknown.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        # Weak, since a server that is stopped closes coroutines that haven't started.
        self._under_way: WeakValueDictionary[Key, Coroutine[Any, Any, None]] = WeakValueDictionary()

    def is_under_way_here(self) -> bool:
        """Returns whether the current request was created by `begin`."""
        return _refreshed.get() is self

    def begin(self, c: Context[Any, Any], key: Key) -> bool:
        """Schedules a refresh after the current request; returns whether that is possible."""
        if self._app is None:
            return False
        present = self._under_way.get(key)
        if present is not None and getcoroutinestate(present) != CORO_CLOSED:
            return True
        work = self._fetch(c, dict(c.env), key)
        self._under_way[key] = work
        if later(c, work):
            return True
        work.close()
        return False

    async def _fetch(self, c: Context[Any, Any], env: Mapping[str, Any], key: Key) -> None:
        raw = c.req.raw
        headers = {name: value for name, value in raw.headers.items() if name not in _OF_THE_CLIENT}
        token = _refreshed.set(self)
        try:
            if raw.method == "QUERY":  # its content was read for the key
                request = raw.replace(headers=headers, body=await c.req.bytes())
            else:  # the response to HEAD is not stored
                request = raw.replace(headers=headers, method="GET")
            response = await self._app.fetch(request, env)
            await response.bytes()
        except Exception:
            _logger.warning("%s was not refreshed", ascii(key.group)[1:-1], exc_info=True)
        finally:
            _refreshed.reset(token)
            self._under_way.pop(key, None)


def later(c: Context[Any, Any], work: Any) -> bool:
    """Schedules work after the response was sent; returns whether that is possible."""
    try:
        c.execution_ctx.wait_until(work)
    except RuntimeError:  # the request was made in process, without an execution context
        return False
    return True
