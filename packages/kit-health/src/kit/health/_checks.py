# SPDX-License-Identifier: MIT
"""Runs one check with a timeout; plain functions run in a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from inspect import iscoroutinefunction
from threading import Thread
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from anyio import Event, move_on_after

from kit.interface.event_loops import running_trio
from kit.interface.signatures import accepts

__all__ = ("Check", "Outcome", "Probe")

Check: TypeAlias = Callable[[Any], Any] | Callable[[], Any]
"""`def check(env)` or `def check()`, plain or async: raises or returns False if it fails."""

_logger = logging.getLogger("kit.health")


class Outcome(NamedTuple):
    """The result of a check.

    Attributes:
        duration_s: How long it took, in seconds.
        error: The error; None if the check passed.
    """

    duration_s: float
    error: str | None


class Probe:
    """A check with a name.

    Args:
        name: The name.
        check: The function.
        timeout_s: Timeout in seconds.
    """

    def __init__(self, name: str, check: Check, timeout_s: float) -> None:
        self.name = name
        self._check: Any = check
        self._takes_env = accepts(check, 1)
        self._timeout_s = timeout_s
        self._is_async = iscoroutinefunction(check) or iscoroutinefunction(
            getattr(check, "__call__", None)  # noqa: B004 - an object with an async __call__
        )
        self._is_in_thread = False
        self._logged: str | None = None

    async def run(self, env: Mapping[str, Any]) -> Outcome:
        """Runs the check. Exceptions are logged and included in the outcome."""
        start = perf_counter()
        error: str | None = None
        failure: Exception | None = None
        with move_on_after(self._timeout_s) as scope:
            try:
                if await self._result(env) is False:
                    error = "returned False"
            except Exception as raised:
                error, failure = repr(raised), raised
        if scope.cancelled_caught:
            error = f"took longer than {self._timeout_s:g} s"
        self._log(error, failure)
        return Outcome(perf_counter() - start, error)

    def cancelled(self) -> Outcome:
        """Returns the outcome of a check that ended with an unexpected cancellation.

        Awaiting a cancelled task raises one, e.g. the task of a connection that was closed.
        """
        error = "was cancelled"
        self._log(error, None)
        return Outcome(0.0, error)

    async def _result(self, env: Mapping[str, Any]) -> Any:
        if self._is_async:
            return await self._call(env)
        result = await self._in_thread(env)
        # A lambda around an async function returns an awaitable.
        return await result if hasattr(result, "__await__") else result

    def _call(self, env: Mapping[str, Any]) -> Any:
        return self._check(env) if self._takes_env else self._check()

    async def _in_thread(self, env: Mapping[str, Any]) -> Any:
        """Calls the check in a new thread, unless a thread of an earlier call is still running.

        Doesn't use a thread pool, since the check might block a thread forever. The thread is a
        daemon, so that the process can exit.
        """
        if self._is_in_thread:
            raise RuntimeError("the check of an earlier probe is still running")
        over = Event()
        wake = _waker(over)
        results: list[Any] = []
        errors: list[BaseException] = []

        def call() -> None:
            try:
                results.append(self._call(env))
            except BaseException as error:
                errors.append(error)
            finally:
                self._is_in_thread = False
                with suppress(RuntimeError):  # the event loop has ended
                    wake()

        thread = Thread(
            target=copy_context().run, args=(call,), name=f"kit.health {self.name}", daemon=True
        )
        self._is_in_thread = True
        try:
            thread.start()
        except BaseException:  # e.g. there are currently too many threads
            self._is_in_thread = False
            raise
        await over.wait()
        for error in errors:
            if isinstance(error, Exception):
                raise error
            raise RuntimeError(f"the check raised {error!r}")  # e.g. SystemExit
        return results[0]

    def _log(self, error: str | None, failure: Exception | None) -> None:
        """Logs changes since the last run."""
        if error == self._logged:
            return
        if error is None:
            _logger.info("The health check %r passes again", self.name)
        else:
            _logger.warning("The health check %r fails: %s", self.name, error, exc_info=failure)
        self._logged = error


def _waker(event: Event) -> Callable[[], object]:
    """Returns a function that sets an event of the running event loop, from any thread."""
    trio = running_trio()
    if trio is None:
        loop = asyncio.get_running_loop()
        return lambda: loop.call_soon_threadsafe(event.set)
    token = trio.lowlevel.current_trio_token()
    return lambda: token.run_sync_soon(event.set)
