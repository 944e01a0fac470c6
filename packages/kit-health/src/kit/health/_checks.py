# SPDX-License-Identifier: MIT
"""Runs one check with a timeout; plain functions run in a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from anyio import Event, get_cancelled_exc_class, move_on_after
from anyio.lowlevel import RunVar

from kit.authoring.event_loops import running_trio
from kit.authoring.maybe_await import settle
from kit.authoring.signatures import accepts, is_async

from ._attempts import Attempt

__all__ = ("Check", "Outcome", "Probe")

Check: TypeAlias = Callable[[Any], Any] | Callable[[], Any]
"""`def check(env)` or `def check()`, plain or async: raises or returns False if it fails."""

_logger = logging.getLogger("kit.health")
_STILL_RUNNING = "the check of an earlier probe is still running"


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
        self._is_async = is_async(check)
        self._is_in_thread = False
        # A task belongs to one event loop. Older versions of anyio tell variables apart by name.
        self._last: RunVar[Attempt | None] = RunVar(f"kit.health {name} {id(self)}", None)
        self._logged: str | None = None

    async def run(self, env: Mapping[str, Any]) -> Outcome:
        """Runs the check. Exceptions are logged and included in the outcome.

        Returns after the timeout, even if the check can't be cancelled. It isn't started again
        until it has ended; meanwhile, it counts as failed.
        """
        start = perf_counter()
        error: str | None = None
        failure: Exception | None = None
        try:
            attempt = await self._attempted(env)
            if attempt is None:
                error = f"took longer than {self._timeout_s:g} s"
            elif isinstance(attempt.failure, get_cancelled_exc_class()):
                # Awaiting a cancelled task raises this, e.g. the task of a closed connection.
                error = "was cancelled"
            elif attempt.failure is not None:
                raise attempt.failure
            elif attempt.result is False:
                error = "returned False"
        except Exception as raised:
            error, failure = repr(raised), raised
        self._log(error, failure)
        return Outcome(perf_counter() - start, error)

    async def _attempted(self, env: Mapping[str, Any]) -> Attempt | None:
        """Runs the check. Returns None if it takes longer than the timeout."""
        attempt: Attempt | None = None
        try:
            with move_on_after(self._timeout_s):
                last = self._last.get()
                if last is not None and not last.over.is_set():
                    if last.is_late:
                        raise RuntimeError(_STILL_RUNNING)
                    await last.over.wait()  # it was cancelled together with its probe
                attempt = Attempt(partial(self._result, env))
                self._last.set(attempt)
                await attempt.over.wait()
            if attempt is None:  # the last one is still cleaning up
                return None
            if attempt.over.is_set():
                self._last.set(None)
                return attempt
            attempt.is_late = True
            return None
        finally:
            if attempt is not None:
                attempt.cancel()

    async def _result(self, env: Mapping[str, Any]) -> Any:
        if self._is_async:
            return await settle(self._call(env), self._check)
        # A lambda around an async function returns an awaitable.
        return await settle(await self._in_thread(env), self._check)

    def _call(self, env: Mapping[str, Any]) -> Any:
        return self._check(env) if self._takes_env else self._check()

    async def _in_thread(self, env: Mapping[str, Any]) -> Any:
        """Calls the check in a new thread, unless a thread of an earlier call is still running.

        Doesn't use a thread pool, since the check might block a thread forever. The thread is a
        daemon, so that the process can exit.
        """
        if self._is_in_thread:
            raise RuntimeError(_STILL_RUNNING)
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
